#include "analyzer/finding/localise_one_class.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/finding/localise_case.h"
#include "analyzer/finding/localise_find.h"
#include "analyzer/paths/localise_map.h"

#define RACKS 4
#define SPINES 2
#define FLOWS 40
#define BEGAN_NS (100 * RM_NS_PER_S)

struct fabric { /* each rack probes every other rack over every spine, in two classes */
	struct localise_map map;
	struct localise_case c;
	rm_mono_t now;
	uint64_t scale; /* factor of all numbers of probes */
	int classes;
};

static int
setup(void **state)
{
	static struct fabric fabric;

	fabric = (struct fabric){ .map = { .row_interval_ns = RM_NS_PER_S },
		.now = { BEGAN_NS },
		.scale = 1,
		.classes = 2 };
	assert_int_equal(localise_case_init(&fabric.c, false), 0);
	*state = &fabric;
	return 0;
}

static int
teardown(void **state)
{
	struct fabric *fabric = *state;

	localise_case_release(&fabric->c);
	localise_map_release(&fabric->map);
	return 0;
}

struct probes {
	int src, spine, dst;
	uint8_t dscp;
};

/* Returns how many of `sent` probes are lost. */
typedef uint64_t lost_of(const struct probes *probes, uint64_t sent);

static void
add_row(struct fabric *fabric, const struct probes *probes, lost_of *of)
{
	const uint64_t sent =
	    fabric->scale * (probes->dscp == 26 ? 6 * FLOWS : 2 * FLOWS);
	const uint64_t lost = of(probes, sent);
	char path[2 * RM_NAME_BYTES], dst[RM_NAME_BYTES], src[RM_NAME_BYTES];
	const struct wire_path_row row = { .dst_tor = dst,
		.path = path,
		.dscp = probes->dscp,
		.flows = FLOWS,
		.flows_dead = lost == sent ? FLOWS : 0,
		.flows_silent = lost == sent ? FLOWS : 0,
		.flows_partial = lost == sent ? 0 : (uint32_t)lost,
		.sent = sent,
		.lost_forward = lost };
	struct localise_path *route;
	struct localise_rack *rack;

	snprintf(src, sizeof src, "tor%d", probes->src);
	snprintf(dst, sizeof dst, "tor%d", probes->dst);
	snprintf(path, sizeof path, "tor%d@10.0.%d.1 s%d@10.1.%d.%d tor%d@10.2.%d.%d",
	    probes->src, probes->src, probes->spine, probes->src, probes->spine,
	    probes->dst, probes->dst, probes->spine);
	assert_int_equal(localise_map_rack(&fabric->map, src, &rack), 0);
	assert_int_equal(localise_map_path(&fabric->map, rack, &row, &route), 0);
	assert_int_equal(localise_map_row(&fabric->map, route, &row, RM_NS_PER_S,
			     RM_NS_PER_S, fabric->now),
	    0);
}

static void
add_rows(struct fabric *fabric, int src, lost_of *of)
{
	char name[RM_NAME_BYTES];
	struct localise_rack *rack;

	snprintf(name, sizeof name, "tor%d", src);
	assert_int_equal(localise_map_rack(&fabric->map, name, &rack), 0);
	localise_map_frame(rack, (rm_wall_t){ fabric->now.ns }, 0, fabric->now);
	for (int dst = 1; dst <= RACKS; dst++)
		for (int spine = 1; dst != src && spine <= SPINES; spine++)
			for (int class = 0; class < fabric->classes; class ++)
				add_row(fabric,
				    &(struct probes){
					src, spine, dst, class == 0 ? 26 : 0 },
				    of);
}

/* Judges two seconds of these probes. */
static void
explain(struct fabric *fabric, lost_of *of, struct rm_explanation *ret)
{
	for (int s = 0; s < 2; s++, fabric->now.ns += RM_NS_PER_S)
		for (int src = 1; src <= RACKS; src++)
			add_rows(fabric, src, of);
	fabric->now.ns -= RM_NS_PER_S;
	assert_int_equal(localise_case_build(&fabric->c, &fabric->map, fabric->now,
			     localise_path_newest, NULL, NULL),
	    0);
	assert_int_equal(localise_find_parts(&fabric->c, ret), 0);
}

/* Returns the fitted loss of the part; 0: it is not blamed. */
static double
loss_of(const struct fabric *fabric, const struct rm_explanation *explanation,
    const char *name)
{
	for (size_t i = 0; i < explanation->part_count; i++) {
		struct rm_part part;

		localise_suspect_part(
		    &fabric->c.suspects[explanation->parts[i].candidate], &part);
		if (strcmp(part.name, name) == 0)
			return explanation->parts[i].loss;
	}
	return 0;
}

static int
class_of(const struct fabric *fabric, const char *key)
{
	const struct localise_element *element;

	HASH_FIND_STR(fabric->map.elements, key, element);
	assert_non_null(element);
	return fabric->c.locals[element->local].one_class
		   ? fabric->c.locals[element->local].dscp
		   : -1;
}

static bool
is_at(const struct probes *probes, int tor)
{
	return probes->src == tor || probes->dst == tor;
}

static uint64_t
lost_at_tor_and_link(const struct probes *probes, uint64_t sent)
{
	if (is_at(probes, 1) && probes->dscp == 26)
		return sent;
	return probes->spine == 1 && probes->dst == 3 ? sent / 5 : 0;
}

