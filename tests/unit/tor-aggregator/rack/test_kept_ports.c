#include "tor-aggregator/rack/kept_ports.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "rackmesh/judge/recurrence.h"
#include "tests/unit/tor-aggregator/rack_fixture.h"
#include "tor-aggregator/judge/rack_judge.h"

#define MS RM_NS_PER_MS
#define S RM_NS_PER_S
#define MEMBERS 4
#define NO_MEMBER SIZE_MAX
#define EVERY_NS (10 * S) /* between two link-downs */

/* For ns, all members probe all others every 50 ms; probes to and from `dead` are lost.
 */
static void
run(struct rack_fixture *f, size_t dead, int64_t ns)
{
	for (int64_t t = 0; t < ns; t += 50 * MS) {
		struct wire_result results[FIXTURE_MAX];

		f->now.ns += 50 * MS;
		for (size_t src = 0; src < MEMBERS; src++) {
			size_t count = 0;

			for (size_t dst = 0; dst < MEMBERS; dst++)
				if (dst != src)
					results[count++] = fixture_result(f, src,
					    0x100 + dst, 500 * MS,
					    src == dead || dst == dead ? WIRE_NO_REPLY
								       : WIRE_OK);
			assert_int_equal(
			    fixture_batch(f, src, ++f->seq[src], results, count), 0);
		}
		fixture_tick(f);
	}
}

/* The port of member 2 goes down for half a second. */
static void
fall(struct rack_fixture *f)
{
	struct wire_rnic *rnic = &f->plan->members[2];

	rnic->link = WIRE_LINK_DOWN;
	assert_true(tor_rack_register(f->rack, rnic, f->now) >= 0);
	run(f, 2, 500 * MS);
	rnic->link = WIRE_LINK_UP;
	assert_true(tor_rack_register(f->rack, rnic, f->now) >= 0);
	run(f, NO_MEMBER, EVERY_NS - 500 * MS);
}

/* Restarts the aggregator so much later, when both clocks have other values. */
static struct rack_fixture *
live_again(struct rack_fixture *f, int64_t later_ns)
{
	const rm_wall_t wall = { FIXTURE_WALL + 1000 * S };
	json_t *saved = tor_rack_save(f->rack, f->now, wall);
	struct rack_fixture *next = fixture_rack(MEMBERS, 2);
	struct rm_error error = { 0 };

	assert_non_null(saved);
	assert_true(tor_rack_restore(next->rack, saved, next->now,
			(rm_wall_t){ wall.ns + later_ns }, &error) >= 0);
	assert_string_equal(error.text, "");
	json_decref(saved);
	fixture_rack_free(f);
	run(next, NO_MEMBER, 3 * S);
	return next;
}

static const struct rm_verdict *
newest(const struct rack_fixture *f)
{
	const struct rm_incident *incident =
	    rm_incidents_get(tor_rack_incidents(f->rack), 0);

	return incident != NULL ? &incident->verdict : NULL;
}

static void
link_downs_before_a_restart_count(void **state)
{
	struct rack_fixture *f = fixture_rack(MEMBERS, 2);

	(void)state;
	run(f, NO_MEMBER, 3 * S);
	fall(f);
	assert_int_equal(tor_rack_port_falls(f->rack), 1);
	fall(f);
	assert_int_equal(tor_rack_port_falls(f->rack), 2);
	f = live_again(f, 20 * S);
	fall(f);
	assert_non_null(newest(f));
	assert_int_equal(newest(f)->kind, RM_KIND_RNIC_FLAPPING);
	assert_non_null(strstr(newest(f)->evidence.observed, "went down 3 times"));
	fixture_rack_free(f);
}

/* The time of the restart does not count as up: the incident ends three gaps after the
 * restart. */
static void
a_flapping_port_continues_its_incident_after_a_restart(void **state)
{
	struct rack_fixture *f = fixture_rack(MEMBERS, 2);
	uint64_t id;

	(void)state;
	run(f, NO_MEMBER, 3 * S);
	for (int i = 0; i < 4; i++)
		fall(f);
	assert_int_equal(newest(f)->kind, RM_KIND_RNIC_FLAPPING);
	id = rm_incidents_get(tor_rack_incidents(f->rack), 0)->id;
	f = live_again(f, 60 * S);
	run(f, NO_MEMBER, 20 * S);
	assert_int_equal(rm_incidents_open(tor_rack_incidents(f->rack)), 1);
	assert_int_equal(rm_incidents_get(tor_rack_incidents(f->rack), 0)->id, id);
	fall(f);
	assert_int_equal(rm_incidents_open(tor_rack_incidents(f->rack)), 1);
	assert_non_null(strstr(newest(f)->evidence.observed, "went down 5 times"));
	assert_int_equal(f->opened, 0);
	run(f, NO_MEMBER, 80 * S);
	assert_int_equal(rm_incidents_open(tor_rack_incidents(f->rack)), 0);
	fixture_rack_free(f);
}

