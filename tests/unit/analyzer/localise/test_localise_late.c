/* Links and switches that forward packets, but far too late. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/paths/localise_part.h"
#include "fabric_sim.h"
#include "rackmesh/judge/verdict.h"
#include "tests/support/trials.h"

#define SEEDS 4
#define FOREVER INT64_MAX
#define FROM_NS (15 * RM_NS_PER_S)
#define WITHIN_NS (8 * RM_NS_PER_S)
/* Packets that were sent before the end arrive up to this much later. */
#define UNDER_PATH_NS (2 * RM_NS_PER_S)

static struct fabric *
new_fabric(uint64_t seed, const size_t *rnics)
{
	const struct fabric_options options = { .tors = 4,
		.spines = 2,
		.rnics = rnics,
		.flows = 16,
		.flow_rate = 2,
		.loss = 1e-6,
		.same_back = seed % 2 == 0,
		.seed = seed };
	struct fabric *fabric;

	assert_int_equal(fabric_new(&options, &fabric), 0);
	return fabric;
}

/* Until this time no part but `part` is named (NULL: none at all), and only with this
 * kind. True: it is named at the end; *last: the last verdict. */
static bool
live(struct fabric *fabric, int64_t until_ns, const char *part, enum rm_kind kind,
    char last[RM_SENTENCE_BYTES])
{
	const struct rm_verdict *verdicts;
	int n = 0;

	while (fabric_now(fabric) < until_ns) {
		n = fabric_step(fabric, &verdicts);
		assert_true(n >= 0);
		for (int i = 0; i < n; i++) {
			rm_verdict_sentence(&verdicts[i], last, RM_SENTENCE_BYTES);
			if (part == NULL || strcmp(verdicts[i].part.name, part) != 0 ||
			    verdicts[i].kind != kind)
				fail_msg("%.2f s: %s", (double)fabric_now(fabric) / 1e9,
				    last);
		}
	}
	return n == 1;
}

static void
is_reported(
    enum fabric_fault_kind fault, const char *part, enum rm_kind kind, const char *text)
{
	for (uint64_t seed = 1; seed <= trials_of(SEEDS); seed++) {
		struct fabric *fabric = new_fabric(seed, NULL);
		const int64_t over_ns = FROM_NS + 2 * WITHIN_NS;
		char last[RM_SENTENCE_BYTES] = "";

		fabric_add_fault(
		    fabric, (struct fabric_fault){ fault, 1, 1, 1, FROM_NS, over_ns });
		assert_true(live(fabric, FROM_NS + WITHIN_NS, part, kind, last));
		if (strstr(last, text) == NULL || strstr(last, "had no reply") != NULL)
			fail_msg("no \"%s\": %s", text, last);
		live(fabric, over_ns + WITHIN_NS + UNDER_PATH_NS, part, kind, last);
		assert_false(live(fabric, over_ns + 3 * WITHIN_NS, NULL, 0, last));
		fabric_free(fabric);
	}
}

static void
a_link_that_is_late_is_reported_with_its_delay(void **state)
{
	(void)state;
	is_reported(FABRIC_LATE, "s2--tor2", RM_KIND_LINK_LATE, ", 400 ms on average");
}

static void
a_link_that_is_later_than_probes_wait_is_late_and_not_dead(void **state)
{
	(void)state;
	is_reported(
	    FABRIC_OVERDUE, "s2--tor2", RM_KIND_LINK_LATE, ", 1500 ms on average");
}

static void
a_late_link_that_loses_is_reported_with_what_it_loses(void **state)
{
	static const enum fabric_fault_kind kinds[] = { FABRIC_LATE, FABRIC_OVERDUE };

	(void)state;
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		struct fabric *fabric = new_fabric(1, NULL);
		char last[RM_SENTENCE_BYTES] = "";

		fabric_add_fault(fabric,
		    (struct fabric_fault){ kinds[i], 1, 1, 1, FROM_NS, FOREVER });
		fabric_add_fault(fabric,
		    (struct fabric_fault){ FABRIC_LOSSY, 1, 1, 0.3, FROM_NS, FOREVER });
		assert_true(live(fabric, FROM_NS + 3 * WITHIN_NS, "s2--tor2",
		    RM_KIND_LINK_LATE, last));
		if (strstr(last, " had no reply") == NULL)
			fail_msg("%s", last);
		fabric_free(fabric);
	}
}

