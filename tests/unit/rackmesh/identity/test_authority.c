#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "rackmesh/identity/authority.h"

/*
 * The whole table once more, in another form: which peers may call which verb. Every
 * combination that is not listed must be refused.
 */
static const char *const peers[] = {
	"rackmesh://lab/agent/h1",
	"rackmesh://lab/agent/agg1",
	"rackmesh://sea/agent/h1",
	"rackmesh://lab/aggregator/agg1/t1,t2",
	"rackmesh://lab/aggregator/agg2/t1",
	"rackmesh://lab/aggregator/h1/t3",
	"rackmesh://sea/aggregator/agg1/t1,t2",
	"rackmesh://lab/controller/c1",
	"rackmesh://lab/controller/h1",
	"rackmesh://sea/controller/c1",
	"rackmesh://lab/analyzer/an1",
	"rackmesh://*/analyzer/an1",
	"rackmesh://sea/analyzer/an1",
	"rackmesh://lab/operator/ann",
	"rackmesh://*/operator/h1",
	"rackmesh://sea/operator/ann",
	"rackmesh://lab/viewer/prometheus",
	"rackmesh://*/viewer/prometheus",
	"rackmesh://sea/viewer/prometheus",
};

#define PEERS (sizeof peers / sizeof *peers)

static const struct {
	enum rm_verb verb;
	const char *name, *tor;
	const char *may[4];
} expected[] = {
	{ RM_VERB_AGENT_SESSION, "h1", NULL, { "rackmesh://lab/agent/h1" } },
	{ RM_VERB_AGENT_SESSION, "h1", "t1", { "rackmesh://lab/agent/h1" } },
	{ RM_VERB_AGENT_SESSION, "agg1", NULL, { "rackmesh://lab/agent/agg1" } },
	{ RM_VERB_PEER_SESSION, "agg1", "t1",
	    { "rackmesh://lab/aggregator/agg1/t1,t2" } },
	{ RM_VERB_PEER_SESSION, "agg1", "t2",
	    { "rackmesh://lab/aggregator/agg1/t1,t2" } },
	{ RM_VERB_PEER_SESSION, "agg2", "t1", { "rackmesh://lab/aggregator/agg2/t1" } },
	{ RM_VERB_PEER_SESSION, "h1", "t3", { "rackmesh://lab/aggregator/h1/t3" } },
	{ RM_VERB_AGGREGATOR_SESSION, "agg1", NULL,
	    { "rackmesh://lab/aggregator/agg1/t1,t2" } },
	{ RM_VERB_AGGREGATOR_SESSION, "agg2", NULL,
	    { "rackmesh://lab/aggregator/agg2/t1" } },
	{ RM_VERB_AGGREGATOR_SESSION, "h1", NULL,
	    { "rackmesh://lab/aggregator/h1/t3" } },
	{ RM_VERB_PLAN, NULL, "t1",
	    { "rackmesh://lab/aggregator/agg1/t1,t2",
		"rackmesh://lab/aggregator/agg2/t1" } },
	{ RM_VERB_PLAN, NULL, "t2", { "rackmesh://lab/aggregator/agg1/t1,t2" } },
	{ RM_VERB_PLAN, NULL, "t3", { "rackmesh://lab/aggregator/h1/t3" } },
	{ RM_VERB_REGISTER, NULL, "t1",
	    { "rackmesh://lab/aggregator/agg1/t1,t2",
		"rackmesh://lab/aggregator/agg2/t1" } },
	{ RM_VERB_REGISTER, NULL, "t2", { "rackmesh://lab/aggregator/agg1/t1,t2" } },
	{ RM_VERB_REGISTER, NULL, "t3", { "rackmesh://lab/aggregator/h1/t3" } },
	{ RM_VERB_REPORT, "agg1", "t1", { "rackmesh://lab/aggregator/agg1/t1,t2" } },
	{ RM_VERB_REPORT, "h1", "t3", { "rackmesh://lab/aggregator/h1/t3" } },
	{ RM_VERB_REPORT, "agg1", "t2", { "rackmesh://lab/aggregator/agg1/t1,t2" } },
	{ RM_VERB_REPORT, "agg2", "t1", { "rackmesh://lab/aggregator/agg2/t1" } },
	{ RM_VERB_SERVE_AGENT, NULL, "t1",
	    { "rackmesh://lab/aggregator/agg1/t1,t2",
		"rackmesh://lab/aggregator/agg2/t1" } },
	{ RM_VERB_SERVE_AGENT, NULL, "t2", { "rackmesh://lab/aggregator/agg1/t1,t2" } },
	{ RM_VERB_SERVE_AGENT, NULL, "t3", { "rackmesh://lab/aggregator/h1/t3" } },
	{ RM_VERB_SERVE_AGGREGATOR, NULL, NULL,
	    { "rackmesh://lab/controller/c1", "rackmesh://lab/controller/h1" } },
	{ RM_VERB_PLACE, "h1", NULL, { "rackmesh://lab/agent/h1" } },
	{ RM_VERB_PLACE, "agg1", NULL, { "rackmesh://lab/agent/agg1" } },
	{ RM_VERB_SERVE_PLACE, NULL, NULL,
	    { "rackmesh://lab/controller/c1", "rackmesh://lab/controller/h1" } },
	{ RM_VERB_SERVE_LANES, NULL, NULL,
	    { "rackmesh://lab/analyzer/an1", "rackmesh://*/analyzer/an1" } },
	{ RM_VERB_READ, NULL, NULL,
	    { "rackmesh://lab/operator/ann", "rackmesh://*/operator/h1",
		"rackmesh://lab/viewer/prometheus",
		"rackmesh://*/viewer/prometheus" } },
	{ RM_VERB_CHANGE, NULL, NULL,
	    { "rackmesh://lab/operator/ann", "rackmesh://*/operator/h1" } },
};

