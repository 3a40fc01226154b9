#include "analyzer/sla/sla.h"

#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "rackmesh/metrics/sketch.h"

#define MINUTE (60 * RM_NS_PER_S)
#define BASE (INT64_C(28333333) * MINUTE)
#define WAIT (15 * RM_NS_PER_S)

static const struct sla_options options = { 10 };
static struct sla_minute minutes[64];
static size_t minute_count;
static struct sla_rack_minute racks[8]; /* counts of the newest minute */
static char tors[8][16];

static void
on_minute(const struct sla_minute *minute, void *arg)
{
	assert_true(minute_count < 64);
	assert_true(minute->rack_count <= 8);
	minutes[minute_count++] = *minute;
	for (size_t i = 0; i < minute->rack_count; i++) {
		racks[i] = minute->racks[i];
		snprintf(tors[i], sizeof(tors[i]), "%s", racks[i].tor);
	}
}

static void
ignore_minute(const struct sla_minute *minute, void *arg)
{
}

static void
feed(struct sla *sla, const char *src, const char *dst, int64_t start, uint64_t sent,
    uint64_t lost, uint64_t rtt_ns)
{
	struct rm_sketch *sketch = rm_sketch_new();
	struct wire_writer *writer = wire_writer_new();
	uint8_t bytes[RM_SKETCH_MAX_BYTES];
	struct wire_summary_view view;
	struct wire_bytes out;
	struct wire_row row = { .src_tor = src,
		.dst_tor = dst,
		.flow_set = "all",
		.sent = sent,
		.outcomes = { [WIRE_OK] = sent - lost, [WIRE_NO_REPLY] = lost } };
	struct wire_summary summary = { .head = { "a1", "r1", 1, 1 },
		.tor = src,
		.start_wall_ns = (uint64_t)start,
		.end_wall_ns = (uint64_t)(start + RM_NS_PER_S),
		.rows = &row,
		.row_count = 1 };
	int len;

	for (uint64_t i = 0; i < sent - lost; i++)
		rm_sketch_add(sketch, rtt_ns);
	len = rm_sketch_encode(sketch, bytes, sizeof bytes);
	assert_true(len > 0);
	row.rtt = (struct wire_bytes){ bytes, (size_t)len };
	assert_int_equal(wire_write_summary(writer, &summary, &out), 0);
	assert_int_equal(wire_open_summary(&view, out.data, out.len), 0);
	sla_summary(sla, &view);
	rm_sketch_free(sketch);
	wire_writer_free(writer);
}

static struct sla *
new_sla(void)
{
	struct sla *sla;

	assert_int_equal(sla_new(&options, &sla), 0);
	minute_count = 0;
	sla_close(sla, (rm_wall_t){ BASE }, 0, on_minute, NULL);
	return sla;
}

static void
keep_total(const struct sla_total *total, void *arg)
{
	struct sla_total *ret = arg;

	assert_string_equal(total->region, "r1");
	assert_string_equal(total->scope, "rack");
	*ret = *total;
}

static void
totals_grow_by_closed_minutes(void **state)
{
	struct sla *sla = new_sla();
	struct sla_total total = { 0 };

	feed(sla, "tor1", "tor1", BASE + RM_NS_PER_S, 100, 5, 10000);
	sla_each(sla, keep_total, &total);
	assert_int_equal(total.sent, 0); /* the minute has not ended */
	sla_close(sla, (rm_wall_t){ BASE + MINUTE }, 0, on_minute, NULL);
	feed(sla, "tor1", "tor1", BASE + MINUTE, 50, 0, 20000);
	sla_close(sla, (rm_wall_t){ BASE + 3 * MINUTE }, 0, on_minute, NULL);
	sla_each(sla, keep_total, &total);
	assert_int_equal(total.sent, 150);
	assert_int_equal(total.lost, 5);
	assert_int_equal(total.racks_unavailable, 1);
	assert_int_equal(total.racks_available, 1);
	assert_int_equal(total.racks_unknown, 1);
	assert_int_equal(
	    total.last_sent, 50); /* this count is of the newest minute with results */
	assert_int_equal(total.last_lost, 0);
	assert_in_range(total.last_rtt_ns[WIRE_P99], 19800, 20200);
	sla_free(sla);
}

static void
a_minute_is_a_sum_and_is_reported_once(void **state)
{
	struct sla *sla = new_sla();

	feed(sla, "tor1", "tor1", BASE + RM_NS_PER_S, 100, 0, 10000);
	feed(sla, "tor1", "tor1", BASE + 59 * RM_NS_PER_S, 100, 1, 10000);
	feed(sla, "tor2", "tor2", BASE + RM_NS_PER_S, 100, 2, 30000);
	sla_close(sla, (rm_wall_t){ BASE + MINUTE + 4 * RM_NS_PER_S }, 5 * RM_NS_PER_S,
	    on_minute, NULL);
	assert_int_equal(minute_count, 0);
	sla_close(sla, (rm_wall_t){ BASE + MINUTE + 5 * RM_NS_PER_S }, 5 * RM_NS_PER_S,
	    on_minute, NULL);
	sla_close(sla, (rm_wall_t){ BASE + MINUTE + 6 * RM_NS_PER_S }, 5 * RM_NS_PER_S,
	    on_minute, NULL);
	assert_int_equal(minute_count, 1);
	assert_string_equal(minutes[0].scope, "rack");
	assert_int_equal(minutes[0].start.ns, BASE);
	assert_int_equal(minutes[0].sent, 300);
	assert_int_equal(minutes[0].lost, 3);
	assert_int_equal(minutes[0].racks_available, 1);
	assert_int_equal(minutes[0].racks_unavailable, 1);
	assert_int_equal(minutes[0].racks_unknown, 0);
	assert_in_range(minutes[0].rtt_ns[WIRE_P50], 9900, 10100);
	assert_in_range(minutes[0].rtt_ns[WIRE_P95], 29700, 30300);
	sla_free(sla);
}

