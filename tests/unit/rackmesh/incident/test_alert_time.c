#include "rackmesh/incident/alert_time.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "rackmesh/incident/incident.h"

#define S RM_NS_PER_S
#define RIGHT (INT64_C(1700000000) * S)
#define YEARS (INT64_C(315360000) * S)

/* 40 s after it was sent, by a clock with this error before and that error now. */
static struct alert_time
time_of(int64_t before, int64_t now, bool known)
{
	const struct alert_time time = {
		.now = { 140 * S },
		.wall = { RIGHT + 40 * S + now },
		.sent = { RIGHT + 40 * S + (known ? 0 : now) },
		.known = known,
		.since = { 100 * S },
		.since_wall = { RIGHT + before },
	};

	return time;
}

static struct rm_incident
mended(int64_t opened, int64_t resolved, struct alert_time time)
{
	struct rm_incident incident = {
		.opened = { opened }, .changed = time.wall, .resolved = { resolved }
	};

	if (resolved != 0)
		incident.changed = incident.resolved;
	alert_time_mend(&incident, &time);
	return incident;
}

static void
times_of_a_clock_that_is_right_stay_as_they_are(void **state)
{
	struct rm_incident incident = mended(RIGHT - S, 0, time_of(0, 0, true));

	assert_int_equal(incident.opened.ns, RIGHT - S);
	assert_int_equal(incident.changed.ns, RIGHT + 40 * S);
	incident = mended(RIGHT - 7200 * S, RIGHT + 39 * S, time_of(0, 0, true));
	assert_int_equal(incident.opened.ns, RIGHT - 7200 * S);
	assert_int_equal(incident.resolved.ns, RIGHT + 39 * S);
}

static void
times_by_a_wrong_clock_are_given_by_the_receivers_clock(void **state)
{
	static const int64_t off[] = { YEARS, -YEARS, 3600 * S, -3600 * S };

	for (size_t i = 0; i < sizeof(off) / sizeof(off[0]); i++) {
		const struct alert_time time = time_of(off[i], off[i], true);
		struct rm_incident incident = mended(RIGHT + off[i], 0, time);

		assert_int_equal(incident.opened.ns, RIGHT);
		assert_int_equal(incident.changed.ns, RIGHT + 40 * S);
		incident = mended(RIGHT + off[i], RIGHT + 40 * S + off[i], time);
		assert_int_equal(incident.opened.ns, RIGHT);
		assert_int_equal(incident.resolved.ns, RIGHT + 40 * S);
	}
}

static void
a_start_by_a_wrong_clock_is_corrected_when_the_clock_is_set(void **state)
{
	for (int known = 0; known < 2; known++) {
		const struct alert_time ahead = time_of(YEARS, 0, known);
		const struct alert_time behind = time_of(-YEARS, 0, known);

		assert_int_equal(mended(RIGHT + YEARS, 0, ahead).opened.ns, RIGHT);
		assert_int_equal(mended(RIGHT - YEARS, 0, behind).opened.ns,
		    known ? RIGHT : RIGHT - YEARS);
	}
}

static void
an_end_by_a_clock_that_was_set_ahead_is_now(void **state)
{
	for (int known = 0; known < 2; known++) {
		struct rm_incident incident =
		    mended(RIGHT, RIGHT + 40 * S + YEARS, time_of(0, YEARS, known));

		assert_int_equal(incident.resolved.ns, RIGHT + 40 * S);
		assert_int_equal(incident.opened.ns, RIGHT);
		assert_int_equal(incident.changed.ns, incident.resolved.ns);
	}
}

static void
an_alert_of_a_former_run_never_begins_in_the_future(void **state)
{
	struct alert_time time = time_of(0, YEARS, true);
	struct rm_incident incident;

	time.since.ns = 0;
	incident = mended(RIGHT - 7200 * S, RIGHT - 3600 * S, time);
	assert_int_equal(incident.opened.ns, RIGHT - 7200 * S);
	assert_int_equal(incident.resolved.ns, RIGHT - 3600 * S);
	incident = mended(RIGHT + YEARS, RIGHT + YEARS + S, time);
	assert_int_equal(incident.opened.ns, RIGHT + 40 * S);
	assert_int_equal(incident.resolved.ns, RIGHT + 40 * S);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_of_a_clock_that_is_right_stay_as_they_are),
		cmocka_unit_test(
		    times_by_a_wrong_clock_are_given_by_the_receivers_clock),
		cmocka_unit_test(
		    a_start_by_a_wrong_clock_is_corrected_when_the_clock_is_set),
		cmocka_unit_test(an_end_by_a_clock_that_was_set_ahead_is_now),
		cmocka_unit_test(an_alert_of_a_former_run_never_begins_in_the_future),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
