/* Acceptance of racks of three RNICs, from answers that this test makes. */
#include "ctl/accept/acceptance.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ctl/output/findings.h"

#define RNICS 3

/* How a rack differs from a healthy one. */
struct rack {
	bool missing;         /* h3 has not registered */
	const char *health;   /* of h1 */
	const char *link;     /* of h1 */
	const char *state;    /* of host h1 */
	const char *slowed;   /* of host h1 */
	const char *incident; /* sentence of an open incident */
	const char *path;     /* path of the only traced flow */
	unsigned lost;        /* number of lost probes of 100 from h1 to h2 */
	bool stalled;       /* the agent at one end was stalled when these were lost */
	const char *before; /* health of h1 in nineteen earlier queries; NULL: none */
	bool h2_is_dead;    /* all probes from and to h2 are lost */
	bool h2_is_silent;  /* h2 sends no probes */
	bool h2_is_not_probed; /* no RNIC probes h2 */
	unsigned h1_rtt_us;
	bool without_controller;
	bool refused;
	unsigned expected; /* --rnics */
	bool no_paths;
	bool unanswered;
};

static const struct rack healthy = {
	.health = "good",
	.link = "up",
	.state = "ok",
	.slowed = "none",
	.path = "tor1@10.0.0.1 spine1@10.0.0.5 tor2@10.0.0.9",
	.h1_rtt_us = 20,
};

static json_t *
json(const char *format, ...)
{
	char text[2048];
	va_list arguments;
	json_t *value;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	value = json_loads(text, 0, NULL);
	assert_non_null(value);
	return value;
}

typedef void take_fn(struct acceptance *acceptance, const json_t *answer);

static void
take(struct acceptance *acceptance, take_fn *fn, json_t *answer)
{
	fn(acceptance, answer);
	json_decref(answer);
}

/* ---- answers ---- */

static void
report_rnics(struct acceptance *acceptance, const struct rack *rack)
{
	json_t *list = json_array();

	for (int i = 1; i <= (rack->missing ? RNICS - 1 : RNICS); i++)
		json_array_append_new(list,
		    json("{\"host\": \"h%d\", \"device\": \"r0\", \"tor\": \"tor1\", "
			 "\"transport\": \"roce\", \"planned\": true, \"registered\": "
			 "true, "
			 "\"health\": \"%s\", \"link\": \"%s\"}",
			i, i == 1 ? rack->health : "good", i == 1 ? rack->link : "up"));
	/* An RNIC of another rack that the same aggregator serves. */
	json_array_append_new(
	    list, json("{\"host\": \"h9\", \"device\": \"r0\", \"tor\": \"tor9\"}"));
	take(acceptance, acceptance_take_rnics, json_pack("{s:o}", "rnics", list));
}

static void
report_hosts(struct acceptance *acceptance, const struct rack *rack)
{
	json_t *list = json_array();

	for (int i = 1; i <= (rack->missing ? RNICS - 1 : RNICS); i++)
		json_array_append_new(list,
		    json("{\"host\": \"h%d\", \"tor\": \"tor1\", \"state\": \"%s\", "
			 "\"connected\": true, \"slowed\": \"%s\"}",
			i, i == 1 ? rack->state : "ok",
			i == 1 ? rack->slowed : "none"));
	take(acceptance, acceptance_take_hosts, json_pack("{s:o}", "hosts", list));
}

static void
report_others(struct acceptance *acceptance, const struct rack *rack)
{
	if (rack->incident != NULL)
		take(acceptance, acceptance_take_incidents,
		    json("{\"incidents\": [{\"id\": \"7\", \"state\": \"open\", "
			 "\"sentence\": \"%s\"}, {\"id\": \"6\", \"state\": "
			 "\"resolved\", "
			 "\"sentence\": \"old\"}]}",
			rack->incident));
	if (rack->path != NULL)
		take(acceptance, acceptance_take_paths,
		    json("{\"flows\": [{\"path\": \"%s\"}, {\"path\": null}]}",
			rack->path));
	if (rack->without_controller)
		return;
	take(acceptance, acceptance_take_plan,
	    json("{\"racks\": [{\"tor\": \"tor1\", \"expected_rnics\": 3, "
		 "\"expected_hosts\": 3, \"aggregators\": [{\"has_plan\": true}]}]}"));
	take(acceptance, acceptance_take_topology,
	    json("{\"links\": [{\"a\": \"tor1\", \"b\": \"spine1\", \"known\": "
		 "\"written\"}, {\"a\": \"tor2\", \"b\": \"spine2\"}]}"));
	take(acceptance, acceptance_take_refused,
	    json(rack->refused
		     ? "{\"malformed\": [{\"host\": \"h3\", \"device\": \"r0\", "
		       "\"tor\": "
		       "\"tor1\", \"reason\": \"name\", \"sentence\": \"rename it\"}]}"
		     : "{}"));
}

