#include "tor-aggregator/collector/collector.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rackmesh/core/endpoint.h"
#include "rackmesh/core/log.h"
#include "rackmesh/loop/loop.h"
#include "rackmesh/metrics/counter_delta.h"

#define INTERVAL_NS (40 * RM_NS_PER_MS)
#define HOUR_NS (3600 * RM_NS_PER_S)

/* The outcomes of the readings in order; the last one repeats. */
enum outcome { GOOD, REFUSED, BROKEN, OTHER, SILENT };

struct world {
	struct rm_loop *loop;
	struct collector *collector;
	struct rm_endpoint endpoint;
	struct collector_options options;
	const enum outcome *outcomes;
	size_t outcome_count, begun,
	    wanted;          /* wanted: the number of readings to wait for */
	bool reading, twice; /* twice: two readings ran at the same time */
	char log[2048];
};

static void
stop_if_done(struct world *w)
{
	const struct collector_counts *counts = collector_counts(w->collector);

	if (w->begun - w->reading >= w->wanted && counts->reads == w->begun)
		rm_loop_stop(w->loop);
}

static int
begin(int64_t limit_ns, struct rm_error *error, void *arg)
{
	struct world *w = arg;
	const size_t at = w->begun < w->outcome_count ? w->begun : w->outcome_count - 1;

	w->twice |= w->reading;
	w->reading = true;
	w->begun++;
	switch (w->outcomes[at]) {
	case GOOD:
		collector_succeed(w->collector, 5);
		return 0;
	case REFUSED:
		return rm_error_set(error, -EKEYREJECTED, "the key");
	case BROKEN:
		return rm_error_set(error, -EIO, "it is broken");
	case OTHER:
		return -ENOENT;
	default:
		return 0;
	}
}

static void
hang_up(void *arg)
{
	struct world *w = arg;

	w->reading = false;
	stop_if_done(w);
}

static const char *
stage(const void *arg)
{
	return "no word";
}

static void
on_line(enum rm_log_level level, const char *line, void *arg)
{
	struct world *w = arg;
	const size_t used = strlen(w->log);

	snprintf(w->log + used, sizeof(w->log) - used, "%s\n", line);
}

static size_t
lines(const struct world *w)
{
	size_t count = 0;

	for (const char *at = w->log; (at = strchr(at, '\n')) != NULL; at++)
		count++;
	return count;
}

/* Runs until so many readings have ended. */
static struct collector_shown
run(struct world *w, const enum outcome *outcomes, size_t count, size_t wanted)
{
	w->outcomes = outcomes;
	w->outcome_count = count;
	w->wanted = wanted;
	if (w->collector == NULL)
		assert_int_equal(collector_new(&w->options, &w->collector), 0);
	rm_loop_run(w->loop);
	assert_false(w->twice);
	return collector_shown(w->collector);
}

#define RUN(w, wanted, ...)                                                       \
	run((w), (const enum outcome[]){ __VA_ARGS__ },                           \
	    sizeof((const enum outcome[]){ __VA_ARGS__ }) / sizeof(enum outcome), \
	    (wanted))

static int
setup(void **state)
{
	static struct world w;

	w = (struct world){ .options = {
				.kind = "device",
				.name = "d1",
				.address = "10.0.0.1",
				.values = "values",
				.interval_ns = INTERVAL_NS,
				.limit_ns = HOUR_NS,
				.callbacks = { begin, NULL, NULL, hang_up, stage, &w },
			    } };
	w.options.endpoint = &w.endpoint;
	assert_int_equal(rm_loop_new(&w.loop), 0);
	w.options.loop = w.loop;
	rm_log_set_sink(on_line, &w);
	*state = &w;
	return 0;
}

static int
teardown(void **state)
{
	struct world *w = *state;

	collector_free(w->collector);
	rm_loop_free(w->loop);
	rm_log_set_sink(NULL, NULL);
	return 0;
}

static void
the_last_values_stay_with_their_age(void **state)
{
	struct world *w = *state;
	struct collector_shown shown = RUN(w, 1, GOOD);
	const rm_mono_t first = shown.at;

	assert_true(shown.up);
	assert_string_equal(shown.error, "");
	assert_int_equal(shown.interval_ns, 0); /* no earlier reading */
	shown = RUN(w, 2, GOOD);
	assert_true(shown.interval_ns > 0);
	assert_true(shown.at.ns > first.ns);
	shown = RUN(w, 3, GOOD, GOOD, OTHER);
	assert_false(shown.up);
	assert_string_equal(shown.error, strerror(ENOENT));
	assert_true(shown.at.ns > first.ns);
	assert_true(collector_read_up(w->collector) == 0);
	assert_true(collector_read_age_s(w->collector) >= 0);
	assert_int_equal(collector_counts(w->collector)->failed, 1);
	assert_int_equal(collector_counts(w->collector)->reads, 3);
}

