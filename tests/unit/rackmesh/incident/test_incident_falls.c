#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "rackmesh/incident/incident.h"
#include "rackmesh/incident/incident_adopt.h"
#include "rackmesh/incident/incident_file.h"

#define STEP_NS (250 * RM_NS_PER_MS)
#define WALL_NS (1000 * RM_NS_PER_S)
#define MANY 1100

struct rack {
	struct rm_incidents *incidents;
	rm_mono_t now;
	int64_t wall_ns; /* of the wall clock before the monotonic one */
	enum rm_health health;
	unsigned opened, updated, resolved, noted;
	struct rm_incident last;
};

static enum rm_health
health_of(const struct rm_verdict *verdict, void *arg)
{
	(void)verdict;
	return ((struct rack *)arg)->health;
}

static void
on_event(enum rm_incident_event event, const struct rm_incident *incident, void *arg)
{
	struct rack *rack = arg;

	rack->opened += event == RM_INCIDENT_OPENED;
	rack->updated += event == RM_INCIDENT_UPDATED;
	rack->resolved += event == RM_INCIDENT_RESOLVED;
	rack->noted += event == RM_INCIDENT_NOTED;
	rack->last = *incident;
}

static rm_wall_t
wall(const struct rack *rack)
{
	return (rm_wall_t){ rack->now.ns + rack->wall_ns };
}

static void
judge(struct rack *rack, const struct rm_verdict *verdicts, size_t count)
{
	rack->now = rm_mono_add(rack->now, STEP_NS);
	rm_incidents_judge(rack->incidents, rack->now, wall(rack), verdicts, count,
	    health_of, on_event, rack);
}

static void
wait_s(struct rack *rack, int64_t seconds)
{
	rack->now = rm_mono_add(rack->now, seconds * RM_NS_PER_S);
}

static struct rm_verdict
rnic_down(const char *name)
{
	struct rm_verdict verdict = {
		.part = { .type = RM_PART_RNIC, .place = "tor1" },
		.kind = RM_KIND_RNIC_DOWN,
		.confidence = 0.95,
		.evidence = { .window_ns = RM_NS_PER_S, .window_start = { 1 } },
	};

	snprintf(verdict.part.name, sizeof verdict.part.name, "%s", name);
	return verdict;
}

static struct rm_verdict
link_down(const char *name)
{
	struct rm_verdict verdict = rnic_down(name);

	verdict.part.type = RM_PART_LINK;
	verdict.part.place[0] = '\0';
	verdict.kind = RM_KIND_LINK_DOWN;
	return verdict;
}

static struct rm_verdict
links_down(const char *of, const char *links, unsigned count)
{
	struct rm_verdict verdict = link_down(of);

	verdict.part.type = RM_PART_SWITCH;
	verdict.kind = RM_KIND_LINKS_DOWN;
	strcpy(verdict.evidence.links, links);
	verdict.evidence.links_down = count;
	verdict.evidence.links_of = 8;
	return verdict;
}

static struct rm_incidents *
fresh(void)
{
	const struct rm_incident_options options = {
		.max_open = MANY,
		.max_closed = 2,
		.resolve_after_ns = 2 * RM_NS_PER_S,
		.id_seed = 42,
	};
	struct rm_incidents *incidents;

	assert_int_equal(rm_incidents_new(&options, &incidents), 0);
	return incidents;
}

static int
setup(void **state)
{
	static struct rack rack;

	rack = (struct rack){ .incidents = fresh(), .wall_ns = WALL_NS };
	*state = &rack;
	return 0;
}

static int
teardown(void **state)
{
	struct rack *rack = *state;

	rm_incidents_free(rack->incidents);
	return 0;
}

/* The part is bad for 1 s, then good for so long. */
static void
fall(struct rack *rack, const struct rm_verdict *verdict, int64_t good_s)
{
	for (int i = 0; i < 4; i++)
		judge(rack, verdict, 1);
	rack->health = RM_HEALTH_GOOD;
	for (int i = 0; i < 12; i++)
		judge(rack, NULL, 0);
	wait_s(rack, good_s - 3);
}

static const struct rm_incident *
newest(const struct rack *rack)
{
	return rm_incidents_get(rack->incidents, 0);
}

static int64_t
quiet_ns(const struct rack *rack)
{
	return rm_recurrence_quiet_ns(&newest(rack)->recurrence);
}

static bool
is_open(const struct rack *rack, const char *part)
{
	for (size_t i = 0; i < rm_incidents_open(rack->incidents); i++)
		if (strcmp(rm_incidents_get(rack->incidents, i)->verdict.part.name,
			part) == 0)
			return true;
	return false;
}

/* ---- how often it falls ---- */

static void
falls_minutes_apart_are_one_incident_from_the_third_one_on(void **state)
{
	static const int64_t every_s[] = { 60, 300, 890 };
	static const char *const names[] = { "h1/r0", "h2/r0", "h3/r0" };
	struct rack *rack = *state;

	for (size_t n = 0; n < 3; n++) {
		const struct rm_verdict verdict = rnic_down(names[n]);
		const int64_t s = every_s[n];

		rack->opened = rack->updated = rack->resolved = rack->noted = 0;
		for (int i = 0; i < 20; i++)
			fall(rack, &verdict, s - 1);
		assert_int_equal(rack->opened, 3);
		assert_int_equal(rack->resolved, 2);
		/* Receivers of alerts get nothing more. The others get 17 falls, and
		 * 18 times that the part is good. */
		assert_int_equal(rack->updated, 0);
		assert_int_equal(rack->noted, 17 + 18);
		assert_int_equal(newest(rack)->returns, 19);
		/* The second in which it was bad is not a part of the gap. */
		assert_int_equal(quiet_ns(rack), 3 * (s - 1) * RM_NS_PER_S);
		wait_s(rack, 2 * (s - 1) - 1);
		judge(rack, NULL, 0);
		assert_int_equal(rack->resolved, 2);
		wait_s(rack, 1);
		judge(rack, NULL, 0);
		assert_int_equal(rack->resolved, 3);
		assert_int_equal(rack->last.good_since.ns, 0);
		wait_s(rack, 3600);
	}
}

static void
the_sentence_has_the_rate_and_whether_the_part_works_now(void **state)
{
	struct rack *rack = *state;
	const struct rm_verdict verdict = rnic_down("h1/r0");
	char text[RM_SENTENCE_BYTES];

	for (int i = 0; i < 20; i++)
		fall(rack, &verdict, 59);
	rm_incident_sentence(newest(rack), text, sizeof(text));
	assert_non_null(strstr(text, ". Flapping: it came back 19 times within 19 min, "
				     "about every 60 s, and works now."));
	judge(rack, &verdict, 1);
	rm_incident_sentence(newest(rack), text, sizeof(text));
	assert_non_null(strstr(text, ". Flapping: it came back 20 times within 20 min, "
				     "about every 60 s."));
	rm_incident_sentence(newest(rack), text, 20);
	assert_int_equal(strlen(text), 19);
}

