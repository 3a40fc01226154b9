#include "analyzer/sla/sla_kept.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/sla/sla.h"
#include "rackmesh/core/crc32c.h"
#include "rackmesh/metrics/sketch.h"

#define MINUTE (60 * RM_NS_PER_S)
#define BASE (INT64_C(28333320) * MINUTE) /* a full hour */

static const struct sla_options options = { 10 };
static size_t closed; /* minutes of scopes */

static void
on_minute(const struct sla_minute *minute, void *arg)
{
	closed++;
}

static void
close_at(struct sla *sla, int64_t ns)
{
	sla_close(sla, (rm_wall_t){ ns }, 0, on_minute, NULL);
}

/* Takes the probes of a rack, and of a service of it, in the minute of `start`. */
static void
feed(struct sla *sla, const char *tor, int64_t start, uint64_t lost)
{
	struct rm_sketch *sketch = rm_sketch_new();
	struct wire_writer *writer = wire_writer_new();
	uint8_t bytes[RM_SKETCH_MAX_BYTES];
	struct wire_summary_view view;
	struct wire_bytes out;
	struct wire_row row = { .src_tor = tor,
		.dst_tor = tor,
		.flow_set = "all",
		.sent = 100,
		.outcomes = { [WIRE_OK] = 100 - lost, [WIRE_NO_REPLY] = lost } };
	struct wire_service_row service = {
		.service = "training", .sent = 10, .outcomes = { [WIRE_OK] = 10 }
	};
	struct wire_summary summary = { .head = { "a1", "r1", 1, 1 },
		.tor = tor,
		.start_wall_ns = (uint64_t)start,
		.end_wall_ns = (uint64_t)(start + RM_NS_PER_S),
		.services_start_wall_ns = (uint64_t)start,
		.rows = &row,
		.row_count = 1,
		.services = &service,
		.service_count = 1 };
	int len;

	for (uint64_t i = 0; i < 100; i++)
		rm_sketch_add(sketch, 10000 + 100 * i);
	len = rm_sketch_encode(sketch, bytes, sizeof(bytes));
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
	return sla;
}

/* Two hours of a rack; closed up to `end`. */
static struct sla *
two_hours(int64_t *end)
{
	struct sla *sla = new_sla();

	close_at(sla, BASE);
	for (int64_t m = 0; m < 120; m++) {
		feed(sla, "tor1", BASE + m * MINUTE, m % 2);
		close_at(sla, BASE + (m + 1) * MINUTE);
	}
	*end = BASE + 120 * MINUTE;
	return sla;
}

/* Returns a complete save, and the number of turns that it took. */
static int
write_all(struct sla *sla, struct sla_save *save)
{
	int turns = 1, r;

	while ((r = sla_kept_write(sla, save)) == 0)
		turns++;
	assert_int_equal(r, 1);
	sla_kept_seal(save);
	return turns;
}

/* Writes the figures, and reads them into another struct sla. Frees the first. */
static struct sla *
restart(struct sla *sla, int64_t now)
{
	struct sla_save save = { .max_bytes = 200000, .turn_bytes = 200000 };
	struct sla *again = new_sla();

	assert_int_equal(write_all(sla, &save), 1);
	assert_int_equal(save.left_out, 0);
	assert_int_equal(
	    sla_kept_read(again, save.data, save.len, (rm_wall_t){ now }), 0);
	sla_kept_drop(&save);
	sla_free(sla);
	sla_close(again, (rm_wall_t){ now }, SLA_MAX_WAIT_NS, on_minute, NULL);
	return again;
}

/* The day of the first scope or service. */
static char *
day_of(struct sla *sla, const char *list)
{
	json_t *json = sla_json(sla, NULL);
	char *text = json_dumps(
	    json_object_get(json_array_get(json_object_get(json, list), 0), "day"),
	    JSON_SORT_KEYS);

	assert_non_null(text);
	json_decref(json);
	return text;
}

static size_t
count_of(struct sla *sla, const char *list)
{
	json_t *json = sla_json(sla, NULL);
	const size_t count = json_array_size(json_object_get(json, list));

	json_decref(json);
	return count;
}

static int64_t
figure(struct sla *sla, const char *list, const char *period, const char *name)
{
	json_t *json = sla_json(sla, NULL);
	const json_t *scope = json_array_get(json_object_get(json, list), 0);
	const json_t *figures = scope == NULL ? json_object_get(json, list)
					      : json_object_get(scope, period);
	const int64_t value = json_integer_value(
	    json_object_get(figures, name[0] == '\0' ? period : name));

	json_decref(json);
	return value;
}