/* The aggregator was off for a weekend. */
static void
old_link_downs_do_not_count(void **state)
{
	static const int gaps[] = { 1,
		40 }; /* between two link-downs, in units of 10 s */

	(void)state;
	for (size_t i = 0; i < sizeof(gaps) / sizeof(gaps[0]); i++) {
		struct rack_fixture *f = fixture_rack(MEMBERS, 2);

		run(f, NO_MEMBER, 3 * S);
		for (int n = 0; n < 4; n++) {
			fall(f);
			run(f, NO_MEMBER, (gaps[i] - 1) * EVERY_NS);
		}
		assert_int_equal(newest(f)->kind, RM_KIND_RNIC_FLAPPING);
		f = live_again(f, 48 * 3600 * S);
		run(f, NO_MEMBER, 20 * S);
		assert_int_equal(rm_incidents_open(tor_rack_incidents(f->rack)), 0);
		fall(f);
		assert_int_not_equal(newest(f)->kind, RM_KIND_RNIC_FLAPPING);
		fixture_rack_free(f);
	}
}

/* The port of member 2 flaps, and then is down for two hours. */
static void
a_flapping_port_that_is_still_down_is_kept(void **state)
{
	struct rack_fixture *f = fixture_rack(MEMBERS, 2);
	struct wire_rnic *rnic = &f->plan->members[2];

	(void)state;
	run(f, NO_MEMBER, 3 * S);
	for (int i = 0; i < 4; i++)
		fall(f);
	rnic->link = WIRE_LINK_DOWN;
	assert_true(tor_rack_register(f->rack, rnic, f->now) >= 0);
	f->now.ns += 2 * 3600 * S;
	run(f, 2, 3 * S);
	f = live_again(f, 60 * S);
	fall(f);
	assert_int_equal(newest(f)->kind, RM_KIND_RNIC_FLAPPING);
	assert_non_null(strstr(newest(f)->evidence.observed, "went down 6 times"));
	fixture_rack_free(f);
}

/* The aggregator was off since then, so it may have been up for long. */
static void
a_flapping_port_that_was_down_long_ago_is_not_kept(void **state)
{
	static const struct {
		const char *down;
		bool kept;
	} cases[] = { { "", false }, { ",\"down_ns\":1", false },
		{ ",\"down_ns\":99990000000000", true } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const rm_mono_t now = { 200000 * S };
		struct rm_error error = { 0 };
		struct port_flaps_of port;
		struct rack_judge *judge;
		char text[256];
		json_t *list;

		snprintf(text, sizeof text,
		    "[{\"rnic\":\"02:00:00:00:00:01\",\"flapping\":true,\"falls\":3,"
		    "\"since_ns\":5,\"last_ns\":9,\"before_ns\":8,\"longest_ns\":7%s}]",
		    cases[i].down);
		list = json_loads(text, 0, NULL);
		assert_int_equal(rack_judge_new(&judge), 0);
		kept_ports_restore(judge, list, now, (rm_wall_t){ 100000 * S }, &error);
		assert_string_equal(error.text, "");
		assert_int_equal(rack_judge_port(judge, 0, now, &port), cases[i].kept);
		rack_judge_free(judge);
		json_decref(list);
	}
}

#define PORT(falls, last, before, longest)                     \
	"[{\"rnic\":\"02:00:00:00:00:01\",\"flapping\":true,"  \
	"\"falls\":" falls ",\"since_ns\":5,\"last_ns\":" last \
	",\"before_ns\":" before ",\"longest_ns\":" longest "}]"

static void
unusable_entries_are_left_out(void **state)
{
	static const struct {
		const char *text;
		bool usable;
	} lists[] = {
		{ PORT("3", "9", "8", "7"), true },
		{ PORT("2", "9", "8", "7"), false },
		{ PORT("-3", "9", "8", "7"), false },
		{ PORT("3", "0", "8", "7"), false },
		{ PORT("3", "7", "8", "7"), false },
		{ PORT("3", "4", "3", "7"), false },
		{ PORT("3", "9", "8", "3600000000001"), true },
		{ PORT("3", "9", "8", "-1"), false },
		{ PORT("\"3\"", "9", "8", "7"), false },
		{ "[7]", false },
		{ "7", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		json_t *list = json_loads(lists[i].text, JSON_DECODE_ANY, NULL);
		struct rack_judge *judge;
		struct port_flaps_of port;
		struct rm_error error = { 0 };
		const rm_mono_t now = { 100 * S };

		assert_non_null(list);
		assert_int_equal(rack_judge_new(&judge), 0);
		kept_ports_restore(judge, list, now, (rm_wall_t){ 10 }, &error);
		assert_int_equal(error.text[0] == '\0', lists[i].usable);
		assert_int_equal(
		    rack_judge_port(judge, 0, now, &port), lists[i].usable);
		assert_false(rack_judge_port(judge, 1, now, &port));
		rack_judge_free(judge);
		json_decref(list);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(link_downs_before_a_restart_count),
		cmocka_unit_test(
		    a_flapping_port_continues_its_incident_after_a_restart),
		cmocka_unit_test(old_link_downs_do_not_count),
		cmocka_unit_test(a_flapping_port_that_is_still_down_is_kept),
		cmocka_unit_test(a_flapping_port_that_was_down_long_ago_is_not_kept),
		cmocka_unit_test(unusable_entries_are_left_out),
	};

	return cmocka_run_group_tests_name("kept_ports", tests, NULL, NULL);
}
