#include "analyzer/finding/localise_tor_or_links.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/analyzer/localise/case_fabric.h"

#define SPINES 2
#define RACKS 3
#define RNICS 4

/* tor1 and two other racks probe each other over two spines: each RNIC of a rack has
 * one path over each spine to each other rack. */

struct probes { /* of one path */
	int src, dst, spine, rnic;
};

struct losses {
	uint64_t sent, flows; /* of each path */
	/* number of lost probes; their direction is not known */
	uint64_t (*of)(const struct probes *path, uint64_t sent);
};

static void
add_row(struct fabric *fabric, struct localise_rack *rack, const struct probes *path,
    const struct losses *losses)
{
	char text[3 * RM_NAME_BYTES], dst[RM_NAME_BYTES];
	const struct wire_path_row row = { .dst_tor = dst,
		.path = text,
		.flows = (uint32_t)losses->flows,
		.sent = losses->sent,
		.lost_unknown = losses->of(path, losses->sent) };

	snprintf(dst, sizeof dst, "tor%d", path->dst);
	snprintf(text, sizeof text,
	    "tor%d@10.%d.%d.1 s%d@10.1%d.%d.1 tor%d@10.2%d.%d.1", path->src, path->src,
	    path->rnic, path->spine, path->spine, path->src, path->dst, path->dst,
	    path->spine);
	add_path_row(fabric, rack, &row);
}

static void
add_rows(struct fabric *fabric, int src, const struct losses *losses)
{
	struct probes path = { .src = src };
	char name[RM_NAME_BYTES];
	struct localise_rack *rack;

	snprintf(name, sizeof name, "tor%d", src);
	rack = begin_rack(fabric, name);
	for (path.dst = 1; path.dst <= RACKS; path.dst++)
		for (int i = 0; path.dst != src && i < SPINES * RNICS; i++) {
			path.spine = 1 + i % SPINES;
			path.rnic = i / SPINES;
			add_row(fabric, rack, &path, losses);
		}
}

/* Returns the suspect, or NULL. */
static const struct localise_suspect *
suspect(const struct fabric *fabric, enum rm_part_type type, const char *name)
{
	struct rm_part part;

	for (size_t i = 0; i < fabric->c.suspect_count; i++) {
		localise_suspect_part(&fabric->c.suspects[i], &part);
		if (part.type == type && strcmp(part.name, name) == 0)
			return &fabric->c.suspects[i];
	}
	return NULL;
}

/* other: a link that is blamed beside tor1; or NULL. */
static double
ahead(struct fabric *fabric, const struct losses *losses, const char *other)
{
	struct rm_blamed blamed = { 0 };
	struct rm_explanation explanation = { &blamed, 0, 0 };
	const struct localise_suspect *found;

	for (int src = 1; src <= RACKS; src++)
		add_rows(fabric, src, losses);
	assert_int_equal(localise_case_build(&fabric->c, &fabric->map,
			     (rm_mono_t){ BEGAN_NS }, localise_path_newest, NULL, NULL),
	    0);
	if (other != NULL) {
		found = suspect(fabric, RM_PART_LINK, other);
		assert_non_null(found);
		blamed.candidate = (size_t)(found - fabric->c.suspects);
		explanation.part_count = 1;
	}
	found = suspect(fabric, RM_PART_TOR, "tor1");
	assert_non_null(found);
	return localise_tor_or_links(
	    &fabric->c, &fabric->map, localise_path_newest, &explanation, found);
}

static bool
is_at_tor1(const struct probes *path)
{
	return path->src == 1 || path->dst == 1;
}

static uint64_t
each_flow_of_tor1_loses(const struct probes *path, uint64_t sent)
{
	return is_at_tor1(path) ? 2 * sent / 5 : 0;
}

/* s1--tor1 loses 3 of 10; every second flow is answered over it. */
static uint64_t
link_loses(const struct probes *path, uint64_t sent)
{
	const uint64_t there = path->spine == 1 ? 3 * sent / 10 : 0;

	return !is_at_tor1(path) ? 0
	       : path->rnic % 2  ? there + 3 * (sent - there) / 10
				 : there;
}

