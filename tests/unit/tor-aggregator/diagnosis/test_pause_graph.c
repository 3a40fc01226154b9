#include "tor-aggregator/diagnosis/pause_graph.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tor-aggregator/diagnosis/evidence.h"
#include "tor-aggregator/diagnosis/pause_findings.h"

#define P 3 /* priority in most tests */
#define PCT(v)                                             \
	{                                                  \
		.known = true, .timed = true, .value = (v) \
	}
#define FRAMES(v)                           \
	{                                   \
		.known = true, .value = (v) \
	}
#define NONE FRAMES(0)

enum { TOR1, TOR2, SPINE };

struct fabric {
	struct pause_graph *graph;
	bool global; /* the pauses are global ones, and not of priority P */
	struct pause_finding found[PAUSE_MAX_FINDINGS];
	size_t count;
};

static int
setup(void **state)
{
	*state = calloc(1, sizeof(struct fabric));
	return *state == NULL ? -1 : 0;
}

static int
teardown(void **state)
{
	struct fabric *f = *state;

	pause_graph_free(f->graph);
	free(f);
	return 0;
}

static void
begin(struct fabric *f, bool spine_read)
{
	pause_graph_free(f->graph);
	f->graph = pause_graph_new();
	assert_non_null(f->graph);
	assert_int_equal(pause_graph_add_switch(f->graph, "tor1", true), 0);
	assert_int_equal(pause_graph_add_switch(f->graph, "tor2", true), 0);
	assert_int_equal(pause_graph_add_switch(f->graph, "spine1", spine_read), 0);
}

static void
add(struct fabric *f, size_t of, struct pause_port port, struct pause_rate received,
    struct pause_rate sent)
{
	const unsigned at = f->global ? PAUSE_GLOBAL : P;

	for (size_t i = 0; i < PAUSE_CLASSES; i++)
		port.received[i] = port.sent[i] = (struct pause_rate)NONE;
	port.received[at] = received;
	port.sent[at] = sent;
	assert_int_equal(pause_graph_add_port(f->graph, of, &port), 0);
}

static void
rnic(struct fabric *f, size_t of, const char *name, const char *who,
    struct pause_rate received, struct pause_rate sent)
{
	add(f, of,
	    (struct pause_port){
		.name = name, .kind = PAUSE_NEIGHBOR_RNIC, .neighbor = who },
	    received, sent);
}

static void
cable(struct fabric *f, size_t of, const char *name, size_t far, const char *far_port,
    struct pause_rate received, struct pause_rate sent)
{
	add(f, of,
	    (struct pause_port){ .name = name,
		.kind = PAUSE_NEIGHBOR_SWITCH,
		.far = far,
		.far_port = { far_port, "" } },
	    received, sent);
}

static void
judge(struct fabric *f)
{
	f->count = pause_graph_judge(f->graph, f->found);
}

static bool
is_victim(const struct pause_finding *finding, const char *name)
{
	for (size_t i = 0; i < finding->victim_count && i < PAUSE_VICTIMS; i++)
		if (strcmp(finding->victims[i], name) == 0)
			return true;
	return false;
}

static const struct pause_rate none = NONE, missing = { 0 }, much = PCT(83),
			       some = PCT(20), frames = FRAMES(500);

/* h1/r0 pauses tor1, which pauses spine1, which pauses tor2, which pauses the senders
 * h3/r0 and h4/r0. */
static void
storm(struct fabric *f, struct pause_rate of_spine)
{
	rnic(f, TOR1, "Ethernet0", "h1/r0", much, none);
	rnic(f, TOR1, "Ethernet4", "h2/r0", none, some);
	cable(f, TOR1, "Ethernet48", SPINE, "Eth1/1", none, some);
	rnic(f, TOR2, "Ethernet0", "h3/r0", none, frames);
	rnic(f, TOR2, "Ethernet4", "h4/r0", none, frames);
	rnic(f, TOR2, "Ethernet8", "h5/r0", none, none);
	cable(f, TOR2, "Ethernet48", SPINE, "Eth1/2", of_spine, none);
}

/* Steps begin at the source; each step starts at a part that an earlier step has
 * paused. */
static void
assert_steps(const struct pause_finding *finding)
{
	assert_int_equal(finding->step_count, 6);
	assert_string_equal(finding->steps[0].from, "h1/r0");
	assert_string_equal(finding->steps[0].to, "tor1");
	assert_true(finding->steps[0].rate.timed);
	assert_true(finding->steps[0].rate.value == 83);
	for (size_t i = 1; i < finding->step_count; i++) {
		bool before = false;

		for (size_t k = 0; k < i; k++)
			before |=
			    strcmp(finding->steps[k].to, finding->steps[i].from) == 0;
		assert_true(before);
	}
}