/* Before its first replies arrive, the link may have been reported as dead. */
static void
a_link_late_by_3_s_is_not_dead_when_replies_are_reported(void **state)
{
	/* A row covers a second, and takes up to 1.4 s to arrive; the next row shows
	 * that this is not the end of an outage. */
	const int64_t last_end_ns = FROM_NS + 3 * RM_NS_PER_S + 4000 * RM_NS_PER_MS;
	const struct rm_verdict *verdicts;

	(void)state;
	for (uint64_t seed = 1; seed <= trials_of(SEEDS); seed++) {
		struct fabric *fabric = new_fabric(2 * seed, NULL);
		char last[RM_SENTENCE_BYTES] = "";

		fabric_add_fault(fabric, (struct fabric_fault){ FABRIC_OVERDUE_LINK, 1,
					     1, 1, FROM_NS, FOREVER });
		while (fabric_now(fabric) < last_end_ns) {
			const int n = fabric_step(fabric, &verdicts);

			for (int i = 0; i < n; i++)
				assert_string_equal(verdicts[i].part.name, "s2--tor2");
		}
		assert_true(live(fabric, last_end_ns + WITHIN_NS, "s2--tor2",
		    RM_KIND_LINK_LATE, last));
		if (strstr(last, ", 3000 ms on average") == NULL)
			fail_msg("%s", last);
		fabric_free(fabric);
	}
}

static void
a_switch_that_is_late_is_reported_and_none_of_its_links(void **state)
{
	(void)state;
	is_reported(FABRIC_LATE_SPINE, "s2", RM_KIND_SWITCH_LATE, "100 ms or longer");
}

/* Only its own rack can find this fault. */
static void
a_late_rnic_is_no_fault_between_racks(void **state)
{
	static const size_t rnics[] = { 4, 1, 4, 4 };
	char last[RM_SENTENCE_BYTES];

	(void)state;
	for (uint64_t seed = 1; seed <= trials_of(SEEDS); seed++) {
		struct fabric *fabric = new_fabric(seed, seed % 2 == 0 ? rnics : NULL);

		fabric_add_fault(fabric, (struct fabric_fault){ FABRIC_LATE_RNIC, 1, 0,
					     1, FROM_NS, FOREVER });
		live(fabric, FROM_NS + 3 * WITHIN_NS, NULL, 0, last);
		fabric_free(fabric);
	}
}

/* Its losses are reported as soon as it is not late any more. */
static void
a_link_that_was_late_and_dies_is_reported_to_be_dead(void **state)
{
	const struct rm_verdict *verdicts;
	struct fabric *fabric = new_fabric(1, NULL);
	const int64_t dies_ns = FROM_NS + WITHIN_NS;
	char last[RM_SENTENCE_BYTES];
	bool dead = false;

	(void)state;
	fabric_add_fault(
	    fabric, (struct fabric_fault){ FABRIC_LATE, 1, 1, 1, FROM_NS, dies_ns });
	fabric_add_fault(fabric,
	    (struct fabric_fault){ FABRIC_DOWN_PORT, 1, 1, 1, dies_ns, FOREVER });
	assert_true(live(fabric, dies_ns, "s2--tor2", RM_KIND_LINK_LATE, last));
	while (!dead && fabric_now(fabric) < dies_ns + 2 * WITHIN_NS) {
		const int n = fabric_step(fabric, &verdicts);

		for (int i = 0; i < n; i++)
			dead |= verdicts[i].kind == RM_KIND_LINK_DOWN;
	}
	assert_true(dead);
	fabric_free(fabric);
}

#define TEST(f) cmocka_unit_test(f)

static void
the_ends_of_a_link_are_found_in_names_with_dashes(void **state)
{
	static const struct {
		enum rm_part_type type;
		const char *name, *end;
		bool is_end;
	} cases[] = {
		{ RM_PART_LINK, "s2--tor2", "s2", true },
		{ RM_PART_LINK, "s2--tor2", "tor2", true },
		{ RM_PART_LINK, "s2--tor2", "tor", false },
		{ RM_PART_LINK, "s2--tor2", "or2", false },
		{ RM_PART_LINK, "s--2--tor2", "s--2", true },
		{ RM_PART_LINK, "s--2--tor2", "tor2", true },
		{ RM_PART_LINK, "s1--tor2" RM_PART_OR "s2--tor3", "tor2", true },
		{ RM_PART_LINK, "s1--tor2" RM_PART_OR "s2--tor3", "s2", true },
		{ RM_PART_LINK, "s1--tor2" RM_PART_OR "s2--tor3", "tor1", false },
		{ RM_PART_SWITCH, "s2--tor2", "s2", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct rm_part part = { .type = cases[i].type };

		snprintf(part.name, sizeof part.name, "%s", cases[i].name);
		assert_int_equal(
		    localise_part_is_end(&part, cases[i].end), cases[i].is_end);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_ends_of_a_link_are_found_in_names_with_dashes),
		TEST(a_link_that_is_late_is_reported_with_its_delay),
		TEST(a_link_that_is_later_than_probes_wait_is_late_and_not_dead),
		TEST(a_late_link_that_loses_is_reported_with_what_it_loses),
		TEST(a_link_late_by_3_s_is_not_dead_when_replies_are_reported),
		TEST(a_switch_that_is_late_is_reported_and_none_of_its_links),
		TEST(a_link_that_was_late_and_dies_is_reported_to_be_dead),
		TEST(a_late_rnic_is_no_fault_between_racks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