/* Its second alert lasts longer, instead of many more alerts. */
static void
a_part_that_falls_soon_after_it_has_flapped_flaps_at_once(void **state)
{
	struct rack *rack = *state;
	const struct rm_verdict verdict = rnic_down("h1/r0");

	for (int i = 0; i < 5; i++)
		fall(rack, &verdict, 59);
	wait_s(rack, 200);
	judge(rack, NULL, 0);
	assert_int_equal(rack->resolved, 3);
	fall(rack, &verdict, 59);
	assert_int_equal(rack->opened, 4);
	assert_int_equal(newest(rack)->returns, 5);
	assert_true(quiet_ns(rack) > 3 * 200 * RM_NS_PER_S);
}

/* The ring of closed incidents has room for two. */
static void
falls_are_remembered_whatever_else_fails_meanwhile(void **state)
{
	struct rack *rack = *state;
	const struct rm_verdict verdict = rnic_down("h1/r0");

	for (int i = 0; i < 12; i++) {
		char name[16];
		struct rm_verdict other;

		snprintf(name, sizeof name, "h%d/r0", 2 + i);
		other = rnic_down(name);
		if (i % 3 == 0)
			fall(rack, &verdict, 59);
		fall(rack, &other, 59);
	}
	assert_int_equal(rm_incidents_open(rack->incidents), 1);
	assert_string_equal(newest(rack)->verdict.part.name, "h1/r0");
	assert_int_equal(newest(rack)->returns, 3);
	assert_int_equal(rm_incidents_counts(rack->incidents)->forgotten, 0);
}

static void
the_number_of_remembered_parts_is_limited(void **state)
{
	static struct rm_verdict verdicts[MANY];
	struct rack *rack = *state;

	for (int i = 0; i < MANY; i++) {
		char name[16];

		snprintf(name, sizeof name, "h%d/r0", i);
		verdicts[i] = rnic_down(name);
	}
	judge(rack, verdicts, MANY);
	rack->health = RM_HEALTH_GOOD;
	for (int i = 0; i < 12; i++)
		judge(rack, NULL, 0);
	assert_int_equal(rack->resolved, MANY);
	assert_int_equal(rm_incidents_counts(rack->incidents)->forgotten, MANY - 1024);
}

static void
losses_and_delays_of_a_part_do_not_add_up_to_flapping(void **state)
{
	struct rack *rack = *state;
	struct rm_verdict verdict = link_down("s1--t1");

	for (int i = 0; i < 4; i++) {
		verdict.kind = i % 2 == 0 ? RM_KIND_LINK_DOWN : RM_KIND_LINK_LATE;
		fall(rack, &verdict, 59);
	}
	assert_int_equal(rack->opened, 4);
	assert_int_equal(rack->resolved, 4);
	fall(rack, &verdict, 59);
	assert_int_equal(rm_incidents_open(rack->incidents), 1);
}

static void
falls_of_different_links_of_a_switch_do_not_add_up_to_flapping(void **state)
{
	static const char *const links[] = { "s3--t1, s3--t2", "s3--t3, s3--t4",
		"s3--t5, s3--t6", "s3--t7, s3--t8" };
	struct rack *rack = *state;

	for (int i = 0; i < 8; i++) {
		const struct rm_verdict verdict = links_down("s3", links[i % 4], 2);

		fall(rack, &verdict, 59);
		assert_int_equal(rm_incidents_open(rack->incidents), 0);
	}
	for (int i = 0; i < 2; i++) { /* one of the two links is another one */
		const struct rm_verdict verdict = links_down("s3", "s3--t8, s3--t9", 2);

		fall(rack, &verdict, 59);
	}
	assert_int_equal(rm_incidents_open(rack->incidents), 1);
}

static void
a_long_outage_is_not_a_gap_between_falls(void **state)
{
	struct rack *rack = *state;
	const struct rm_verdict verdict = rnic_down("h1/r0");

	for (int i = 0; i < 3; i++) {
		judge(rack, &verdict, 1);
		wait_s(rack, 600);
		fall(rack, &verdict, 20);
	}
	assert_int_equal(rm_incidents_open(rack->incidents), 1);
	assert_int_equal(quiet_ns(rack), 3 * 20 * RM_NS_PER_S);
}

static void
the_rate_is_right_although_the_wall_clock_is_set(void **state)
{
	struct rack *rack = *state;
	const struct rm_verdict verdict = rnic_down("h1/r0");
	char text[RM_INCIDENT_FLAP_TEXT];
	json_t *json;

	for (int i = 0; i < 11; i++) {
		fall(rack, &verdict, 59);
		rack->wall_ns += (i % 2 == 0 ? 1 : -3) * 7200 * RM_NS_PER_S;
	}
	rm_incident_flapping(newest(rack), text);
	assert_string_equal(text, "it came back 10 times within 10 min, about every "
				  "60 s, and works now");
	json = rm_incident_json(newest(rack));
	assert_float_equal(json_real_value(json_object_get(
			       json_object_get(json, "flapping"), "per_minute")),
	    1.0, 1e-6);
	json_decref(json);
}

/* ---- over a restart ---- */

/* The monotonic clock begins anew, and the wall clock goes on. */
static void
restart(struct rack *rack, int64_t later_s)
{
	const rm_wall_t at = { wall(rack).ns + later_s * RM_NS_PER_S };
	json_t *saved = rm_incidents_save(rack->incidents, wall(rack));
	struct rm_error error = { 0 };

	rm_incidents_free(rack->incidents);
	rack->incidents = fresh();
	rack->now = (rm_mono_t){ 7 * RM_NS_PER_S };
	rack->wall_ns = at.ns - rack->now.ns;
	assert_true(
	    rm_incidents_restore(rack->incidents, saved, rack->now, at, &error) >= 0);
	assert_string_equal(error.text, "");
	json_decref(saved);
}

/* Their times are in the future after it, but the time between them is known. */
static void
the_rate_is_right_although_the_wall_clock_was_set_back_over_a_restart(void **state)
{
	struct rack *rack = *state;
	const struct rm_verdict verdict = rnic_down("h1/r0");
	char text[RM_INCIDENT_FLAP_TEXT];

	for (int i = 0; i < 11; i++)
		fall(rack, &verdict, 59);
	restart(rack, -300);
	rm_incident_flapping(newest(rack), text);
	assert_string_equal(text, "it came back 10 times within 10 min, about every "
				  "60 s, and works now");
	assert_int_equal(quiet_ns(rack), 3 * 59 * RM_NS_PER_S);
	fall(rack, &verdict, 59);
	rm_incident_flapping(newest(rack), text);
	assert_string_equal(text, "it came back 11 times within 10 min, about every "
				  "54 s, and works now");
}