static void
the_source_of_a_storm_over_three_switches_is_named_and_its_victims_are_not(void **state)
{
	struct fabric *f = *state;

	begin(f, true);
	storm(f, some);
	cable(f, SPINE, "Ethernet1/1", TOR1, "Ethernet48", frames, none);
	cable(f, SPINE, "Ethernet1/2", TOR2, "Ethernet48", none, frames);
	judge(f);
	assert_int_equal(f->count, 1);
	assert_int_equal(f->found[0].kind, PAUSE_SOURCE_RNIC);
	assert_int_equal(f->found[0].priority, P);
	assert_string_equal(f->found[0].source, "h1/r0");
	assert_string_equal(f->found[0].at_switch, "tor1");
	assert_string_equal(f->found[0].at_port, "Ethernet0");
	assert_int_equal(f->found[0].victim_count, 6);
	assert_true(is_victim(&f->found[0], "h3/r0"));
	assert_true(is_victim(&f->found[0], "h4/r0"));
	assert_true(is_victim(&f->found[0], "h2/r0"));
	assert_true(is_victim(&f->found[0], "spine1"));
	assert_true(is_victim(&f->found[0], "tor2"));
	assert_non_null(strstr(f->found[0].sentence,
	    "h1/r0 pauses port Ethernet0 of tor1 for 83 % of the time (priority 3)"));
	assert_non_null(strstr(f->found[0].sentence, "h4/r0"));
	assert_steps(&f->found[0]);
	assert_int_equal(pause_graph_left_out(f->graph), 0);
}

static void
global_pauses_are_followed_to_their_source_too(void **state)
{
	const struct pause_rate strong = FRAMES(900);
	struct fabric *f = *state;

	f->global = true;
	begin(f, true);
	rnic(f, TOR1, "Ethernet0", "h1/r0", strong, none);
	rnic(f, TOR1, "Ethernet4", "h2/r0", none, frames);
	cable(f, TOR1, "Ethernet48", SPINE, "Ethernet1/1", none, frames);
	cable(f, SPINE, "Ethernet1/1", TOR1, "Ethernet48", frames, none);
	judge(f);
	assert_int_equal(f->count, 1);
	assert_int_equal(f->found[0].kind, PAUSE_SOURCE_RNIC);
	assert_int_equal(f->found[0].priority, PAUSE_GLOBAL);
	assert_string_equal(f->found[0].source, "h1/r0");
	assert_int_equal(f->found[0].victim_count, 3);
	assert_true(is_victim(&f->found[0], "h2/r0"));
	assert_true(is_victim(&f->found[0], "spine1"));
	assert_non_null(strstr(f->found[0].sentence,
	    "h1/r0 pauses port Ethernet0 of tor1 by 900 frames per second (global "
	    "pauses, of all priorities)"));
}

/* A port with PFC has no global pauses, which is no gap in what is known. */
static void
ports_with_pfc_do_not_hide_the_source_of_global_pauses(void **state)
{
	struct pause_port port = { .name = "Ethernet8", .neighbor = "" };
	struct fabric *f = *state;

	f->global = true;
	for (int off = 0; off < 2; off++) {
		begin(f, true);
		rnic(f, TOR1, "Ethernet4", "h2/r0", none, frames);
		cable(f, TOR1, "Ethernet48", SPINE, "Ethernet1/1", none, frames);
		port.global_off = off == 1;
		assert_int_equal(pause_graph_add_port(f->graph, TOR1, &port), 0);
		cable(f, SPINE, "Ethernet1/1", TOR1, "Ethernet48", frames, none);
		judge(f);
		assert_int_equal(f->count, 1);
		assert_int_equal(f->found[0].kind,
		    off == 1 ? PAUSE_SOURCE_SWITCH : PAUSE_SOURCE_NOT_KNOWN);
		assert_string_equal(f->found[0].source, "tor1");
	}
}

