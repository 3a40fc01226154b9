#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "rackmesh/incident/incident.h"

#define STEP_NS (250 * RM_NS_PER_MS)

/* A judged rack: the incidents' events, and the result of health(). */
struct rack {
	struct rm_incidents *incidents;
	rm_mono_t now;
	enum rm_health health;
	unsigned opened, updated, resolved;
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
	rack->last = *incident;
}

static void
judge(struct rack *rack, const struct rm_verdict *verdicts, size_t count)
{
	rack->now = rm_mono_add(rack->now, STEP_NS);
	rm_incidents_judge(rack->incidents, rack->now,
	    (rm_wall_t){ rack->now.ns + 1000 * RM_NS_PER_S }, verdicts, count,
	    health_of, on_event, rack);
}

static struct rm_verdict
verdict_on(const char *name, enum rm_kind kind)
{
	struct rm_verdict verdict = {
		.part = { .type = RM_PART_RNIC, .place = "tor1" },
		.kind = kind,
		.confidence = 0.95,
		.evidence = { .window_ns = RM_NS_PER_S, .window_start = { 1 } },
	};

	snprintf(verdict.part.name, sizeof verdict.part.name, "%s", name);
	return verdict;
}

static int
setup(void **state)
{
	static struct rack rack;
	const struct rm_incident_options options = {
		.max_open = 3,
		.max_closed = 2,
		.resolve_after_ns = 2 * RM_NS_PER_S,
		.flap_memory_ns = 600 * RM_NS_PER_S,
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

static void
a_fault_opens_once_and_stays_open_while_it_lasts(void **state)
{
	struct rack *rack = *state;
	struct rm_verdict verdict = verdict_on("h1/r0", RM_KIND_RNIC_DOWN);

	for (int i = 0; i < 40; i++) {
		verdict.evidence.window_start.ns = 1 + i;
		verdict.evidence.late_ns = 40 - i;
		verdict.evidence.to_part.sent = (uint64_t)i;
		judge(rack, &verdict, 1);
	}
	assert_int_equal(rack->opened, 1);
	assert_int_equal(rack->updated, 0);
	assert_int_equal(rm_incidents_open(rack->incidents), 1);
	assert_int_equal(
	    rm_incidents_get(rack->incidents, 0)->verdict.evidence.to_part.sent, 39);
	/* The window of the first verdict stays. */
	assert_int_equal(
	    rm_incidents_get(rack->incidents, 0)->verdict.evidence.window_start.ns, 1);
	assert_int_equal(
	    rm_incidents_get(rack->incidents, 0)->verdict.evidence.late_ns, 40);
}

static void
only_changes_that_matter_are_announced(void **state)
{
	struct rack *rack = *state;
	struct rm_verdict verdict = verdict_on("h1/r0", RM_KIND_RNIC_DOWN);
	int64_t counted;

	judge(rack, &verdict, 1);
	verdict.kind = RM_KIND_RNIC_SEND_DEAD;
	judge(rack, &verdict, 1);
	assert_int_equal(rack->updated, 1);
	for (int i = 0; i < 4; i++) { /* small steps add up */
		verdict.confidence -= 0.04;
		judge(rack, &verdict, 1);
	}
	assert_int_equal(rack->updated, 2);
	verdict.evidence.ruled_out_count = 1;
	strcpy(verdict.evidence.ruled_out[0], "h2/r0: 38 of 38 probes were answered");
	judge(rack, &verdict, 1);
	assert_int_equal(rack->updated, 3);
	verdict.evidence.direction = RM_DIRECTION_SEND;
	judge(rack, &verdict, 1);
	judge(rack, &verdict, 1);
	assert_int_equal(rack->updated, 4);
	strcpy(verdict.evidence.observed, "its port is down, as its host reports");
	judge(rack, &verdict, 1);
	judge(rack, &verdict, 1);
	assert_int_equal(rack->updated, 5);
	verdict.evidence.impact = RM_IMPACT_P1;
	judge(rack, &verdict, 1);
	verdict.evidence.impact = RM_IMPACT_P0;
	judge(rack, &verdict, 1);
	assert_int_equal(rack->updated, 7);
	verdict.evidence.impact = RM_IMPACT_P1; /* the job was affected all the same */
	judge(rack, &verdict, 1);
	assert_int_equal(rack->updated, 7);
	assert_int_equal(rack->last.verdict.evidence.impact, RM_IMPACT_P0);
	verdict.evidence.impact = RM_IMPACT_UNKNOWN; /* the fault has ended the job */
	judge(rack, &verdict, 1);
	assert_int_equal(rack->updated, 7);
	assert_int_equal(rack->last.verdict.evidence.impact, RM_IMPACT_P0);
	strcpy(verdict.evidence.ruled_out[0], "h2/r0: 39 of 39 probes were answered");
	judge(rack, &verdict, 1);
	assert_int_equal(rack->updated, 7);
	strcpy(verdict.evidence.ruled_out[0], "h3/r0: 39 of 39 probes were answered");
	judge(rack, &verdict, 1);
	assert_int_equal(rack->updated, 8);
	strcpy(verdict.evidence.counters, "its port counted 812 symbol errors in 5 s");
	judge(rack, &verdict, 1);
	assert_int_equal(rack->updated, 9);
	assert_int_equal(rack->last.changed.ns, rack->now.ns + 1000 * RM_NS_PER_S);
	strcpy(verdict.evidence.counters, "its port counted 815 symbol errors in 5 s");
	judge(rack, &verdict, 1);
	assert_int_equal(rack->updated, 9);
	counted = rack->now.ns + 1000 * RM_NS_PER_S;
	strcpy(verdict.evidence.counters, ""); /* no event is counted any more */
	judge(rack, &verdict, 1);
	assert_int_equal(rack->updated, 9);
	verdict.evidence.loses_too = true;
	judge(rack, &verdict, 1);
	judge(rack, &verdict, 1);
	assert_int_equal(rack->updated, 10);
	assert_string_equal(rack->last.verdict.evidence.counters,
	    "its port counted 815 symbol errors in 5 s");
	assert_true(rack->last.verdict.evidence.counters_old);
	assert_int_equal(rack->last.verdict.evidence.counters_at.ns, counted);
	strcpy(verdict.evidence.counters, "its port counted 9 symbol errors in 5 s");
	verdict.evidence.loses_too = false;
	judge(rack, &verdict, 1); /* the verdict is current again */
	assert_false(rack->last.verdict.evidence.counters_old);
	assert_int_equal(rack->last.verdict.evidence.counters_at.ns,
	    rack->now.ns + 1000 * RM_NS_PER_S);
	assert_int_equal(rack->opened, 1);
}

/* An alert names the services that are affected now. A busy region does not send an
 * alert with each judgement. */
static void
other_services_of_the_same_impact_are_announced_now_and_then(void **state)
{
	struct rack *rack = *state;
	struct rm_verdict verdict = verdict_on("h1/r0", RM_KIND_RNIC_DOWN);
	char *services = verdict.evidence.services;

	verdict.evidence.impact = RM_IMPACT_P0;
	strcpy(services, "pod:a");
	judge(rack, &verdict, 1);
	strcpy(services, "pod:a, pod:b");
	judge(rack, &verdict, 1);
	assert_int_equal(rack->updated, 1);
	assert_string_equal(rack->last.verdict.evidence.services, "pod:a, pod:b");
	for (int64_t ns = 0; ns < RM_INCIDENT_SERVICES_NS - STEP_NS; ns += STEP_NS) {
		snprintf(services, RM_EVIDENCE_TEXT, "pod:%d", (int)(ns / STEP_NS));
		judge(rack, &verdict, 1);
		assert_int_equal(rack->updated, 1);
	}
	assert_string_equal(
	    rm_incidents_get(rack->incidents, 0)->verdict.evidence.services, services);
	judge(rack, &verdict, 1);
	assert_int_equal(rack->updated, 2);
	assert_string_equal(rack->last.verdict.evidence.services, services);
	strcpy(services, ""); /* the fault has ended the job */
	for (int i = 0; i < 100; i++)
		judge(rack, &verdict, 1);
	assert_int_equal(rack->updated, 2);
}

static void
an_incident_never_resolves_without_results(void **state)
{
	struct rack *rack = *state;
	const struct rm_verdict verdict = verdict_on("h1/r0", RM_KIND_RNIC_DOWN);

	judge(rack, &verdict, 1);
	rack->health = RM_HEALTH_UNKNOWN;
	for (int i = 0; i < 1000; i++)
		judge(rack, NULL, 0);
	rack->health = RM_HEALTH_BAD;
	for (int i = 0; i < 1000; i++)
		judge(rack, NULL, 0);
	assert_int_equal(rack->resolved, 0);
	assert_int_equal(rm_incidents_open(rack->incidents), 1);
}

/* In each round 1 s is known to be good: five judgements with four steps between. */
static void
time_without_evidence_neither_resolves_nor_restarts_the_wait(void **state)
{
	struct rack *rack = *state;
	const struct rm_verdict verdict = verdict_on("h1/r0", RM_KIND_RNIC_DOWN);

	judge(rack, &verdict, 1);
	rack->health = RM_HEALTH_UNKNOWN;
	for (int i = 0; i < 100; i++)
		judge(rack, NULL, 0);
	assert_int_equal(rack->resolved, 0);
	for (int round = 0; round < 2; round++) {
		assert_int_equal(rack->resolved, 0);
		rack->health = RM_HEALTH_GOOD;
		for (int i = 0; i < 5; i++)
			judge(rack, NULL, 0);
		rack->health = RM_HEALTH_UNKNOWN;
		judge(rack, NULL, 0);
	}
	assert_int_equal(rack->resolved, 1);
}

static void
an_incident_resolves_only_by_good_results_after_the_last_bad_one(void **state)
{
	struct rack *rack = *state;
	const struct rm_verdict verdict = verdict_on("h1/r0", RM_KIND_RNIC_DOWN);

	judge(rack, &verdict, 1);
	for (int round = 0; round < 5; round++) {
		rack->health = RM_HEALTH_GOOD;
		for (int i = 0; i < 8; i++) /* 1.75 s */
			judge(rack, NULL, 0);
		rack->health = RM_HEALTH_BAD;
		judge(rack, NULL, 0);
	}
	assert_int_equal(rack->resolved, 0);
	rack->health = RM_HEALTH_GOOD;
	for (int i = 0; i < 8; i++)
		judge(rack, NULL, 0);
	assert_int_equal(rack->resolved, 0);
	judge(rack, NULL, 0);
	assert_int_equal(rack->resolved, 1);
	assert_int_equal(rack->last.resolved.ns, rack->now.ns + 1000 * RM_NS_PER_S);
	assert_int_equal(rm_incidents_open(rack->incidents), 0);
	assert_true(rm_incidents_get(rack->incidents, 0)->resolved.ns != 0);
	assert_null(rm_incidents_get(rack->incidents, 1));
}

static void
a_verdict_during_recovery_restarts_the_wait(void **state)
{
	struct rack *rack = *state;
	const struct rm_verdict verdict = verdict_on("h1/r0", RM_KIND_RNIC_DOWN);

	judge(rack, &verdict, 1);
	rack->health = RM_HEALTH_GOOD;
	for (int i = 0; i < 8; i++)
		judge(rack, NULL, 0);
	judge(rack, &verdict, 1);
	for (int i = 0; i < 8; i++)
		judge(rack, NULL, 0);
	assert_int_equal(rack->resolved, 0);
	judge(rack, NULL, 0);
	assert_int_equal(rack->resolved, 1);
}

static void
resolve(struct rack *rack)
{
	rack->health = RM_HEALTH_GOOD;
	for (int i = 0; i < 9; i++)
		judge(rack, NULL, 0);
}

static void
a_part_that_fails_again_is_counted_and_gets_a_new_id(void **state)
{
	struct rack *rack = *state;
	const struct rm_verdict verdict = verdict_on("h1/r0", RM_KIND_RNIC_DOWN);
	uint64_t ids[3];

	for (unsigned i = 0; i < 3; i++) {
		judge(rack, &verdict, 1);
		ids[i] = rack->last.id;
		assert_int_equal(rack->last.reopened, i);
		resolve(rack);
		rack->now = rm_mono_add(rack->now, 61 * RM_NS_PER_S);
	}
	/* The third fall makes it flapping: it lasts three times the 63.5 s between two
	 * falls. */
	assert_int_equal(rack->resolved, 2);
	rack->now = rm_mono_add(rack->now, 126 * RM_NS_PER_S);
	judge(rack, NULL, 0);
	assert_int_equal(rack->resolved, 2);
	rack->now = rm_mono_add(rack->now, 2 * RM_NS_PER_S);
	judge(rack, NULL, 0);
	assert_int_equal(rack->resolved, 3);
	assert_true(ids[0] != ids[1] && ids[1] != ids[2] && ids[0] != ids[2]);
	rack->now = rm_mono_add(rack->now, 1801 * RM_NS_PER_S);
	judge(rack, &verdict, 1);
	assert_int_equal(rack->last.reopened, 0);
	assert_int_equal(rack->last.flaps_since.ns, 0);
}

/* Bad for 1 s and good for 2.5 s, repeatedly. */
static void
come_and_go(struct rack *rack, unsigned times)
{
	const struct rm_verdict verdict = verdict_on("h1/r0", RM_KIND_RNIC_DOWN);

	while (times-- > 0) {
		for (int i = 0; i < 4; i++)
			judge(rack, &verdict, 1);
		rack->health = RM_HEALTH_GOOD;
		for (int i = 0; i < 10; i++)
			judge(rack, NULL, 0);
	}
}

static void
a_part_that_comes_and_goes_is_one_incident_with_its_rate(void **state)
{
	struct rack *rack = *state;
	const rm_wall_t begin = { rack->now.ns + STEP_NS + 1000 * RM_NS_PER_S };
	const struct rm_incident *incident;
	char text[RM_INCIDENT_FLAP_TEXT];

	come_and_go(rack, 2);
	assert_int_equal(rack->resolved, 2);
	come_and_go(rack, 11);
	assert_int_equal(rack->opened, 3);
	assert_int_equal(rack->resolved, 2);
	/* A receiver that was notified is not notified again. */
	assert_int_equal(rack->updated, 0);
	incident = rm_incidents_get(rack->incidents, 0);
	assert_int_equal(incident->flaps_since.ns, begin.ns);
	assert_int_equal(incident->returns, 12);
	rm_incident_flapping(incident, text);
	assert_string_equal(text, "it came back 12 times within 42 s, about every 3 s");
	for (int i = 0; i < 51; i++) {
		assert_int_equal(rack->resolved, 2);
		judge(rack, NULL, 0);
	}
	assert_int_equal(rack->resolved, 3);
}

static void
a_part_that_flaps_again_within_a_minute_continues_its_count(void **state)
{
	struct rack *rack = *state;
	rm_wall_t since;

	come_and_go(rack, 4);
	since = rm_incidents_get(rack->incidents, 0)->flaps_since;
	for (int i = 0; i < 60; i++)
		judge(rack, NULL, 0);
	assert_int_equal(rack->resolved, 3);
	come_and_go(rack, 1);
	assert_int_equal(rack->opened, 4);
	assert_int_equal(rack->last.returns, 4);
	assert_int_equal(rack->last.flaps_since.ns, since.ns);
}

static void
a_part_that_fails_again_after_long_does_not_flap(void **state)
{
	struct rack *rack = *state;

	for (int i = 0; i < 4; i++) {
		come_and_go(rack, 1);
		rack->now = rm_mono_add(rack->now, 901 * RM_NS_PER_S);
	}
	assert_int_equal(rack->opened, 4);
	assert_int_equal(rack->resolved, 4);
	assert_int_equal(rack->last.returns, 0);
}

static void
open_and_closed_incidents_are_limited(void **state)
{
	struct rack *rack = *state;
	struct rm_verdict verdicts[5];

	for (int i = 0; i < 5; i++) {
		char name[16];

		snprintf(name, sizeof name, "h%d/r0", i);
		verdicts[i] = verdict_on(name, RM_KIND_RNIC_DOWN);
	}
	judge(rack, verdicts, 5);
	assert_int_equal(rm_incidents_open(rack->incidents), 3);
	assert_int_equal(rm_incidents_counts(rack->incidents)->refused, 2);
	assert_string_equal(
	    rm_incidents_get(rack->incidents, 0)->verdict.part.name, "h2/r0");
	assert_string_equal(
	    rm_incidents_get(rack->incidents, 2)->verdict.part.name, "h0/r0");
	resolve(rack);
	assert_int_equal(rack->resolved, 3);
	assert_non_null(rm_incidents_get(rack->incidents, 1));
	assert_null(rm_incidents_get(rack->incidents, 2));
	assert_int_equal(rm_incidents_counts(rack->incidents)->opened, 3);
	assert_int_equal(rm_incidents_counts(rack->incidents)->resolved, 3);
}

static void
an_undecided_incident_keeps_its_name_when_it_narrows(void **state)
{
	struct rack *rack = *state;
	struct rm_verdict verdict = verdict_on("h1/r0 or h2/r0", RM_KIND_RNIC_DOWN);

	judge(rack, &verdict, 1);
	verdict = verdict_on("h2/r0", RM_KIND_RNIC_RECEIVE_DEAD);
	judge(rack, &verdict, 1);
	assert_int_equal(rack->opened, 1);
	assert_int_equal(rack->updated, 1);
	assert_string_equal(rack->last.verdict.part.name, "h1/r0 or h2/r0");
	assert_int_equal(rack->last.verdict.kind, RM_KIND_RNIC_RECEIVE_DEAD);
}

static void
an_undecided_incident_reports_which_one_it_is_once_that_is_known(void **state)
{
	struct rack *rack = *state;
	struct rm_verdict verdict = verdict_on("h1/r0 or h2/r0", RM_KIND_RNIC_DOWN);
	char sentence[RM_SENTENCE_BYTES];

	judge(rack, &verdict, 1);
	assert_string_equal(rack->last.verdict.evidence.narrowed, "");
	verdict = verdict_on("h2/r0", RM_KIND_RNIC_DOWN);
	judge(rack, &verdict, 1);
	assert_int_equal(rack->updated, 1);
	assert_string_equal(rack->last.verdict.evidence.narrowed, "h2/r0");
	rm_verdict_sentence(&rack->last.verdict, sentence, sizeof(sentence));
	assert_non_null(strstr(sentence, "RNIC h2/r0 "));

	/* The next window does not decide. */
	verdict = verdict_on("h1/r0 or h2/r0", RM_KIND_RNIC_DOWN);
	judge(rack, &verdict, 1);
	assert_int_equal(rack->updated, 1);
	assert_string_equal(
	    rm_incidents_get(rack->incidents, 0)->verdict.evidence.narrowed, "h2/r0");
}

/* One window for each verdict, this many times. */
static void
judge_names(struct rack *rack, const char *name, const char *then, int times)
{
	struct rm_verdict verdict;

	for (int i = 0; i < 2 * times; i++) {
		verdict = verdict_on(i % 2 == 0 ? name : then, RM_KIND_RNIC_DOWN);
		/* Confidences that differ as those of different windows do. */
		verdict.confidence = strstr(verdict.part.name, " or ") ? 0.5 : 0.95;
		verdict.evidence.ruled_out_count = 1;
		snprintf(verdict.evidence.ruled_out[0],
		    sizeof(verdict.evidence.ruled_out[0]), "not %.60s: 9 of 9",
		    verdict.part.name);
		judge(rack, &verdict, 1);
	}
}

static const struct rm_verdict *
only_verdict(const struct rack *rack)
{
	assert_int_equal(rm_incidents_open(rack->incidents), 1);
	return &rm_incidents_get(rack->incidents, 0)->verdict;
}

static void
windows_that_disagree_on_which_one_it_is_change_nothing(void **state)
{
	struct rack *rack = *state;

	judge_names(rack, "h1/r0 or h2/r0", "h2/r0", 1);
	assert_int_equal(rack->updated, 1);
	judge_names(rack, "h1/r0 or h2/r0", "h2/r0", 100);
	judge_names(rack, "h1/r0", "h2/r0", 100);
	assert_int_equal(rack->opened, 1);
	assert_int_equal(rack->updated, 1);
	assert_string_equal(only_verdict(rack)->evidence.narrowed, "h2/r0");
	assert_true(only_verdict(rack)->confidence > 0.9);
	assert_int_equal(rm_incidents_counts(rack->incidents)->reconsidered, 0);
}

static struct rm_verdict
link_down(const char *name)
{
	struct rm_verdict verdict = verdict_on(name, RM_KIND_LINK_DOWN);

	verdict.part.type = RM_PART_LINK;
	verdict.part.place[0] = '\0';
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

static void
a_switch_or_two_of_its_links_narrow_to_one_of_the_links(void **state)
{
	struct rack *rack = *state;
	struct rm_verdict verdict =
	    verdict_on("s1 or s1--t1 or s1--t2", RM_KIND_SWITCH_LOSSY);
	char sentence[RM_SENTENCE_BYTES];

	verdict.part.type = RM_PART_SWITCH;
	verdict.part.place[0] = '\0';
	judge(rack, &verdict, 1);
	verdict = link_down("s1--t2");
	judge(rack, &verdict, 1);
	assert_int_equal(rack->opened, 1);
	assert_string_equal(only_verdict(rack)->evidence.narrowed, "s1--t2");
	rm_verdict_sentence(only_verdict(rack), sentence, sizeof(sentence));
	assert_non_null(strstr(sentence, "Link s1--t2 carries nothing"));
}

static void
several_links_of_a_switch_are_one_incident(void **state)
{
	struct rack *rack = *state;
	struct rm_verdict verdict = links_down("s3", "s3--t1, s3--t2, s3--t3", 3);

	judge(rack, &verdict, 1);
	assert_int_equal(rack->opened, 1);
	assert_string_equal(rack->last.verdict.part.name, "s3");
	/* One more link is a change. */
	verdict = links_down("s3", "s3--t1, s3--t2, s3--t3, s3--t4", 4);
	judge(rack, &verdict, 1);
	judge(rack, &verdict, 1);
	assert_int_equal(rack->updated, 1);
	/* A verdict on one of them alone, as after a restart of the judge. */
	verdict = link_down("s3--t2");
	for (int i = 0; i < 20; i++)
		judge(rack, &verdict, 1);
	assert_int_equal(rack->opened, 1);
	assert_int_equal(rack->resolved, 0);
	assert_int_equal(only_verdict(rack)->kind, RM_KIND_LINKS_DOWN);
	/* On the whole switch. */
	verdict = link_down("s3");
	verdict.part.type = RM_PART_SWITCH;
	verdict.kind = RM_KIND_SWITCH_DOWN;
	judge(rack, &verdict, 1);
	assert_int_equal(rack->opened, 1);
	assert_int_equal(only_verdict(rack)->kind, RM_KIND_SWITCH_DOWN);
}

static void
incidents_on_links_become_one_on_their_switch(void **state)
{
	struct rack *rack = *state;
	struct rm_verdict verdicts[2] = { link_down("s3--t2"), link_down("s3--t1") };
	char sentence[RM_SENTENCE_BYTES];
	uint64_t oldest;

	judge(rack, verdicts, 1);
	oldest = rack->last.id;
	judge(rack, verdicts, 2);
	assert_int_equal(rack->opened, 2);
	verdicts[0] = links_down("s3", "s3--t1, s3--t2, t3->s3", 3);
	judge(rack, verdicts, 1);
	assert_int_equal(rack->opened, 2);
	assert_int_equal(rack->resolved, 1);
	assert_string_equal(rack->last.verdict.part.name, "s3--t1");
	rm_verdict_sentence(&rack->last.verdict, sentence, sizeof sentence);
	assert_non_null(strstr(
	    sentence, "it is one of several links of s3 now, which have one incident"));
	assert_string_equal(only_verdict(rack)->part.name, "s3--t2");
	assert_string_equal(only_verdict(rack)->evidence.widened, "s3");
	assert_true(rm_incidents_get(rack->incidents, 0)->id == oldest);
	rm_verdict_sentence(only_verdict(rack), sentence, sizeof sentence);
	assert_non_null(strstr(sentence, "Switch s3: 3 of its 8 links carry nothing"));
	/* Also when its first link works again; and on all of the switch. */
	verdicts[0] = links_down("s3", "s3--t1", 1);
	judge(rack, verdicts, 1);
	verdicts[0] = links_down("s3", "", 0);
	verdicts[0].kind = RM_KIND_SWITCH_DOWN;
	judge(rack, verdicts, 1);
	assert_int_equal(rack->opened, 2);
	rm_verdict_sentence(only_verdict(rack), sentence, sizeof sentence);
	assert_non_null(strstr(sentence, "Switch s3 forwards nothing"));
	/* At last the link alone: the incident is on it again. */
	verdicts[0] = link_down("s3--t2");
	judge(rack, verdicts, 1);
	assert_string_equal(only_verdict(rack)->evidence.widened, "");
	assert_int_equal(rack->opened, 2);
}

static void
links_beyond_the_list_have_no_incidents_of_their_own(void **state)
{
	struct rack *rack = *state;
	struct rm_verdict verdicts[2] = { link_down("s3--t8"), link_down("s3--t9") };
	struct rm_verdict verdict;

	verdicts[0].evidence.window_start.ns = 100 * RM_NS_PER_S;
	verdicts[1].evidence.window_start.ns = 50 * RM_NS_PER_S;
	judge(rack, verdicts, 2);
	assert_int_equal(rack->opened, 2);
	/* Five links, of which two have no room. */
	verdict = links_down("s3", "s3--t1, s3--t2, s3--t3", 5);
	verdict.evidence.window_start.ns = 101 * RM_NS_PER_S;
	judge(rack, &verdict, 1);
	/* The one that began with them is one of these; an older one is not. */
	assert_int_equal(rack->opened, 2);
	assert_int_equal(rm_incidents_open(rack->incidents), 2);
	assert_string_equal(
	    rm_incidents_get(rack->incidents, 1)->verdict.evidence.widened, "s3");
	assert_string_equal(
	    rm_incidents_get(rack->incidents, 0)->verdict.part.name, "s3--t9");
	/* After a restart of the judge: a verdict on one of them alone. */
	verdict = link_down("s3--t7");
	verdict.evidence.window_start.ns = 102 * RM_NS_PER_S;
	judge(rack, &verdict, 1);
	assert_int_equal(rack->opened, 2);
}

static void
the_end_of_a_link_beyond_the_list_is_not_forgotten(void **state)
{
	struct rack *rack = *state;
	struct rm_verdict verdicts[2] = { link_down("s3--t8"), link_down("s3--t7") };
	struct rm_verdict verdict;

	judge(rack, verdicts, 2);
	verdict = links_down("s3", "s3--t1, s3--t2, s3--t3", 5);
	judge(rack, &verdict, 1);
	assert_int_equal(rm_incidents_open(rack->incidents), 1);
	assert_int_equal(rack->resolved, 1);
}

/* Links that fail and work again, for ten minutes. */
static void
links_that_come_and_go_are_announced_a_few_times_only(void **state)
{
	struct rack *rack = *state;
	const struct rm_verdict of[2] = { links_down("s3", "s3--t1, s3--t2, s3--t3", 3),
		links_down("s3", "s3--t1, s3--t2, s3--t3, s3--t4", 4) };
	unsigned events;

	for (int i = 0; i < 2400; i++) {
		judge(rack, &of[i / 12 % 2], 1);
		/* The first change is announced at once. */
		if (i == 12)
			assert_int_equal(rack->updated, 1);
	}
	assert_int_equal(rack->opened, 1);
	assert_in_range(rack->updated, 3, 8);
	/* The last state is announced, too. */
	events = rack->updated;
	for (int i = 0; i < 800; i++)
		judge(rack, &of[0], 1);
	assert_in_range(rack->updated, events, events + 1);
	assert_int_equal(rack->last.verdict.evidence.links_down, 3);
}

static void
a_group_that_forms_and_ends_again_and_again_is_announced_a_few_times_only(void **state)
{
	struct rack *rack = *state;
	const struct rm_verdict of[2] = { link_down("s3--t1"),
		links_down("s3", "s3--t1, s3--t2, s3--t3", 3) };
	unsigned events;

	for (int i = 0; i < 2400; i++)
		judge(rack, &of[i / 12 % 2], 1);
	assert_int_equal(rack->opened, 1);
	assert_in_range(rack->updated, 3, 8);
	events = rack->updated;
	for (int i = 0; i < 800; i++)
		judge(rack, &of[0], 1);
	assert_in_range(rack->updated, events, events + 1);
	assert_int_equal(rack->last.verdict.kind, RM_KIND_LINK_DOWN);
}

static struct rm_verdict
switch_down(const char *name)
{
	struct rm_verdict verdict = links_down(name, "", 0);

	verdict.kind = RM_KIND_SWITCH_DOWN;
	return verdict;
}

static void
a_switch_that_dies_after_many_changes_of_its_links_is_announced_at_once(void **state)
{
	struct rack *rack = *state;
	const struct rm_verdict of[3] = { links_down("s3", "s3--t1, s3--t2, s3--t3", 3),
		links_down("s3", "s3--t1, s3--t2, s3--t3, s3--t4", 4),
		switch_down("s3") };
	unsigned events;

	for (int i = 0; i < 2400; i++)
		judge(rack, &of[i / 12 % 2], 1);
	events = rack->updated;
	judge(rack, &of[2], 1);
	assert_int_equal(rack->updated, events + 1);
	assert_int_equal(rack->last.verdict.kind, RM_KIND_SWITCH_DOWN);
	/* It dies and comes back for ten minutes. */
	events = rack->updated;
	for (int i = 0; i < 2400; i++)
		judge(rack, &of[i / 12 % 2 + 1], 1);
	assert_in_range(rack->updated, events, events + 8);
}

static void
links_that_change_after_a_quiet_time_are_announced_soon(void **state)
{
	struct rack *rack = *state;
	const struct rm_verdict of[2] = { links_down("s3", "s3--t1, s3--t2, s3--t3", 3),
		links_down("s3", "s3--t1, s3--t2, s3--t3, s3--t4", 4) };
	unsigned events;

	for (int i = 0; i < 2400; i++)
		judge(rack, &of[i / 12 % 2], 1);
	for (int i = 0; i < 4 * 800; i++)
		judge(rack, &of[0], 1);
	events = rack->updated;
	judge(rack, &of[1], 1);
	assert_int_equal(rack->updated, events + 1);
	for (int i = 0; i <= RM_INCIDENT_LINKS_NS / STEP_NS; i++)
		judge(rack, &of[0], 1);
	assert_int_equal(rack->updated, events + 2);
}

static void
a_late_link_does_not_become_several_dead_ones(void **state)
{
	struct rack *rack = *state;
	struct rm_verdict verdict = link_down("s3--t1");

	verdict.kind = RM_KIND_LINK_LATE;
	judge(rack, &verdict, 1);
	verdict = links_down("s3", "s3--t1, s3--t2, s3--t3", 3);
	judge(rack, &verdict, 1);
	assert_int_equal(rack->opened, 2);
	assert_string_equal(only_verdict(rack)->part.name, "s3");
}

static void
a_tor_with_several_dead_links_is_called_a_tor(void **state)
{
	struct rack *rack = *state;
	struct rm_verdict verdict = link_down("s3--t1");
	char sentence[RM_SENTENCE_BYTES];

	judge(rack, &verdict, 1);
	verdict = links_down("t1", "s3--t1, s4--t1, s5--t1", 3);
	verdict.part.type = RM_PART_TOR;
	judge(rack, &verdict, 1);
	rm_verdict_sentence(only_verdict(rack), sentence, sizeof sentence);
	assert_non_null(strstr(sentence, "ToR t1: 3 of its 8 links carry nothing"));
}

static void
losses_of_two_links_are_announced_while_one_of_them_is_late(void **state)
{
	struct rack *rack = *state;
	struct rm_verdict verdicts[2] = { link_down("s3--t1"),
		link_down("s3--t1 or s3--t2") };

	verdicts[0].kind = RM_KIND_LINK_LATE;
	judge(rack, verdicts, 1);
	judge(rack, verdicts, 2);
	assert_int_equal(rack->opened, 2);
	assert_string_equal(rack->last.verdict.part.name, "s3--t1 or s3--t2");
}

static void
an_incident_of_losses_of_two_links_does_not_become_a_delay_of_one(void **state)
{
	struct rack *rack = *state;
	struct rm_verdict verdicts[2] = { link_down("s3--t1 or s3--t2"),
		link_down("s3--t1") };

	verdicts[1].kind = RM_KIND_LINK_LATE;
	judge(rack, verdicts, 1);
	judge(rack, verdicts, 2);
	assert_int_equal(rack->opened, 2);
	assert_int_equal(
	    rm_incidents_get(rack->incidents, 1)->verdict.kind, RM_KIND_LINK_DOWN);
}

/* Five links of s3 are down, of which two have no room in the list; a minute later the
 * judge has no verdict on them any more. Then `link` fails. */
static unsigned
opened_after_five_links(struct rack *rack, const char *link, int64_t after_ns)
{
	struct rm_verdict verdict = links_down("s3", "s3--t1, s3--t2, s3--t3", 5);
	const unsigned opened = rack->opened;

	verdict.evidence.window_start.ns = 1000 * RM_NS_PER_S;
	for (int i = 0; i < 240; i++)
		judge(rack, &verdict, 1);
	for (int64_t i = 0; i < after_ns / STEP_NS; i++)
		judge(rack, NULL, 0);
	verdict = link_down(link);
	verdict.evidence.window_start.ns = rack->now.ns + 1000 * RM_NS_PER_S;
	judge(rack, &verdict, 1);
	return rack->opened - opened - 1;
}

static void
a_link_that_fails_long_after_the_links_beyond_a_list_has_its_own_incident(void **state)
{
	static const struct {
		const char *link;
		int64_t after_ns;
		unsigned opened;
	} cases[] = {
		{ "s3--t8", RM_LINKS_TOGETHER_NS - 2 * STEP_NS, 0 },
		{ "s3--t8", RM_LINKS_TOGETHER_NS + 2 * STEP_NS, 1 },
		{ "s3--t8", 3600 * RM_NS_PER_S, 1 },
		/* in the list */
		{ "s3--t2", 3600 * RM_NS_PER_S, 0 },
	};
	struct rack *rack = *state;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		teardown(state);
		setup(state);
		assert_int_equal(
		    opened_after_five_links(rack, cases[i].link, cases[i].after_ns),
		    cases[i].opened);
		assert_int_equal(rack->resolved, 0);
	}
}

/* How many incidents end if "s3--t1 or s3--t2" was open for that long, and was narrowed
 * to that link, when a group of links with s3--t1 forms. */
static unsigned
ended_by_a_group(struct rack *rack, int64_t after_ns, const char *narrowed)
{
	const int64_t began_ns = 1000 * RM_NS_PER_S;
	struct rm_verdict verdict = link_down("s3--t1 or s3--t2");

	verdict.evidence.window_start.ns = began_ns;
	judge(rack, &verdict, 1);
	if (narrowed != NULL) {
		verdict = link_down(narrowed);
		judge(rack, &verdict, 1);
	}
	verdict = links_down("s3", "s3--t1, s3--t4, s3--t5", 3);
	verdict.evidence.window_start.ns = began_ns + after_ns;
	judge(rack, &verdict, 1);
	return rack->resolved;
}

static void
an_undecided_incident_of_long_before_a_group_does_not_end_with_it(void **state)
{
	static const struct {
		int64_t after_ns;
		const char *narrowed;
		unsigned ended;
	} cases[] = {
		{ RM_LINKS_TOGETHER_NS - STEP_NS, NULL, 1 },
		{ RM_LINKS_TOGETHER_NS + STEP_NS, NULL, 0 },
		{ 600 * RM_NS_PER_S, "s3--t1", 1 },
		{ 600 * RM_NS_PER_S, "s3--t2", 0 },
		{ RM_NS_PER_S, "s3--t2", 0 },
	};
	struct rack *rack = *state;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		teardown(state);
		setup(state);
		assert_int_equal(
		    ended_by_a_group(rack, cases[i].after_ns, cases[i].narrowed),
		    cases[i].ended);
		assert_int_equal(
		    rm_incidents_open(rack->incidents), cases[i].ended ? 1 : 2);
	}
}

#define RECONSIDER_STEPS (RM_INCIDENT_RECONSIDER_NS / STEP_NS)

static void
undecided_windows_do_not_keep_the_wrong_part(void **state)
{
	struct rack *rack = *state;

	judge_names(rack, "h1/r0 or h2/r0", "h2/r0", 1);
	judge_names(rack, "h1/r0", "h1/r0 or h2/r0", RECONSIDER_STEPS);
	assert_string_equal(only_verdict(rack)->evidence.narrowed, "h2/r0");
	judge_names(rack, "h1/r0", "h1/r0 or h2/r0", 1);
	assert_string_equal(only_verdict(rack)->evidence.narrowed, "h1/r0");
	assert_int_equal(rm_incidents_counts(rack->incidents)->reconsidered, 1);
}

static void
a_verdict_of_a_window_without_a_known_part_is_taken(void **state)
{
	const char *part = "h1/r0 or h2/r0";
	struct rack *rack = *state;
	struct rm_verdict verdict = verdict_on(part, RM_KIND_RNIC_LOSSY);
	const struct rm_evidence *evidence;

	judge_names(rack, part, "h2/r0", 1);
	strcpy(verdict.evidence.services, "pod:a");
	verdict.evidence.impact = RM_IMPACT_P0;
	verdict.evidence.to_part.sent = 40;
	verdict.confidence = 0.5;
	judge(rack, &verdict, 1);
	evidence = &only_verdict(rack)->evidence;
	assert_int_equal(rack->last.verdict.kind, RM_KIND_RNIC_LOSSY);
	assert_int_equal(evidence->impact, RM_IMPACT_P0);
	assert_int_equal(evidence->to_part.sent, 40);
	assert_string_equal(evidence->narrowed, "h2/r0");
	assert_string_equal(evidence->ruled_out[0], "not h2/r0: 9 of 9");
	assert_true(only_verdict(rack)->confidence > 0.9);

	/* Services that an incident affected stay affected. */
	verdict.evidence.impact = RM_IMPACT_UNKNOWN;
	strcpy(verdict.evidence.services, "");
	judge(rack, &verdict, 1);
	assert_int_equal(evidence->impact, RM_IMPACT_P0);
	assert_string_equal(evidence->services, "pod:a");
	assert_int_equal(rack->updated, 2);
}

/* Returns after how many windows in a row with the other part the incident's part is
 * replaced. */
static int64_t
windows_until(struct rack *rack, const char *name)
{
	const struct rm_verdict verdict = verdict_on(name, RM_KIND_RNIC_DOWN);
	int64_t windows = 0;

	do {
		assert_in_range(++windows, 1, 10000);
		judge(rack, &verdict, 1);
	} while (strcmp(only_verdict(rack)->evidence.narrowed, name) != 0);
	return windows;
}

static void
each_replacement_of_the_known_part_takes_longer(void **state)
{
	const int64_t most = RM_INCIDENT_RECONSIDER_MAX_NS / STEP_NS;
	const char *names[] = { "h1/r0", "h2/r0" };
	struct rack *rack = *state;
	int64_t steps = RECONSIDER_STEPS;

	judge_names(rack, "h1/r0 or h2/r0", "h2/r0", 1);
	for (int i = 0; i < 7; i++) {
		assert_int_equal(windows_until(rack, names[i % 2]), 1 + steps);
		steps = 2 * steps < most ? 2 * steps : most;
	}
	assert_int_equal(steps, most);
	assert_int_equal(rm_incidents_counts(rack->incidents)->reconsidered, 7);
	assert_int_equal(rack->opened, 1);
	assert_in_range(rack->updated, 8, 10);
}

static void
if_both_parts_are_named_the_known_one_keeps_its_incident(void **state)
{
	struct rack *rack = *state;
	struct rm_verdict verdicts[2];

	judge_names(rack, "h1/r0 or h2/r0", "h2/r0", 1);
	verdicts[0] = verdict_on("h1/r0", RM_KIND_RNIC_DOWN);
	verdicts[1] = verdict_on("h2/r0", RM_KIND_RNIC_DOWN);
	judge(rack, verdicts, 2);
	assert_int_equal(rack->opened, 2);
	assert_string_equal(
	    rm_incidents_get(rack->incidents, 0)->verdict.part.name, "h1/r0");
	assert_string_equal(
	    rm_incidents_get(rack->incidents, 1)->verdict.evidence.narrowed, "h2/r0");
}

static void
two_faults_are_never_one_undecided_incident(void **state)
{
	struct rack *rack = *state;
	struct rm_verdict verdicts[2];

	verdicts[0] = verdict_on("h1/r0 or h2/r0", RM_KIND_RNIC_DOWN);
	judge(rack, verdicts, 1);
	verdicts[0] = verdict_on("h1/r0", RM_KIND_RNIC_DOWN);
	verdicts[1] = verdict_on("h2/r0", RM_KIND_RNIC_DOWN);
	judge(rack, verdicts, 2);
	judge(rack, verdicts, 2);
	assert_int_equal(rack->opened, 2);
	assert_int_equal(rm_incidents_open(rack->incidents), 2);
}

/* One judgement, with verdicts on these names, in this order. */
static void
judge_all(struct rack *rack, const char *const *names, size_t count)
{
	struct rm_verdict verdicts[3];

	for (size_t i = 0; i < count; i++) {
		verdicts[i] = verdict_on(names[i], RM_KIND_RNIC_DOWN);
		if (strstr(names[i], " or ") == NULL)
			continue;
		verdicts[i].kind = RM_KIND_RNIC_LOSSY;
		verdicts[i].confidence = 0.5;
	}
	judge(rack, verdicts, count);
}

static void
an_undecided_verdict_beside_one_on_its_part_is_the_same_fault(void **state)
{
	static const char *const orders[][2] = { { "h1/r0 or h2/r0", "h2/r0" },
		{ "h2/r0", "h1/r0 or h2/r0" } };
	static const char *const firsts[] = { "h1/r0 or h2/r0", "h2/r0", NULL };
	struct rack *rack = *state;

	for (size_t order = 0; order < 2; order++)
		for (size_t first = 0; first < 3; first++) {
			const struct rm_verdict *verdict;

			teardown(state);
			setup(state);
			if (firsts[first] != NULL)
				judge_all(rack, &firsts[first], 1);
			for (int i = 0; i < 20; i++)
				judge_all(rack, orders[order], 2);
			verdict = only_verdict(rack);
			assert_int_equal(rack->opened, 1);
			assert_int_equal(rack->updated, first == 0);
			assert_int_equal(rack->resolved, 0);
			assert_int_equal(verdict->kind, RM_KIND_RNIC_DOWN);
			assert_true(verdict->confidence > 0.9);
			assert_string_equal(verdict->part.name,
			    first == 0 ? "h1/r0 or h2/r0" : "h2/r0");
			assert_string_equal(
			    verdict->evidence.narrowed, first == 0 ? "h2/r0" : "");
		}
}

static void
two_faults_and_an_undecided_verdict_on_them_are_two_incidents(void **state)
{
	static const char *const names[][3] = {
		{ "h1/r0 or h2/r0", "h1/r0", "h2/r0" },
		{ "h2/r0", "h1/r0 or h2/r0", "h1/r0" },
		{ "h1/r0", "h2/r0", "h1/r0 or h2/r0" },
	};
	static const char *const either = "h1/r0 or h2/r0";
	struct rack *rack = *state;

	for (size_t order = 0; order < 3; order++)
		for (int open = 0; open < 2; open++) {
			teardown(state);
			setup(state);
			if (open)
				judge_all(rack, &either, 1);
			for (int i = 0; i < 20; i++)
				judge_all(rack, names[order], 3);
			assert_int_equal(rack->opened, 2);
			assert_int_equal(rm_incidents_open(rack->incidents), 2);
			assert_in_range(rack->updated, 0, 1);
		}
}

static void
an_undecided_incident_on_another_fault_of_its_parts_is_updated(void **state)
{
	static const char *const both[] = { "h1/r0", "h2/r0" };
	static const char *const then[] = { "h1/r0", "h1/r0 or h2/r0" };
	struct rack *rack = *state;

	judge_names(rack, "h1/r0 or h2/r0", "h2/r0", 1);
	judge_all(rack, both, 2);
	rack->health = RM_HEALTH_GOOD;
	for (int i = 0; i < 20; i++)
		judge_all(rack, then, 2);
	assert_int_equal(rack->opened, 2);
	assert_int_equal(rack->resolved, 0);
}

static void
json_has_the_times_and_the_state_of_an_incident(void **state)
{
	struct rack *rack = *state;
	const struct rm_verdict verdict = verdict_on("h1/r0", RM_KIND_RNIC_DOWN);
	const char *id, *status, *opened;
	json_t *json, *resolved;

	judge(rack, &verdict, 1);
	json = rm_incident_json(rm_incidents_get(rack->incidents, 0));
	assert_non_null(json);
	assert_int_equal(json_unpack(json, "{s:s, s:s, s:s, s:o}", "id", &id, "state",
			     &status, "opened", &opened, "resolved", &resolved),
	    0);
	assert_int_equal(strlen(id), 16);
	assert_string_equal(status, "open");
	assert_string_equal(opened, "1970-01-01T00:16:40.250Z");
	assert_true(json_is_null(resolved));
	json_decref(json);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_fault_opens_once_and_stays_open_while_it_lasts),
		TEST(only_changes_that_matter_are_announced),
		TEST(other_services_of_the_same_impact_are_announced_now_and_then),
		TEST(an_incident_never_resolves_without_results),
		TEST(an_incident_resolves_only_by_good_results_after_the_last_bad_one),
		TEST(time_without_evidence_neither_resolves_nor_restarts_the_wait),
		TEST(a_verdict_during_recovery_restarts_the_wait),
		TEST(a_part_that_fails_again_is_counted_and_gets_a_new_id),
		TEST(a_part_that_comes_and_goes_is_one_incident_with_its_rate),
		TEST(a_part_that_flaps_again_within_a_minute_continues_its_count),
		TEST(a_part_that_fails_again_after_long_does_not_flap),
		TEST(open_and_closed_incidents_are_limited),
		TEST(an_undecided_incident_keeps_its_name_when_it_narrows),
		TEST(an_undecided_incident_reports_which_one_it_is_once_that_is_known),
		TEST(a_switch_or_two_of_its_links_narrow_to_one_of_the_links),
		TEST(several_links_of_a_switch_are_one_incident),
		TEST(incidents_on_links_become_one_on_their_switch),
		TEST(links_beyond_the_list_have_no_incidents_of_their_own),
		TEST(the_end_of_a_link_beyond_the_list_is_not_forgotten),
		TEST(losses_of_two_links_are_announced_while_one_of_them_is_late),
		TEST(an_incident_of_losses_of_two_links_does_not_become_a_delay_of_one),
		TEST(
		    a_link_that_fails_long_after_the_links_beyond_a_list_has_its_own_incident),
		TEST(an_undecided_incident_of_long_before_a_group_does_not_end_with_it),
		TEST(links_that_come_and_go_are_announced_a_few_times_only),
		TEST(
		    a_group_that_forms_and_ends_again_and_again_is_announced_a_few_times_only),
		TEST(a_late_link_does_not_become_several_dead_ones),
		TEST(
		    a_switch_that_dies_after_many_changes_of_its_links_is_announced_at_once),
		TEST(links_that_change_after_a_quiet_time_are_announced_soon),
		TEST(a_tor_with_several_dead_links_is_called_a_tor),
		TEST(windows_that_disagree_on_which_one_it_is_change_nothing),
		TEST(undecided_windows_do_not_keep_the_wrong_part),
		TEST(a_verdict_of_a_window_without_a_known_part_is_taken),
		TEST(each_replacement_of_the_known_part_takes_longer),
		TEST(if_both_parts_are_named_the_known_one_keeps_its_incident),
		TEST(two_faults_are_never_one_undecided_incident),
		TEST(an_undecided_verdict_beside_one_on_its_part_is_the_same_fault),
		TEST(two_faults_and_an_undecided_verdict_on_them_are_two_incidents),
		TEST(an_undecided_incident_on_another_fault_of_its_parts_is_updated),
		TEST(json_has_the_times_and_the_state_of_an_incident),
	};

	return cmocka_run_group_tests_name("incident", tests, NULL, NULL);
}