/* Results of RNIC `from`: 100 probes to each other RNIC, within 50 s from `minute` on.
 */
static void
report_results(
    struct acceptance *acceptance, const struct rack *rack, int from, int minute)
{
	char own[ACCEPTANCE_NAME];
	json_t *list = json_array();

	snprintf(
	    own, sizeof(own), "%s", acceptance_rnic_name(acceptance, (size_t)from));
	for (int i = 0; i < 100; i++) {
		for (int to = 1; to <= RNICS; to++) {
			bool is_lost =
			    (own[1] == '1' && to == 2 && i < (int)rack->lost) ||
			    (rack->h2_is_dead && (own[1] == '2' || to == 2));

			if (own[1] == '0' + to ||
			    (rack->h2_is_silent && own[1] == '2') ||
			    (rack->h2_is_not_probed && to == 2))
				continue;
			json_array_append_new(list,
			    json("{\"sent\": \"2026-11-25T18:%02d:%02d.%03dZ\", "
				 "\"from\": \"%s\", \"to\": \"h%d/r0\", "
				 "\"outcome\": \"%s\", \"rtt_ns\": %u%s}",
				minute, i / 2, i % 2 * 500, own, to,
				is_lost ? "no_reply" : "ok",
				1000 * (own[1] == '1' ? rack->h1_rtt_us : 20),
				is_lost && rack->stalled ? ", \"excuse\": \"stalled\""
							 : ""));
		}
		/* Results of another RNIC: acceptance counts only those that `from`
		 * sent. */
		json_array_append_new(
		    list, json("{\"sent\": \"2026-11-25T18:%02d:%02d.000Z\", \"from\": "
			       "\"h8/r0\", "
			       "\"to\": \"%s\", \"outcome\": \"no_reply\"}",
			      minute, i / 2, own));
	}
	{
		json_t *answer = json_pack("{s:o}", "results", list);

		acceptance_take_drill(acceptance, (size_t)from, answer);
		json_decref(answer);
	}
}

static void
report(struct acceptance *acceptance, const struct rack *rack, int minute)
{
	report_rnics(acceptance, rack);
	report_hosts(acceptance, rack);
	report_others(acceptance, rack);
	for (size_t i = 0; i < acceptance_rnics(acceptance); i++)
		report_results(acceptance, rack, (int)i, minute);
	acceptance_look(acceptance, !rack->unanswered);
}

static const struct rack lossy = { .lost = 100, .h2_is_dead = true };

static struct acceptance *
accept_rack(const struct rack *rack)
{
	const struct acceptance_limits limits = { .max_loss = 0.02,
		.rnics = rack->expected,
		.without_paths = rack->no_paths };
	struct acceptance *acceptance = acceptance_new("tor1", &limits);

	assert_non_null(acceptance);
	report_rnics(acceptance, rack);
	for (size_t i = 0; i < acceptance_rnics(acceptance); i++)
		report_results(acceptance, &lossy, (int)i,
		    39); /* before acceptance began: must not count */
	for (int i = 0; rack->before != NULL && i < 19; i++) {
		struct rack before = *rack;

		before.health = rack->before;
		report_rnics(acceptance, &before);
		report_hosts(acceptance, &healthy);
	}
	report(acceptance, rack, 40);
	return acceptance;
}

/* ---- judgements ---- */

static bool
finds(const struct findings *findings, enum finding_level level, const char *part)
{
	for (size_t i = 0; i < findings->count; i++)
		if (findings->list[i].level == level &&
		    strstr(findings->list[i].seen, part) != NULL)
			return true;
	findings_print(findings, stderr);
	return false;
}