static void
through_a_spine_that_is_not_read_a_storm_is_followed_by_its_neighbours(void **state)
{
	struct fabric *f = *state;

	begin(f, false);
	storm(f, some);
	judge(f);
	assert_int_equal(f->count, 1);
	assert_string_equal(f->found[0].source, "h1/r0");
	assert_true(is_victim(&f->found[0], "h4/r0"));

	/* Without tor1 the part that pauses spine1 is unknown. */
	begin(f, false);
	rnic(f, TOR2, "Ethernet0", "h3/r0", none, frames);
	cable(f, TOR2, "Ethernet48", SPINE, "Eth1/2", some, none);
	judge(f);
	assert_int_equal(f->count, 1);
	assert_int_equal(f->found[0].kind, PAUSE_SOURCE_NOT_KNOWN);
	assert_string_equal(f->found[0].source, "spine1");
	assert_non_null(
	    strstr(f->found[0].sentence, "not known: its counters are not read"));
}

#define MAX_SWITCHES 6
#define RNICS_EACH 3

static unsigned
random_below(uint64_t *seed, unsigned limit)
{
	*seed = *seed * 6364136223846793005U + 1442695040888963407U;
	return (unsigned)(*seed >> 33) % limit;
}

struct tree {
	unsigned count, parent[MAX_SWITCHES]; /* switch 0 has no parent */
	/* For each switch, in percent of the time: how long it pauses its parent, and
	 * its parent it. */
	double up[MAX_SWITCHES], down[MAX_SWITCHES];
	double rnic[MAX_SWITCHES]
		   [RNICS_EACH]; /* how long its switch pauses it, in percent */
};

static bool
is_below(const struct tree *tree, unsigned of, unsigned at)
{
	while (at != of && at != 0)
		at = tree->parent[at];
	return at == of;
}

/* Spreads pauses from switch `at`, which is paused at this rate, to the switch of the
 * sender. */
static void
spread(struct tree *tree, unsigned at, unsigned sender, double rate, uint64_t *seed)
{
	for (;;) {
		unsigned next = tree->parent[at];
		double *link = &tree->up[at];

		rate *= 0.3 + random_below(seed, 70) / 100.0;
		if (rate < 6)
			rate = 6;
		if (at == sender)
			break;
		if (is_below(tree, at, sender)) {
			for (next = sender; tree->parent[next] != at;)
				next = tree->parent[next];
			link = &tree->down[next];
		}
		if (*link > rate)
			rate = *link;
		*link = rate;
		at = next;
	}
	tree->rnic[sender][1 + random_below(seed, RNICS_EACH - 1)] = rate;
}

static struct pause_rate
seen_by(uint64_t *seed, bool may_miss, double rate)
{
	return may_miss && random_below(seed, 4) == 0
		   ? missing
		   : (struct pause_rate){
			     .known = true, .timed = rate > 0, .value = rate
		     };
}

static void
add_rnic(struct fabric *f, const struct tree *tree, unsigned i, unsigned r)
{
	static char names[MAX_SWITCHES][RNICS_EACH][16];
	char *name = names[i][r];
	const bool source = i == 0 && r == 0;
	const struct pause_rate rate = {
		.known = true, .timed = tree->rnic[i][r] > 0, .value = tree->rnic[i][r]
	};

	snprintf(name, sizeof(names[i][r]), "h%u/r%u", i, r);
	rnic(f, i, name, name, source ? rate : none, source ? none : rate);
}

/* Builds the tree. On each link one end, at most, has no counters. */
static void
add_tree(struct fabric *f, const struct tree *tree, uint64_t *seed)
{
	static char names[MAX_SWITCHES][16], ports[MAX_SWITCHES][2][16];
	bool lower[MAX_SWITCHES]; /* this end of the link to the parent may have none */

	for (unsigned i = 0; i < tree->count; i++) {
		snprintf(names[i], sizeof(names[i]), "sw%u", i);
		assert_int_equal(pause_graph_add_switch(f->graph, names[i], true), 0);
	}
	for (unsigned i = 1; i < tree->count; i++) {
		lower[i] = random_below(seed, 2) == 0;
		snprintf(ports[i][0], sizeof(ports[i][0]), "up%u", i);
		snprintf(ports[i][1], sizeof(ports[i][1]), "down%u", i);
	}
	for (unsigned i = 0; i < tree->count; i++) {
		for (unsigned r = 0; r < RNICS_EACH; r++)
			add_rnic(f, tree, i, r);
		if (i > 0)
			cable(f, i, ports[i][0], tree->parent[i], ports[i][1],
			    seen_by(seed, lower[i], tree->down[i]),
			    seen_by(seed, lower[i], tree->up[i]));
		for (unsigned k = 1; k < tree->count; k++)
			if (tree->parent[k] == i)
				cable(f, i, ports[k][1], k, ports[k][0],
				    seen_by(seed, !lower[k], tree->up[k]),
				    seen_by(seed, !lower[k], tree->down[k]));
	}
}