/* A host without a clock begins in 1970, and saves times before that. */
static void
the_sentence_names_no_time_that_is_not_known(void **state)
{
	struct rack *rack = *state;
	const struct rm_verdict verdict = rnic_down("h1/r0");
	char text[RM_INCIDENT_FLAP_TEXT];
	json_t *json;

	for (int i = 0; i < 11; i++)
		fall(rack, &verdict, 59);
	rack->wall_ns = RM_NS_PER_S - rack->now.ns;
	judge(rack, NULL, 0);
	restart(rack, 0);
	rm_incident_flapping(newest(rack), text);
	assert_string_equal(
	    text, "it came back 10 times, in a time that is not known, and works now");
	json = rm_incident_json(newest(rack));
	assert_true(json_is_null(
	    json_object_get(json_object_get(json, "flapping"), "per_minute")));
	json_decref(json);
}

static void
falls_before_a_restart_count(void **state)
{
	struct rack *rack = *state;
	const struct rm_verdict verdict = rnic_down("h1/r0");
	rm_wall_t first;

	fall(rack, &verdict, 300);
	first = newest(rack)->opened;
	fall(rack, &verdict, 400);
	restart(rack, 20);
	fall(rack, &verdict, 59);
	assert_int_equal(rm_incidents_open(rack->incidents), 1);
	assert_int_equal(newest(rack)->flaps_since.ns, first.ns);
	assert_int_equal(newest(rack)->returns, 2);
	/* And over one of an open incident. */
	restart(rack, 20);
	assert_int_not_equal(newest(rack)->good_since.ns, 0);
	fall(rack, &verdict, 59);
	assert_int_equal(newest(rack)->returns, 3);
	fall(rack, &verdict, 59);
	assert_int_equal(newest(rack)->returns, 4);
	assert_int_equal(quiet_ns(rack), 3 * 300 * RM_NS_PER_S);
	/* Not long after a weekend. */
	wait_s(rack, 1000);
	judge(rack, NULL, 0);
	assert_int_equal(rm_incidents_open(rack->incidents), 0);
	restart(rack, 48 * 3600);
	fall(rack, &verdict, 59);
	assert_int_equal(rm_incidents_open(rack->incidents), 0);
}

static void
a_restart_while_the_part_is_bad_is_no_fall(void **state)
{
	struct rack *rack = *state;
	const struct rm_verdict verdict = rnic_down("h1/r0");

	for (int i = 0; i < 3; i++) {
		judge(rack, &verdict, 1);
		restart(rack, 5);
		judge(rack, &verdict, 1);
		assert_int_equal(newest(rack)->recurrence.falls, i == 2 ? 3 : 0);
		rack->health = RM_HEALTH_GOOD;
		for (int n = 0; n < 12; n++)
			judge(rack, NULL, 0);
		wait_s(rack, 60);
	}
	assert_int_equal(newest(rack)->returns, 2);
}

/* A later verdict may have another kind than the one that opened the incident. */
static void
a_restart_does_not_change_the_class_of_the_fault(void **state)
{
	struct rack *rack = *state;
	struct rm_verdict verdict = link_down("s1--t1");

	for (int i = 0; i < 3; i++) {
		verdict.kind = RM_KIND_LINK_DOWN;
		judge(rack, &verdict, 1);
		verdict.kind = RM_KIND_LINK_LATE;
		judge(rack, &verdict, 1);
		restart(rack, 5);
		fall(rack, &verdict, 59);
	}
	assert_int_equal(newest(rack)->fault, RM_FAULT_LOSSES);
	assert_int_equal(rm_incidents_open(rack->incidents), 1);
	assert_int_equal(newest(rack)->returns, 2);
}

static void
damaged_falls_cost_only_themselves(void **state)
{
	static const char *const texts[] = { "{}", "7",
		"{\"part\":\"h1/r0\",\"place\":\"\"}",
		"{\"part\":\"h1/r0\",\"place\":\"\",\"part_type\":\"rnic\"}",
		"{\"part\":\"h1/r0\",\"place\":\"\",\"part_type\":\"moon\","
		"\"fault\":\"losses\"}",
		"{\"part\":\"h1/r0\",\"place\":\"\",\"part_type\":\"rnic\","
		"\"fault\":\"losses\",\"flapping\":true,\"falls\":1}" };
	struct rack *rack = *state;
	const struct rm_verdict verdict = rnic_down("h1/r0");

	judge(rack, &verdict, 1);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		json_t *saved = rm_incidents_save(rack->incidents, wall(rack));
		struct rm_incidents *again = fresh();
		struct rm_error error = { 0 };

		json_array_insert_new(json_object_get(saved, "falls"), 0,
		    json_loads(texts[i], JSON_DECODE_ANY, NULL));
		assert_int_equal(
		    rm_incidents_restore(again, saved, rack->now, wall(rack), &error),
		    1);
		assert_memory_equal(error.text, "falls[0].", 9);
		rm_incidents_free(again);
		json_decref(saved);
	}
}

/* ---- a flapping part that is good now ---- */

static void
flap(struct rack *rack, const struct rm_verdict *verdict)
{
	for (int i = 0; i < 4; i++)
		fall(rack, verdict, 59);
	assert_int_equal(rm_incidents_open(rack->incidents), 1);
	assert_int_not_equal(newest(rack)->good_since.ns, 0);
	rack->opened = rack->resolved = rack->updated = rack->noted = 0;
}

static void
a_flapping_part_may_be_bad_again_before_there_is_a_verdict(void **state)
{
	struct rack *rack = *state;
	const struct rm_verdict verdict = rnic_down("h1/r0");

	flap(rack, &verdict);
	rack->health = RM_HEALTH_BAD;
	judge(rack, NULL, 0);
	assert_int_equal(rack->noted, 1);
	assert_int_equal(rack->last.good_since.ns, 0);
	assert_int_equal(rack->last.returns, 3);
	assert_int_equal(rack->last.changed.ns, wall(rack).ns);
	judge(rack, &verdict, 1);
	assert_int_equal(rack->noted, 2);
	assert_int_equal(rack->last.returns, 4);
	assert_int_equal(rack->last.returned.ns, rack->last.changed.ns);
}

/* A second event at the same time would be taken for a repetition. */
static void
a_fall_of_another_kind_is_one_event(void **state)
{
	struct rack *rack = *state;
	struct rm_verdict verdict = rnic_down("h1/r0");

	flap(rack, &verdict);
	verdict.kind = RM_KIND_RNIC_SEND_DEAD;
	judge(rack, &verdict, 1);
	assert_int_equal(rack->updated, 1);
	assert_int_equal(rack->noted, 0);
	assert_int_equal(rack->last.good_since.ns, 0);
	assert_int_equal(rack->last.returned.ns, wall(rack).ns);
}