static void
passes(const struct rack *rack, enum finding_level level, const char *part)
{
	struct acceptance *acceptance = accept_rack(rack);
	struct findings findings = { 0 };

	acceptance_judge(acceptance, &findings);
	assert_true(finds(&findings, level, part));
	if (findings.counts[FINDING_WRONG] > 0)
		findings_print(&findings, stderr);
	assert_int_equal(findings.counts[FINDING_WRONG], 0);
	findings_clear(&findings);
	acceptance_free(acceptance);
}

static void
fails(const struct rack *rack, const char *part)
{
	struct acceptance *acceptance = accept_rack(rack);
	struct findings findings = { 0 };

	acceptance_judge(acceptance, &findings);
	assert_true(finds(&findings, FINDING_WRONG, part));
	findings_clear(&findings);
	acceptance_free(acceptance);
}

static void
a_healthy_rack_passes(void **state)
{
	passes(&healthy, FINDING_GOOD, "all 3 RNICs probe, are probed");
	passes(&healthy, FINDING_GOOD, "none of 6 pairs");
	passes(&healthy, FINDING_GOOD, "cross all 1 uplinks");
	passes(&healthy, FINDING_GOOD, "all 3 expected hosts");
}

static void
an_rnic_without_results_is_not_healthy(void **state)
{
	const struct acceptance_limits limits = { .max_loss = 1,
		.without_paths = true };
	struct acceptance *acceptance = acceptance_new("tor1", &limits);
	struct findings findings = { 0 };

	acceptance_judge(acceptance, &findings);
	assert_true(finds(&findings, FINDING_WRONG, "no query for the rack"));
	assert_true(finds(&findings, FINDING_WRONG, "the rack has no RNIC"));
	assert_true(finds(&findings, FINDING_WRONG, "the expected number of RNICs"));
	assert_true(finds(&findings, FINDING_WRONG, "names no host"));
	findings_clear(&findings);
	acceptance_free(acceptance);
}

static void
an_rnic_that_is_missing_fails(void **state)
{
	struct rack rack = healthy;

	rack.missing = true;
	fails(&rack, "2 of 3 expected RNICs");
	rack.refused = true;
	fails(&rack, "the controller refuses h3/r0 (name): rename it");
	rack = healthy;
	rack.expected = 4;
	fails(&rack, "3 of 4 expected RNICs");
	rack.expected = 2;
	passes(&rack, FINDING_WARNING, "3 RNICs are present, 2 are expected");
}

static void
without_a_controller_the_number_of_rnics_must_be_given(void **state)
{
	struct rack rack = healthy;

	rack.without_controller = true;
	fails(&rack, "the expected number of RNICs");
	rack.expected = 3;
	passes(&rack, FINDING_WARNING, "no controller answered for this rack");
}

static void
an_rnic_probes_and_is_probed(void **state)
{
	struct rack rack = healthy;

	rack.h2_is_silent = true;
	fails(&rack, "h2/r0: does not probe");
	rack = healthy;
	rack.h2_is_not_probed = true;
	fails(&rack, "h2/r0: is not probed");
}

static void
loss_above_the_limit_fails(void **state)
{
	struct rack rack = healthy;

	rack.lost = 2; /* two lost probes may be chance, however few were sent */
	passes(&rack, FINDING_GOOD, "none of 6 pairs");
	rack.lost = 10;
	fails(&rack, "h1/r0 to h2/r0: 10 of 96 probes were lost");
}

/* The other RNICs only lose their probes to h2, which is dead: they are not at fault.
 */
static void
an_rnic_that_loses_with_one_peer_only_is_not_at_fault(void **state)
{
	struct rack rack = healthy;
	struct acceptance *acceptance;
	struct findings findings = { 0 };

	rack.h2_is_dead = true;
	acceptance = accept_rack(&rack);
	acceptance_judge(acceptance, &findings);
	assert_true(finds(&findings, FINDING_WRONG, "h2/r0: lossy"));
	assert_true(finds(&findings, FINDING_WARNING, "4 pairs lose too much"));
	assert_int_equal(findings.counts[FINDING_WRONG], 1);
	findings_clear(&findings);
	acceptance_free(acceptance);
}

static void
an_rnic_that_is_slower_than_its_rack_is_slow(void **state)
{
	struct rack rack = healthy;

	rack.h1_rtt_us = 60;
	passes(&rack, FINDING_GOOD, "the median RTT is 20");
	rack.h1_rtt_us = 200;
	fails(&rack, "h1/r0: slow");
}