/* h0/r0 pauses sw0, which then pauses its neighbours, and so on to some senders of any
 * of three to six switches. */
static void
in_any_tree_of_switches_the_source_is_named_and_no_victim(void **state)
{
	struct fabric *f = *state;

	for (uint64_t run = 1; run <= 500; run++) {
		uint64_t seed = run;
		struct tree tree = { .count = 3 + random_below(&seed, 4) };

		for (unsigned i = 0; i < 10; i++)
			(void)random_below(&seed, 2);
		for (unsigned i = 1; i < tree.count; i++)
			tree.parent[i] = random_below(&seed, i);
		tree.rnic[0][0] = 40 + random_below(&seed, 60);
		for (unsigned k = 1 + random_below(&seed, 4); k > 0; k--)
			spread(&tree, 0, 1 + random_below(&seed, tree.count - 1),
			    tree.rnic[0][0], &seed);
		pause_graph_free(f->graph);
		f->graph = pause_graph_new();
		add_tree(f, &tree, &seed);
		judge(f);
		if (f->count != 1 || f->found[0].kind != PAUSE_SOURCE_RNIC ||
		    strcmp(f->found[0].source, "h0/r0") != 0)
			fail_msg("run %u: %zu findings, %s: %s", (unsigned)run,
			    f->count, f->count > 0 ? f->found[0].source : "",
			    f->count > 0 ? f->found[0].sentence : "");
		assert_false(is_victim(&f->found[0], "h0/r0"));
		for (unsigned i = 0; i < tree.count; i++)
			for (unsigned r = 0; r < RNICS_EACH; r++) {
				char name[16];

				snprintf(name, sizeof(name), "h%u/r%u", i, r);
				if ((i != 0 || r != 0) &&
				    is_victim(&f->found[0], name) !=
					(tree.rnic[i][r] > 0))
					fail_msg("run %u: %s", (unsigned)run, name);
			}
	}
}

static void
a_missing_neighbour_is_reported_as_unknown(void **state)
{
	static const struct pause_port nobody = { .name = "Ethernet12" },
				       leaf9 = { .name = "Ethernet12",
					       .kind = PAUSE_NEIGHBOR_OTHER,
					       .neighbor = "leaf9" },
				       left_out = { .name = "Ethernet12",
					       .kind = PAUSE_NEIGHBOR_LEFT_OUT,
					       .neighbor = "h9" };
	struct fabric *f = *state;

	begin(f, true);
	add(f, TOR2, nobody, much, none);
	rnic(f, TOR2, "Ethernet0", "h3/r0", none, frames);
	judge(f);
	assert_int_equal(f->count, 1);
	assert_int_equal(f->found[0].kind, PAUSE_SOURCE_NOT_KNOWN);
	assert_string_equal(f->found[0].source, "");
	assert_string_equal(f->found[0].at_port, "Ethernet12");
	assert_non_null(strstr(f->found[0].sentence, "LLDP names no neighbour there"));
	assert_int_equal(f->found[0].victim_count, 2);

	begin(f, true);
	add(f, TOR2, leaf9, much, none);
	rnic(f, TOR2, "Ethernet0", "h3/r0", none, frames);
	judge(f);
	assert_int_equal(f->count, 1);
	assert_int_equal(f->found[0].kind, PAUSE_SOURCE_NOT_KNOWN);
	assert_string_equal(f->found[0].source, "leaf9");
	assert_non_null(strstr(f->found[0].sentence, "not known"));

	begin(f, true);
	add(f, TOR2, left_out, much, none);
	rnic(f, TOR2, "Ethernet0", "h3/r0", none, frames);
	judge(f);
	assert_int_equal(f->count, 1);
	assert_non_null(strstr(f->found[0].sentence, "too many RNICs of other racks"));
}

static void
a_switch_that_is_certainly_not_paused_is_the_source(void **state)
{
	struct fabric *f = *state;

	begin(f, true);
	rnic(f, TOR1, "Ethernet0", "h1/r0", none, some);
	rnic(f, TOR1, "Ethernet4", "h2/r0", none, some);
	judge(f);
	assert_int_equal(f->count, 1);
	assert_int_equal(f->found[0].kind, PAUSE_SOURCE_SWITCH);
	assert_string_equal(f->found[0].source, "tor1");
	assert_int_equal(f->found[0].victim_count, 2);

	begin(f, true);
	rnic(f, TOR1, "Ethernet0", "h1/r0", missing, some);
	judge(f);
	assert_int_equal(f->count, 1);
	assert_int_equal(f->found[0].kind, PAUSE_SOURCE_NOT_KNOWN);
	assert_non_null(strstr(f->found[0].sentence, "does not count"));
}