static void
a_minute_has_the_figures_of_each_rack(void **state)
{
	struct sla *sla = new_sla();

	feed(sla, "tor1", "tor1", BASE, 100, 0, 10000);
	feed(sla, "tor2", "tor2", BASE, 100, 2, 10000);
	feed(sla, "tor2", "tor2", BASE + RM_NS_PER_S, 100, 3, 10000);
	feed(sla, "tor3", "tor3", BASE, 100, 0, 10000);
	sla_close(sla, (rm_wall_t){ BASE + MINUTE }, 0, on_minute, NULL);
	assert_int_equal(minute_count, 1);
	assert_int_equal(minutes[0].rack_count, 3);
	for (size_t i = 0; i < 3; i++) {
		const bool second = strcmp(tors[i], "tor2") == 0;

		assert_int_equal(racks[i].sent, second ? 200 : 100);
		assert_int_equal(racks[i].lost, second ? 5 : 0);
		assert_int_equal(
		    racks[i].state, second ? SLA_UNAVAILABLE : SLA_AVAILABLE);
	}
	feed(sla, "tor1", "tor1", BASE + MINUTE, 100, 0, 10000);
	sla_close(sla, (rm_wall_t){ BASE + 2 * MINUTE }, 0, on_minute, NULL);
	assert_int_equal(minutes[1].rack_count, 3);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(racks[i].state,
		    strcmp(tors[i], "tor1") == 0 ? SLA_AVAILABLE : SLA_UNKNOWN);
	sla_free(sla);
}

static void
inside_and_between_racks_are_apart(void **state)
{
	struct sla *sla = new_sla();

	feed(sla, "tor1", "tor1", BASE, 10, 0, 1000);
	feed(sla, "tor1", "tor2", BASE, 20, 0, 1000);
	sla_close(sla, (rm_wall_t){ BASE + MINUTE }, 0, on_minute, NULL);
	assert_int_equal(minute_count, 2);
	assert_int_equal(minutes[0].sent + minutes[1].sent, 30);
	assert_string_not_equal(minutes[0].scope, minutes[1].scope);
	sla_free(sla);
}

static void
a_minute_without_results_is_unknown(void **state)
{
	struct sla *sla = new_sla();

	feed(sla, "tor1", "tor1", BASE, 10, 0, 1000);
	sla_close(sla, (rm_wall_t){ BASE + 2 * MINUTE }, 0, on_minute, NULL);
	assert_int_equal(minute_count, 2);
	assert_int_equal(minutes[1].racks_unknown, 1);
	assert_int_equal(minutes[1].racks_available, 0);
	sla_free(sla);
}

static void
rows_after_the_end_of_their_minute_change_nothing(void **state)
{
	struct sla *sla = new_sla();

	feed(sla, "tor1", "tor1", BASE, 10, 0, 1000);
	sla_close(sla, (rm_wall_t){ BASE + MINUTE }, 0, on_minute, NULL);
	feed(sla, "tor1", "tor1", BASE, 10, 10, 1000);
	assert_int_equal(sla_counts(sla)->late, 1);
	sla_close(sla, (rm_wall_t){ BASE + 2 * MINUTE }, 0, on_minute, NULL);
	assert_int_equal(minute_count, 2);
	assert_int_equal(minutes[1].sent, 0);
	sla_free(sla);
}

static const json_t *
part(const json_t *json, const char *which)
{
	return json_object_get(
	    json_array_get(json_object_get(json, "scopes"), 0), which);
}

static void
hour_and_day_are_sums_of_minutes(void **state)
{
	struct sla *sla = new_sla();
	json_t *json;
	int64_t now = BASE;

	for (int i = 0; i < 90; i++) {
		feed(sla, "tor1", "tor1", now, 100, 0, 1000);
		now += MINUTE;
		minute_count = 0;
		sla_close(sla, (rm_wall_t){ now }, 0, on_minute, NULL);
		assert_int_equal(minute_count, 1);
	}
	json = sla_json(sla, NULL);
	assert_int_equal(
	    json_integer_value(json_object_get(part(json, "hour"), "sent")), 6000);
	assert_int_equal(
	    json_integer_value(json_object_get(part(json, "day"), "sent")), 9000);
	assert_true(
	    json_real_value(json_object_get(part(json, "day"), "availability")) > 0.99);
	json_decref(json);
	sla_free(sla);
}