static void
the_aggregators_judgement_counts(void **state)
{
	struct rack rack = healthy;

	rack.health = "bad";
	fails(&rack, "h1/r0: not good");
	rack = healthy;
	rack.link = "down";
	fails(&rack, "h1/r0: link down");
	rack = healthy;
	rack.incident = "RNIC h1/r0 is lossy";
	fails(&rack, "RNIC h1/r0 is lossy");
	rack = healthy;
	rack.state = "agent-frozen";
	fails(&rack, "host h1 is agent-frozen");
	rack = healthy;
	rack.slowed = "cpu";
	fails(&rack, "host h1 probes less than it should (cpu)");
	rack = healthy;
	rack.unanswered = true;
	fails(&rack, "no query for the rack");
}

static void
every_uplink_is_crossed_by_a_path(void **state)
{
	struct rack rack = healthy;

	/* spine10 must not be taken for spine1. */
	rack.path = "tor1@10.0.0.1 spine10@10.0.0.5 tor2@10.0.0.9";
	fails(&rack, "no traced path crosses the uplink to spine1");
	rack.no_paths = true;
	passes(&rack, FINDING_WARNING, "paths were not checked");
}

static void
is_not_judged(const struct rack *rack, const char *part)
{
	struct acceptance *acceptance = accept_rack(rack);
	struct findings findings = { 0 };

	assert_int_equal(
	    acceptance_judge(acceptance, &findings), ACCEPTANCE_NOT_JUDGED);
	assert_true(finds(&findings, FINDING_WARNING, part));
	assert_int_equal(findings.counts[FINDING_WRONG], 0);
	findings_clear(&findings);
	acceptance_free(acceptance);
}

/* While an agent is stalled, its host answers no probes: the RNIC is not at fault. */
static void
a_stalled_agent_makes_no_rnic_bad(void **state)
{
	struct rack rack = healthy;

	rack.lost = 10;
	rack.stalled = true;
	passes(&rack, FINDING_WARNING,
	    "10 probes were lost while the agent at one end was");
	rack.lost = 100; /* no probe was answered except in stalls */
	rack.state = "stalled";
	is_not_judged(&rack, "host h1 was stalled, in 1 of 1 queries: it is not");
	rack.before = "good"; /* in one of twenty queries */
	passes(&rack, FINDING_WARNING, "host h1 was stalled, in 1 of 20 queries");
	rack = healthy;
	rack.health = "unknown";
	rack.state = "stalled";
	is_not_judged(&rack, "h1/r0: not judged (health unknown");
	rack.before = "good";
	passes(&rack, FINDING_WARNING, "host h1 was stalled");
}

static void
a_stalled_agent_hides_no_bad_rnic(void **state)
{
	struct rack rack = healthy;

	rack.state = "stalled";
	rack.health = "bad";
	fails(&rack, "h1/r0: not good");
	rack.health = "good";
	rack.h2_is_dead =
	    true; /* a fault of an RNIC of another host, unrelated to the stall */
	fails(&rack, "h2/r0: lossy");
	rack = healthy;
	rack.health = "unknown"; /* not because of the stall */
	fails(&rack, "h1/r0: not good");
	rack.link = "down";
	rack.state = "stalled";
	fails(&rack, "h1/r0: link down");
}

/* Queries overlap: each asks for some results again. */
static void
a_result_is_counted_once(void **state)
{
	struct acceptance *acceptance = accept_rack(&healthy);
	char *text = NULL;
	size_t len;
	FILE *out;

	report_results(acceptance, &healthy, 0, 40);
	report_results(acceptance, &healthy, 1, 40);
	out = open_memstream(&text, &len);
	acceptance_progress(acceptance, out);
	fclose(out);
	/* Three RNICs, two targets each, 96 rounds: the last 2 s do not count, as they
	 * may be incomplete. */
	assert_string_equal(text, "3 of 3 RNICs, 576 probes, 0 lost, 0 incidents\n");
	free(text);

	report_results(acceptance, &healthy, 0, 41);
	out = open_memstream(&text, &len);
	acceptance_progress(acceptance, out);
	fclose(out);
	assert_string_equal(text, "3 of 3 RNICs, 768 probes, 0 lost, 0 incidents\n");
	free(text);
	acceptance_free(acceptance);
}