static void
the_figures_of_the_day_are_the_same_after_a_restart(void **state)
{
	int64_t end;
	struct sla *sla = two_hours(&end);
	char *scope = day_of(sla, "scopes"), *service = day_of(sla, "services");
	char *scope_after, *service_after;

	assert_int_equal(figure(sla, "scopes", "day", "lost"), 60);
	assert_int_equal(figure(sla, "services", "day", "sent"), 1200);
	sla = restart(sla, end);
	scope_after = day_of(sla, "scopes");
	service_after = day_of(sla, "services");
	assert_string_equal(scope, scope_after);
	assert_string_equal(service, service_after);
	assert_int_equal(figure(sla, "scopes", "hour", "lost"), 30);
	free(scope);
	free(service);
	free(scope_after);
	free(service_after);
	sla_free(sla);
}

static void
minutes_of_the_restart_are_missing_and_not_unknown(void **state)
{
	int64_t end;
	struct sla *sla = two_hours(&end);

	feed(sla, "tor1", end, 0); /* the former process did not close this minute */
	sla = restart(sla, end + MINUTE + 30 * RM_NS_PER_S);
	closed = 0;
	feed(sla, "tor1", end + MINUTE, 0);
	assert_int_equal(sla_counts(sla)->late, 2);
	feed(sla, "tor1", end + 2 * MINUTE, 0);
	close_at(sla, end + 3 * MINUTE);
	assert_int_equal(closed, 2); /* one minute of the scope and of the service */
	assert_int_equal(figure(sla, "missing", "day", ""), 2);
	assert_int_equal(figure(sla, "scopes", "day", "sent"), 12100);
	assert_int_equal(figure(sla, "scopes", "day", "rack_minutes_unknown"), 0);

	/* The rack is still expected to send results. */
	close_at(sla, end + 4 * MINUTE);
	assert_int_equal(figure(sla, "scopes", "day", "rack_minutes_unknown"), 1);
	sla_free(sla);
}

static void
minutes_without_the_analyzer_are_missing(void **state)
{
	int64_t end;
	struct sla *sla = two_hours(&end);

	sla = restart(sla, end + 29 * MINUTE);
	close_at(sla, end + 31 * MINUTE);
	assert_int_equal(figure(sla, "scopes", "hour", "sent"), 2900);
	assert_int_equal(figure(sla, "scopes", "day", "sent"), 12000);
	assert_int_equal(figure(sla, "missing", "hour", ""), 30);
	assert_int_equal(figure(sla, "missing", "day", ""), 30);
	sla_free(sla);
}

/* The time of the file is that of the last closed minute, a minute before `end`. */
static void
figures_of_the_future_or_older_than_a_day_are_refused(void **state)
{
	const struct {
		int64_t minutes;
		int r;
	} cases[] = { { -32, -ERANGE }, { -31, 0 }, { 1439, 0 }, { 1440, -ERANGE } };
	struct sla_save save = { .max_bytes = 200000, .turn_bytes = 200000 };
	int64_t end;
	struct sla *sla = two_hours(&end);

	write_all(sla, &save);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sla *again = new_sla();
		const rm_wall_t now = { end + cases[i].minutes * MINUTE };

		assert_int_equal(
		    sla_kept_read(again, save.data, save.len, now), cases[i].r);
		assert_int_equal(count_of(again, "scopes"), cases[i].r == 0);
		sla_free(again);
	}
	sla_kept_drop(&save);
	sla_free(sla);
}

static void
a_minute_is_not_closed_again_after_the_clock_was_set_back(void **state)
{
	int64_t end;
	struct sla *sla = two_hours(&end);

	sla = restart(sla, end - 20 * MINUTE);
	closed = 0;
	for (int64_t m = -20; m <= 0; m++) {
		feed(sla, "tor1", end + m * MINUTE, 0);
		close_at(sla, end + m * MINUTE);
	}
	assert_int_equal(closed, 0);
	close_at(sla, end + MINUTE);
	assert_int_equal(closed, 2);
	assert_int_equal(figure(sla, "scopes", "day", "sent"), 12100);
	sla_free(sla);
}

static void
newer_figures_survive_a_clock_that_was_wrong_by_hours(void **state)
{
	int64_t end;
	struct sla *sla = two_hours(&end);

	close_at(sla, BASE - 300 * MINUTE);
	close_at(sla, BASE - 299 * MINUTE);
	sla = restart(sla, BASE - 299 * MINUTE);
	close_at(sla, BASE - 297 * MINUTE);
	assert_int_equal(figure(sla, "scopes", "day", "sent"), 0);
	close_at(sla, end);
	close_at(sla, end + MINUTE);
	assert_int_equal(figure(sla, "scopes", "day", "sent"), 12000);
	sla_free(sla);
}