static void
a_clock_that_jumps_begins_anew(void **state)
{
	struct sla *sla = new_sla();
	const int64_t there = BASE + 100000 * MINUTE;

	feed(sla, "tor1", "tor1", BASE, 10, 0, 1000);
	feed(sla, "tor1", "tor1", there, 10, 0, 1000); /* far in the future: refused */
	sla_close(sla, (rm_wall_t){ there }, 0, on_minute, NULL);
	assert_int_equal(minute_count, 0); /* the gap makes no empty minutes */
	feed(sla, "tor1", "tor1", there, 7, 0, 1000);
	sla_close(sla, (rm_wall_t){ there + MINUTE }, 0, on_minute, NULL);
	assert_int_equal(minute_count, 1);
	assert_int_equal(minutes[0].sent, 7);
	sla_close(
	    sla, (rm_wall_t){ BASE }, 0, on_minute, NULL); /* back to the present */
	feed(sla, "tor1", "tor1", BASE, 5, 0, 1000);
	sla_close(sla, (rm_wall_t){ BASE + MINUTE }, 0, on_minute, NULL);
	assert_int_equal(minute_count, 2);
	assert_int_equal(minutes[1].sent, 5);
	sla_free(sla);
}

static json_int_t
json_figure(struct sla *sla, const char *of, const char *name)
{
	json_t *json = sla_json(sla, NULL);
	const json_t *all = json_object_get(json, "missing");
	const json_t *scope = json_array_get(json_object_get(json, "scopes"), 0);
	const json_int_t ret = json_integer_value(json_object_get(
	    strcmp(of, "missing") == 0 ? all : json_object_get(scope, of), name));

	json_decref(json);
	return ret;
}

/* NTP sets a clock that was slow at the start, or the analyzer was stopped. */
static void
minutes_that_a_step_of_the_clock_leaves_out_are_missing(void **state)
{
	static const int64_t steps[] = { 3, 30, 60, 62, 300 };

	for (size_t i = 0; i < 5; i++) {
		struct sla *sla = new_sla();
		const int64_t after = BASE + (2 + steps[i]) * MINUTE;

		/* Two minutes were measured, and the third one was not over. */
		for (int64_t n = 0; n < 3; n++) {
			feed(sla, "tor1", "tor1", BASE + n * MINUTE, 10, 0, 1000);
			sla_close(sla, (rm_wall_t){ BASE + n * MINUTE }, MINUTE,
			    on_minute, NULL);
		}
		sla_close(sla, (rm_wall_t){ after }, MINUTE, on_minute, NULL);
		feed(sla, "tor1", "tor1", after, 10, 0, 1000);
		sla_close(
		    sla, (rm_wall_t){ after + 2 * MINUTE }, MINUTE, on_minute, NULL);
		assert_int_equal(json_figure(sla, "day", "sent"), 30);
		assert_int_equal(json_figure(sla, "day", "rack_minutes_unknown"), 0);
		assert_int_equal(json_figure(sla, "missing", "day"), steps[i]);
		sla_free(sla);
	}
}

static void
a_clock_that_was_ahead_for_a_moment_costs_no_minute(void **state)
{
	struct sla *sla = new_sla();

	for (int64_t n = 0; n < 10; n++) {
		feed(sla, "tor1", "tor1", BASE + n * MINUTE, 10, 0, 1000);
		sla_close(
		    sla, (rm_wall_t){ BASE + n * MINUTE }, MINUTE, on_minute, NULL);
		if (n != 4)
			continue;
		sla_close(
		    sla, (rm_wall_t){ BASE + 34 * MINUTE }, MINUTE, on_minute, NULL);
		sla_close(
		    sla, (rm_wall_t){ BASE + n * MINUTE }, MINUTE, on_minute, NULL);
		feed(sla, "tor1", "tor1", BASE + n * MINUTE, 5, 0, 1000);
	}
	assert_int_equal(json_figure(sla, "missing", "day"), 0);
	assert_int_equal(json_figure(sla, "day", "rack_minutes_unknown"), 0);
	assert_int_equal(json_figure(sla, "day", "sent"), 8 * 10 + 5);
	sla_free(sla);
}

/* The clock is set forward just after the end of a minute, which is not closed yet. */
static void
a_clock_that_was_ahead_for_a_second_gives_no_minute_twice(void **state)
{
	static const int64_t ahead[] = { 3, 30, 60, 62, 120, 300 };

	for (size_t i = 0; i < 6; i++) {
		struct sla *sla = new_sla();
		const int64_t now = BASE + 2 * MINUTE + 5 * RM_NS_PER_S;

		feed(sla, "tor1", "tor1", BASE, 10, 0, 1000);
		feed(sla, "tor1", "tor1", BASE + MINUTE, 10, 0, 1000);
		sla_close(sla, (rm_wall_t){ now }, WAIT, on_minute, NULL);
		sla_close(
		    sla, (rm_wall_t){ now + ahead[i] * MINUTE }, WAIT, on_minute, NULL);
		sla_close(sla, (rm_wall_t){ now + RM_NS_PER_S }, WAIT, on_minute, NULL);
		feed(sla, "tor1", "tor1", BASE + MINUTE, 10, 0, 1000);
		assert_int_equal(sla_counts(sla)->late, 1);
		feed(sla, "tor1", "tor1", BASE + 2 * MINUTE, 10, 0, 1000);
		sla_close(sla, (rm_wall_t){ BASE + 4 * MINUTE }, WAIT, on_minute, NULL);
		assert_int_equal(minute_count, 3);
		for (size_t n = 0; n < minute_count; n++) {
			assert_int_equal(
			    minutes[n].start.ns, BASE + (int64_t)n * MINUTE);
			assert_int_equal(minutes[n].sent, 10);
		}
		sla_free(sla);
	}
}