static void
malformed_answers_are_handled(void **state)
{
	static take_fn *const takes[] = { acceptance_take_rnics, acceptance_take_hosts,
		acceptance_take_incidents, acceptance_take_paths, acceptance_take_plan,
		acceptance_take_topology, acceptance_take_refused };
	static const char *const answers[] = { "[]", "{}",
		"{\"rnics\": [1, {\"tor\": 7}]}", "{\"hosts\": {}}",
		"{\"incidents\": [null, {\"state\": \"open\"}]}", "{\"flows\": [[]]}",
		("{\"racks\": [{\"tor\": \"tor1\", \"expected_rnics\": "
		 "-1, \"aggregators\": 3}]}"),
		"{\"links\": [{\"a\": \"tor1\"}]}",
		"{\"malformed\": [{\"tors\": [1, \"tor1\"]}]}" };
	struct acceptance *acceptance = accept_rack(&healthy);
	struct findings findings = { 0 };

	for (size_t i = 0; i < sizeof(takes) / sizeof(*takes); i++)
		for (size_t k = 0; k < sizeof(answers) / sizeof(*answers); k++)
			take(acceptance, takes[i], json("%s", answers[k]));
	for (size_t k = 0; k < sizeof(answers) / sizeof(*answers); k++) {
		json_t *answer = json("%s", answers[k]);

		acceptance_take_drill(acceptance, 0, answer);
		json_decref(answer);
	}
	acceptance_judge(acceptance, &findings);
	assert_true(findings.counts[FINDING_WRONG] > 0);
	findings_clear(&findings);
	acceptance_free(acceptance);
}

/* Names are not cut in the middle, and the number of the others is given. */
static void
the_names_of_many_racks_are_whole_and_the_others_are_counted(void **state)
{
	char names[ACCEPTANCE_RACKS_BYTES], name[32];
	json_t *racks = json_array();

	acceptance_racks(racks, names);
	assert_string_equal(names, "none");
	acceptance_racks(NULL, names);
	assert_string_equal(names, "none");
	json_array_append_new(racks, json_pack("{s:s}", "tor", "tor1"));
	json_array_append_new(racks, json_pack("{s:s}", "tor", "tor2"));
	acceptance_racks(racks, names);
	assert_string_equal(names, "tor1, tor2");
	for (unsigned i = 0; i < 98; i++) {
		snprintf(name, sizeof(name), "row%02u.tor.example", i);
		json_array_append_new(racks, json_pack("{s:s}", "tor", name));
	}
	json_array_append_new(racks, json_pack("{s:i}", "tor", 7));
	acceptance_racks(racks, names);
	assert_in_range(strlen(names), 480, ACCEPTANCE_RACKS_BYTES - 1);
	assert_non_null(strstr(names, "row24.tor.example and 73 more"));
	assert_string_equal(strrchr(names, ','), ", row24.tor.example and 73 more");
	json_decref(racks);

	/* A name that does not fit at all is counted, too. */
	racks = json_array();
	memset(names, 'x', sizeof(names) - 1);
	names[sizeof(names) - 1] = '\0';
	json_array_append_new(racks, json_pack("{s:s}", "tor", names));
	acceptance_racks(racks, names);
	assert_string_equal(names, "1 more");
	json_decref(racks);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_healthy_rack_passes),
		cmocka_unit_test(an_rnic_without_results_is_not_healthy),
		cmocka_unit_test(an_rnic_that_is_missing_fails),
		cmocka_unit_test(
		    without_a_controller_the_number_of_rnics_must_be_given),
		cmocka_unit_test(an_rnic_probes_and_is_probed),
		cmocka_unit_test(loss_above_the_limit_fails),
		cmocka_unit_test(an_rnic_that_loses_with_one_peer_only_is_not_at_fault),
		cmocka_unit_test(an_rnic_that_is_slower_than_its_rack_is_slow),
		cmocka_unit_test(the_aggregators_judgement_counts),
		cmocka_unit_test(a_stalled_agent_makes_no_rnic_bad),
		cmocka_unit_test(a_stalled_agent_hides_no_bad_rnic),
		cmocka_unit_test(every_uplink_is_crossed_by_a_path),
		cmocka_unit_test(a_result_is_counted_once),
		cmocka_unit_test(malformed_answers_are_handled),
		cmocka_unit_test(
		    the_names_of_many_racks_are_whole_and_the_others_are_counted),
	};

	return cmocka_run_group_tests_name("acceptance", tests, NULL, NULL);
}