static void
a_switch_with_unread_ports_is_not_named_as_source(void **state)
{
	struct pause_port port = { .name = "Ethernet8" };
	struct fabric *f = *state;
	char name[32];

	for (int off = 0; off < 2; off++) {
		port.off = off == 1;
		begin(f, true);
		rnic(f, TOR1, "Ethernet0", "h1/r0", none, some);
		add(f, TOR1, port, missing, missing);
		judge(f);
		assert_int_equal(f->count, 1);
		assert_int_equal(f->found[0].kind,
		    off ? PAUSE_SOURCE_SWITCH : PAUSE_SOURCE_NOT_KNOWN);
		assert_string_equal(f->found[0].source, "tor1");
	}

	begin(f, true);
	for (int i = 0; i < PAUSE_MAX_PAUSES + 1; i++) {
		snprintf(name, sizeof(name), "h%d/r0", i);
		rnic(f, TOR1, name, name, none, some);
	}
	judge(f);
	assert_int_equal(f->count, 1);
	assert_int_equal(f->found[0].kind, PAUSE_SOURCE_NOT_KNOWN);
	assert_non_null(strstr(f->found[0].sentence,
	    "there are more pauses than the aggregator can follow"));
}

static void
an_rnic_that_pauses_its_switch_alone_is_left_to_the_rules(void **state)
{
	struct fabric *f = *state;

	begin(f, true);
	rnic(f, TOR1, "Ethernet0", "h1/r0", much, none);
	judge(f);
	assert_int_equal(f->count, 0);
	begin(f, true); /* both pauses are on one link */
	rnic(f, TOR1, "Ethernet0", "h1/r0", much, some);
	judge(f);
	assert_int_equal(f->count, 0);
}

static void
faint_pauses_explain_strong_ones_and_need_no_explanation(void **state)
{
	struct fabric *f = *state;

	begin(f, true);
	rnic(f, TOR1, "Ethernet0", "h1/r0", (struct pause_rate)PCT(3), none);
	rnic(f, TOR1, "Ethernet4", "h2/r0", none, (struct pause_rate)PCT(12));
	rnic(f, TOR2, "Ethernet0", "h3/r0", none, (struct pause_rate)PCT(4.9));
	judge(f);
	assert_int_equal(f->count, 1);
	assert_string_equal(f->found[0].source, "h1/r0");

	begin(f, true); /* beside a strong pause a weak one is no source */
	rnic(f, TOR1, "Ethernet0", "h1/r0", (struct pause_rate)PCT(3), none);
	rnic(f, TOR1, "Ethernet4", "h2/r0", much, none);
	rnic(f, TOR1, "Ethernet8", "h3/r0", none, some);
	judge(f);
	assert_int_equal(f->count, 1);
	assert_string_equal(f->found[0].source, "h2/r0");
}

static void
a_weak_pause_does_not_explain_a_strong_one(void **state)
{
	struct fabric *f = *state;

	begin(f, true);
	rnic(f, TOR1, "Ethernet0", "h1/r0", (struct pause_rate)PCT(1), none);
	rnic(f, TOR1, "Ethernet4", "h2/r0", none, much);
	rnic(f, TOR1, "Ethernet8", "h3/r0", none, much);
	judge(f);
	assert_int_equal(f->count, 1);
	assert_int_equal(f->found[0].kind, PAUSE_SOURCE_SWITCH);
	assert_string_equal(f->found[0].source, "tor1");
	assert_int_equal(f->found[0].victim_count, 2);
	assert_non_null(
	    strstr(f->found[0].sentence, "no neighbour pauses it enough to explain "
					 "that (h1/r0 pauses it most, for 1 % of the "
					 "time): its own queues are full"));

	begin(f, true); /* nor does one just below a quarter; rates in frames */
	rnic(f, TOR1, "Ethernet0", "h1/r0", (struct pause_rate)FRAMES(124), none);
	rnic(f, TOR1, "Ethernet4", "h2/r0", none, frames);
	judge(f);
	assert_int_equal(f->count, 1);
	assert_int_equal(f->found[0].kind, PAUSE_SOURCE_SWITCH);

	begin(f, true); /* a quarter is enough */
	rnic(f, TOR1, "Ethernet0", "h1/r0", (struct pause_rate)FRAMES(125), none);
	rnic(f, TOR1, "Ethernet4", "h2/r0", none, frames);
	judge(f);
	assert_int_equal(f->count, 1);
	assert_int_equal(f->found[0].kind, PAUSE_SOURCE_RNIC);
}