static const char *const names[] = { NULL, "", "h1", "agg1", "agg2", "c1", "ann" };
static const char *const tors[] = { NULL, "", "t1", "t2", "t3" };

/* Without a name, or without a ToR where the verb needs one, no peer is allowed. */
static bool
is_expected(enum rm_verb verb, const char *name, const char *tor, const char *peer)
{
	bool by_name = verb == RM_VERB_AGENT_SESSION || verb == RM_VERB_PEER_SESSION ||
		       verb == RM_VERB_AGGREGATOR_SESSION || verb == RM_VERB_REPORT ||
		       verb == RM_VERB_PLACE;
	bool by_tor = verb == RM_VERB_PEER_SESSION || verb == RM_VERB_PLAN ||
		      verb == RM_VERB_REGISTER || verb == RM_VERB_REPORT ||
		      verb == RM_VERB_SERVE_AGENT;

	for (size_t e = 0; e < sizeof expected / sizeof *expected; e++) {
		if (expected[e].verb != verb)
			continue;
		if (by_name && (name == NULL || strcmp(name, expected[e].name) != 0))
			continue;
		if (by_tor && (tor == NULL || strcmp(tor, expected[e].tor) != 0))
			continue;
		for (size_t i = 0; i < 4 && expected[e].may[i] != NULL; i++)
			if (strcmp(expected[e].may[i], peer) == 0)
				return true;
	}
	return false;
}

static size_t
count_wrong(const char *peer, size_t *cells, size_t *allowed)
{
	static struct rm_identity who;
	size_t wrong = 0;

	assert_int_equal(rm_identity_parse(peer, &who), 0);
	for (int verb = 0; verb < RM_VERBS; verb++) {
		for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
			for (size_t t = 0; t < sizeof tors / sizeof *tors; t++) {
				const struct rm_request request = { verb, "lab",
					names[n], tors[t] };
				bool may = rm_authority_allows(&who, &request, NULL, 0);

				(*cells)++;
				*allowed += may;
				if (may == is_expected(verb, names[n], tors[t], peer))
					continue;
				print_error("%s: %s as %s for %s: %s\n", peer,
				    rm_verb_str(verb), names[n], tors[t],
				    may ? "allowed" : "refused");
				wrong++;
			}
		}
	}
	return wrong;
}

static void
every_role_may_do_what_the_table_allows_and_nothing_else(void **state)
{
	size_t cells = 0, allowed = 0, wrong = 0;

	(void)state;
	for (size_t i = 0; i < PEERS; i++)
		wrong += count_wrong(peers[i], &cells, &allowed);
	print_message("  %zu cells, %zu allowed, %zu wrong\n", cells, allowed, wrong);
	assert_true(cells >= 500);
	assert_true(allowed >= 50);
	assert_int_equal(wrong, 0);
}

static void
an_unknown_identity_may_do_nothing(void **state)
{
	static const enum rm_role strange[] = { RM_ROLE_NOBODY, RM_ROLES,
		(enum rm_role)77 };
	static struct rm_identity who = { .region = "lab", .name = "h1" };

	(void)state;
	for (size_t s = 0; s < sizeof strange / sizeof *strange; s++) {
		who.role = strange[s];
		for (int verb = 0; verb <= RM_VERBS; verb++) {
			const struct rm_request request = { verb, "lab", "h1", "t1" };

			assert_false(rm_authority_allows(&who, &request, NULL, 0));
		}
	}
}

static void
a_refusal_names_identity_verb_and_reason(void **state)
{
	static struct rm_identity who;
	const struct rm_request request = { RM_VERB_REPORT, "lab", "agg1", "t9" };
	char reason[256];

	(void)state;
	assert_int_equal(
	    rm_identity_parse("rackmesh://lab/aggregator/agg1/t1", &who), 0);
	assert_false(rm_authority_allows(&who, &request, reason, sizeof(reason)));
	assert_string_equal(reason,
	    "aggregator 'agg1' of region 'lab' may not report as "
	    "'agg1' for ToR t9: that ToR is not in its certificate");
}

static void
without_tls_the_reported_identity_counts_and_an_unknown_certificate_has_none(
    void **state)
{
	const struct rm_request request = { RM_VERB_AGENT_SESSION, "lab", "h1", NULL };
	char reason[256];

	(void)state;
	assert_true(rm_authority_admits("", &request, reason, sizeof(reason)));
	assert_true(rm_authority_admits(
	    "rackmesh://lab/agent/h1", &request, reason, sizeof(reason)));
	assert_false(rm_authority_admits(
	    "rackmesh://lab/agent/h2", &request, reason, sizeof(reason)));
	assert_true(rm_authority_admits(
	    "spiffe://lab/agent/h1", &request, reason, sizeof(reason)));
	assert_false(rm_authority_admits(
	    "https://lab/agent/h1", &request, reason, sizeof(reason)));
	assert_string_equal(
	    reason, "unknown identity in its certificate: 'https://lab/agent/h1'");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    every_role_may_do_what_the_table_allows_and_nothing_else),
		cmocka_unit_test(an_unknown_identity_may_do_nothing),
		cmocka_unit_test(a_refusal_names_identity_verb_and_reason),
		cmocka_unit_test(
		    without_tls_the_reported_identity_counts_and_an_unknown_certificate_has_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