static void
a_class_that_one_part_loses_is_not_looked_for_in_another(void **state)
{
	struct fabric *fabric = *state;
	struct rm_explanation explanation;

	explain(fabric, lost_at_tor_and_link, &explanation);
	assert_int_equal(class_of(fabric, "tor1"), 26);
	assert_int_equal(class_of(fabric, "s1>tor3@10.2.3.1"), -1);
	assert_int_equal(explanation.part_count, 2);
	assert_true(loss_of(fabric, &explanation, "tor1") >= 0.98);
	assert_true(loss_of(fabric, &explanation, "s1--tor3") >= 0.1);
	assert_true(loss_of(fabric, &explanation, "s1--tor3") <= 0.3);
}

static uint64_t
lost_in_two_classes(const struct probes *probes, uint64_t sent)
{
	return (is_at(probes, 1) && probes->dscp == 26) ||
		       (is_at(probes, 4) && probes->dscp == 0)
		   ? sent
		   : 0;
}

static void
two_parts_may_lose_two_classes(void **state)
{
	struct fabric *fabric = *state;
	struct rm_explanation explanation;

	explain(fabric, lost_in_two_classes, &explanation);
	assert_int_equal(class_of(fabric, "tor1"), 26);
	assert_int_equal(class_of(fabric, "tor4"), 0);
	assert_int_equal(explanation.part_count, 2);
	assert_true(loss_of(fabric, &explanation, "tor1") >= 0.98);
	assert_true(loss_of(fabric, &explanation, "tor4") >= 0.98);
}

/* The link of the ToR loses the other class, and a second link loses both. */
static uint64_t
lost_at_tor_and_own_link(const struct probes *probes, uint64_t sent)
{
	if (is_at(probes, 1) && probes->dscp == 26)
		return sent;
	if (probes->spine == 1 && is_at(probes, 1))
		return sent / 2;
	return probes->spine == 2 && is_at(probes, 2) ? sent / 10 : 0;
}

static void
a_link_that_loses_another_class_than_its_tor_is_distinguished(void **state)
{
	struct fabric *fabric = *state;
	struct rm_explanation explanation;

	explain(fabric, lost_at_tor_and_own_link, &explanation);
	assert_int_equal(class_of(fabric, "tor1"), 26);
	assert_int_equal(explanation.part_count, 3);
	assert_true(loss_of(fabric, &explanation, "tor1") >= 0.98);
	assert_true(loss_of(fabric, &explanation, "s1--tor1") >= 0.4);
	assert_true(loss_of(fabric, &explanation, "s2--tor2") >= 0.05);
}

static uint64_t
lost_everything(const struct probes *probes, uint64_t sent)
{
	return is_at(probes, 1) ? sent : 0;
}

static void
a_dead_part_is_judged_by_all_classes(void **state)
{
	struct fabric *fabric = *state;
	struct rm_explanation explanation;

	explain(fabric, lost_everything, &explanation);
	assert_int_equal(class_of(fabric, "tor1"), -1);
	assert_int_equal(explanation.part_count, 1);
	assert_true(loss_of(fabric, &explanation, "tor1") >= 0.98);
}

static void
losses_that_are_left_out_are_left_out_of_their_classes(void **state)
{
	struct localise_sum sum = { .sent = 100,
		.forward = 2,
		.reverse = 6,
		.by_class = { { .sent = 75, .lost = 6, .dscp = 26 },
		    { .sent = 25, .lost = 2, .dscp = 0 } } };
	struct localise_sum of, others;

	(void)state;
	localise_sum_leave_out(&sum, true, false);
	of = localise_sum_of_class(&sum, 26, &others);
	assert_true(sum.sent == 94 && sum.forward == 2 && sum.reverse == 0);
	assert_true(of.forward > 1.4 && of.forward < 1.6);
	assert_true(others.forward > 0.4 && others.forward < 0.6);
}

static uint64_t
lost_at_link(const struct probes *probes, uint64_t sent)
{
	return probes->spine == 1 && probes->dst == 3 ? sent / 5 : 0;
}

static void
a_class_that_all_probes_have_is_not_named(void **state)
{
	struct fabric *fabric = *state;
	struct rm_explanation explanation;

	fabric->scale = 1000;
	fabric->classes = 1;
	explain(fabric, lost_at_link, &explanation);
	assert_int_equal(class_of(fabric, "s1>tor3@10.2.3.1"), -1);
	assert_int_equal(explanation.part_count, 1);
	assert_true(loss_of(fabric, &explanation, "s1--tor3") >= 0.1);
	assert_true(loss_of(fabric, &explanation, "s1--tor3") <= 0.3);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
		    a_class_that_one_part_loses_is_not_looked_for_in_another, setup,
		    teardown),
		cmocka_unit_test_setup_teardown(
		    a_link_that_loses_another_class_than_its_tor_is_distinguished,
		    setup, teardown),
		cmocka_unit_test_setup_teardown(
		    two_parts_may_lose_two_classes, setup, teardown),
		cmocka_unit_test(
		    losses_that_are_left_out_are_left_out_of_their_classes),
		cmocka_unit_test_setup_teardown(
		    a_dead_part_is_judged_by_all_classes, setup, teardown),
		cmocka_unit_test_setup_teardown(
		    a_class_that_all_probes_have_is_not_named, setup, teardown),
	};

	return cmocka_run_group_tests_name("localise_one_class", tests, NULL, NULL);
}