static void
each_cause_is_logged_once_and_also_its_end(void **state)
{
	struct world *w = *state;

	w->options.interval_ns = RM_NS_PER_MS;
	RUN(w, 6, BROKEN, BROKEN, OTHER, OTHER, GOOD, GOOD);
	assert_int_equal(lines(w), 3);
	assert_non_null(strstr(w->log, "device d1: cannot read its counters at "
				       "10.0.0.1: it is broken; the last values"));
	assert_non_null(strstr(w->log, strerror(ENOENT)));
	assert_non_null(strstr(w->log, "device d1: counters read: 5 values, after 4 "
				       "readings that failed"));
}

static void
without_a_backoff_the_wait_is_always_the_interval(void **state)
{
	assert_true(RUN(*state, 4, BROKEN).wait_ns == INTERVAL_NS);
}

static void
with_a_backoff_the_wait_doubles_up_to_it(void **state)
{
	struct world *w = *state;

	w->options.backoff_ns = 3 * INTERVAL_NS;
	assert_true(RUN(w, 1, BROKEN).wait_ns == INTERVAL_NS);
	assert_true(RUN(w, 2, BROKEN).wait_ns == 2 * INTERVAL_NS);
	assert_true(RUN(w, 3, BROKEN).wait_ns == 3 * INTERVAL_NS);
	assert_true(RUN(w, 4, BROKEN).wait_ns == 3 * INTERVAL_NS);
	assert_true(RUN(w, 5, GOOD).wait_ns == INTERVAL_NS);
}

static void
a_backoff_below_the_interval_has_no_effect(void **state)
{
	struct world *w = *state;

	w->options.backoff_ns = INTERVAL_NS / 2;
	assert_true(RUN(w, 3, BROKEN).wait_ns == INTERVAL_NS);
}

static void
after_a_refused_key_a_collector_waits_for_a_retry(void **state)
{
	struct world *w = *state;

	w->options.refused_ns = HOUR_NS;
	assert_true(RUN(w, 1, REFUSED).wait_ns == HOUR_NS);
	collector_retry(w->collector); /* otherwise the next reading is in an hour */
	assert_true(RUN(w, 2, GOOD).wait_ns == INTERVAL_NS);
}

static void
a_reading_of_a_silent_device_ends_at_the_deadline(void **state)
{
	struct world *w = *state;
	struct collector_shown shown;

	w->options.limit_ns = RM_NS_PER_MS;
	shown = RUN(w, 1, SILENT);
	assert_string_equal(shown.error, "no word in time");
	collector_free(w->collector);
	w->collector = NULL;
	w->begun = 0;
	w->options.limit_ns = HOUR_NS; /* three quarters of the interval are shorter */
	assert_string_equal(RUN(w, 1, SILENT).error, "no word in time");
}

static void
a_counter_has_a_total_and_its_delta_and_a_gauge_its_value(void **state)
{
	const struct counter_state counted = { .total = 9, .delta = 2 };
	static const struct {
		int priority;
		bool gauge;
		const char *json;
	} all[] = {
		{ 3, false,
		    "{\"name\":\"n\",\"priority\":3,\"unit\":\"u\",\"total\":9,"
		    "\"delta\":2}" },
		{ -1, false,
		    "{\"name\":\"n\",\"unit\":\"u\",\"total\":9,\"delta\":2}" },
		{ -1, true, "{\"name\":\"n\",\"unit\":\"u\",\"value\":9}" },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		json_t *shown = collector_show_value(
		    "n", "u", all[i].priority, all[i].gauge, &counted);
		char *text = json_dumps(shown, JSON_COMPACT);

		assert_string_equal(text, all[i].json);
		free(text);
		json_decref(shown);
	}
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_last_values_stay_with_their_age),
		TEST(each_cause_is_logged_once_and_also_its_end),
		TEST(without_a_backoff_the_wait_is_always_the_interval),
		TEST(with_a_backoff_the_wait_doubles_up_to_it),
		TEST(a_backoff_below_the_interval_has_no_effect),
		TEST(after_a_refused_key_a_collector_waits_for_a_retry),
		TEST(a_counter_has_a_total_and_its_delta_and_a_gauge_its_value),
		TEST(a_reading_of_a_silent_device_ends_at_the_deadline),
	};

	return cmocka_run_group_tests_name("collector", tests, NULL, NULL);
}
