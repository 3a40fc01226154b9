/* Probes inside the racks decide between a ToR and the other parts between two racks.
 */
#include "analyzer/finding/localise_find.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "tests/unit/analyzer/localise/case_fabric.h"

#define SPINES 2
#define RNICS 4
#define SENT 100 /* on each path in a second */

/* leaf1 and leaf2 probe each other over two spines. */

static void
add_path(struct fabric *fabric, struct localise_rack *rack, int src, int spine,
    uint64_t forward, uint64_t reverse)
{
	char text[3 * RM_NAME_BYTES], dst[RM_NAME_BYTES];
	const struct wire_path_row row = { .dst_tor = dst,
		.path = text,
		.sent = SENT,
		.flows = RNICS,
		.flows_partial = forward + reverse > 0 ? RNICS : 0,
		.lost_forward = forward,
		.lost_reverse = reverse };

	snprintf(dst, sizeof dst, "leaf%d", 3 - src);
	snprintf(text, sizeof text, "leaf%d@10.%d.0.1 s%d@10.%d.%d.1 %s@10.%d.%d.2",
	    src, src, spine, src, spine, dst, 3 - src, spine);
	add_path_row(fabric, rack, &row);
}

/* lost: of SENT packets over each spine, in each direction; inside: of SENT probes */
static void
add_rack(struct fabric *fabric, int tor, const uint64_t lost[SPINES], uint64_t inside)
{
	const struct wire_path_row row = { .dst_tor = "",
		.path = "",
		.sent = SENT,
		.flows = RNICS,
		.flows_partial = inside > 0 ? RNICS : 0,
		.lost_unknown = inside };
	const rm_mono_t now = { BEGAN_NS };
	struct localise_rack *rack;
	char name[RM_NAME_BYTES];

	snprintf(name, sizeof name, "leaf%d", tor);
	rack = begin_rack(fabric, name);
	for (int spine = 1; spine <= SPINES; spine++)
		add_path(fabric, rack, tor, spine, lost[spine - 1], lost[spine - 1]);
	assert_int_equal(localise_map_inside_row(
			     &fabric->map, rack, &row, RM_NS_PER_S, RM_NS_PER_S, now),
	    0);
}

/* Returns the name of the part that is blamed first; "": none. */
static const char *
blamed(struct fabric *fabric)
{
	static struct localise_finding finding;
	struct rm_explanation explanation;

	assert_int_equal(localise_case_build(&fabric->c, &fabric->map,
			     (rm_mono_t){ BEGAN_NS }, localise_path_newest, NULL, NULL),
	    0);
	assert_int_equal(localise_find_parts(&fabric->c, &explanation), 0);
	if (explanation.part_count == 0)
		return "";
	localise_find(&fabric->c, &explanation, 0, &finding);
	return finding.part.name;
}

static void
a_tor_is_blamed_if_probes_inside_its_rack_are_lost_too(void **state)
{
	static const uint64_t lost[SPINES] = { 15, 15 };
	struct fabric *fabric = *state;

	add_rack(fabric, 1, lost, 0);
	add_rack(fabric, 2, lost, 28);
	assert_string_equal(blamed(fabric), "leaf2");
}

static void
a_lossy_spine_of_two_racks_is_blamed_together_with_its_links(void **state)
{
	static const uint64_t lost[SPINES] = { 20, 0 };
	struct fabric *fabric = *state;

	add_rack(fabric, 1, lost, 0);
	add_rack(fabric, 2, lost, 0);
	assert_string_equal(blamed(fabric), "s1 or leaf1--s1 or leaf2--s1");
}

static void
losses_only_inside_a_rack_blame_no_tor(void **state)
{
	static const uint64_t none[SPINES] = { 0, 0 };
	struct fabric *fabric = *state;

	add_rack(fabric, 1, none, 0);
	add_rack(fabric, 2, none, 50);
	assert_string_equal(blamed(fabric), "");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
		    a_tor_is_blamed_if_probes_inside_its_rack_are_lost_too, setup,
		    teardown),
		cmocka_unit_test_setup_teardown(
		    a_lossy_spine_of_two_racks_is_blamed_together_with_its_links, setup,
		    teardown),
		cmocka_unit_test_setup_teardown(
		    losses_only_inside_a_rack_blame_no_tor, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