/* The clock is set back just after the end of a minute, which is not closed yet. */
static void
a_clock_that_was_behind_for_a_second_costs_no_minute(void **state)
{
	static const int64_t behind[] = { 1, 2, 3, 5, 30, 62, 300, BASE / MINUTE - 10 };

	for (size_t i = 0; i < 8; i++) {
		struct sla *sla = new_sla();
		const int64_t now = BASE + 9 * MINUTE + 5 * RM_NS_PER_S;

		for (int64_t n = 0; n < 9; n++) {
			feed(sla, "tor1", "tor1", BASE + n * MINUTE, 10, 0, 1000);
			sla_close(sla,
			    (rm_wall_t){ BASE + (n + 1) * MINUTE + 5 * RM_NS_PER_S },
			    WAIT, on_minute, NULL);
		}
		sla_close(sla, (rm_wall_t){ now - behind[i] * MINUTE }, WAIT, on_minute,
		    NULL);
		sla_close(sla, (rm_wall_t){ now + RM_NS_PER_S }, WAIT, on_minute, NULL);
		/* A row of the minute that is waited for may still come. */
		feed(sla, "tor1", "tor1", BASE + 8 * MINUTE, 5, 0, 1000);
		feed(sla, "tor1", "tor1", BASE + 9 * MINUTE, 10, 0, 1000);
		sla_close(sla, (rm_wall_t){ BASE + 10 * MINUTE + WAIT }, WAIT,
		    on_minute, NULL);
		assert_int_equal(minute_count, 10);
		for (size_t n = 0; n < minute_count; n++) {
			assert_int_equal(
			    minutes[n].start.ns, BASE + (int64_t)n * MINUTE);
			assert_int_equal(minutes[n].sent, n == 8 ? 15 : 10);
		}
		assert_int_equal(json_figure(sla, "missing", "day"), 0);
		assert_int_equal(json_figure(sla, "day", "rack_minutes_unknown"), 0);
		sla_free(sla);
	}
}

/* Rows of right clocks are of the future then, and refused. The minute that was over
 * before is counted. */
static void
minutes_while_the_clock_is_behind_are_missing_and_not_unknown(void **state)
{
	struct sla *sla = new_sla();

	for (int64_t n = 0; n < 25; n++) {
		const int64_t behind = n >= 15 && n < 20 ? 10 : 0;

		sla_close(sla,
		    (rm_wall_t){ BASE + (n - behind) * MINUTE + 5 * RM_NS_PER_S }, WAIT,
		    on_minute, NULL);
		feed(sla, "tor1", "tor1", BASE + n * MINUTE, 10, 0, 1000);
	}
	sla_close(sla, (rm_wall_t){ BASE + 25 * MINUTE + WAIT }, WAIT, on_minute, NULL);
	/* The clock was set back in minute 14, and forward in minute 20. */
	assert_int_equal(json_figure(sla, "missing", "day"), 6);
	assert_int_equal(json_figure(sla, "day", "rack_minutes_unknown"), 0);
	assert_int_equal(json_figure(sla, "day", "sent"), 19 * 10);
	assert_int_equal(minute_count, 19);
	sla_free(sla);
}

#define STEPS_MINUTES 1400 /* less than is remembered of counted minutes */
static unsigned told_at[STEPS_MINUTES];

static void
count_told(const struct sla_minute *minute, void *arg)
{
	const int64_t n = (minute->start.ns - BASE) / MINUTE;

	(void)arg;
	assert_in_range(n, 0, STEPS_MINUTES - 1);
	told_at[n]++;
}

static void
each_minute_is_told_once_however_the_clock_steps(void **state)
{
	uint64_t random = 1;

	for (int run = 0; run < 5; run++) {
		struct sla *sla = new_sla();
		int64_t ahead = 0, until = 0;

		memset(told_at, 0, sizeof(told_at));
		for (int64_t s = 500 * 60; s < 900 * 60; s += 5) {
			const int64_t at = BASE + s * RM_NS_PER_S;

			feed(sla, "tor1", "tor1", at, 1, 0, 1000);
			if (s == until)
				ahead = 0;
			random = random * 6364136223846793005u + 1442695040888963407u;
			if ((random >> 33) % 300 == 0) {
				ahead = (int64_t)((random >> 43) % 960) - 480;
				until = s + 5 * (int64_t)((random >> 53) % 100);
				ahead = (random >> 63) != 0 ? ahead : ahead / 40;
			}
			sla_close(sla, (rm_wall_t){ at + ahead * MINUTE }, WAIT,
			    count_told, NULL);
		}
		for (int n = 0; n < STEPS_MINUTES; n++)
			assert_in_range(told_at[n], 0, 1);
		sla_free(sla);
	}
}