static void
a_worse_fall_has_its_own_severity(void **state)
{
	struct rack *rack = *state;
	struct rm_verdict verdict = rnic_down("h1/r0");
	uint64_t id;

	verdict.evidence.impact = RM_IMPACT_P2;
	flap(rack, &verdict);
	id = newest(rack)->id;
	assert_int_equal(newest(rack)->severity, RM_SEVERITY_WARNING);
	/* The impact of a fall may be known only after some time. */
	verdict.evidence.impact = RM_IMPACT_UNKNOWN;
	judge(rack, &verdict, 1);
	assert_int_equal(rack->opened, 0);
	verdict.evidence.impact = RM_IMPACT_P0;
	judge(rack, &verdict, 1);
	assert_int_equal(rack->resolved, 1);
	assert_int_equal(rack->opened, 1);
	assert_int_equal(newest(rack)->severity, RM_SEVERITY_CRITICAL);
	assert_true(newest(rack)->id != id);
	/* It goes on flapping, and no later fall opens another one. */
	assert_int_equal(newest(rack)->returns, 4);
	for (int i = 0; i < 6; i++) {
		verdict.evidence.impact = i % 2 == 0 ? RM_IMPACT_P2 : RM_IMPACT_P0;
		fall(rack, &verdict, 59);
	}
	assert_int_equal(rack->resolved, 1);
	assert_int_equal(rack->opened, 1);
	assert_int_equal(newest(rack)->returns, 9);
}

/* It is the same fault, so it keeps its name, and what is known about it. */
static void
a_worse_fall_of_a_or_b_does_not_accuse_the_other_aggregator(void **state)
{
	struct rack *rack = *state;
	struct rm_verdict either = rnic_down("h1/r0 or h2/r0");
	struct rm_verdict one = rnic_down("h1/r0"), other = rnic_down("h2/r0");

	either.evidence.impact = one.evidence.impact = RM_IMPACT_P2;
	other.evidence.impact = RM_IMPACT_P0;
	for (int i = 0; i < 4; i++) {
		judge(rack, &either, 1);
		fall(rack, &one, 59);
	}
	rack->opened = 0;
	judge(rack, &either, 1);
	judge(rack, &other, 1);
	assert_int_equal(rack->opened, 0);
	either.evidence.impact = RM_IMPACT_P0;
	judge(rack, &either, 1);
	assert_int_equal(rack->opened, 1);
	assert_string_equal(newest(rack)->verdict.part.name, "h1/r0 or h2/r0");
	assert_string_equal(newest(rack)->verdict.evidence.narrowed, "h1/r0");
	assert_int_equal(newest(rack)->severity, RM_SEVERITY_CRITICAL);
	assert_int_equal(rm_incidents_open(rack->incidents), 1);
}

static void
the_first_fall_at_which_nothing_passes_opens_its_own_incident(void **state)
{
	struct rack *rack = *state;
	struct rm_verdict verdict = rnic_down("h1/r0");

	verdict.kind = RM_KIND_RNIC_LOSSY;
	flap(rack, &verdict);
	verdict.kind = RM_KIND_RNIC_DOWN;
	fall(rack, &verdict, 59);
	assert_int_equal(rack->resolved, 1);
	assert_int_equal(rack->opened, 1);
	assert_int_equal(newest(rack)->returns, 4);
	for (int i = 0; i < 6; i++) {
		verdict.kind = i % 2 == 0 ? RM_KIND_RNIC_LOSSY : RM_KIND_RNIC_DOWN;
		fall(rack, &verdict, 59);
		if (i == 3)
			restart(rack, 1);
	}
	assert_int_equal(rack->opened, 1);
	assert_int_equal(newest(rack)->returns, 10);
}

/* The first windows of a fall may show only some losses. */
static void
a_fall_that_begins_with_losses_is_one_incident(void **state)
{
	struct rack *rack = *state;
	struct rm_verdict verdict = rnic_down("h1/r0");

	for (int i = 0; i < 6; i++) {
		verdict.kind = RM_KIND_RNIC_LOSSY;
		judge(rack, &verdict, 1);
		verdict.kind = RM_KIND_RNIC_DOWN;
		fall(rack, &verdict, 59);
	}
	assert_int_equal(rack->opened, 3);
	assert_int_equal(newest(rack)->returns, 5);
}

static void
a_fall_of_another_class_opens_its_own_incident(void **state)
{
	struct rack *rack = *state;
	struct rm_verdict verdict = link_down("s1--t1");

	flap(rack, &verdict);
	verdict.kind = RM_KIND_LINK_LATE;
	judge(rack, &verdict, 1);
	assert_int_equal(rack->resolved, 1);
	assert_int_equal(rack->opened, 1);
	assert_int_equal(rm_incidents_open(rack->incidents), 1);
	assert_int_equal(newest(rack)->verdict.kind, RM_KIND_LINK_LATE);
	assert_int_equal(newest(rack)->flaps_since.ns, 0);
	assert_non_null(
	    strstr(rm_incidents_get(rack->incidents, 1)->verdict.evidence.observed,
		"it has another fault now: link-late"));
}

static void
faults_of_two_classes_in_turn_do_not_open_incidents_for_ever(void **state)
{
	struct rack *rack = *state;
	struct rm_verdict verdict = link_down("s1--t1");

	for (int i = 0; i < 40; i++) {
		verdict.kind = i % 2 == 0 ? RM_KIND_LINK_DOWN : RM_KIND_LINK_LATE;
		fall(rack, &verdict, 59);
	}
	assert_int_equal(rack->opened, 5);
	assert_int_equal(rm_incidents_open(rack->incidents), 1);
	/* The receivers learn the present fault, and its own rate. */
	assert_int_equal(newest(rack)->verdict.kind, RM_KIND_LINK_LATE);
	assert_int_equal(newest(rack)->fault, RM_FAULT_DELAYS);
	assert_int_equal(newest(rack)->returns, 19);
}

static void
flapping_ends_although_nothing_shows_that_the_part_works(void **state)
{
	struct rack *rack = *state;
	const struct rm_verdict verdict = rnic_down("h1/r0");

	flap(rack, &verdict);
	rack->health = RM_HEALTH_UNKNOWN;
	for (int i = 0; i < 90; i++) { /* it was good for 59 s before */
		wait_s(rack, 1);
		judge(rack, NULL, 0);
	}
	assert_int_equal(rack->resolved, 0);
	for (int i = 0; i < 10; i++) {
		wait_s(rack, 1);
		judge(rack, NULL, 0);
	}
	assert_int_equal(rack->resolved, 1);
}

static void
flapping_ends_when_the_part_is_removed(void **state)
{
	struct rack *rack = *state;
	const struct rm_verdict verdict = rnic_down("h1/r0");

	flap(rack, &verdict);
	judge(rack, &verdict, 1); /* removed while it is bad */
	rack->health = RM_HEALTH_GONE;
	for (int i = 0; i < 8; i++)
		judge(rack, NULL, 0);
	assert_int_equal(rack->resolved, 0);
	judge(rack, NULL, 0);
	assert_int_equal(rack->resolved, 1);
	rack->health = RM_HEALTH_GOOD;
	fall(rack, &verdict, 59);
	assert_int_equal(rm_incidents_open(rack->incidents), 1);
	rack->health = RM_HEALTH_GONE; /* while it is good */
	judge(rack, NULL, 0);
	assert_int_equal(rack->resolved, 2);
}