/* As link_loses, but replies cross the cable that their probe crossed. */
static uint64_t
link_loses_both_halves(const struct probes *path, uint64_t sent)
{
	return is_at_tor1(path) && path->spine == 1 ? sent / 2 : 0;
}

static uint64_t
link_loses_packets_to_tor1(const struct probes *path, uint64_t sent)
{
	if (path->src == 1)
		return path->rnic % 2 ? 3 * sent / 10 : 0;
	return path->dst == 1 && path->spine == 1 ? 3 * sent / 10 : 0;
}

/* Each path has many flows, which are answered over both spines. */
static uint64_t
link_loses_of_many_flows(const struct probes *path, uint64_t sent)
{
	const uint64_t there = path->spine == 1 ? 3 * sent / 10 : 0;

	return is_at_tor1(path) ? there + 15 * (sent - there) / 100 : 0;
}

static uint64_t
link_loses_beside_a_dead_one(const struct probes *path, uint64_t sent)
{
	return path->spine == 2 && (path->src == 2 || path->dst == 2)
		   ? sent
		   : link_loses(path, sent);
}

static void
equal_losses_of_all_flows_are_those_of_the_tor(void **state)
{
	const struct losses losses = { 40, 1, each_flow_of_tor1_loses };

	assert_true(ahead(*state, &losses, NULL) > LOCALISE_CLEAR);
}

static void
equal_losses_of_paths_with_many_flows_are_those_of_the_tor(void **state)
{
	const struct losses losses = { 40, 40, each_flow_of_tor1_loses };

	assert_true(ahead(*state, &losses, NULL) > LOCALISE_CLEAR);
}

static void
unequal_losses_of_flows_are_those_of_the_link(void **state)
{
	const struct losses losses = { 40, 1, link_loses };

	assert_true(ahead(*state, &losses, NULL) < -LOCALISE_CLEAR);
}

static void
losses_over_one_spine_are_those_of_the_link_if_replies_take_the_same_path(void **state)
{
	const struct losses losses = { 40, 1, link_loses_both_halves };

	assert_true(ahead(*state, &losses, NULL) < -LOCALISE_CLEAR);
}

static void
losses_in_one_direction_are_those_of_the_link(void **state)
{
	const struct losses losses = { 40, 1, link_loses_packets_to_tor1 };

	assert_true(ahead(*state, &losses, NULL) < -LOCALISE_CLEAR);
}

static void
unequal_losses_of_paths_with_many_flows_are_those_of_the_link(void **state)
{
	const struct losses losses = { 400, 40, link_loses_of_many_flows };

	assert_true(ahead(*state, &losses, NULL) < -LOCALISE_CLEAR);
}

static uint64_t
few_flows_lose(const struct probes *path, uint64_t sent)
{
	return is_at_tor1(path) && path->rnic == 0 &&
		       (path->spine == 1 || path->src == 2)
		   ? sent / 3
		   : 0;
}

static void
few_losses_do_not_decide(void **state)
{
	const struct losses losses = { 6, 1, few_flows_lose };

	assert_true(fabs(ahead(*state, &losses, NULL)) < LOCALISE_CLEAR);
}

/* Without the other part, no single link explains what is lost over both spines. */
static void
paths_over_another_blamed_part_are_left_out(void **state)
{
	const struct losses losses = { 40, 1, link_loses_beside_a_dead_one };

	assert_true(ahead(*state, &losses, "s2--tor2") < -LOCALISE_CLEAR);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(equal_losses_of_all_flows_are_those_of_the_tor),
		TEST(equal_losses_of_paths_with_many_flows_are_those_of_the_tor),
		TEST(unequal_losses_of_flows_are_those_of_the_link),
		TEST(
		    losses_over_one_spine_are_those_of_the_link_if_replies_take_the_same_path),
		TEST(losses_in_one_direction_are_those_of_the_link),
		TEST(unequal_losses_of_paths_with_many_flows_are_those_of_the_link),
		TEST(few_losses_do_not_decide),
		TEST(paths_over_another_blamed_part_are_left_out),
	};

	return cmocka_run_group_tests_name("localise_tor_or_links", tests, NULL, NULL);
}