/* Measures minutes 0 and 1; sets the clock forward in minute 2, for so long that one
 * minute of the future is closed; and measures all minutes from 3 to before `end`. */
static void
be_ahead_for_a_minute(struct sla *sla, int64_t ahead, int64_t end,
    void (*told)(const struct sla_minute *minute, void *arg))
{
	const int64_t early = BASE + 2 * MINUTE + 5 * RM_NS_PER_S;
	const int64_t late = BASE + 3 * MINUTE + 45 * RM_NS_PER_S;

	feed(sla, "tor1", "tor1", BASE, 10, 0, 1000);
	feed(sla, "tor1", "tor1", BASE + MINUTE, 10, 0, 1000);
	sla_close(sla, (rm_wall_t){ early }, WAIT, told, NULL);
	sla_close(sla, (rm_wall_t){ early + ahead * MINUTE }, WAIT, told, NULL);
	sla_close(sla, (rm_wall_t){ late + ahead * MINUTE }, WAIT, told, NULL);
	sla_close(sla, (rm_wall_t){ late }, WAIT, told, NULL);
	for (int64_t n = 3; n < end; n++) {
		feed(sla, "tor1", "tor1", BASE + n * MINUTE, 10, 0, 1000);
		sla_close(sla, (rm_wall_t){ BASE + (n + 1) * MINUTE + WAIT }, WAIT,
		    told, NULL);
	}
}

static void
after_a_clock_that_was_ahead_for_a_minute_each_minute_is_told_once(void **state)
{
	static const int64_t ahead[] = { 3, 20, 30, 50 };

	for (size_t k = 0; k < 4; k++) {
		struct sla *sla = new_sla();
		bool told[60] = { false };

		be_ahead_for_a_minute(sla, ahead[k], 60, on_minute);
		for (size_t i = 0; i < minute_count; i++) {
			const int64_t n = (minutes[i].start.ns - BASE) / MINUTE;

			assert_in_range(n, 0, 59);
			assert_false(told[n]);
			told[n] = true;
			/* told as an empty one, while the clock was ahead */
			assert_int_equal(minutes[i].sent, n == ahead[k] + 2 ? 0 : 10);
		}
		assert_int_equal(minute_count, 59); /* not minute 2 */
		assert_int_equal(json_figure(sla, "missing", "day"), 1);
		assert_int_equal(json_figure(sla, "day", "sent"), 58 * 10);
		assert_int_equal(json_figure(sla, "day", "rack_minutes_unknown"), 1);
		sla_free(sla);
	}
}

static void
a_minute_is_not_counted_twice_after_a_clock_that_was_ahead_by_hours(void **state)
{
	struct sla *sla = new_sla();

	be_ahead_for_a_minute(sla, 180, 190, ignore_minute);
	assert_int_equal(json_figure(sla, "missing", "day"), 1);
	assert_int_equal(json_figure(sla, "day", "sent"), 188 * 10);
	assert_int_equal(json_figure(sla, "day", "rack_minutes_unknown"), 1);
	sla_free(sla);
}

/* The clocks of the analyzer and of an aggregator were ahead. */
static void
rows_of_the_future_keep_no_place_after_the_clock_is_set_back(void **state)
{
	struct sla *sla = new_sla();
	const int64_t ahead = BASE + 30 * MINUTE;

	sla_close(sla, (rm_wall_t){ ahead }, WAIT, on_minute, NULL);
	feed(sla, "tor1", "tor1", ahead, 10, 0, 1000);
	sla_close(sla, (rm_wall_t){ BASE }, WAIT, on_minute, NULL);
	for (int64_t n = 0; n < 8; n++) {
		feed(sla, "tor1", "tor1", BASE + n * MINUTE, 10, 0, 1000);
		sla_close(sla, (rm_wall_t){ BASE + (n + 1) * MINUTE + WAIT }, WAIT,
		    on_minute, NULL);
	}
	assert_int_equal(sla_counts(sla)->late, 0);
	assert_int_equal(minute_count, 8);
	for (size_t i = 0; i < minute_count; i++)
		assert_int_equal(minutes[i].sent, 10);
	sla_free(sla);
}

static void
a_tick_that_is_late_by_a_minute_leaves_no_minute_out(void **state)
{
	struct sla *sla = new_sla();

	feed(sla, "tor1", "tor1", BASE, 10, 0, 1000);
	sla_close(sla, (rm_wall_t){ BASE + 2 * MINUTE }, MINUTE, on_minute, NULL);
	sla_close(sla, (rm_wall_t){ BASE + 4 * MINUTE }, MINUTE, on_minute, NULL);
	assert_int_equal(minute_count, 3);
	assert_int_equal(json_figure(sla, "missing", "day"), 0);
	sla_free(sla);
}