static void
flapping_ends_soon_after_a_long_time_without_the_daemon(void **state)
{
	struct rack *rack = *state;
	const struct rm_verdict verdict = rnic_down("h1/r0");

	flap(rack, &verdict);
	restart(rack, 1700);
	for (int i = 0; i < 40; i++)
		judge(rack, NULL, 0);
	assert_int_equal(rack->resolved, 0);
	restart(rack, 48 * 3600);
	for (int i = 0; i < 10; i++)
		judge(rack, NULL, 0);
	assert_int_equal(rack->resolved, 1);
}

/* A host that is off for an hour says nothing about how long its RNIC works. */
static void
time_without_evidence_is_not_a_gap_between_falls(void **state)
{
	struct rack *rack = *state;
	const struct rm_verdict verdict = rnic_down("h1/r0");
	int64_t before_ns;

	flap(rack, &verdict);
	before_ns = quiet_ns(rack);
	rack->health = RM_HEALTH_UNKNOWN;
	judge(rack, NULL, 0);
	wait_s(rack, 100);
	judge(rack, NULL, 0);
	judge(rack, &verdict, 1);
	assert_int_equal(rack->last.returns, 4);
	assert_int_equal(quiet_ns(rack), before_ns);
}

static void
a_widened_flapping_incident_takes_no_verdict_on_other_links_of_its_switch(void **state)
{
	struct rack *rack = *state;
	struct rm_verdict one = link_down("s3--t1");
	struct rm_verdict links = links_down("s3", "s3--t1, s3--t2", 2);

	for (int i = 0; i < 4; i++) {
		judge(rack, &one, 1);
		fall(rack, &links, 59);
	}
	assert_string_equal(newest(rack)->verdict.evidence.widened, "s3");
	assert_int_not_equal(newest(rack)->good_since.ns, 0);
	rack->opened = 0;
	links = links_down("s3", "s3--t7, s3--t8", 2);
	judge(rack, &links, 1);
	assert_int_equal(rack->opened, 1);
	assert_string_equal(rack->last.verdict.part.name, "s3");
	one = link_down("s3--t9");
	judge(rack, &one, 1);
	assert_int_equal(rack->opened, 2);
	assert_true(is_open(rack, "s3--t1"));
}

static void
a_flapping_undecided_incident_is_not_narrowed(void **state)
{
	struct rack *rack = *state;
	const struct rm_verdict either = rnic_down("h1/r0 or h2/r0");
	const struct rm_verdict one = rnic_down("h2/r0");

	flap(rack, &either);
	judge(rack, &one, 1);
	assert_int_equal(rack->opened, 1);
	assert_string_equal(rack->last.verdict.part.name, "h2/r0");
	assert_string_equal(
	    rm_incidents_get(rack->incidents, 1)->verdict.evidence.narrowed, "");
}

static void
a_flapping_incident_takes_no_verdict_on_its_part_or_another(void **state)
{
	struct rack *rack = *state;
	const struct rm_verdict one = rnic_down("h1/r0");
	const struct rm_verdict either = rnic_down("h1/r0 or h2/r0");

	flap(rack, &one);
	judge(rack, &either, 1);
	assert_int_equal(rack->opened, 1);
	assert_string_equal(rack->last.verdict.part.name, "h1/r0 or h2/r0");
	assert_int_not_equal(rm_incidents_get(rack->incidents, 1)->good_since.ns, 0);
}

static void
a_flapping_incident_is_not_widened_to_its_switch(void **state)
{
	struct rack *rack = *state;
	const struct rm_verdict one = link_down("s3--t1");
	const struct rm_verdict links = links_down("s3", "s3--t1, s3--t2, s3--t3", 3);

	flap(rack, &one);
	judge(rack, &links, 1);
	assert_int_equal(rack->opened, 1);
	assert_true(is_open(rack, "s3"));
	/* The verdict names the link, so its fault continues there. */
	assert_false(is_open(rack, "s3--t1"));
}

static void
a_verdict_on_one_link_of_several_that_flap_is_not_left_out(void **state)
{
	struct rack *rack = *state;
	const struct rm_verdict links = links_down("s3", "s3--t1, s3--t2, s3--t3", 3);
	const struct rm_verdict one = link_down("s3--t2");

	flap(rack, &links);
	judge(rack, &one, 1);
	assert_int_equal(rack->opened, 1);
	assert_string_equal(rack->last.verdict.part.name, "s3--t2");
}

static void
a_flapping_incident_does_not_end_with_links_that_do_not_list_it(void **state)
{
	struct rack *rack = *state;
	const struct rm_verdict one = link_down("s3--t9");
	const struct rm_verdict links = links_down("s3", "s3--t1, s3--t2", 3);

	flap(rack, &one);
	judge(rack, &links, 1);
	assert_int_equal(rack->opened, 1);
	assert_true(is_open(rack, "s3--t9"));
}

/* ---- several links that fall together and are seen one by one ---- */

#define ALL "s3--t1, s3--t2, s3--t3, s3--t4"

/* The links fall at the same time. The first verdict of each fall is on one of them,
 * the next one on two, and the following ones are on all. They recover one by one. */
static void
fall_one_by_one(struct rack *rack, int first, enum rm_impact impact)
{
	static const char *const names[] = { "s3--t1", "s3--t2", "s3--t3", "s3--t4" };
	struct rm_verdict one = link_down(names[first % 4]);
	struct rm_verdict links = links_down("s3", ALL, 4);
	char two[64];

	snprintf(two, sizeof(two), "%s, %s", names[first % 4], names[(first + 1) % 4]);
	rack->health = RM_HEALTH_BAD;
	one.evidence.impact = links.evidence.impact = impact;
	judge(rack, &one, 1);
	judge(rack, &one, 1);
	strcpy(links.evidence.links, two);
	links.evidence.links_down = 2;
	judge(rack, &links, 1);
	one = link_down(names[(first + 2) % 4]); /* not listed yet */
	judge(rack, (struct rm_verdict[]){ links, one }, 2);
	strcpy(links.evidence.links, ALL);
	links.evidence.links_down = 4;
	judge(rack, &links, 1);
	strcpy(links.evidence.links, two);
	links.evidence.links_down = 2;
	fall(rack, &links, 59);
}

static void
links_that_flap_together_are_one_incident_whichever_is_seen_first(void **state)
{
	static const int orders[][4] = { { 0, 0, 0, 0 }, { 0, 1, 2, 3 }, { 0, 2, 1, 3 },
		{ 3, 0, 0, 1 } };

	struct rack *rack = *state;

	for (size_t n = 0; n < 4; n++) {
		unsigned opened;

		rm_incidents_free(rack->incidents);
		rack->incidents = fresh();
		for (int i = 0; i < 3; i++)
			fall_one_by_one(rack, orders[n][i], RM_IMPACT_UNKNOWN);
		assert_int_equal(rm_incidents_open(rack->incidents), 1);
		opened = rack->opened;
		for (int i = 3; i < 16; i++)
			fall_one_by_one(rack, orders[n][i % 4], RM_IMPACT_UNKNOWN);
		assert_int_equal(rack->opened, opened);
		assert_int_equal(rm_incidents_open(rack->incidents), 1);
		assert_int_equal(newest(rack)->returns, 15);
		assert_string_equal(newest(rack)->verdict.evidence.widened, "s3");
	}
}

