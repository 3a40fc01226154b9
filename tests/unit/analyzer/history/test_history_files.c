/* The history in files, without a database. */
#include "analyzer/history/history_files.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "history_world.h"
#include "rackmesh/core/file.h"

static void
without_a_database_files_have_all_points(void **state)
{
	struct world *world = *state;
	char path[128];
	uint8_t *text;
	size_t len;
	struct rm_error error;

	world->config.influx.url[0] = '\0';
	begin(world);
	put(world, 1, 20);
	put_incident(world, 1);
	LOOPBACK_WAIT(world->loop, drained(world));
	end(world);
	snprintf(path, sizeof(path), "%s/rackmesh.lp", world->history_folder);
	assert_int_equal(rm_file_read(path, 1 << 20, &text, &len), 0);
	assert_int_equal(history_schema_check((char *)text, len, &error), 0);
	for (size_t i = 0; i < len; i++)
		world->database.line_count += text[i] == '\n';
	assert_int_equal(world->database.line_count, 20 * SAMPLE_SUMMARY_POINTS);
	world->database.line_count = 0;
	free(text);
	snprintf(path, sizeof(path), "%s/incidents.lp", world->history_folder);
	assert_int_equal(rm_file_read(path, 1 << 20, &text, &len), 0);
	assert_memory_equal(text, "rm_incident,", 12);
	free(text);
}

static void
files_rotate_within_their_bound(void **state)
{
	struct world *world = *state;
	char command[512];

	world->config.influx.url[0] = '\0';
	world->config.history_max_bytes = 256 << 10;
	begin(world);
	put(world, 1, 300);
	LOOPBACK_WAIT(world->loop, drained(world));
	assert_true(history_counts(world->history)->delivered_points ==
		    300 * SAMPLE_SUMMARY_POINTS);
	end(world);
	snprintf(command, sizeof(command),
	    "test -s %s/rackmesh.lp.3 -a ! -e %s/rackmesh.lp.4 && "
	    "test $(cat %s/* | wc -c) -le 262144",
	    world->history_folder, world->history_folder, world->history_folder);
	assert_int_equal(system(command), 0);
}

static void
points_wait_for_a_missing_folder_and_it_is_reported(void **state)
{
	struct world *world = *state;
	char away[128];

	world->config.influx.url[0] = '\0';
	begin(world);
	snprintf(away, sizeof(away), "%s/away", world->folder);
	assert_int_equal(rename(world->history_folder, away), 0);
	put(world, 1, 3);
	LOOPBACK_WAIT(world->loop, history_counts(world->history)->failed_attempts > 0);
	assert_non_null(strstr(history_trouble(world->history), "cannot write"));
	assert_int_equal(history_waiting(world->history, WIRE_LANE_SUMMARY), 3);
	assert_int_equal(rename(away, world->history_folder), 0);
	LOOPBACK_WAIT(world->loop, drained(world));
	assert_string_equal(history_trouble(world->history), "");
	end(world);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(without_a_database_files_have_all_points),
		TEST(files_rotate_within_their_bound),
		TEST(points_wait_for_a_missing_folder_and_it_is_reported),
	};

	return cmocka_run_group_tests_name("history_files", tests, NULL, NULL);
}