/* Packets do not leave by the port at which they come in. */
static void
a_pause_is_not_explained_by_one_of_the_same_link_if_there_is_another(void **state)
{
	struct fabric *f = *state;

	begin(f, true);
	rnic(f, TOR1, "Ethernet0", "h1/r0", much, some);
	rnic(f, TOR1, "Ethernet4", "h2/r0", (struct pause_rate)PCT(5), none);
	judge(f);
	assert_int_equal(f->count, 1);
	assert_string_equal(f->found[0].source, "h2/r0");
	assert_true(is_victim(&f->found[0], "h1/r0"));
}

/* A loop tor1 > spine1 > tor2 > tor1, with a cable between the ToRs. */
static void
loop_of_three(struct fabric *f, struct pause_rate of_h1)
{
	begin(f, true);
	rnic(f, TOR1, "Ethernet0", "h1/r0", of_h1, none);
	cable(f, TOR1, "Ethernet44", TOR2, "Ethernet44", much, none);
	cable(f, TOR1, "Ethernet48", SPINE, "Ethernet1/1", none, much);
	rnic(f, TOR2, "Ethernet0", "h3/r0", none, much);
	cable(f, TOR2, "Ethernet44", TOR1, "Ethernet44", none, much);
	cable(f, TOR2, "Ethernet48", SPINE, "Ethernet1/2", much, none);
	cable(f, SPINE, "Ethernet1/1", TOR1, "Ethernet48", much, none);
	cable(f, SPINE, "Ethernet1/2", TOR2, "Ethernet48", none, much);
}

static void
a_loop_is_reported_as_a_loop(void **state)
{
	struct fabric *f = *state;

	loop_of_three(f, none);
	judge(f);
	assert_int_equal(f->count, 1);
	assert_int_equal(f->found[0].kind, PAUSE_LOOP);
	assert_string_equal(f->found[0].source, "tor1 > spine1 > tor2 > tor1");
	assert_int_equal(f->found[0].victim_count, 1);
	assert_true(is_victim(&f->found[0], "h3/r0"));

	/* While an RNIC pauses a switch of the loop, this RNIC is the source. */
	loop_of_three(f, much);
	judge(f);
	assert_int_equal(f->count, 1);
	assert_int_equal(f->found[0].kind, PAUSE_SOURCE_RNIC);
	assert_string_equal(f->found[0].source, "h1/r0");
}

static void
two_switches_that_pause_each_other_are_a_loop(void **state)
{
	struct fabric *f = *state;

	/* In the first round, neither end knows the port of the other one. */
	for (int known = 0; known < 2; known++) {
		begin(f, true);
		cable(f, TOR1, "Ethernet48", SPINE, known ? "Ethernet1/1" : "", much,
		    much);
		cable(f, SPINE, "Ethernet1/1", TOR1, "", much, much);
		judge(f);
		assert_int_equal(f->count, 1);
		assert_int_equal(f->found[0].kind, PAUSE_LOOP);
		assert_string_equal(f->found[0].source, "tor1 > spine1 > tor1");
	}
}

static void
a_loop_without_half_of_the_time_everywhere_is_congestion(void **state)
{
	static const struct pause_rate rates[] = { PCT(5), PCT(49), FRAMES(5000) };
	struct fabric *f = *state;

	for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		begin(f, true);
		cable(f, TOR1, "Ethernet48", SPINE, "Ethernet1/1", rates[i], rates[i]);
		cable(f, SPINE, "Ethernet1/1", TOR1, "", rates[i], rates[i]);
		judge(f);
		assert_int_equal(f->count, 2);
		for (size_t k = 0; k < 2; k++) {
			assert_int_equal(f->found[k].kind, PAUSE_SOURCE_SWITCH);
			assert_int_equal(f->found[k].victim_count, 1);
			assert_non_null(
			    strstr(f->found[k].sentence, " pauses it most, "));
		}
		assert_string_not_equal(f->found[0].source, f->found[1].source);
	}
	begin(f, true); /* a weaker pause in the other direction suffices */
	cable(f, TOR1, "Ethernet48", SPINE, "Ethernet1/1", much,
	    (struct pause_rate)PCT(30));
	judge(f);
	assert_int_equal(f->count, 2);
	assert_int_equal(f->found[0].kind, PAUSE_SOURCE_SWITCH);
}