/* The alerts of the first two falls may be more than one each. */
static void
links_that_were_first_seen_together_get_one_alert_when_they_come_apart(void **state)
{
	struct rack *rack = *state;
	const struct rm_verdict links = links_down("s3", ALL, 4);

	flap(rack, &links);
	for (int i = 0; i < 12; i++)
		fall_one_by_one(rack, i, RM_IMPACT_UNKNOWN);
	assert_true(rack->opened <= 2);
	assert_int_equal(rm_incidents_open(rack->incidents), 1);
	assert_int_equal(newest(rack)->returns, 15);
}

static void
a_link_that_alone_stays_bad_gets_its_own_incident_soon(void **state)
{
	struct rack *rack = *state;
	const struct rm_verdict one = link_down("s3--t2");

	for (int i = 0; i < 5; i++)
		fall_one_by_one(rack, 0, RM_IMPACT_UNKNOWN);
	rack->opened = 0;
	rack->health = RM_HEALTH_BAD;
	for (int i = 0; i < 39; i++)
		judge(rack, &one, 1);
	assert_int_equal(rack->opened, 0);
	assert_int_equal(newest(rack)->good_since.ns, 0);
	judge(rack, &one, 1);
	judge(rack, &one, 1);
	assert_int_equal(rack->opened, 1);
	assert_string_equal(rack->last.verdict.part.name, "s3--t2");
}

static void
a_link_that_follows_soon_is_of_the_same_fall_and_a_later_one_is_not(void **state)
{
	struct rack *rack = *state;
	const struct rm_verdict late[] = { links_down("s3", "s3--t1, s3--t2", 2),
		link_down("s3--t4") };

	for (int i = 0; i < 5; i++)
		fall_one_by_one(rack, 0, RM_IMPACT_UNKNOWN);
	rack->opened = 0;
	rack->health = RM_HEALTH_BAD;
	for (int i = 0; i < 80; i++)
		judge(rack, late, 1);
	for (int i = 80; i < 120; i++)
		judge(rack, late, 2);
	assert_int_equal(rack->opened, 0);
	judge(rack, late, 2);
	assert_int_equal(rack->opened, 1);
	assert_string_equal(rack->last.verdict.part.name, "s3--t4");
}

/* They flap so fast that no fall ends. */
static void
links_that_come_and_go_one_by_one_within_a_fall_are_one_incident(void **state)
{
	static const char *const names[] = { "s3--t1", "s3--t2", "s3--t3", "s3--t4" };
	static const char *const two[] = { "s3--t1, s3--t2", "s3--t2, s3--t3",
		"s3--t3, s3--t4", "s3--t1, s3--t4" };
	const struct rm_verdict all = links_down("s3", ALL, 4);
	struct rack *rack = *state;

	judge(rack, &all, 1);
	rack->health = RM_HEALTH_BAD;
	for (int i = 0; i < 100; i++) {
		const struct rm_verdict one = link_down(names[(i + 2) % 4]);
		const struct rm_verdict links = links_down("s3", two[i % 4], 2);

		judge(rack, &links, 1);
		judge(rack, &one, 1);
		judge(rack, NULL, 0);
	}
	assert_int_equal(rack->opened, 1);
}

static void
a_worse_fault_of_one_of_flapping_links_is_not_held_back(void **state)
{
	struct rack *rack = *state;
	struct rm_verdict one = link_down("s3--t2");

	for (int i = 0; i < 5; i++)
		fall_one_by_one(rack, 0, RM_IMPACT_P2);
	rack->opened = 0;
	one.evidence.impact = RM_IMPACT_P0;
	judge(rack, &one, 1);
	assert_int_equal(rack->opened, 1);
	assert_int_equal(rack->last.severity, RM_SEVERITY_CRITICAL);
}

static void
a_link_that_does_not_flap_with_the_others_is_not_held_back(void **state)
{
	struct rack *rack = *state;
	const struct rm_verdict verdicts[] = { link_down("s3--t9"),
		links_down("s3", "s3--t7, s3--t8", 2), link_down("s4--t1") };

	for (int i = 0; i < 5; i++)
		fall_one_by_one(rack, 0, RM_IMPACT_UNKNOWN);
	rack->opened = 0;
	for (unsigned i = 0; i < 3; i++) {
		judge(rack, &verdicts[i], 1);
		assert_int_equal(rack->opened, i + 1);
	}
}

static void
links_keep_one_flapping_incident_after_a_restart(void **state)
{
	struct rack *rack = *state;

	for (int i = 0; i < 2; i++)
		fall_one_by_one(rack, i, RM_IMPACT_UNKNOWN);
	restart(rack, 5);
	fall_one_by_one(rack, 2, RM_IMPACT_UNKNOWN);
	assert_int_equal(rm_incidents_open(rack->incidents), 1);
	rack->opened = 0;
	for (int i = 3; i < 9; i++) {
		restart(rack, 5);
		fall_one_by_one(rack, i, RM_IMPACT_UNKNOWN);
	}
	assert_int_equal(rack->opened, 0);
	assert_int_equal(newest(rack)->returns, 8);
}

/* The link is bad for 9 s, then good for so long. */
static void
fall_alone(struct rack *rack, const struct rm_verdict *link, int64_t good_s)
{
	rack->health = RM_HEALTH_BAD;
	for (int i = 0; i < 32; i++)
		judge(rack, link, 1);
	fall(rack, link, good_s);
}

static void
a_link_that_flaps_alone_after_it_flapped_with_others_gets_its_own_incident(void **state)
{
	struct rack *rack = *state;
	const struct rm_verdict one = link_down("s3--t2");

	for (int i = 0; i < 5; i++)
		fall_one_by_one(rack, 0, RM_IMPACT_UNKNOWN);
	rack->opened = 0;
	fall_alone(rack, &one, 51);
	fall_alone(rack, &one, 51);
	assert_int_equal(rack->opened, 0);
	assert_int_equal(newest(rack)->returns, 4);
	for (int i = 0; i < 20; i++)
		fall_alone(rack, &one, 51);
	assert_int_equal(rack->opened, 1);
	assert_string_equal(newest(rack)->verdict.part.name, "s3--t2");
	assert_int_equal(newest(rack)->returns, 21);
	assert_int_equal(quiet_ns(rack), 3 * 51 * RM_NS_PER_S);
}

