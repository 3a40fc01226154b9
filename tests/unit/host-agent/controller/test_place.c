#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host-agent/agent_config.h"
#include "host-agent/controller/place.h"

static const struct wire_cable usual_cables[] = {
	{ "eth[0-3]", "tor-1" },
	{ "", "tor-2" },
	{ "bond0", "tor-1" },
	{ "bond0", "tor-2" },
};
static const struct wire_tor_aggregator usual_aggregators[] = {
	{ "tor-1", "agg-1.example:7471" },
	{ "tor-2", "agg-2.example:7471" },
	{ "tor-1", "agg-2.example:7471" },
};

static int
make(const struct wire_place_answer *answer, struct place **ret)
{
	struct wire_writer *writer = wire_writer_new();
	struct wire_bytes bytes;
	int r;

	assert_non_null(writer);
	assert_int_equal(wire_write_placed(writer, answer, &bytes), 0);
	r = place_new(bytes.data, bytes.len, ret);
	wire_writer_free(writer);
	return r;
}

static struct place *
usual(uint64_t token, size_t cables)
{
	const struct wire_place_answer answer = { token, "", usual_cables, cables,
		usual_aggregators, 3, NULL };
	struct place *place = NULL;

	assert_int_equal(make(&answer, &place), 0);
	return place;
}

static void
a_row_that_names_the_device_counts_before_those_that_name_none(void **state)
{
	struct place *place = usual(1, 4);
	const char *tors[WIRE_MAX_ATTACHMENTS];

	assert_int_equal(place_tors(place, "eth2", "", tors), 1);
	assert_string_equal(tors[0], "tor-1");
	assert_int_equal(place_tors(place, "eth7", "", tors), 1);
	assert_string_equal(tors[0], "tor-2");
	assert_int_equal(place_tors(place, "bond0", "", tors), 2);
	assert_string_equal(tors[0], "tor-1");
	assert_string_equal(tors[1], "tor-2");
	assert_int_equal(place_tors(place, "mlx5_0", "eth2", tors), 1);
	assert_string_equal(tors[0], "tor-1");
	place_free(place);
	place = usual(1, 1);
	assert_int_equal(place_tors(place, "eth7", "", tors), 0);
	place_free(place);
}

static void
answers_with_equal_contents_are_equal(void **state)
{
	struct place *a = usual(1, 4), *b = usual(2, 4), *c = usual(1, 3);

	assert_true(place_equal(a, b));
	assert_false(place_equal(a, c));
	assert_false(place_equal(a, NULL));
	assert_true(place_equal(NULL, NULL));
	place_free(a);
	place_free(b);
	place_free(c);
}

static void
a_malformed_answer_is_refused(void **state)
{
	static const struct wire_cable bad_cables[] = { { "eth0", "" },
		{ "eth0", "a b" }, { "*a*b*c*d*", "tor-1" }, { "eth 0", "tor-1" } };
	static const struct wire_tor_aggregator bad_aggregators[] = {
		{ "tor-1", "agg" }, { "", "agg:1" }, { "tor-1", "unix:/run/x" },
		{ "tor-1", "10.0.0.300:1" }
	};
	struct wire_place_answer answer = { .error = "", .cable_count = 1 };
	struct place *place = NULL;

	for (size_t i = 0; i < 4; i++) {
		answer.cables = &bad_cables[i];
		assert_int_equal(make(&answer, &place), -EBADMSG);
	}
	answer.cables = usual_cables;
	answer.aggregator_count = 1;
	for (size_t i = 0; i < 4; i++) {
		answer.aggregators = &bad_aggregators[i];
		assert_int_equal(make(&answer, &place), -EBADMSG);
	}
	assert_int_equal(place_new((const uint8_t *)"12345678", 8, &place), -EBADMSG);
	answer = (struct wire_place_answer){ .error = "nobody knows it" };
	assert_int_equal(make(&answer, &place), -ENOENT);
	assert_null(place);
}

static void
a_saved_place_is_loaded_again(void **state)
{
	char folder[] = "/tmp/rackmesh-place-XXXXXX", path[64];
	struct place *place = usual(1, 4), *again = NULL;

	assert_non_null(mkdtemp(folder));
	assert_int_equal(place_load(folder, &again), -ENOENT);
	assert_int_equal(place_save(folder, place), 0);
	assert_int_equal(place_load(folder, &again), 0);
	assert_true(place_equal(place, again));
	snprintf(path, sizeof(path), "%s/place.bin", folder);
	assert_int_equal(truncate(path, 40), 0);
	place_free(again);
	assert_int_equal(place_load(folder, &again), -EBADMSG);
	place_free(place);
	unlink(path);
	rmdir(folder);
}

static const char config_text[] = "plaintext: true\n"
				  "controllers: [c1.example:7481]\n"
				  "rnics:\n"
				  "  - {device: eth0}\n"
				  "  - {device: eth1, tor: tor-9}\n"
				  "  - {device: eth9}\n";

static void
read_config(struct agent_config *config, const char *text)
{
	char path[] = "/tmp/rackmesh-place-XXXXXX";
	struct rm_error error = { 0 };
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	if (agent_config_read(config, path, &error) < 0)
		fail_msg("%s", error.text);
	config->path = NULL;
	unlink(path);
}

static void
a_place_fills_what_the_config_leaves_out(void **state)
{
	struct place *place = usual(1, 1); /* only eth[0-3] */
	const struct agent_aggregator_config *aggregators;
	struct agent_config config;

	read_config(&config, config_text);
	assert_int_equal(agent_config_place(&config, NULL), 0);
	assert_int_equal(config.aggregators.count, 0);
	assert_int_equal(agent_config_place(&config, place), 0);
	aggregators = config.aggregators.items;
	assert_int_equal(config.aggregators.count, 2);
	assert_string_equal(aggregators[1].address, "agg-2.example:7471");
	assert_true(agent_aggregator_serves(&aggregators[1], "tor-1"));
	assert_true(agent_aggregator_serves(&aggregators[1], "tor-2"));
	assert_false(agent_aggregator_serves(&aggregators[0], "tor-2"));
	assert_true(agent_tor_aggregators(&config, "tor-1") == 3);
	assert_true(agent_tor_aggregators(&config, "tor-2") == 2);
	agent_config_clear(&config);

	read_config(&config,
	    "plaintext: true\ncontrollers: ['10.0.0.1:7481']\n"
	    "aggregators: [{address: '10.0.0.2:7471'}]\nrnics: [{device: eth0}]\n");
	assert_int_equal(agent_config_place(&config, place), 0);
	/* The list in the config stays. */
	assert_int_equal(config.aggregators.count, 1);
	agent_config_clear(&config);
	place_free(place);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    a_row_that_names_the_device_counts_before_those_that_name_none),
		cmocka_unit_test(answers_with_equal_contents_are_equal),
		cmocka_unit_test(a_malformed_answer_is_refused),
		cmocka_unit_test(a_saved_place_is_loaded_again),
		cmocka_unit_test(a_place_fills_what_the_config_leaves_out),
	};

	return cmocka_run_group_tests_name("place", tests, NULL, NULL);
}
