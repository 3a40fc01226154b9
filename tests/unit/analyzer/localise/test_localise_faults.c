#include "analyzer/localise/localise.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "fabric_sim.h"
#include "tests/support/trials.h"

#define FAULT_AT (25 * RM_NS_PER_S)
#define FOREVER INT64_MAX
#define SEEDS 50

struct expected {
	const char
	    *part; /* the part that must be named; right is also "A or B" with it */
	const char *also; /* another part that is right, too, because probes cannot
			     distinguish the two; or NULL */
	enum rm_kind kind, kind_also;
	double within_s; /* 0: it need not be named */
};

static const size_t real_rnics[] = { 8, 4, 3, 2 };

static struct fabric *
new_fabric(size_t tors, size_t spines, size_t flows, double rate, uint64_t seed)
{
	const struct fabric_options options = { .tors = tors,
		.spines = spines,
		.rnics = tors <= 4 ? real_rnics : NULL,
		.flows = flows,
		.flow_rate = rate,
		.loss = 1e-4,
		.seed = seed };
	struct fabric *fabric;

	assert_int_equal(fabric_new(&options, &fabric), 0);
	return fabric;
}

static bool
is_right(const struct rm_verdict *verdict, const struct expected *expected)
{
	return (rm_part_names(&verdict->part, expected->part) ||
		   (expected->also != NULL &&
		       rm_part_names(&verdict->part, expected->also))) &&
	       (verdict->kind == expected->kind ||
		   verdict->kind == expected->kind_also);
}

/* Simulates until end_s. Each expected part must be named in time, and no other part
 * ever. */
static void
run(struct fabric *fabric, const struct expected *expected, size_t count, double end_s,
    const char *title, uint64_t seed)
{
	double named[4] = { 0 };

	while (fabric_now(fabric) < (int64_t)(end_s * 1e9)) {
		const struct rm_verdict *verdicts;
		const int n = fabric_step(fabric, &verdicts);
		const double since = (double)(fabric_now(fabric) - FAULT_AT) / 1e9;

		assert_true(n >= 0);
		for (int i = 0; i < n; i++) {
			size_t k = 0;
			char text[RM_SENTENCE_BYTES];

			while (k < count && !is_right(&verdicts[i], &expected[k]))
				k++;
			rm_verdict_sentence(&verdicts[i], text, sizeof text);
			if (k == count)
				fail_msg("%s, seed %u, after %.2f s: %s %s: %s", title,
				    (unsigned)seed, since,
				    rm_kind_str(verdicts[i].kind),
				    verdicts[i].part.name, text);
			if (named[k] == 0)
				named[k] = since;
			assert_true(
			    verdicts[i].confidence > 0 && verdicts[i].confidence < 1);
			assert_true(verdicts[i].evidence.to_part.sent > 0 ||
				    verdicts[i].kind == RM_KIND_TOR_DOWN);
		}
	}
	for (size_t k = 0; k < count; k++)
		if (expected[k].within_s > 0 &&
		    (named[k] == 0 || named[k] > expected[k].within_s))
			fail_msg("%s, seed %u: %s was named after %.2f s", title,
			    (unsigned)seed, expected[k].part, named[k]);
	assert_true(fabric_lost(fabric) > 0);
}

static void
run_fault(size_t tors, size_t spines, size_t flows, double rate, uint64_t seeds,
    struct fabric_fault fault, struct expected expected, const char *title)
{
	for (uint64_t seed = 1; seed <= trials_of((unsigned)seeds); seed++) {
		struct fabric *fabric = new_fabric(tors, spines, flows, rate, seed);

		fault.from_ns = FAULT_AT + (int64_t)(seed % 8) * 125 * RM_NS_PER_MS;
		fault.to_ns = FOREVER;
		fabric_add_fault(fabric, fault);
		run(fabric, &expected, 1, 55, title, seed);
		fabric_free(fabric);
	}
}