/* Each time, a single link fails, and the others of them are good. */
static void
falls_of_one_link_do_not_keep_the_incident_of_several_open(void **state)
{
	struct rack *rack = *state;
	const struct rm_verdict one = link_down("s3--t2");

	for (int i = 0; i < 5; i++)
		fall_one_by_one(rack, 0, RM_IMPACT_UNKNOWN);
	rack->opened = rack->resolved = 0;
	fall_alone(rack, &one, 300);
	judge(rack, NULL, 0);
	assert_int_equal(rack->resolved, 1);
	assert_int_equal(rm_incidents_open(rack->incidents), 0);
	assert_int_equal(rack->last.returns, 4);
}

static void
links_that_flap_alone_are_not_joined_by_one_common_fall(void **state)
{
	struct rack *rack = *state;
	const struct rm_verdict first = link_down("s3--t1"),
				other = link_down("s3--t2");
	const struct rm_verdict all = links_down("s3", "s3--t1, s3--t2, s3--t3", 3);

	for (int i = 0; i < 4; i++)
		fall(rack, &first, 59);
	judge(rack, &first, 1);
	fall(rack, &all, 59);
	rack->opened = 0;
	for (int i = 0; i < 20; i++)
		fall_alone(rack, &other, 51);
	assert_int_equal(rack->opened, 1);
	assert_true(is_open(rack, "s3--t2"));
}

/* It opens with a share of the packets lost, and some time later nothing passes. */
static void
a_fault_that_gets_worse_long_after_the_third_fall_is_not_held_back(void **state)
{
	struct rack *rack = *state;
	struct rm_verdict low = rnic_down("h1/r0"), high = low;

	low.kind = RM_KIND_RNIC_LOSSY;
	low.evidence.impact = RM_IMPACT_P2;
	high.evidence.impact = RM_IMPACT_P0;
	for (int i = 0; i < 2; i++)
		fall(rack, &low, 59);
	rack->opened = 0;
	for (int i = 0; i < 41; i++)
		judge(rack, &low, 1);
	assert_int_equal(rack->opened, 1);
	judge(rack, &high, 1);
	assert_int_equal(rack->opened, 2);
	assert_int_equal(newest(rack)->severity, RM_SEVERITY_CRITICAL);
	for (int i = 0; i < 400; i++)
		judge(rack, &high, 1);
	assert_int_equal(rack->opened, 2);
}

/* Which services use the part is known one window after the fall. */
static void
a_severity_that_is_known_after_the_third_fall_is_one_alert(void **state)
{
	struct rack *rack = *state;
	struct rm_verdict first = rnic_down("h1/r0"), later = first;

	first.evidence.impact = RM_IMPACT_P2;
	for (int i = 0; i < 2; i++)
		fall(rack, &first, 59);
	rack->opened = rack->resolved = 0;
	judge(rack, &first, 1);
	later.evidence.impact = RM_IMPACT_P0;
	fall(rack, &later, 59);
	assert_int_equal(rack->opened, 1);
	assert_int_equal(rack->resolved, 0);
	assert_int_equal(rack->updated, 1);
	/* The severity is that of the opening, until the part falls again. */
	assert_int_equal(newest(rack)->severity, RM_SEVERITY_WARNING);
	fall(rack, &later, 59);
	assert_int_equal(rack->opened, 2);
	assert_int_equal(newest(rack)->severity, RM_SEVERITY_CRITICAL);
	assert_int_equal(newest(rack)->returns, 3);
	fall(rack, &later, 59);
	assert_int_equal(rack->opened, 2);
}

/* The verdict on all links may be more severe than that on the first one. */
static void
the_third_fall_of_links_that_come_one_by_one_is_one_alert(void **state)
{
	struct rack *rack = *state;
	struct rm_verdict one = link_down("s3--t1");
	struct rm_verdict links = links_down("s3", ALL, 4);

	one.evidence.impact = RM_IMPACT_P2;
	links.evidence.impact = RM_IMPACT_P0;
	for (int i = 0; i < 3; i++) {
		judge(rack, &one, 1);
		fall(rack, &links, 59);
	}
	assert_int_equal(rack->opened, 3);
	assert_int_equal(rm_incidents_open(rack->incidents), 1);
}

/* ---- a pair of aggregators ---- */

static struct rm_incident
theirs_on(const struct rm_verdict *verdict, const struct rack *rack)
{
	return (struct rm_incident){ .id = 0x7e11,
		.verdict = *verdict,
		.opened = wall(rack),
		.changed = wall(rack),
		.notified_opened = true };
}

static void
an_incident_of_the_other_aggregator_does_not_rename_it(void **state)
{
	struct rack *rack = *state;
	const struct rm_verdict either = rnic_down("h1/r0 or h2/r0");
	const struct rm_verdict one = rnic_down("h2/r0");
	struct rm_incident theirs;

	flap(rack, &either);
	theirs = theirs_on(&one, rack);
	assert_int_equal(rm_incidents_adopt(rack->incidents, &theirs, true), 1);
	assert_true(is_open(rack, "h1/r0 or h2/r0"));
	assert_true(is_open(rack, "h2/r0"));
}

/* The standby judges the same falls, also while the incident is held. */
static void
a_standby_continues_the_flapping_that_it_has_seen(void **state)
{
	struct rack *rack = *state;
	const struct rm_verdict verdict = rnic_down("h1/r0");
	struct rm_incident theirs;

	fall(rack, &verdict, 59);
	fall(rack, &verdict, 59);
	theirs = theirs_on(&verdict, rack);
	assert_int_equal(rm_incidents_adopt(rack->incidents, &theirs, true), 1);
	for (int i = 0; i < 3; i++)
		fall(rack, &verdict, 59);
	assert_int_equal(rack->opened, 2);
	assert_int_equal(newest(rack)->id, 0x7e11);
	assert_int_equal(newest(rack)->returns, 4);
	rm_incidents_release(rack->incidents);
	for (int i = 0; i < 3; i++)
		fall(rack, &verdict, 59);
	assert_int_equal(rack->opened, 2);
	assert_int_equal(rm_incidents_open(rack->incidents), 1);
	wait_s(rack, 130);
	judge(rack, NULL, 0);
	assert_int_equal(rm_incidents_open(rack->incidents), 0);
}

/* It was started only now, so it has not seen the falls. */
static void
a_standby_continues_the_flapping_that_it_has_not_seen(void **state)
{
	struct rack *rack = *state;
	const struct rm_verdict verdict = rnic_down("h1/r0");
	struct rm_incident theirs;

	for (int i = 0; i < 6; i++)
		fall(rack, &verdict, 59);
	theirs = *newest(rack);
	rm_incidents_free(rack->incidents);
	rack->incidents = fresh();
	rack->opened = rack->resolved = 0;
	assert_int_equal(rm_incidents_adopt(rack->incidents, &theirs, true), 1);
	rm_incidents_release(rack->incidents);
	for (int i = 0; i < 12; i++) /* 3 s */
		judge(rack, NULL, 0);
	for (int i = 0; i < 3; i++)
		fall(rack, &verdict, 59);
	assert_int_equal(rack->opened, 0);
	assert_int_equal(rack->resolved, 0);
	assert_int_equal(newest(rack)->returns, 8);
	assert_int_equal(quiet_ns(rack), 3 * (59 + 3) * RM_NS_PER_S);
}

