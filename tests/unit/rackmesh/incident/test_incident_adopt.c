#include <errno.h>
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
#define THEIRS UINT64_C(0x7e11)

struct rack {
	struct rm_incidents *incidents;
	rm_mono_t now;
	enum rm_health health;
	unsigned opened, resolved;
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
	rack->resolved += event == RM_INCIDENT_RESOLVED;
	rack->last = *incident;
}

static struct rm_verdict
verdict_on(const char *name)
{
	struct rm_verdict verdict = {
		.part = { .type = RM_PART_RNIC, .place = "tor1" },
		.kind = RM_KIND_RNIC_DOWN,
		.confidence = 0.95,
		.evidence = { .window_ns = RM_NS_PER_S, .window_start = { 50 } },
	};

	snprintf(verdict.part.name, sizeof verdict.part.name, "%s", name);
	return verdict;
}

static void
judge(struct rack *rack, const char *name)
{
	struct rm_verdict verdict = verdict_on(name == NULL ? "" : name);

	rack->now = rm_mono_add(rack->now, STEP_NS);
	rm_incidents_judge(rack->incidents, rack->now,
	    (rm_wall_t){ rack->now.ns + 1000 * RM_NS_PER_S }, &verdict, name != NULL,
	    health_of, on_event, rack);
}

static struct rm_incident
theirs_on(const char *name)
{
	struct rm_incident theirs = {
		.id = THEIRS,
		.verdict = verdict_on(name),
		.opened = { 60 },
		.changed = { 70 },
		.notified_opened = true,
	};

	theirs.verdict.evidence.window_start.ns = 40;
	theirs.verdict.evidence.late_ns = 7;
	return theirs;
}

static int
setup(void **state)
{
	static struct rack rack;
	const struct rm_incident_options options = {
		.max_open = 3,
		.max_closed = 2,
		.resolve_after_ns = 2 * RM_NS_PER_S,
		.id_seed = 42,
	};

	memset(&rack, 0, sizeof rack);
	*state = &rack;
	return rm_incidents_new(&options, &rack.incidents);
}

static int
teardown(void **state)
{
	struct rack *rack = *state;

	rm_incidents_free(rack->incidents);
	return 0;
}

static const struct rm_incident *
first(const struct rack *rack)
{
	return rm_incidents_get(rack->incidents, 0);
}

static bool
end(struct rack *rack, uint64_t id, bool reported)
{
	return rm_incidents_end(
	    rack->incidents, id, (rm_wall_t){ 99 }, reported, (rm_mono_t){ 1 });
}

static void
an_incident_that_both_found_gets_the_others_id_and_times(void **state)
{
	struct rack *rack = *state;
	struct rm_incident theirs = theirs_on("h1/r0");

	judge(rack, "h1/r0");
	assert_int_equal(rm_incidents_adopt(rack->incidents, &theirs, true), 0);
	assert_int_equal(rm_incidents_open(rack->incidents), 1);
	assert_int_equal(first(rack)->id, THEIRS);
	assert_int_equal(first(rack)->opened.ns, 60);
	assert_int_equal(first(rack)->verdict.evidence.window_start.ns, 40);
	assert_int_equal(first(rack)->verdict.evidence.late_ns, 7);
	assert_true(first(rack)->notified_opened);
}

static void
the_worst_impact_that_either_found_is_kept(void **state)
{
	struct rack *rack = *state;
	struct rm_incident theirs = theirs_on("h1/r0");
	const struct rm_evidence *evidence;

	judge(rack, "h1/r0"); /* the other aggregator knows no impact */
	theirs.verdict.evidence.impact = RM_IMPACT_P0;
	strcpy(theirs.verdict.evidence.services, "pod:a");
	rm_incidents_adopt(rack->incidents, &theirs, true);
	evidence = &first(rack)->verdict.evidence;
	assert_int_equal(evidence->impact, RM_IMPACT_P0);
	assert_string_equal(evidence->services, "pod:a");
	theirs.verdict.evidence.impact = RM_IMPACT_P1;
	strcpy(theirs.verdict.evidence.services, "pod:b");
	rm_incidents_adopt(rack->incidents, &theirs, true);
	assert_int_equal(evidence->impact, RM_IMPACT_P0);
	assert_string_equal(evidence->services, "pod:a");
	judge(rack, "h1/r0");
	assert_int_equal(evidence->impact, RM_IMPACT_P0);
}

static void
an_incident_of_the_other_aggregator_is_kept_until_this_one_may_end_it(void **state)
{
	struct rack *rack = *state;
	struct rm_incident theirs = theirs_on("h1/r0");

	assert_int_equal(rm_incidents_adopt(rack->incidents, &theirs, true), 1);
	rack->health = RM_HEALTH_GOOD;
	for (int i = 0; i < 40; i++)
		judge(rack, NULL);
	assert_int_equal(rack->resolved, 0);
	rm_incidents_release(rack->incidents);
	for (int i = 0; i < 40; i++)
		judge(rack, NULL);
	assert_int_equal(rack->resolved, 1);
	assert_int_equal(rack->last.id, THEIRS);
	assert_int_equal(rack->opened, 0);
	assert_false(rack->last.notified_resolved); /* this aggregator notified, now */
}

