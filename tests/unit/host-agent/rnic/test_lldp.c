#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "host-agent/rnic/lldp.h"

static struct lldp lldp;

/* The output of lldpd 1.0.16, reduced to the fields that we read. */
#define NEIGHBOR(netdev, name, bridge)                                            \
	"{\"name\": \"" netdev "\", \"via\": \"LLDP\", \"chassis\": [{\"name\": " \
	"[{\"value\": \"" name "\"}], \"capability\": [{\"type\": \"Bridge\", "   \
	"\"enabled\": " bridge "}, {\"type\": \"Station\", \"enabled\": true}]}]}"
#define NEIGHBORS(list) "{\"lldp\": [{\"interface\": [" list "]}]}"

static int
parse(const char *text)
{
	lldp.count = 0;
	lldp.dropped = 0;
	return lldp_parse(text, strlen(text), &lldp);
}

static void
the_output_of_a_real_lldpd_is_read(void **state)
{
	char text[8192];
	FILE *file = fopen(LLDP_SAMPLE, "r");
	size_t len;

	assert_non_null(file);
	len = fread(text, 1, sizeof(text), file);
	fclose(file);
	assert_int_equal(lldp_parse(text, len, &lldp), 0);
	assert_int_equal(lldp.count, 1);
	assert_string_equal(lldp_switch(&lldp, "a1"), "sw-a1.dc1.example.net");
	assert_null(lldp_switch(&lldp, "a2"));
}

static void
without_any_neighbor_there_is_no_switch(void **state)
{
	assert_int_equal(parse("{\"lldp\": [{}]}"), 0);
	assert_int_equal(lldp.count, 0);
}

static void
of_several_neighbors_the_switch_counts(void **state)
{
	assert_int_equal(parse(NEIGHBORS(NEIGHBOR("ens1", "bmc", "false") ", " NEIGHBOR(
			     "ens1", "sw-1", "true"))),
	    0);
	assert_string_equal(lldp_switch(&lldp, "ens1"), "sw-1");
	assert_int_equal(parse(NEIGHBORS(NEIGHBOR("ens1", "sw-1", "true") ", " NEIGHBOR(
			     "ens1", "bmc", "false"))),
	    0);
	assert_string_equal(lldp_switch(&lldp, "ens1"), "sw-1");
	/* The same switch twice, for example by LLDP and by CDP. */
	assert_int_equal(parse(NEIGHBORS(NEIGHBOR("ens1", "sw-1", "true") ", " NEIGHBOR(
			     "ens1", "sw-1", "true"))),
	    0);
	assert_string_equal(lldp_switch(&lldp, "ens1"), "sw-1");
	/* Two different switches: the right one is not known. */
	assert_int_equal(parse(NEIGHBORS(NEIGHBOR("ens1", "sw-1", "true") ", " NEIGHBOR(
			     "ens1", "sw-2", "true"))),
	    0);
	assert_null(lldp_switch(&lldp, "ens1"));
}

static void
text_that_is_not_lldpcli_output_is_refused(void **state)
{
	static const char *const texts[] = { "", "{", "[]", "{}", "{\"lldp\": {}}",
		"{\"lldp\": []}", "{\"lldp\": {\"interface\": {\"a1\": {}}}}",
		"{\"lldp\": [{}], \"lldp\": [{}]}" };

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		assert_int_equal(parse(texts[i]), -EBADMSG);
}

static void
invalid_names_are_dropped_and_counted(void **state)
{
	assert_int_equal(parse(NEIGHBORS(NEIGHBOR("ens1", "sw 1", "true") ", " NEIGHBOR(
			     "ens1", "sw\\n1", "true") ", " NEIGHBOR("ens1", "",
			     "true") ", " NEIGHBOR("a-name-of-16-byt", "sw",
			     "true") ", {\"name\": 7}, 8, {}")),
	    0);
	assert_int_equal(lldp.count, 0);
	assert_int_equal(lldp.dropped, 7);
}

static void
an_outdated_file_is_not_used(void **state)
{
	char path[] = "/tmp/test_lldp.XXXXXX";
	struct timespec times[2] = { { 0 } };
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, "{\"lldp\": [{}]}", 14), 14);
	assert_int_equal(lldp_read(path, &lldp), 0);
	times[0].tv_sec = times[1].tv_sec = time(NULL) - 2 * LLDP_STALE_S;
	assert_int_equal(futimens(fd, times), 0);
	assert_int_equal(lldp_read(path, &lldp), -ESTALE);
	assert_int_equal(futimens(fd, NULL), 0);
	assert_int_equal(ftruncate(fd, LLDP_MAX_BYTES + 1), 0);
	assert_int_equal(lldp_read(path, &lldp), -EFBIG);
	close(fd);
	unlink(path);
	assert_int_equal(lldp_read(path, &lldp), -ENOENT);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(lldp_read(path, &lldp), -EBADMSG);
	unlink(path);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_output_of_a_real_lldpd_is_read),
		cmocka_unit_test(without_any_neighbor_there_is_no_switch),
		cmocka_unit_test(of_several_neighbors_the_switch_counts),
		cmocka_unit_test(text_that_is_not_lldpcli_output_is_refused),
		cmocka_unit_test(invalid_names_are_dropped_and_counted),
		cmocka_unit_test(an_outdated_file_is_not_used),
	};

	return cmocka_run_group_tests_name("lldp", tests, NULL, NULL);
}
