/* Verdicts on faults between small racks: kind, direction and figures are right from
 * the first verdict on. */
#include "analyzer/localise/localise.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "fabric_sim.h"

#define FAULT_AT (25 * RM_NS_PER_S)
#define END_NS (42 * RM_NS_PER_S)
#define SEEDS 6
/* Largest share of packets that may arrive over a part that is reported as dead. */
#define FEW_ARRIVE 0.1

struct reported {
	const char *part;
	const char *direction; /* the right one; NULL: both directions */
	bool is_dead;
	size_t flows_from; /* flows of a pair of racks; with fewer the test expects
			      nothing */
};

static bool
reports_nothing_passes(const struct rm_verdict *verdict)
{
	return verdict->kind == RM_KIND_LINK_DOWN ||
	       verdict->kind == RM_KIND_SWITCH_DOWN;
}

static bool
starts(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* Returns why the verdict is wrong; or NULL. */
static const char *
error_of(const struct rm_verdict *verdict, const struct reported *reported,
    size_t flows, size_t alive)
{
	const struct rm_evidence *evidence = &verdict->evidence;
	char fields[RM_EVIDENCE_TEXT];

	if (reports_nothing_passes(verdict) && alive > 0)
		return "some flows pass";
	if (reports_nothing_passes(verdict) &&
	    (double)evidence->to_part.arrived >
		FEW_ARRIVE * (double)evidence->to_part.sent)
		return "its own figures contradict it";
	if (!reports_nothing_passes(verdict) && reported->is_dead &&
	    flows >= reported->flows_from)
		return "nothing passes";
	if (reported->direction != NULL && starts(evidence->observed, "both ways"))
		return "it is but one way";
	if (reported->direction != NULL && starts(evidence->observed, "from") &&
	    !starts(evidence->observed, reported->direction))
		return "it is the other way";
	snprintf(fields, sizeof fields, "from %s to %s at ", evidence->lost_from,
	    evidence->lost_to);
	if (starts(evidence->observed, "from") != starts(evidence->observed, fields))
		return "its fields have another direction";
	return NULL;
}

static void
run(const struct fabric_options *options, struct fabric_fault fault,
    const struct reported *reported)
{
	struct fabric *fabric;
	size_t dead, alive;
	bool is_named = false;

	assert_int_equal(fabric_new(options, &fabric), 0);
	fault.from_ns = FAULT_AT + (int64_t)(options->seed % 8) * 125 * RM_NS_PER_MS;
	fault.to_ns = INT64_MAX;
	fabric_add_fault(fabric, fault);
	fabric_flows(fabric, &fault, &dead, &alive);
	while (fabric_now(fabric) < END_NS) {
		const struct rm_verdict *verdicts;
		const int n = fabric_step(fabric, &verdicts);

		for (int i = 0; i < n; i++) {
			char text[RM_SENTENCE_BYTES];
			const char *error;

			if (!rm_part_names(&verdicts[i].part, reported->part))
				continue;
			is_named = true;
			error = error_of(&verdicts[i], reported, options->flows, alive);
			rm_verdict_sentence(&verdicts[i], text, sizeof text);
			if (error != NULL)
				fail_msg("%zu flows, %.0f/s, %s, seed %u: %zu die, %zu "
					 "live: %s: %s",
				    options->flows, options->flow_rate,
				    options->same_back ? "same back" : "any back",
				    (unsigned)options->seed, dead, alive, error, text);
		}
	}
	if (!is_named && options->flows >= reported->flows_from)
		fail_msg("%zu flows, %.0f/s, seed %u: not named", options->flows,
		    options->flow_rate, (unsigned)options->seed);
	fabric_free(fabric);
}

/* Three racks of 8, 4 and 2 RNICs, two spines. */
static void
run_all(struct fabric_fault fault, struct reported reported)
{
	static const size_t rnics[] = { 8, 4, 2 };
	static const size_t flows[] = { 3, 4, 8, 16 };

	for (size_t i = 0; i < sizeof flows / sizeof flows[0] * 4; i++)
		for (uint64_t seed = 1; seed <= SEEDS; seed++) {
			const struct fabric_options options = { .tors = 3,
				.spines = 2,
				.rnics = rnics,
				.flows = flows[i / 4],
				.flow_rate = (i & 1) != 0 ? 4 : 1,
				.loss = 1e-4,
				.same_back = (i & 2) != 0,
				.seed = seed };

			run(&options, fault, &reported);
		}
}

static void
a_port_that_drops_every_second_flow_is_not_down(void **state)
{
	run_all((struct fabric_fault){ FABRIC_DOWN_PORT, 0, 0, 0.5, 0, 0 },
	    (struct reported){ "s1--tor1", "from s1 to tor1", false, 16 });
	run_all((struct fabric_fault){ FABRIC_UP_PORT, 0, 0, 0.5, 0, 0 },
	    (struct reported){ "s1--tor1", "from tor1 to s1", false, 16 });
	run_all((struct fabric_fault){ FABRIC_DOWN_PORT, 2, 0, 0.5, 0, 0 },
	    (struct reported){ "s1--tor3", "from s1 to tor3", false, 16 });
}

static void
a_spine_that_drops_every_third_flow_is_not_down(void **state)
{
	run_all((struct fabric_fault){ FABRIC_SPINE, 0, 0, 1. / 3, 0, 0 },
	    (struct reported){ "s1", NULL, false, 16 });
}

static void
a_link_dead_in_one_direction_is_reported_with_it(void **state)
{
	run_all((struct fabric_fault){ FABRIC_DOWN_PORT, 0, 0, 1, 0, 0 },
	    (struct reported){ "s1--tor1", "from s1 to tor1", true, 3 });
	run_all((struct fabric_fault){ FABRIC_UP_PORT, 2, 1, 1, 0, 0 },
	    (struct reported){ "s2--tor3", "from tor3 to s2", true, 4 });
}

static void
a_link_dead_in_both_directions_is_down(void **state)
{
	run_all((struct fabric_fault){ FABRIC_LINK, 0, 0, 1, 0, 0 },
	    (struct reported){ "s1--tor1", NULL, true, 4 });
	run_all((struct fabric_fault){ FABRIC_LINK, 2, 1, 1, 0, 0 },
	    (struct reported){ "s2--tor3", NULL, true, 4 });
}

static void
a_dead_spine_forwards_nothing(void **state)
{
	run_all((struct fabric_fault){ FABRIC_SPINE, 0, 0, 1, 0, 0 },
	    (struct reported){ "s1", NULL, true, 3 });
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_port_that_drops_every_second_flow_is_not_down),
		cmocka_unit_test(a_spine_that_drops_every_third_flow_is_not_down),
		cmocka_unit_test(a_link_dead_in_one_direction_is_reported_with_it),
		cmocka_unit_test(a_link_dead_in_both_directions_is_down),
		cmocka_unit_test(a_dead_spine_forwards_nothing),
	};

	return cmocka_run_group_tests_name("localise kinds", tests, NULL, NULL);
}
