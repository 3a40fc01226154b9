#include "analyzer/sla/sla_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "analyzer/sla/sla.h"
#include "rackmesh/core/file.h"
#include "rackmesh/core/log.h"
#include "rackmesh/loop/loop.h"
#include "rackmesh/loop/worker.h"

#define MINUTE (60 * RM_NS_PER_S)
#define DAY (1440 * MINUTE)
#define BASE (INT64_C(28333320) * MINUTE)

struct world {
	char folder[64], path[80], aside[96], log[1024];
	struct rm_loop *loop;
	struct rm_worker *worker;
	struct rm_timer *look;
	struct sla *sla;
	struct sla_file *file;
};

static void
on_line(enum rm_log_level level, const char *line, void *arg)
{
	struct world *w = arg;
	const size_t used = strlen(w->log);

	snprintf(w->log + used, sizeof(w->log) - used, "%s\n", line);
}

static void
on_minute(const struct sla_minute *minute, void *arg)
{
}

static void
on_look(void *arg)
{
	struct world *w = arg;

	if (access(w->path, R_OK) == 0 || sla_file_counts(w->file)->failed > 0)
		rm_loop_stop(w->loop);
	else
		rm_timer_after(w->look, RM_NS_PER_MS);
}

static void
start_at(struct world *w, const char *folder, int64_t ns)
{
	const struct sla_options options = { 10 };

	assert_int_equal(rm_worker_new(w->loop, 4, &w->worker), 0);
	assert_int_equal(sla_new(&options, &w->sla), 0);
	assert_int_equal(
	    sla_file_new(w->worker, folder, w->sla, (rm_wall_t){ ns }, &w->file), 0);
}

static void
start(struct world *w, const char *folder)
{
	start_at(w, folder, BASE + 2 * MINUTE);
}

static void
stop(struct world *w)
{
	rm_worker_free(w->worker);
	sla_file_free(w->file);
	sla_free(w->sla);
	w->worker = NULL;
	w->file = NULL;
	w->sla = NULL;
}

static void
close_minute(struct world *w)
{
	sla_close(w->sla, (rm_wall_t){ BASE }, 0, on_minute, NULL);
	sla_close(w->sla, (rm_wall_t){ BASE + MINUTE }, 0, on_minute, NULL);
}

/* Saves, and waits until the file is there or a save has failed. */
static void
save(struct world *w)
{
	close_minute(w);
	sla_file_save(w->file);
	rm_timer_after(w->look, 0);
	rm_loop_run(w->loop);
}

/* Whether the minute of BASE is counted. */
static bool
has_figures(struct world *w)
{
	const char *since;
	json_t *json;
	bool has;

	sla_close(w->sla, (rm_wall_t){ BASE + 2 * MINUTE }, 0, on_minute, NULL);
	json = sla_json(w->sla, NULL);
	since = json_string_value(json_object_get(json, "since"));
	has = since != NULL && strcmp(since, "2023-11-14T22:00:00.000Z") == 0;
	json_decref(json);
	return has;
}

static int
setup(void **state)
{
	static struct world w;

	w = (struct world){ .folder = "/tmp/sla-file-XXXXXX" };
	assert_non_null(mkdtemp(w.folder));
	snprintf(w.path, sizeof(w.path), "%s/sla", w.folder);
	snprintf(w.aside, sizeof(w.aside), "%s.aside", w.path);
	rm_log_set_sink(on_line, &w);
	assert_int_equal(rm_loop_new(&w.loop), 0);
	assert_int_equal(rm_timer_new(w.loop, on_look, &w, &w.look), 0);
	*state = &w;
	return 0;
}

static int
teardown(void **state)
{
	struct world *w = *state;

	stop(w);
	rm_timer_free(w->look);
	rm_loop_free(w->loop);
	rm_log_set_sink(NULL, NULL);
	(void)unlink(w->path);
	(void)unlink(w->aside);
	(void)rmdir(w->folder);
	return 0;
}

static void
saved_figures_are_read_at_the_next_start(void **state)
{
	struct world *w = *state;

	start(w, w->folder); /* there is no file yet, which is no error */
	save(w);
	stop(w);
	start(w, w->folder);
	assert_true(has_figures(w));
	assert_string_equal(w->log, "");
}

static void
figures_that_were_not_saved_are_written_at_the_end(void **state)
{
	struct world *w = *state;

	start(w, w->folder);
	close_minute(w);
	stop(w);
	start(w, w->folder);
	assert_true(has_figures(w));
}

static void
a_save_that_the_worker_did_not_run_is_written_at_the_end(void **state)
{
	struct world *w = *state;

	start(w, w->folder);
	close_minute(w);
	rm_worker_stop(w->worker);
	sla_file_save(w->file);
	stop(w);
	start(w, w->folder);
	assert_true(has_figures(w));
	assert_string_equal(w->log, "");
}

static void
a_damaged_file_is_set_aside(void **state)
{
	struct world *w = *state;

	assert_int_equal(
	    rm_file_replace(w->path, (const uint8_t *)"RMSLA, not", 10), 0);
	start(w, w->folder);
	assert_non_null(strstr(w->log, "set aside"));
	assert_int_equal(sla_file_counts(w->file)->aside, 1);
	assert_int_equal(access(w->aside, R_OK), 0);
	assert_int_not_equal(access(w->path, R_OK), 0);
	assert_false(has_figures(w));
}