/* The host's clock may not be known yet. */
static void
before_the_first_minute_there_is_no_time_since_which_figures_count(void **state)
{
	struct sla *sla;
	json_t *json;

	assert_int_equal(sla_new(&options, &sla), 0);
	json = sla_json(sla, NULL);
	assert_true(json_is_null(json_object_get(json, "since")));
	assert_int_equal(json_figure(sla, "missing", "day"), 0);
	json_decref(json);
	sla_close(sla, (rm_wall_t){ BASE }, 0, ignore_minute, NULL);
	json = sla_json(sla, NULL);
	assert_true(json_is_null(json_object_get(json, "since")));
	json_decref(json);
	sla_close(sla, (rm_wall_t){ BASE + MINUTE }, 0, ignore_minute, NULL);
	json = sla_json(sla, NULL);
	assert_string_equal(json_string_value(json_object_get(json, "since")),
	    "2023-11-14T22:13:00.000Z");
	json_decref(json);
	sla_free(sla);
}

/* Results of probes for one service, from one rack. */
static void
feed_service(struct sla *sla, const char *tor, const char *service, int64_t start,
    uint64_t sent, uint64_t lost)
{
	struct wire_writer *writer = wire_writer_new();
	struct wire_summary_view view;
	struct wire_bytes out;
	const struct wire_service_row row = { .service = service,
		.dscp = 26,
		.sent = sent,
		.outcomes = { [WIRE_OK] = sent - lost, [WIRE_NO_REPLY] = lost } };
	const struct wire_summary summary = { .head = { "a1", "r1", 1, 1 },
		.tor = tor,
		.services_start_wall_ns = (uint64_t)start,
		.services = &row,
		.service_count = 1 };

	assert_int_equal(wire_write_summary(writer, &summary, &out), 0);
	assert_int_equal(wire_open_summary(&view, out.data, out.len), 0);
	sla_summary(sla, &view);
	wire_writer_free(writer);
}

static json_int_t
figure(const json_t *service, const char *period, const char *name)
{
	return json_integer_value(
	    json_object_get(json_object_get(service, period), name));
}

static void
a_service_has_figures_of_the_minutes_in_which_it_was_probed(void **state)
{
	struct sla *sla = new_sla();
	json_t *json;
	const json_t *service;

	feed(sla, "tor1", "tor1", BASE, 100, 0, 10000);
	feed_service(sla, "tor1", "train", BASE, 100, 0);
	feed_service(sla, "tor2", "train", BASE, 100, 50);
	for (int64_t n = 1; n <= 3; n++)
		sla_close(sla, (rm_wall_t){ BASE + n * MINUTE }, 0, on_minute, NULL);
	/* A minute each for the rack, and one for the service. */
	assert_int_equal(minute_count, 4);
	for (size_t i = 0; i < minute_count; i++) {
		if (minutes[i].service[0] == '\0')
			continue;
		assert_int_equal(minutes[i].start.ns, BASE);
		assert_int_equal(minutes[i].sent, 200);
		assert_int_equal(minutes[i].racks_available, 1);
		assert_int_equal(minutes[i].racks_unavailable, 1);
		assert_int_equal(minutes[i].racks_unknown, 0);
	}
	json = sla_json(sla, NULL);
	assert_int_equal(json_array_size(json_object_get(json, "scopes")), 1);
	assert_int_equal(json_array_size(json_object_get(json, "services")), 1);
	service = json_array_get(json_object_get(json, "services"), 0);
	assert_string_equal(
	    json_string_value(json_object_get(service, "service")), "train");
	assert_int_equal(figure(service, "hour", "sent"), 200);
	assert_int_equal(figure(service, "hour", "lost"), 50);
	assert_int_equal(figure(service, "day", "rack_minutes_unknown"), 0);
	json_decref(json);
	sla_free(sla);
}

static void
services_come_and_go_and_are_bounded(void **state)
{
	struct sla *sla = new_sla();
	int64_t now = BASE;
	json_t *json;

	for (int i = 0; i < SLA_MAX_SERVICES + 3; i++) {
		char name[16];

		snprintf(name, sizeof(name), "job-%d", i);
		feed_service(sla, "tor1", name, now, 10, 0);
	}
	assert_int_equal(sla_counts(sla)->refused, 3);
	feed_service(sla, "tor1", "", now, 10, 0);
	feed_service(sla, "t\nor", "job-1", now, 10, 0);
	assert_int_equal(sla_counts(sla)->refused, 3);
	for (int i = 0; i <= 1441; i++) {
		now += MINUTE;
		minute_count = 0;
		sla_close(sla, (rm_wall_t){ now }, 0, ignore_minute, NULL);
	}
	json = sla_json(sla, NULL);
	assert_int_equal(json_array_size(json_object_get(json, "services")), 0);
	json_decref(json);
	feed_service(sla, "tor1", "job-9999", now, 10, 0);
	assert_int_equal(sla_counts(sla)->refused, 3);
	sla_free(sla);
}