static void
two_storms_at_once_are_two_sources(void **state)
{
	struct fabric *f = *state;

	begin(f, true);
	rnic(f, TOR1, "Ethernet0", "h1/r0", much, none);
	cable(f, TOR1, "Ethernet48", SPINE, "Ethernet1/1", some, some);
	rnic(f, TOR1, "Ethernet4", "h2/r0", none, some);
	rnic(f, TOR2, "Ethernet0", "h3/r0", much, none);
	rnic(f, TOR2, "Ethernet4", "h4/r0", none, some);
	cable(f, TOR2, "Ethernet48", SPINE, "Ethernet1/2", some, some);
	cable(f, SPINE, "Ethernet1/1", TOR1, "Ethernet48", some, some);
	cable(f, SPINE, "Ethernet1/2", TOR2, "Ethernet48", some, some);
	judge(f);
	assert_int_equal(f->count, 2);
	assert_string_equal(f->found[0].source, "h1/r0");
	assert_string_equal(f->found[1].source, "h3/r0");
	assert_false(is_victim(&f->found[0], "h3/r0"));
	assert_true(is_victim(&f->found[0], "h4/r0"));
}

static void
priorities_are_graphs_of_their_own(void **state)
{
	struct pause_port port = {
		.name = "Ethernet0", .kind = PAUSE_NEIGHBOR_RNIC, .neighbor = "h1/r0"
	};
	struct fabric *f = *state;

	begin(f, true);
	for (size_t i = 0; i < PAUSE_PRIORITIES; i++)
		port.received[i] = port.sent[i] = none;
	port.received[4] = much;
	assert_int_equal(pause_graph_add_port(f->graph, TOR1, &port), 0);
	rnic(f, TOR1, "Ethernet4", "h2/r0", none, some);
	judge(f);
	assert_int_equal(f->count, 1);
	assert_int_equal(f->found[0].kind, PAUSE_SOURCE_SWITCH);
	assert_int_equal(f->found[0].priority, P);
}

static struct pause_rate
rate_of(const struct evidence *evidence)
{
	return pause_rate_of(evidence, SWITCH_PFC_RX_PAUSE_US, SWITCH_PFC_RX_FRAMES, P,
	    (rm_mono_t){ 7 * RM_NS_PER_S });
}

/* A switch may update its counters only once a minute. */
static void
no_port_is_paused_for_more_than_all_of_the_time(void **state)
{
	struct evidence evidence = { .switch_ns = 10 * RM_NS_PER_S };

	(void)state;
	evidence_set(&evidence, SWITCH_PFC_RX_PAUSE_US, P, 60000000);
	assert_true(rate_of(&evidence).value == 100);
}

static void
with_a_time_of_zero_frames_are_used(void **state)
{
	struct evidence evidence = { .switch_ns = 2 * RM_NS_PER_S };

	(void)state;
	assert_false(rate_of(&evidence).known);
	evidence_set(&evidence, SWITCH_PFC_RX_PAUSE_US, P, 0);
	assert_true(rate_of(&evidence).known && rate_of(&evidence).timed);
	evidence_set(&evidence, SWITCH_PFC_RX_FRAMES, P, 0);
	assert_true(rate_of(&evidence).known && rate_of(&evidence).timed);
	evidence_set(&evidence, SWITCH_PFC_RX_FRAMES, P, 1000);
	assert_true(rate_of(&evidence).known);
	assert_false(rate_of(&evidence).timed);
	assert_true(rate_of(&evidence).value == 500);
	evidence_set(&evidence, SWITCH_PFC_RX_PAUSE_US, P, 400000);
	assert_true(rate_of(&evidence).timed && rate_of(&evidence).value == 20);
	assert_int_equal(rate_of(&evidence).from.ns, 5 * RM_NS_PER_S);
	assert_int_equal(rate_of(&evidence).until.ns, 7 * RM_NS_PER_S);
}

static struct pause_rate
counted(struct pause_rate rate, int64_t from_s, int64_t until_s)
{
	rate.from = (rm_mono_t){ from_s * RM_NS_PER_S };
	rate.until = (rm_mono_t){ until_s * RM_NS_PER_S };
	return rate;
}