/* Another file was set aside before. */
static void
a_file_is_not_lost_by_a_wrong_clock(void **state)
{
	struct world *w = *state;
	char second[sizeof(w->aside)];

	snprintf(second, sizeof(second), "%s.aside.2", w->path);
	start(w, w->folder);
	save(w);
	stop(w);
	assert_int_equal(rm_file_replace(w->aside, (const uint8_t *)"old", 3), 0);
	start_at(w, w->folder, BASE + 2 * DAY);
	assert_non_null(strstr(w->log, ".aside.2: by the clock"));
	assert_int_equal(sla_file_counts(w->file)->aside, 1);
	stop(w);
	assert_int_equal(rename(second, w->path), 0);
	start(w, w->folder);
	assert_true(has_figures(w));
}

/* A host without a battery begins in 1970, or when its systemd was built, at each boot.
 * The file's last closed minute is that of BASE. */
static void
the_file_is_read_when_the_clock_is_set(void **state)
{
	static const int64_t wrong[] = { 100 * MINUTE, BASE - 318 * DAY,
		BASE - 31 * MINUTE };
	struct world *w = *state;

	start(w, w->folder);
	save(w);
	stop(w);
	for (size_t k = 0; k < 3; k++) {
		w->log[0] = '\0';
		start_at(w, w->folder, wrong[k]);
		for (int i = 0; i < 100; i++)
			assert_false(
			    sla_file_ready(w->file, (rm_wall_t){ wrong[k] + i }));
		assert_non_null(strstr(w->log, "not read yet"));
		assert_null(strstr(strstr(w->log, "not read yet") + 1, "not read yet"));
		stop(w); /* off again: nothing is written */
		start_at(w, w->folder, wrong[k]);
		assert_false(sla_file_ready(w->file, (rm_wall_t){ wrong[k] + 1 }));
		assert_true(sla_file_ready(w->file, (rm_wall_t){ BASE + 2 * MINUTE }));
		assert_true(has_figures(w));
		assert_int_equal(sla_file_counts(w->file)->aside, 0);
		assert_null(strstr(w->log, "set aside"));
		stop(w);
	}
}

static void
a_clock_that_was_set_back_by_half_an_hour_is_not_waited_for(void **state)
{
	struct world *w = *state;

	start(w, w->folder);
	save(w);
	stop(w);
	start_at(w, w->folder, BASE - 30 * MINUTE);
	assert_true(sla_file_ready(w->file, (rm_wall_t){ BASE - 30 * MINUTE }));
	assert_true(has_figures(w));
	assert_string_equal(w->log, "");
}

static void
the_wait_for_the_clock_is_limited(void **state)
{
	static const int64_t wrong[] = { 100 * MINUTE, BASE - 318 * DAY };
	struct world *w = *state;

	for (size_t k = 0; k < 2; k++) {
		int calls = 0;

		start(w, w->folder);
		save(w);
		stop(w);
		start_at(w, w->folder, wrong[k]);
		while (!sla_file_ready(w->file, (rm_wall_t){ wrong[k] }))
			calls++;
		assert_int_equal(calls, SLA_FILE_WAIT - 1);
		assert_int_equal(sla_file_counts(w->file)->aside, 1);
		assert_true(sla_file_ready(w->file, (rm_wall_t){ wrong[k] }));
		assert_int_equal(unlink(w->aside), 0);
		stop(w);
	}
}

static void
without_a_file_no_clock_is_waited_for(void **state)
{
	struct world *w = *state;

	start_at(w, w->folder, 100 * MINUTE);
	assert_true(sla_file_ready(w->file, (rm_wall_t){ 100 * MINUTE }));
	stop(w);
	start_at(w, "", 100 * MINUTE);
	assert_true(sla_file_ready(w->file, (rm_wall_t){ 100 * MINUTE }));
	assert_string_equal(w->log, "");
}

static void
a_failed_save_is_counted_and_logged(void **state)
{
	struct world *w = *state;

	start(w, w->folder);
	assert_int_equal(rmdir(w->folder), 0);
	save(w);
	assert_int_equal(sla_file_counts(w->file)->failed, 1);
	assert_non_null(strstr(w->log, "cannot write"));
}

static void
without_a_state_folder_nothing_is_kept(void **state)
{
	struct world *w = *state;

	start(w, "");
	close_minute(w);
	sla_file_save(w->file);
	stop(w);
	assert_string_equal(w->log, "");
	assert_int_not_equal(access(w->path, R_OK), 0);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(saved_figures_are_read_at_the_next_start),
		TEST(figures_that_were_not_saved_are_written_at_the_end),
		TEST(a_save_that_the_worker_did_not_run_is_written_at_the_end),
		TEST(a_damaged_file_is_set_aside),
		TEST(a_file_is_not_lost_by_a_wrong_clock),
		TEST(a_failed_save_is_counted_and_logged),
		TEST(the_file_is_read_when_the_clock_is_set),
		TEST(a_clock_that_was_set_back_by_half_an_hour_is_not_waited_for),
		TEST(the_wait_for_the_clock_is_limited),
		TEST(without_a_file_no_clock_is_waited_for),
		TEST(without_a_state_folder_nothing_is_kept),
	};

	return cmocka_run_group_tests_name("sla_file", tests, NULL, NULL);
}