static void
a_spine_port_that_drops_all_flows_names_its_link(void **state)
{
	const struct expected e = { "s1--tor1", NULL, RM_KIND_LINK_DOWN,
		RM_KIND_LINK_DOWN, 6 };

	run_fault(3, 2, 8, 1, SEEDS,
	    (struct fabric_fault){ FABRIC_DOWN_PORT, 0, 0, 1, 0, 0 }, e, "3x2");
	run_fault(4, 2, 8, 1, SEEDS,
	    (struct fabric_fault){ FABRIC_DOWN_PORT, 0, 0, 1, 0, 0 }, e, "4x2");
	run_fault(8, 4, 8, 1, SEEDS / 5,
	    (struct fabric_fault){ FABRIC_UP_PORT, 0, 0, 1, 0, 0 }, e, "8x4");
}

static void
a_spine_port_that_drops_half_of_the_flows_is_reported_as_that(void **state)
{
	const struct expected e = { "s1--tor1", NULL, RM_KIND_FLOWS_BLACKHOLED,
		RM_KIND_FLOWS_BLACKHOLED, 6 };

	run_fault(3, 2, 16, 2, SEEDS,
	    (struct fabric_fault){ FABRIC_DOWN_PORT, 0, 0, 0.5, 0, 0 }, e, "3x2");
	run_fault(8, 4, 16, 2, 10,
	    (struct fabric_fault){ FABRIC_DOWN_PORT, 0, 0, 0.5, 0, 0 }, e, "8x4");
}

/* With few probes the port may be named late, or only as the one path on which a flow
 * is lost. */
static void
a_port_that_drops_one_flow_of_sixteen_names_no_other_part(void **state)
{
	size_t named = 0;

	for (uint64_t seed = 1; seed <= 10; seed++) {
		struct fabric *fabric = new_fabric(8, 2, 32, 2, seed);

		fabric_add_fault(fabric, (struct fabric_fault){ FABRIC_DOWN_PORT, 0, 0,
					     1. / 16, FAULT_AT, FOREVER });
		while (fabric_now(fabric) < 60 * RM_NS_PER_S) {
			const struct rm_verdict *verdicts;
			const int n = fabric_step(fabric, &verdicts);

			for (int i = 0; i < n; i++) {
				const struct rm_part *part = &verdicts[i].part;
				const size_t len = strlen(part->name);

				assert_true(
				    strcmp(part->name, "s1--tor1") == 0 ||
				    (part->type == RM_PART_PATH &&
					strcmp(part->name + len - 6, "->tor1") == 0));
				named += part->type == RM_PART_LINK;
			}
		}
		fabric_free(fabric);
	}
	assert_true(named > 0);
}

/* Linux routers do so: then a probe whose reply is lost gives no information about its
 * arrival. */