/* The storm has ended, but the spine has not answered since. */
static void
the_newer_reading_of_both_ends_of_a_link_counts(void **state)
{
	struct fabric *f = *state;

	for (int newer = 0; newer < 2; newer++) {
		begin(f, true);
		cable(f, TOR1, "Ethernet48", SPINE, "Ethernet1/1", none,
		    counted(none, newer ? 20 : 12, newer ? 30 : 22));
		cable(f, SPINE, "Ethernet1/1", TOR1, "Ethernet48",
		    counted(much, 10, 20), none);
		judge(f);
		/* If both readings are of the same time, either may count. */
		assert_int_equal(f->count, newer ? 0 : 1);
	}
	begin(f, true);
	cable(f, TOR1, "Ethernet48", SPINE, "Ethernet1/1", none, counted(some, 20, 30));
	cable(f, SPINE, "Ethernet1/1", TOR1, "Ethernet48", counted(none, 10, 20), none);
	judge(f);
	assert_int_equal(f->count, 1);
	assert_string_equal(f->found[0].source, "tor1");
}

static void
limits_are_kept_and_counted(void **state)
{
	struct fabric *f = *state;
	char name[32];

	begin(f, true);
	for (int i = 0; i < PAUSE_MAX_PAUSES + 10; i++) {
		snprintf(name, sizeof(name), "Ethernet%d", i);
		rnic(f, TOR1, name, name, i % 2 == 0 ? much : none,
		    i % 2 == 0 ? none : some);
	}
	judge(f);
	assert_int_equal(f->count, PAUSE_MAX_FINDINGS);
	assert_int_equal(f->found[0].victim_count, PAUSE_MAX_PAUSES / 2 + 1);
	assert_true(pause_graph_left_out(f->graph) >= 10);
	assert_int_equal(pause_graph_add_switch(f->graph, "late", true), -EINVAL);
	assert_int_equal(pause_graph_add_port(
			     f->graph, 77, &(struct pause_port){ .name = "Ethernet0" }),
	    -EINVAL);
}

static void
a_finding_stands_once_it_has_held_and_until_it_is_quiet(void **state)
{
	static struct pause_findings findings;
	struct pause_finding found = { .kind = PAUSE_SOURCE_RNIC, .source = "h1/r0" };
	const rm_mono_t start = { 1000 * RM_NS_PER_S };
	const rm_wall_t wall = { 5 };

	for (int s = 0; s <= 20; s += 5) {
		pause_findings_take(&findings, &found, s == 5 ? 0 : 1, 10 * RM_NS_PER_S,
		    rm_mono_add(start, s * RM_NS_PER_S), wall);
		assert_int_equal(findings.count, s == 5 ? 0 : 1);
		assert_int_equal(s != 5 && findings.kept[0].stands, s == 20);
	}
	pause_findings_take(&findings, NULL, 0, 10 * RM_NS_PER_S,
	    rm_mono_add(start, 50 * RM_NS_PER_S), wall);
	assert_int_equal(findings.count, 1);
	pause_findings_take(&findings, NULL, 0, 10 * RM_NS_PER_S,
	    rm_mono_add(start, 51 * RM_NS_PER_S), wall);
	assert_int_equal(findings.count, 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(
		    the_source_of_a_storm_over_three_switches_is_named_and_its_victims_are_not),
		TEST(global_pauses_are_followed_to_their_source_too),
		TEST(ports_with_pfc_do_not_hide_the_source_of_global_pauses),
		TEST(
		    through_a_spine_that_is_not_read_a_storm_is_followed_by_its_neighbours),
		TEST(in_any_tree_of_switches_the_source_is_named_and_no_victim),
		TEST(a_missing_neighbour_is_reported_as_unknown),
		TEST(a_switch_that_is_certainly_not_paused_is_the_source),
		TEST(a_switch_with_unread_ports_is_not_named_as_source),
		TEST(an_rnic_that_pauses_its_switch_alone_is_left_to_the_rules),
		TEST(faint_pauses_explain_strong_ones_and_need_no_explanation),
		TEST(
		    a_pause_is_not_explained_by_one_of_the_same_link_if_there_is_another),
		TEST(a_weak_pause_does_not_explain_a_strong_one),
		TEST(a_loop_is_reported_as_a_loop),
		TEST(two_switches_that_pause_each_other_are_a_loop),
		TEST(a_loop_without_half_of_the_time_everywhere_is_congestion),
		TEST(two_storms_at_once_are_two_sources),
		TEST(priorities_are_graphs_of_their_own),
		TEST(no_port_is_paused_for_more_than_all_of_the_time),
		TEST(with_a_time_of_zero_frames_are_used),
		TEST(the_newer_reading_of_both_ends_of_a_link_counts),
		TEST(limits_are_kept_and_counted),
		TEST(a_finding_stands_once_it_has_held_and_until_it_is_quiet),
	};

	return cmocka_run_group_tests_name("pause_graph", tests, NULL, NULL);
}