static void
many_services_do_not_use_up_the_room_of_racks(void **state)
{
	struct sla *sla = new_sla();
	const int each = SLA_MAX_SERVICE_RACKS / SLA_MAX_SERVICES;
	char tor[16], service[16];

	for (int i = 0; i < SLA_MAX_SERVICES; i++)
		for (int j = 0; j < each; j++) {
			snprintf(service, sizeof(service), "job-%d", i);
			snprintf(tor, sizeof(tor), "tor%d", j);
			feed_service(sla, tor, service, BASE, 10, 0);
		}
	assert_int_equal(sla_counts(sla)->refused, 0);
	feed_service(sla, "one-more", "job-1", BASE, 10, 0);
	assert_int_equal(sla_counts(sla)->refused, 1);
	feed(sla, "tor1", "tor1", BASE, 10, 0, 1000);
	assert_int_equal(sla_counts(sla)->refused, 1);
	sla_free(sla);
}

static void
with_too_many_services_the_longest_silent_one_is_removed(void **state)
{
	struct sla *sla = new_sla();
	json_t *json;
	bool there[3] = { false };
	size_t i;

	feed_service(sla, "tor1", "first", BASE, 10, 0);
	sla_close(sla, (rm_wall_t){ BASE + MINUTE }, 0, ignore_minute, NULL);
	for (i = 1; i < SLA_MAX_SERVICES; i++) {
		char name[16];

		snprintf(name, sizeof(name), "job-%zu", i);
		feed_service(sla, "tor1", name, BASE + MINUTE, 10, 0);
	}
	feed_service(sla, "tor1", "new", BASE + MINUTE, 10, 0);
	assert_int_equal(sla_counts(sla)->evicted, 1);
	assert_int_equal(sla_counts(sla)->refused, 0);
	/* A minute is open for every other service. */
	feed_service(sla, "tor1", "first", BASE + MINUTE, 10, 0);
	assert_int_equal(sla_counts(sla)->evicted, 1);
	assert_int_equal(sla_counts(sla)->refused, 1);
	sla_close(sla, (rm_wall_t){ BASE + 2 * MINUTE }, 0, ignore_minute, NULL);
	feed_service(sla, "tor1", "job-1", BASE + 2 * MINUTE, 10, 0);
	feed_service(sla, "tor1", "first", BASE + 2 * MINUTE, 10, 0);
	assert_int_equal(sla_counts(sla)->evicted, 2);
	json = sla_json(sla, NULL);
	assert_int_equal(
	    json_array_size(json_object_get(json, "services")), SLA_MAX_SERVICES);
	for (i = 0; i < SLA_MAX_SERVICES; i++) {
		const char *name = json_string_value(json_object_get(
		    json_array_get(json_object_get(json, "services"), i), "service"));

		there[0] = there[0] || strcmp(name, "first") == 0;
		there[1] = there[1] || strcmp(name, "new") == 0;
		there[2] = there[2] || strcmp(name, "job-1") == 0;
	}
	assert_true(there[0] && there[1] && there[2]);
	json_decref(json);
	sla_free(sla);
}

/* A sketch of round-trip times between 10 and 100 us. */
static struct wire_bytes
wide_sketch(void)
{
	static uint8_t bytes[RM_SKETCH_MAX_BYTES];
	struct rm_sketch *sketch = rm_sketch_new();
	int len;

	for (uint64_t rtt = 10000; rtt < 100000; rtt += 50)
		rm_sketch_add(sketch, rtt);
	len = rm_sketch_encode(sketch, bytes, sizeof(bytes));
	rm_sketch_free(sketch);
	return (struct wire_bytes){ bytes, (size_t)len };
}

/* One summary with the largest permitted number of services. */
static void
feed_services(struct sla *sla, int from, int64_t start, struct wire_bytes rtt)
{
	static char names[WIRE_MAX_SERVICE_ROWS][16];
	static struct wire_service_row rows[WIRE_MAX_SERVICE_ROWS];
	struct wire_writer *writer = wire_writer_new();
	struct wire_summary_view view;
	struct wire_bytes out;
	const struct wire_summary summary = { .head = { "a1", "r1", 1, 1 },
		.tor = "tor1",
		.services_start_wall_ns = (uint64_t)start,
		.services = rows,
		.service_count = WIRE_MAX_SERVICE_ROWS };

	for (int i = 0; i < WIRE_MAX_SERVICE_ROWS; i++) {
		snprintf(names[i], sizeof(names[i]), "job-%d", from + i);
		rows[i] = (struct wire_service_row){ .service = names[i],
			.dscp = 26,
			.sent = 1800,
			.outcomes = { [WIRE_OK] = 1800 },
			.rtt = rtt };
	}
	assert_int_equal(wire_write_summary(writer, &summary, &out), 0);
	assert_int_equal(wire_open_summary(&view, out.data, out.len), 0);
	sla_summary(sla, &view);
	wire_writer_free(writer);
}

/* CPU time in ms of computing all sums at once, which a running analyzer spreads: a few
 * each second. */
static double
ask_ms(struct sla *sla, json_t **ret)
{
	struct timespec t0, t1;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t0);
	*ret = sla_json(sla, NULL);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t1);
	return (double)(t1.tv_sec - t0.tv_sec) * 1e3 +
	       (double)(t1.tv_nsec - t0.tv_nsec) / 1e6;
}