static void
an_end_by_the_other_aggregator_is_not_sent_again(void **state)
{
	struct rack *rack = *state;
	struct rm_incident theirs = theirs_on("h1/r0");

	rm_incidents_adopt(rack->incidents, &theirs, true);
	assert_true(end(rack, THEIRS, true));
	assert_false(end(rack, THEIRS, true));
	assert_int_equal(rm_incidents_open(rack->incidents), 0);
	assert_int_equal(first(rack)->resolved.ns, 99);
	assert_true(first(rack)->notified_resolved);
	assert_int_equal(rack->resolved, 0);
}

/* The other aggregator may have failed before it notified: then this one must. */
static void
an_undelivered_end_of_the_other_aggregator_is_kept_to_be_sent(void **state)
{
	struct rack *rack = *state;
	struct rm_incident theirs = theirs_on("h1/r0");

	rm_incidents_adopt(rack->incidents, &theirs, true);
	assert_true(end(rack, THEIRS, false));
	assert_int_equal(rm_incidents_open(rack->incidents), 0);
	assert_int_equal(first(rack)->resolved.ns, 99);
	assert_false(first(rack)->notified_resolved);
	assert_int_equal(
	    rm_incidents_end_rest(rack->incidents, (rm_wall_t){ 99 }, (rm_mono_t){ 1 }),
	    0);
	/* The other aggregator has just reported so. */
	assert_false(first(rack)->notified_resolved);
	assert_true(end(rack, THEIRS, true));
	assert_true(first(rack)->notified_resolved);
	assert_false(end(rack, THEIRS, true));
}

static void
the_active_one_sends_the_end_of_an_incident_that_ended_here(void **state)
{
	struct rack *rack = *state;

	judge(rack, "h1/r0");
	rack->health = RM_HEALTH_GOOD;
	for (int i = 0; i < 40; i++)
		judge(rack, NULL);
	assert_int_equal(rack->resolved, 1);
	assert_false(first(rack)->notified_resolved);
	rm_incidents_doubt(rack->incidents);
	assert_int_equal(
	    rm_incidents_end_rest(rack->incidents, (rm_wall_t){ 99 }, (rm_mono_t){ 1 }),
	    1);
	assert_true(first(rack)->notified_resolved);
}

/* The other aggregator may have become active before it received the incident. */
static void
a_sent_incident_stays_open_until_the_other_aggregator_reports_it(void **state)
{
	struct rack *rack = *state;
	struct rm_incident theirs = theirs_on("h1/r0");

	judge(rack, "h1/r0");
	assert_true(rm_incidents_notified(rack->incidents, first(rack)->id, false));
	rm_incidents_owe(rack->incidents);
	assert_true(rm_incidents_owes(rack->incidents, 0));
	rm_incidents_doubt(rack->incidents);
	assert_int_equal(
	    rm_incidents_end_rest(rack->incidents, (rm_wall_t){ 99 }, (rm_mono_t){ 1 }),
	    0);
	rm_incidents_adopt(rack->incidents, &theirs, true);
	assert_false(rm_incidents_owes(rack->incidents, 0));
	assert_true(end(rack, THEIRS, true));
}

static void
an_incident_that_was_never_sent_needs_no_end(void **state)
{
	struct rack *rack = *state;

	judge(rack, "h1/r0");
	rm_incidents_owe(rack->incidents);
	assert_false(rm_incidents_owes(rack->incidents, 0));
}

/* The connection failed before any receiver was notified. An alert now would report
 * an incident that has ended. */
static void
an_unsent_incident_without_a_verdict_has_ended(void **state)
{
	struct rack *rack = *state;

	judge(rack, "h1/r0");
	judge(rack, NULL);
	judge(rack, "h3/r0");
	rm_incidents_doubt(rack->incidents);
	assert_int_equal(
	    rm_incidents_end_rest(rack->incidents, (rm_wall_t){ 99 }, (rm_mono_t){ 1 }),
	    1);
	assert_int_equal(rm_incidents_open(rack->incidents), 1);
	assert_string_equal(first(rack)->verdict.part.name, "h3/r0");
}

static void
an_undecided_incident_of_the_other_aggregator_keeps_its_name(void **state)
{
	struct rack *rack = *state;
	struct rm_incident theirs = theirs_on("h1/r0 or h2/r0");

	judge(rack, "h1/r0");
	assert_int_equal(rm_incidents_adopt(rack->incidents, &theirs, true), 0);
	assert_int_equal(rm_incidents_open(rack->incidents), 1);
	assert_string_equal(first(rack)->verdict.part.name, "h1/r0 or h2/r0");
	judge(rack, "h1/r0");
	assert_int_equal(rm_incidents_open(rack->incidents), 1);
	assert_int_equal(first(rack)->id, THEIRS);
}

