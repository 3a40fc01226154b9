#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rackmesh/core/log.h"

struct taken {
	unsigned lines;
	enum rm_log_level level;
	char line[2048];
};

static void
take(enum rm_log_level level, const char *line, void *arg)
{
	struct taken *taken = arg;

	taken->lines++;
	taken->level = level;
	snprintf(taken->line, sizeof(taken->line), "%s", line);
}

static void
a_line_names_process_text_and_error(void **state)
{
	struct taken taken = { 0 };

	rm_log_set_sink(take, &taken);
	rm_log_error(-ENOENT, "cannot open %s", "plan");
	assert_string_equal(
	    taken.line, "test: cannot open plan: No such file or directory");
	assert_int_equal(taken.level, RM_LOG_ERROR);
	rm_log_warn(0, "slow");
	assert_string_equal(taken.line, "test: slow");
	rm_log_warn(-99999, "odd");
	assert_string_equal(taken.line, "test: odd: error -99999");
}

static void
lines_below_the_level_are_not_written(void **state)
{
	struct taken taken = { 0 };

	rm_log_set_sink(take, &taken);
	rm_log_debug("unseen");
	assert_int_equal(taken.lines, 0);
	rm_log_set_level(RM_LOG_DEBUG);
	rm_log_debug("seen");
	rm_log_set_level(RM_LOG_INFO);
	assert_int_equal(taken.lines, 1);
}

static void
a_line_stays_one_line_and_is_cut_to_fit(void **state)
{
	struct taken taken = { 0 };

	rm_log_set_sink(take, &taken);
	rm_log_info("one\ntwo\rthree");
	assert_string_equal(taken.line, "test: one two three");
	rm_log_info("%05000d", 1);
	assert_in_range(strlen(taken.line), 1000, 1300);
}

static void
a_line_that_repeats_is_written_five_times(void **state)
{
	struct taken taken = { 0 };

	rm_log_set_sink(take, &taken);
	for (int i = 0; i < 100; i++)
		rm_log_info("the same");
	assert_int_equal(taken.lines, 5);
	rm_log_info("the same"); /* the same text, from another place in the code */
	assert_int_equal(taken.lines, 6);
}

static void
stderr_gets_the_priority_in_front(void **state)
{
	int ends[2], saved = dup(STDERR_FILENO);
	char line[64];
	ssize_t n;

	assert_int_equal(pipe(ends), 0);
	rm_log_set_sink(NULL, NULL);
	dup2(ends[1], STDERR_FILENO);
	rm_log_warn(-EIO, "bad");
	dup2(saved, STDERR_FILENO);
	n = read(ends[0], line, sizeof(line) - 1);
	close(ends[0]);
	close(ends[1]);
	close(saved);
	assert_true(n > 0);
	line[n] = '\0';
	assert_string_equal(line, "<4>test: bad: Input/output error\n");
}

static void
foreign_text_is_quoted_and_harmless(void **state)
{
	const char text[] = { 'a', '"', '\\', '\n', '\x1b', '\0', '\xff', 'z' };
	char out[64];

	assert_string_equal(rm_log_quote(out, sizeof(out), text, sizeof(text)),
	    "\"a\\\"\\\\\\x0a\\x1b\\x00\\xffz\"");
}

static void
quoting_never_passes_its_bound_nor_cuts_an_escape(void **state)
{
	char *out;

	for (size_t room = 0; room < 12; room++) {
		out = malloc(room + 1);
		assert_non_null(out);
		out[room] = 'g'; /* a guard byte, besides the sanitizer */
		rm_log_quote(out, room, "\n\n\n\n", 4);
		assert_int_equal(out[room], 'g');
		if (room >= 3) {
			assert_int_equal(strlen(out) % 4, 2);
			assert_int_equal(out[strlen(out) - 1], '"');
		} else if (room > 0) {
			assert_string_equal(out, "");
		}
		free(out);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_names_process_text_and_error),
		cmocka_unit_test(lines_below_the_level_are_not_written),
		cmocka_unit_test(a_line_stays_one_line_and_is_cut_to_fit),
		cmocka_unit_test(a_line_that_repeats_is_written_five_times),
		cmocka_unit_test(stderr_gets_the_priority_in_front),
		cmocka_unit_test(foreign_text_is_quoted_and_harmless),
		cmocka_unit_test(quoting_never_passes_its_bound_nor_cuts_an_escape),
	};

	rm_log_open("test");
	return cmocka_run_group_tests_name("log", tests, NULL, NULL);
}