static void
an_hour_of_every_service_takes_little_memory(void **state)
{
	const struct wire_bytes rtt = wide_sketch();
	const size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
	struct sla *sla = new_sla();
	const json_t *service, *reported;
	double first_ms, again_ms;
	size_t bytes;
	json_t *json;

	for (int minute = 0; minute < 61; minute++) {
		for (int i = 0; i < SLA_MAX_SERVICES; i += WIRE_MAX_SERVICE_ROWS)
			feed_services(sla, i, BASE + minute * MINUTE, rtt);
		sla_close(sla, (rm_wall_t){ BASE + (minute + 1) * MINUTE }, 0,
		    ignore_minute, NULL);
	}
	bytes = mallinfo2().uordblks + mallinfo2().hblkhd - before;
	first_ms = ask_ms(sla, &json);
	json_decref(json);
	again_ms = ask_ms(sla, &json);
	print_message("%d services: %zu KiB each, answered in %.1f ms, again in %.1f\n",
	    SLA_MAX_SERVICES, bytes / SLA_MAX_SERVICES / 1024, first_ms, again_ms);
	assert_true(bytes < SLA_MAX_SERVICES * (size_t)(128 << 10));
	service = json_array_get(json_object_get(json, "services"), 7);
	assert_int_equal(figure(service, "hour", "sent"), 60 * 1800);
	assert_int_equal(figure(service, "day", "sent"), 61 * 1800);
	reported = json_object_get(json_object_get(service, "hour"), "rtt_ns");
	assert_in_range(
	    json_integer_value(json_object_get(reported, "p50")), 54450, 55550);
	assert_int_equal(json_integer_value(json_object_get(reported, "max")), 99950);
	json_decref(json);
	sla_free(sla);
}

/* The clock stood in 1970 at the start, and was then set. */
static void
figures_begin_with_the_first_counted_minute_of_the_day(void **state)
{
	struct sla *sla;
	json_t *json;

	assert_int_equal(sla_new(&options, &sla), 0);
	sla_close(sla, (rm_wall_t){ 10 * MINUTE }, 0, ignore_minute, NULL);
	sla_close(sla, (rm_wall_t){ 12 * MINUTE }, 0, ignore_minute, NULL);
	sla_close(sla, (rm_wall_t){ BASE }, 0, ignore_minute, NULL);
	sla_close(sla, (rm_wall_t){ BASE + 2 * MINUTE }, 0, ignore_minute, NULL);
	json = sla_json(sla, NULL);
	assert_string_equal(json_string_value(json_object_get(json, "since")),
	    "2023-11-14T22:13:00.000Z");
	assert_int_equal(json_integer_value(
			     json_object_get(json_object_get(json, "missing"), "day")),
	    0);
	json_decref(json);
	sla_free(sla);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(totals_grow_by_closed_minutes),
		cmocka_unit_test(a_minute_is_a_sum_and_is_reported_once),
		cmocka_unit_test(a_minute_has_the_figures_of_each_rack),
		cmocka_unit_test(inside_and_between_racks_are_apart),
		cmocka_unit_test(a_minute_without_results_is_unknown),
		cmocka_unit_test(rows_after_the_end_of_their_minute_change_nothing),
		cmocka_unit_test(hour_and_day_are_sums_of_minutes),
		cmocka_unit_test(a_clock_that_jumps_begins_anew),
		cmocka_unit_test(
		    figures_begin_with_the_first_counted_minute_of_the_day),
		cmocka_unit_test(
		    a_service_has_figures_of_the_minutes_in_which_it_was_probed),
		cmocka_unit_test(services_come_and_go_and_are_bounded),
		cmocka_unit_test(
		    minutes_that_a_step_of_the_clock_leaves_out_are_missing),
		cmocka_unit_test(a_tick_that_is_late_by_a_minute_leaves_no_minute_out),
		cmocka_unit_test(
		    rows_of_the_future_keep_no_place_after_the_clock_is_set_back),
		cmocka_unit_test(a_clock_that_was_ahead_for_a_moment_costs_no_minute),
		cmocka_unit_test(
		    a_clock_that_was_ahead_for_a_second_gives_no_minute_twice),
		cmocka_unit_test(a_clock_that_was_behind_for_a_second_costs_no_minute),
		cmocka_unit_test(each_minute_is_told_once_however_the_clock_steps),
		cmocka_unit_test(
		    minutes_while_the_clock_is_behind_are_missing_and_not_unknown),
		cmocka_unit_test(
		    after_a_clock_that_was_ahead_for_a_minute_each_minute_is_told_once),
		cmocka_unit_test(
		    a_minute_is_not_counted_twice_after_a_clock_that_was_ahead_by_hours),
		cmocka_unit_test(
		    before_the_first_minute_there_is_no_time_since_which_figures_count),
		cmocka_unit_test(
		    with_too_many_services_the_longest_silent_one_is_removed),
		cmocka_unit_test(an_hour_of_every_service_takes_little_memory),
		cmocka_unit_test(many_services_do_not_use_up_the_room_of_racks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