static void
the_active_one_keeps_its_incidents_and_adopts_missing_ones(void **state)
{
	struct rack *rack = *state;
	struct rm_incident known = theirs_on("h1/r0"), fresh = theirs_on("h2/r0");
	uint64_t mine;

	judge(rack, "h1/r0");
	mine = first(rack)->id;
	assert_int_equal(rm_incidents_adopt(rack->incidents, &known, false), 0);
	assert_int_equal(first(rack)->id, mine);
	assert_int_equal(rm_incidents_adopt(rack->incidents, &fresh, false), 1);
	rack->health = RM_HEALTH_GOOD;
	for (int i = 0; i < 40; i++)
		judge(rack, "h1/r0");
	assert_int_equal(rack->resolved, 1);
	assert_int_equal(rack->last.id, THEIRS);
}

static void
a_sent_incident_that_the_other_aggregator_does_not_have_has_ended(void **state)
{
	struct rack *rack = *state;
	struct rm_incident theirs = theirs_on("h1/r0"), old = theirs_on("h2/r0");

	old.id = 2;
	rm_incidents_adopt(rack->incidents, &theirs, true);
	rm_incidents_adopt(rack->incidents, &old, false); /* from a previous run */
	rm_incidents_doubt(rack->incidents);
	rm_incidents_adopt(rack->incidents, &theirs, true);
	judge(rack, "h3/r0"); /* no receiver was notified */
	assert_int_equal(
	    rm_incidents_end_rest(rack->incidents, (rm_wall_t){ 99 }, (rm_mono_t){ 1 }),
	    1);
	assert_int_equal(rm_incidents_open(rack->incidents), 2);
	assert_string_equal(first(rack)->verdict.part.name, "h3/r0");
	assert_int_equal(rm_incidents_get(rack->incidents, 1)->id, THEIRS);
	rm_incidents_doubt(rack->incidents);
	assert_int_equal(
	    rm_incidents_end_rest(rack->incidents, (rm_wall_t){ 99 }, (rm_mono_t){ 1 }),
	    1);
	assert_int_equal(rm_incidents_open(rack->incidents), 1);
}

/* The former run was killed before it could save that all receivers were notified.
 * Meanwhile the other aggregator was active. */
static void
an_incident_of_a_former_run_that_the_other_aggregator_does_not_have_has_ended(
    void **state)
{
	const struct rm_incident_options options = { .max_open = 3, .max_closed = 2 };
	struct rack *rack = *state;
	struct rm_incidents *later = NULL;
	struct rm_error error = { 0 };
	json_t *saved;

	judge(rack, "h1/r0");
	saved = rm_incidents_save(rack->incidents, (rm_wall_t){ 1 });
	assert_int_equal(rm_incidents_new(&options, &later), 0);
	assert_int_equal(rm_incidents_restore(
			     later, saved, (rm_mono_t){ 1 }, (rm_wall_t){ 1 }, &error),
	    1);
	assert_false(rm_incidents_get(later, 0)->notified_opened);
	rm_incidents_doubt(later);
	assert_int_equal(
	    rm_incidents_end_rest(later, (rm_wall_t){ 99 }, (rm_mono_t){ 1 }), 1);
	assert_int_equal(rm_incidents_open(later), 0);
	rm_incidents_free(later);
	json_decref(saved);
}

static void
adopted_incidents_are_limited_and_have_unique_ids(void **state)
{
	static const char *const names[] = { "a/r0", "b/r0", "c/r0", "d/r0" };
	struct rack *rack = *state;
	struct rm_incident theirs;

	for (uint64_t i = 0; i < 4; i++) {
		theirs = theirs_on(names[i]);
		theirs.id = i + 1;
		assert_int_equal(rm_incidents_adopt(rack->incidents, &theirs, true),
		    i < 3 ? 1 : -ENOSPC);
	}
	assert_int_equal(rm_incidents_counts(rack->incidents)->refused, 1);
	theirs = theirs_on("a/r0");
	theirs.id = 2; /* the id of the incident on b */
	assert_int_equal(rm_incidents_adopt(rack->incidents, &theirs, true), 0);
	assert_int_equal(rm_incidents_get(rack->incidents, 2)->id, 1);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_incident_that_both_found_gets_the_others_id_and_times),
		TEST(the_worst_impact_that_either_found_is_kept),
		TEST(
		    an_incident_of_the_other_aggregator_is_kept_until_this_one_may_end_it),
		TEST(an_end_by_the_other_aggregator_is_not_sent_again),
		TEST(an_undelivered_end_of_the_other_aggregator_is_kept_to_be_sent),
		TEST(the_active_one_sends_the_end_of_an_incident_that_ended_here),
		TEST(a_sent_incident_stays_open_until_the_other_aggregator_reports_it),
		TEST(an_incident_that_was_never_sent_needs_no_end),
		TEST(an_unsent_incident_without_a_verdict_has_ended),
		TEST(an_undecided_incident_of_the_other_aggregator_keeps_its_name),
		TEST(the_active_one_keeps_its_incidents_and_adopts_missing_ones),
		TEST(a_sent_incident_that_the_other_aggregator_does_not_have_has_ended),
		TEST(
		    an_incident_of_a_former_run_that_the_other_aggregator_does_not_have_has_ended),
		TEST(adopted_incidents_are_limited_and_have_unique_ids),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