static void
replies_over_the_same_spine_change_nothing(void **state)
{
	static const struct {
		struct fabric_fault fault;
		struct expected expected;
	} cases[] = {
		{ { FABRIC_UP_PORT, 0, 1, 1, 0, 0 },
		    { "s2--tor1", NULL, RM_KIND_LINK_DOWN, RM_KIND_LINK_DOWN, 6 } },
		{ { FABRIC_DOWN_PORT, 1, 0, 1, 0, 0 },
		    { "s1--tor2", NULL, RM_KIND_LINK_DOWN, RM_KIND_LINK_DOWN, 6 } },
		{ { FABRIC_TOR, 1, 0, 1, 0, 0 },
		    { "tor2", NULL, RM_KIND_TOR_DOWN, RM_KIND_TOR_DOWN, 6 } },
		{ { FABRIC_SPINE, 0, 1, 1, 0, 0 },
		    { "s2", NULL, RM_KIND_SWITCH_DOWN, RM_KIND_SWITCH_DOWN, 6 } },
		{ { FABRIC_SPINE, 0, 1, 0.33, 0, 0 },
		    { "s2", NULL, RM_KIND_FLOWS_BLACKHOLED, RM_KIND_SWITCH_LOSSY, 6 } },
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		for (uint64_t seed = 1; seed <= 10; seed++) {
			const struct fabric_options options = { .tors = 4,
				.spines = 2,
				.rnics = real_rnics,
				.flows = 16,
				.flow_rate = 2,
				.loss = 1e-4,
				.same_back = true,
				.seed = seed };
			struct fabric_fault fault = cases[i].fault;
			struct fabric *fabric;

			assert_int_equal(fabric_new(&options, &fabric), 0);
			fault.from_ns =
			    FAULT_AT + (int64_t)(seed % 8) * 125 * RM_NS_PER_MS;
			fault.to_ns = FOREVER;
			fabric_add_fault(fabric, fault);
			run(fabric, &cases[i].expected, 1, 45, "same spine", seed);
			fabric_free(fabric);
		}
}

static void
an_uplink_dead_in_both_directions_is_named_as_link(void **state)
{
	const struct expected e = { "s2--tor2", NULL, RM_KIND_LINK_DOWN,
		RM_KIND_LINK_DOWN, 6 };

	run_fault(3, 2, 8, 1, SEEDS,
	    (struct fabric_fault){ FABRIC_LINK, 1, 1, 1, 0, 0 }, e, "3x2");
	run_fault(8, 4, 8, 1, 10, (struct fabric_fault){ FABRIC_LINK, 1, 1, 1, 0, 0 },
	    e, "8x4");
}

/* Steps until 45 s. Only the switch is named, in time, with exactly these links. */
static void
run_links(struct fabric *fabric, const char *of, const char *links, uint64_t seed)
{
	double named = 0;

	while (fabric_now(fabric) < 45 * RM_NS_PER_S) {
		const struct rm_verdict *verdicts;
		const int n = fabric_step(fabric, &verdicts);
		const double since = (double)(fabric_now(fabric) - FAULT_AT) / 1e9;

		for (int i = 0; i < n; i++) {
			char text[RM_SENTENCE_BYTES];

			rm_verdict_sentence(&verdicts[i], text, sizeof text);
			if (strcmp(verdicts[i].part.name, of) != 0 ||
			    verdicts[i].kind != RM_KIND_LINKS_DOWN ||
			    strcmp(verdicts[i].evidence.links, links) != 0)
				fail_msg("seed %u, after %.2f s: %s", (unsigned)seed,
				    since, text);
			if (named == 0)
				named = since;
		}
	}
	if (named == 0 || named > 7)
		fail_msg(
		    "seed %u: %s was named after %.2f s", (unsigned)seed, of, named);
}

/* The switch still forwards packets over its other links. */
static void
several_dead_links_of_a_switch_are_its_links(void **state)
{
	static const struct {
		struct fabric_fault faults[3];
		const char *of, *links;
	} cases[] = {
		{ { { FABRIC_LINK, 0, 0, 1, FAULT_AT, FOREVER },
		      { FABRIC_LINK, 1, 0, 1, FAULT_AT, FOREVER },
		      { FABRIC_LINK, 2, 0, 1, FAULT_AT, FOREVER } },
		    "s1", "s1--tor1, s1--tor2, s1--tor3" },
		{ { { FABRIC_LINK, 0, 0, 1, FAULT_AT, FOREVER },
		      { FABRIC_LINK, 0, 1, 1, FAULT_AT, FOREVER },
		      { FABRIC_LINK, 0, 2, 1, FAULT_AT, FOREVER } },
		    "tor1", "s1--tor1, s2--tor1, s3--tor1" },
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		for (uint64_t seed = 1; seed <= trials_of(10); seed++) {
			struct fabric *fabric = new_fabric(6, 4, 16, 1, seed);

			for (size_t k = 0; k < 3; k++)
				fabric_add_fault(fabric, cases[i].faults[k]);
			run_links(fabric, cases[i].of, cases[i].links, seed);
			fabric_free(fabric);
		}
}

static void
a_dead_spine_is_named_as_switch(void **state)
{
	const struct expected e = { "s1", NULL, RM_KIND_SWITCH_DOWN,
		RM_KIND_SWITCH_DOWN, 6 };

	run_fault(3, 2, 8, 1, SEEDS,
	    (struct fabric_fault){ FABRIC_SPINE, 0, 0, 1, 0, 0 }, e, "3x2");
	/* If all replies are lost, too, the probes of two racks alone cannot decide. */
	run_fault(2, 2, 16, 1, 30, (struct fabric_fault){ FABRIC_SPINE, 0, 0, 1, 0, 0 },
	    (struct expected){
		"s1", "tor2->tor1", RM_KIND_SWITCH_DOWN, RM_KIND_PATH_LOSSY, 0 },
	    "2x2");
	run_fault(8, 4, 8, 1, 10, (struct fabric_fault){ FABRIC_SPINE, 0, 0, 1, 0, 0 },
	    e, "8x4");
}

static void
a_dead_tor_is_named_as_tor(void **state)
{
	const struct expected e = { "tor1", NULL, RM_KIND_TOR_DOWN, RM_KIND_TOR_DOWN,
		6 };

	run_fault(3, 2, 8, 1, SEEDS, (struct fabric_fault){ FABRIC_TOR, 0, 0, 1, 0, 0 },
	    e, "3x2");
	run_fault(2, 2, 16, 1, SEEDS,
	    (struct fabric_fault){ FABRIC_TOR, 0, 0, 1, 0, 0 },
	    (struct expected){ "tor1", NULL, RM_KIND_TOR_DOWN, RM_KIND_TOR_DOWN, 7 },
	    "2x2");
	run_fault(8, 4, 8, 1, 10, (struct fabric_fault){ FABRIC_TOR, 0, 0, 1, 0, 0 }, e,
	    "8x4");
}

static void
a_link_with_random_loss_of_a_third_does_not_drop_whole_flows(void **state)
{
	const struct expected e = { "s1--tor2", NULL, RM_KIND_LINK_LOSSY,
		RM_KIND_LINK_LOSSY, 6 };

	run_fault(4, 2, 16, 2, 20,
	    (struct fabric_fault){ FABRIC_LOSSY, 1, 0, 0.3, 0, 0 }, e, "4x2");
}

static void
a_link_with_random_loss_of_a_twentieth_is_lossy(void **state)
{
	const struct expected e = { "s1--tor1", NULL, RM_KIND_LINK_LOSSY,
		RM_KIND_LINK_LOSSY, 28 };

	run_fault(8, 4, 16, 1, 10,
	    (struct fabric_fault){ FABRIC_LOSSY, 0, 0, 0.05, 0, 0 }, e, "8x4");
}

static void
if_only_replies_are_lost_a_path_is_named(void **state)
{
	const struct expected e = { "tor2->tor1", "tor1->tor2", RM_KIND_PATH_LOSSY,
		RM_KIND_PATH_LOSSY, 20 };

	run_fault(3, 2, 16, 2, SEEDS,
	    (struct fabric_fault){ FABRIC_REPLIES, 1, 0, 0.6, 0, 0 }, e, "3x2");
}

static void
nobody_is_named(struct fabric *fabric, double end_s, uint64_t seed)
{
	while (fabric_now(fabric) < (int64_t)(end_s * 1e9)) {
		const struct rm_verdict *verdicts;
		const int n = fabric_step(fabric, &verdicts);

		if (n != 0)
			fail_msg("seed %u, %.2f s: %s %s", (unsigned)seed,
			    (double)fabric_now(fabric) / 1e9,
			    rm_kind_str(verdicts[0].kind), verdicts[0].part.name);
	}
}

static void
a_dead_rnic_names_no_link(void **state)
{
	for (uint64_t seed = 1; seed <= trials_of(SEEDS); seed++) {
		struct fabric *fabric = new_fabric(4, 2, 16, 1, seed);

		fabric_add_fault(fabric, (struct fabric_fault){ FABRIC_RNIC, 0, 0, 1,
					     FAULT_AT, FAULT_AT + 6 * RM_NS_PER_S });
		nobody_is_named(fabric, 60, seed);
		fabric_free(fabric);
	}
}

static void
one_second_of_losses_names_no_part(void **state)
{
	for (uint64_t seed = 1; seed <= trials_of(SEEDS); seed++) {
		struct fabric *fabric = new_fabric(3, 2, 8, 1, seed);

		fabric_add_fault(fabric, (struct fabric_fault){ FABRIC_SPINE, 0, 0, 1,
					     FAULT_AT, FAULT_AT + 700 * RM_NS_PER_MS });
		nobody_is_named(fabric, 60, seed);
		fabric_free(fabric);
	}
}

static void
a_fabric_without_losses_names_no_part(void **state)
{
	struct fabric *fabric = new_fabric(3, 2, 8, 1, 4711);

	nobody_is_named(fabric, trials_of(10000), 4711);
	assert_true(fabric_lost(fabric) > trials_of(20));
	fabric_free(fabric);
	fabric = new_fabric(8, 4, 8, 1, 4712);
	nobody_is_named(fabric, trials_of(1000), 4712);
	fabric_free(fabric);
}

static void
two_faults_name_two_parts(void **state)
{
	const struct expected e[] = { { "s1--tor1", NULL, RM_KIND_LINK_DOWN,
					  RM_KIND_LINK_DOWN, 10 },
		{ "s3", NULL, RM_KIND_SWITCH_DOWN, RM_KIND_SWITCH_DOWN, 10 } };

	for (uint64_t seed = 1; seed <= 10; seed++) {
		struct fabric *fabric = new_fabric(8, 4, 8, 1, seed);

		fabric_add_fault(fabric,
		    (struct fabric_fault){ FABRIC_LINK, 0, 0, 1, FAULT_AT, FOREVER });
		fabric_add_fault(fabric, (struct fabric_fault){ FABRIC_SPINE, 0, 2, 1,
					     FAULT_AT + 500 * RM_NS_PER_MS, FOREVER });
		run(fabric, e, 2, 50, "two", seed);
		fabric_free(fabric);
	}
}

static void
a_dead_rnic_beside_a_dead_uplink_names_no_switch(void **state)
{
	const struct expected e = { "s1--tor1", NULL, RM_KIND_LINK_DOWN,
		RM_KIND_LINK_DOWN, 8 };

	for (uint64_t seed = 1000; seed < 1000 + trials_of(20); seed++) {
		struct fabric *fabric = new_fabric(4, 2, 16, 1, seed);

		fabric_add_fault(fabric,
		    (struct fabric_fault){ FABRIC_LINK, 0, 0, 1, FAULT_AT, FOREVER });
		fabric_add_fault(fabric,
		    (struct fabric_fault){ FABRIC_RNIC, 1, 0, 1,
			FAULT_AT + RM_NS_PER_S / 2, FAULT_AT + 6 * RM_NS_PER_S });
		run(fabric, &e, 1, 50, "rnic", seed);
		fabric_free(fabric);
	}
}

static void
a_silent_rack_does_not_change_the_verdict_of_others(void **state)
{
	const struct expected e = { "s1--tor1", NULL, RM_KIND_LINK_DOWN,
		RM_KIND_LINK_DOWN, 6 };

	for (uint64_t seed = 1; seed <= trials_of(20); seed++) {
		struct fabric *fabric = new_fabric(4, 2, 8, 1, seed);

		fabric_add_fault(fabric,
		    (struct fabric_fault){ FABRIC_MUTE, 3, 0, 1, FAULT_AT / 2, 0 });
		fabric_add_fault(fabric,
		    (struct fabric_fault){ FABRIC_LINK, 0, 0, 1, FAULT_AT, FOREVER });
		nobody_is_named(fabric, 20, seed);
		localise_rack_is_seen(fabric_localise(fabric), "tor4", false);
		run(fabric, &e, 1, 45, "mute", seed);
		fabric_free(fabric);
	}
}

/* Its aggregator works, so it is connected, but has no results to send. */
static void
a_rack_without_power_is_its_tor_and_not_all_its_links(void **state)
{
	const struct expected e = { "tor4", NULL, RM_KIND_TOR_DOWN, RM_KIND_TOR_DOWN,
		6 };

	for (uint64_t seed = 1; seed <= trials_of(20); seed++) {
		struct fabric *fabric = new_fabric(5, 4, 8, 1, seed);

		fabric_add_fault(fabric,
		    (struct fabric_fault){ FABRIC_TOR, 3, 0, 1, FAULT_AT, FOREVER });
		fabric_add_fault(fabric, (struct fabric_fault){ FABRIC_NO_HOSTS, 3, 0,
					     1, FAULT_AT, FOREVER });
		run(fabric, &e, 1, 50, "no power", seed);
		fabric_free(fabric);
	}
}

/* An operator has paused the agents: they are connected, so their hosts work. */
static void
the_hosts_of_paused_agents_are_not_suspected(void **state)
{
	struct fabric *fabric = new_fabric(5, 4, 8, 1, 1);
	const struct rm_verdict *verdicts;
	int n = 0;

	fabric_add_fault(
	    fabric, (struct fabric_fault){ FABRIC_PAUSED, 3, 0, 1, FAULT_AT, FOREVER });
	fabric_add_fault(
	    fabric, (struct fabric_fault){ FABRIC_TOR, 3, 0, 1, FAULT_AT, FOREVER });
	while (n == 0 && fabric_now(fabric) < FAULT_AT + 6 * RM_NS_PER_S)
		n = fabric_step(fabric, &verdicts);
	assert_int_equal(n, 1);
	assert_string_equal(verdicts[0].part.name, "tor4");
	assert_string_equal(verdicts[0].evidence.observed,
	    "no agent of its rack probes: all that report are paused");
	fabric_free(fabric);
}

static void
a_dead_link_of_a_large_fabric_is_found(void **state)
{
	const struct fabric_options options = { .tors = 64,
		.spines = 8,
		.peers = 16,
		.flows = 8,
		.flow_rate = 1,
		.loss = 1e-4,
		.seed = 5 };
	const struct expected e = { "s3--tor9", NULL, RM_KIND_LINK_DOWN,
		RM_KIND_LINK_DOWN, 6 };
	struct fabric *fabric;

	assert_int_equal(fabric_new(&options, &fabric), 0);
	fabric_add_fault(
	    fabric, (struct fabric_fault){ FABRIC_LINK, 8, 2, 1, FAULT_AT, FOREVER });
	run(fabric, &e, 1, 40, "64x8", 5);
	fabric_free(fabric);
}

static void
a_part_that_works_again_is_good(void **state)
{
	const struct rm_verdict *verdicts;
	struct rm_verdict named = { .kind = 0 };
	struct fabric *fabric = new_fabric(3, 2, 8, 1, 3);
	double good = 0;

	fabric_add_fault(fabric, (struct fabric_fault){ FABRIC_LINK, 0, 0, 1, FAULT_AT,
				     FAULT_AT + 15 * RM_NS_PER_S });
	while (fabric_now(fabric) < 60 * RM_NS_PER_S) {
		const double t = (double)(fabric_now(fabric) - FAULT_AT) / 1e9;
		const int n = fabric_step(fabric, &verdicts);

		if (n > 0)
			named = verdicts[0];
		if (t > 6 && t < 15) {
			assert_int_equal(n, 1);
			assert_int_not_equal(
			    localise_health(fabric_localise(fabric), &named),
			    RM_HEALTH_GOOD);
		}
		if (t > 15 && n == 0 && good == 0 &&
		    localise_health(fabric_localise(fabric), &named) == RM_HEALTH_GOOD)
			good = t - 15;
	}
	assert_string_equal(named.part.name, "s1--tor1");
	assert_true(good > 0 && good < 8);
	fabric_free(fabric);
}

static void
a_part_that_nothing_crosses_any_more_is_unknown(void **state)
{
	const struct rm_verdict *verdicts;
	struct rm_verdict named = { .kind = 0 };
	struct fabric *fabric = new_fabric(3, 2, 8, 1, 3);

	fabric_add_fault(
	    fabric, (struct fabric_fault){ FABRIC_SPINE, 0, 0, 1, FAULT_AT, FOREVER });
	while (fabric_now(fabric) < 35 * RM_NS_PER_S)
		if (fabric_step(fabric, &verdicts) > 0)
			named = verdicts[0];
	assert_string_equal(named.part.name, "s1");
	fabric_avoid(fabric, 0);
	while (fabric_now(fabric) < 90 * RM_NS_PER_S) {
		const int n = fabric_step(fabric, &verdicts);

		for (int i = 0; i < n; i++)
			assert_string_equal(verdicts[i].part.name, "s1");
		if (n == 0)
			assert_int_equal(
			    localise_health(fabric_localise(fabric), &named),
			    RM_HEALTH_UNKNOWN);
	}
	fabric_free(fabric);
}

static void
if_only_two_rnics_probe_a_tor_both_may_be_dead(void **state)
{
	const struct localise_options options = { "r1", 10 * RM_NS_PER_S };
	const struct rm_leg_counts none = { 20, 6 }, all = { 20, 20 };
	const struct rm_verdict *verdicts;
	struct localise *localise;
	rm_mono_t now = { RM_NS_PER_S };

	(void)state;
	assert_int_equal(localise_tor_report(false, &none, 2), LOCALISE_TOR_OVER);
	assert_int_equal(localise_tor_report(true, &all, 2), LOCALISE_TOR_CUT_OFF);
	assert_int_equal(localise_tor_report(true, &none, 3), LOCALISE_TOR_DEAD);
	assert_int_equal(localise_tor_report(true, &none, 2), LOCALISE_TOR_OR_TWO);
	assert_int_equal(localise_new(&options, &localise), 0);
	localise_tor_verdict(localise, "tor1", LOCALISE_TOR_OR_TWO, now);
	assert_int_equal(localise_judge(localise, now, (rm_wall_t){ 1 }, &verdicts), 0);
	now.ns += RM_NS_PER_S;
	assert_int_equal(localise_judge(localise, now, (rm_wall_t){ 1 }, &verdicts), 1);
	assert_non_null(strstr(
	    verdicts[0].evidence.observed, "or both of its probed RNICs are dead"));
	localise_free(localise);
}

static void
a_racks_verdict_on_its_own_tor_is_accepted_unless_refuted(void **state)
{
	const struct localise_options options = { "r1", 10 * RM_NS_PER_S };
	const struct rm_verdict *verdicts;
	struct localise *localise;
	struct fabric *fabric;
	rm_mono_t now = { RM_NS_PER_S };

	assert_int_equal(localise_new(&options, &localise), 0);
	localise_tor_verdict(localise, "tor1", LOCALISE_TOR_DEAD, now);
	assert_int_equal(localise_judge(localise, now, (rm_wall_t){ 1 }, &verdicts), 0);
	now.ns += RM_NS_PER_S;
	assert_int_equal(localise_judge(localise, now, (rm_wall_t){ 1 }, &verdicts), 1);
	assert_int_equal(verdicts[0].kind, RM_KIND_TOR_DOWN);
	assert_string_equal(verdicts[0].part.name, "tor1");
	assert_int_equal(localise_health(localise, &verdicts[0]), RM_HEALTH_BAD);
	localise_free(localise);

	fabric = new_fabric(3, 2, 8, 1, 1);
	nobody_is_named(fabric, 15, 1);
	localise_tor_verdict(fabric_localise(fabric), "tor1", LOCALISE_TOR_DEAD,
	    (rm_mono_t){ fabric_now(fabric) });
	nobody_is_named(fabric, 25, 1);
	fabric_free(fabric);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_spine_port_that_drops_all_flows_names_its_link),
		cmocka_unit_test(
		    a_spine_port_that_drops_half_of_the_flows_is_reported_as_that),
		cmocka_unit_test(
		    a_port_that_drops_one_flow_of_sixteen_names_no_other_part),
		cmocka_unit_test(replies_over_the_same_spine_change_nothing),
		cmocka_unit_test(an_uplink_dead_in_both_directions_is_named_as_link),
		cmocka_unit_test(a_dead_spine_is_named_as_switch),
		cmocka_unit_test(a_dead_tor_is_named_as_tor),
		cmocka_unit_test(several_dead_links_of_a_switch_are_its_links),
		cmocka_unit_test(
		    a_link_with_random_loss_of_a_third_does_not_drop_whole_flows),
		cmocka_unit_test(a_link_with_random_loss_of_a_twentieth_is_lossy),
		cmocka_unit_test(if_only_replies_are_lost_a_path_is_named),
		cmocka_unit_test(a_dead_rnic_names_no_link),
		cmocka_unit_test(one_second_of_losses_names_no_part),
		cmocka_unit_test(a_fabric_without_losses_names_no_part),
		cmocka_unit_test(two_faults_name_two_parts),
		cmocka_unit_test(a_dead_rnic_beside_a_dead_uplink_names_no_switch),
		cmocka_unit_test(a_silent_rack_does_not_change_the_verdict_of_others),
		cmocka_unit_test(a_rack_without_power_is_its_tor_and_not_all_its_links),
		cmocka_unit_test(the_hosts_of_paused_agents_are_not_suspected),
		cmocka_unit_test(a_dead_link_of_a_large_fabric_is_found),
		cmocka_unit_test(a_part_that_works_again_is_good),
		cmocka_unit_test(a_part_that_nothing_crosses_any_more_is_unknown),
		cmocka_unit_test(if_only_two_rnics_probe_a_tor_both_may_be_dead),
		cmocka_unit_test(
		    a_racks_verdict_on_its_own_tor_is_accepted_unless_refuted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