/* The active one does not know it, so it ends here; but its falls are not forgotten. */
static void
an_incident_that_the_other_aggregator_has_ended_flaps_at_once_when_it_returns(
    void **state)
{
	struct rack *rack = *state;
	const struct rm_verdict verdict = rnic_down("h1/r0");

	flap(rack, &verdict);
	rm_incidents_doubt(rack->incidents);
	rm_incidents_end_rest(rack->incidents, wall(rack), rack->now);
	assert_int_equal(rm_incidents_open(rack->incidents), 0);
	judge(rack, &verdict, 1);
	assert_int_equal(rack->opened, 1);
	assert_int_equal(rack->last.returns, 4);
}

/* Impact in one window is that of the probes in it; the worst one counts. */
static void
a_worse_fault_keeps_the_worst_impact_so_far(void **state)
{
	struct rack *rack = *state;
	struct rm_verdict v = rnic_down("h1/r0");

	v.kind = RM_KIND_RNIC_LOSSY;
	v.evidence.impact = RM_IMPACT_P1;
	strcpy(v.evidence.services, "train");
	for (int i = 0; i < 5; i++)
		fall(rack, &v, 59);
	v.kind = RM_KIND_RNIC_DOWN;
	v.evidence.impact = RM_IMPACT_P2;
	v.evidence.services[0] = '\0';
	rack->opened = 0;
	judge(rack, &v, 1);
	assert_int_equal(rack->opened, 1);
	assert_int_equal(newest(rack)->verdict.evidence.impact, RM_IMPACT_P1);
	assert_string_equal(newest(rack)->verdict.evidence.services, "train");
	v.evidence.impact = RM_IMPACT_P1;
	judge(rack, &v, 1);
	assert_int_equal(rack->opened, 1);
}

/* "A or B" is known to be A, and a later fall begins with a verdict on A. */
static void
a_narrowed_incident_takes_the_next_fall_of_its_known_part(void **state)
{
	const struct rm_verdict either = rnic_down("h1/r0 or h2/r0"),
				known = rnic_down("h1/r0");
	struct rack *rack = *state;

	for (int i = 0; i < 3; i++) {
		judge(rack, &either, 1);
		fall(rack, &known, 59);
	}
	rack->opened = 0;
	for (int i = 0; i < 6; i++) {
		judge(rack, &known, 1);
		fall(rack, &known, 59);
	}
	assert_int_equal(rack->opened, 0);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(falls_minutes_apart_are_one_incident_from_the_third_one_on),
		TEST(a_worse_fault_keeps_the_worst_impact_so_far),
		TEST(a_narrowed_incident_takes_the_next_fall_of_its_known_part),
		TEST(the_sentence_has_the_rate_and_whether_the_part_works_now),
		TEST(a_part_that_falls_soon_after_it_has_flapped_flaps_at_once),
		TEST(falls_are_remembered_whatever_else_fails_meanwhile),
		TEST(the_number_of_remembered_parts_is_limited),
		TEST(losses_and_delays_of_a_part_do_not_add_up_to_flapping),
		TEST(falls_before_a_restart_count),
		TEST(damaged_falls_cost_only_themselves),
		TEST(a_flapping_part_may_be_bad_again_before_there_is_a_verdict),
		TEST(a_fall_of_another_kind_is_one_event),
		TEST(a_flapping_undecided_incident_is_not_narrowed),
		TEST(a_flapping_incident_takes_no_verdict_on_its_part_or_another),
		TEST(a_flapping_incident_is_not_widened_to_its_switch),
		TEST(a_verdict_on_one_link_of_several_that_flap_is_not_left_out),
		TEST(a_flapping_incident_does_not_end_with_links_that_do_not_list_it),
		TEST(an_incident_of_the_other_aggregator_does_not_rename_it),
		TEST(a_standby_continues_the_flapping_that_it_has_seen),
		TEST(
		    an_incident_that_the_other_aggregator_has_ended_flaps_at_once_when_it_returns),
		TEST(falls_of_different_links_of_a_switch_do_not_add_up_to_flapping),
		TEST(a_long_outage_is_not_a_gap_between_falls),
		TEST(the_rate_is_right_although_the_wall_clock_is_set),
		TEST(a_restart_while_the_part_is_bad_is_no_fall),
		TEST(a_restart_does_not_change_the_class_of_the_fault),
		TEST(a_worse_fall_has_its_own_severity),
		TEST(a_worse_fall_of_a_or_b_does_not_accuse_the_other_aggregator),
		TEST(the_first_fall_at_which_nothing_passes_opens_its_own_incident),
		TEST(a_fall_that_begins_with_losses_is_one_incident),
		TEST(a_fall_of_another_class_opens_its_own_incident),
		TEST(faults_of_two_classes_in_turn_do_not_open_incidents_for_ever),
		TEST(flapping_ends_although_nothing_shows_that_the_part_works),
		TEST(flapping_ends_when_the_part_is_removed),
		TEST(flapping_ends_soon_after_a_long_time_without_the_daemon),
		TEST(time_without_evidence_is_not_a_gap_between_falls),
		TEST(
		    a_widened_flapping_incident_takes_no_verdict_on_other_links_of_its_switch),
		TEST(a_standby_continues_the_flapping_that_it_has_not_seen),
		TEST(
		    the_rate_is_right_although_the_wall_clock_was_set_back_over_a_restart),
		TEST(the_sentence_names_no_time_that_is_not_known),
		TEST(a_severity_that_is_known_after_the_third_fall_is_one_alert),
		TEST(the_third_fall_of_links_that_come_one_by_one_is_one_alert),
		TEST(links_that_flap_together_are_one_incident_whichever_is_seen_first),
		TEST(
		    links_that_were_first_seen_together_get_one_alert_when_they_come_apart),
		TEST(a_link_that_alone_stays_bad_gets_its_own_incident_soon),
		TEST(a_worse_fault_of_one_of_flapping_links_is_not_held_back),
		TEST(links_that_come_and_go_one_by_one_within_a_fall_are_one_incident),
		TEST(
		    a_link_that_follows_soon_is_of_the_same_fall_and_a_later_one_is_not),
		TEST(a_link_that_does_not_flap_with_the_others_is_not_held_back),
		TEST(links_keep_one_flapping_incident_after_a_restart),
		TEST(
		    a_link_that_flaps_alone_after_it_flapped_with_others_gets_its_own_incident),
		TEST(falls_of_one_link_do_not_keep_the_incident_of_several_open),
		TEST(links_that_flap_alone_are_not_joined_by_one_common_fall),
		TEST(
		    a_fault_that_gets_worse_long_after_the_third_fall_is_not_held_back),
	};

	return cmocka_run_group_tests_name("incident_falls", tests, NULL, NULL);
}