/* The clock was ten years ahead while the rack sent its last results. */
static void
a_rack_is_forgotten_after_a_restart_and_a_day_without_results(void **state)
{
	const int64_t ahead = BASE + INT64_C(5256000) * MINUTE;
	int64_t end;
	struct sla *sla = two_hours(&end);

	close_at(sla, ahead);
	feed(sla, "tor1", ahead, 0);
	close_at(sla, end);
	sla = restart(sla, end);
	for (int64_t m = 30; m <= 1530; m += 30)
		close_at(sla, end + m * MINUTE);
	assert_int_equal(figure(sla, "scopes", "hour", "rack_minutes_unknown"), 0);
	sla = restart(sla, end + 1530 * MINUTE);
	assert_int_equal(count_of(sla, "scopes"), 0);
	sla_free(sla);
}

static void
a_save_is_made_in_turns(void **state)
{
	struct sla_save save = { .max_bytes = 200000, .turn_bytes = 1 };
	int64_t end;
	struct sla *sla = two_hours(&end), *again = new_sla();

	assert_int_equal(write_all(sla, &save), 2); /* one scope, one service */
	sla_kept_drop(&save);
	assert_int_equal(sla_kept_write(sla, &save), 0);
	feed(sla, "tor1", end, 0);
	close_at(sla, end + MINUTE); /* so that the save is old: it begins again */
	assert_int_equal(write_all(sla, &save), 2);
	assert_int_equal(
	    sla_kept_read(again, save.data, save.len, (rm_wall_t){ end }), 0);
	close_at(again, end + MINUTE);
	assert_int_equal(figure(again, "scopes", "day", "sent"), 12100);
	assert_int_equal(figure(again, "services", "day", "sent"), 1210);
	sla_kept_drop(&save);
	sla_free(again);
	sla_free(sla);
}

static void
a_save_ends_at_the_first_scope_that_does_not_fit(void **state)
{
	struct sla_save save = { .max_bytes = 200000, .turn_bytes = 200000 };
	int64_t end;
	struct sla *sla = two_hours(&end), *again = new_sla();

	write_all(sla, &save);
	save.max_bytes = save.len - 1;
	sla_kept_drop(&save);
	write_all(sla, &save);
	assert_int_equal(save.left_out, 1);
	assert_int_equal(
	    sla_kept_read(again, save.data, save.len, (rm_wall_t){ end }), 0);
	assert_int_equal(count_of(again, "scopes"), 1);
	assert_int_equal(count_of(again, "services"), 0);

	/* The service alone would fit. */
	save.max_bytes = save.len - 1;
	sla_kept_drop(&save);
	write_all(sla, &save);
	assert_int_equal(save.left_out, 2);
	assert_true(save.len < 1000);
	sla_kept_drop(&save);
	sla_free(again);
	sla_free(sla);
}

static void
bytes_that_are_damaged_or_of_another_version_are_refused(void **state)
{
	struct sla_save save = { .max_bytes = 200000, .turn_bytes = 200000 };
	int64_t end;
	struct sla *sla = two_hours(&end), *again = new_sla();
	const rm_wall_t now = { end };
	const size_t kind = 12 + 8 + 25 * 16; /* of the first scope */
	uint32_t crc;

	write_all(sla, &save);
	for (size_t cut = 0; cut < save.len; cut += 1 + cut / 8)
		assert_int_equal(sla_kept_read(again, save.data, cut, now), -EBADMSG);
	for (size_t i = 0; i < save.len; i += 1 + i / 8) {
		save.data[i] ^= 0x10;
		assert_int_equal(
		    sla_kept_read(again, save.data, save.len, now), -EBADMSG);
		save.data[i] ^= 0x10;
	}
	/* The checksum is right, and the contents are not. */
	save.data[kind] = 7;
	crc = rm_crc32c(0, save.data + 12, save.len - 12);
	for (int k = 0; k < 4; k++)
		save.data[8 + k] = (uint8_t)(crc >> (24 - 8 * k));
	assert_int_equal(sla_kept_read(again, save.data, save.len, now), -EBADMSG);
	assert_int_equal(count_of(again, "scopes"), 0);
	sla_kept_drop(&save);
	sla_free(again);
	sla_free(sla);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_figures_of_the_day_are_the_same_after_a_restart),
		cmocka_unit_test(minutes_of_the_restart_are_missing_and_not_unknown),
		cmocka_unit_test(minutes_without_the_analyzer_are_missing),
		cmocka_unit_test(figures_of_the_future_or_older_than_a_day_are_refused),
		cmocka_unit_test(
		    a_minute_is_not_closed_again_after_the_clock_was_set_back),
		cmocka_unit_test(newer_figures_survive_a_clock_that_was_wrong_by_hours),
		cmocka_unit_test(
		    a_rack_is_forgotten_after_a_restart_and_a_day_without_results),
		cmocka_unit_test(a_save_is_made_in_turns),
		cmocka_unit_test(a_save_ends_at_the_first_scope_that_does_not_fit),
		cmocka_unit_test(
		    bytes_that_are_damaged_or_of_another_version_are_refused),
	};

	return cmocka_run_group_tests_name("sla_kept", tests, NULL, NULL);
}
