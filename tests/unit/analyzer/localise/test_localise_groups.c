#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/paths/localise_bins.h"
#include "analyzer/paths/localise_map.h"
#include "analyzer/suspicion/localise_groups.h"
#include "fabric_sim.h"
#include "rackmesh/incident/incident.h"
#include "rackmesh/judge/verdict.h"
#include "tests/support/trials.h"

#define FAULT_AT (20 * RM_NS_PER_S)
#define FOREVER INT64_MAX
#define WALL_NS (1700000000 * RM_NS_PER_S)

/* Racks and spines, and the analyzer's incidents. */
struct world {
	struct fabric *fabric;
	struct rm_incidents *incidents;
	unsigned opened;
	struct rm_incident first; /* as it opened */
	const char *healthy;      /* a link that must never be listed */
};

static enum rm_health
health_of(const struct rm_verdict *verdict, void *arg)
{
	struct world *world = arg;

	return localise_health(fabric_localise(world->fabric), verdict);
}

static void
on_event(enum rm_incident_event event, const struct rm_incident *incident, void *arg)
{
	struct world *world = arg;

	if (event != RM_INCIDENT_OPENED)
		return;
	if (world->opened++ == 0)
		world->first = *incident;
}

static void
world_new(struct world *world, size_t tors, size_t spines, uint64_t seed)
{
	const struct fabric_options options = { .tors = tors,
		.spines = spines,
		.flows = 16,
		.flow_rate = 1,
		.loss = 1e-5,
		.seed = seed };
	const struct rm_incident_options incidents = { .max_open = 16,
		.max_closed = 16,
		.resolve_after_ns = 2 * RM_NS_PER_S,
		.id_seed = 7 };

	*world = (struct world){ .healthy = "" };
	assert_int_equal(fabric_new(&options, &world->fabric), 0);
	assert_int_equal(rm_incidents_new(&incidents, &world->incidents), 0);
}

static void
world_free(struct world *world)
{
	fabric_free(world->fabric);
	rm_incidents_free(world->incidents);
}

/* On until then. Nothing but links of the fault is named. */
static void
run_until(struct world *world, int64_t end_ns)
{
	while (fabric_now(world->fabric) < end_ns) {
		const struct rm_verdict *verdicts;
		const int n = fabric_step(world->fabric, &verdicts);
		const int64_t now = fabric_now(world->fabric);

		assert_true(n >= 0);
		for (int i = 0; i < n && world->healthy[0] != '\0'; i++)
			assert_null(strstr(verdicts[i].evidence.links, world->healthy));
		for (int i = 0; i < n; i++)
			if (rm_kind_is_links(verdicts[i].kind)) {
				assert_true(verdicts[i].confidence > 0);
				assert_true(verdicts[i].evidence.to_part.sent > 0);
			}
		rm_incidents_judge(world->incidents, (rm_mono_t){ now },
		    (rm_wall_t){ WALL_NS + now }, verdicts, (size_t)n, health_of,
		    on_event, world);
	}
}

static const struct rm_verdict *
only(const struct world *world)
{
	assert_int_equal(rm_incidents_open(world->incidents), 1);
	return &rm_incidents_get(world->incidents, 0)->verdict;
}

static void
add_link(struct world *world, size_t tor, size_t spine, int64_t from, int64_t to)
{
	fabric_add_fault(world->fabric,
	    (struct fabric_fault){ FABRIC_LINK, tor, spine, 1, from, to });
}

/* Half of a spine's ports die at once, and come back at once. */
static void
half_of_a_switch_is_one_incident_from_its_opening_to_its_end(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= trials_of(12); seed++) {
		const int64_t at = FAULT_AT + (int64_t)(seed % 8) * 125 * RM_NS_PER_MS;
		const int64_t end = at + 20 * RM_NS_PER_S;
		char sentence[RM_SENTENCE_BYTES];
		struct world world;

		world_new(&world, 8, 4, seed);
		world.healthy = "tor5";
		for (size_t tor = 0; tor < 4; tor++)
			add_link(&world, tor, 0, at, end);
		run_until(&world, at + 7 * RM_NS_PER_S);
		assert_string_equal(only(&world)->part.name, "s1");
		assert_int_equal(only(&world)->part.type, RM_PART_SWITCH);
		assert_int_equal(only(&world)->kind, RM_KIND_LINKS_DOWN);
		assert_string_equal(only(&world)->evidence.links,
		    "s1--tor1, s1--tor2, s1--tor3, s1--tor4");
		assert_int_equal(only(&world)->evidence.links_down, 4);
		assert_int_equal(only(&world)->evidence.links_of, 8);
		assert_true(only(&world)->evidence.sample_count > 0);
		assert_true(only(&world)->evidence.to_part.sent > 0);
		rm_verdict_sentence(only(&world), sentence, sizeof sentence);
		assert_non_null(strstr(
		    sentence, "Switch s1: 4 of its 8 links carry nothing since "));
		run_until(&world, end + 20 * RM_NS_PER_S);
		assert_int_equal(world.opened, 1);
		assert_int_equal(rm_incidents_open(world.incidents), 0);
		world_free(&world);
	}
}

/* A card that loses its links one after the other: when the third one fails, the
 * incident on the first one becomes that on the switch. */
static void
links_that_fail_one_after_the_other_end_in_one_incident(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= trials_of(6); seed++) {
		const int64_t end = FAULT_AT + 40 * RM_NS_PER_S;
		struct world world;

		world_new(&world, 8, 4, seed);
		world.healthy = "tor6";
		for (size_t tor = 0; tor < 5; tor++)
			add_link(&world, tor, 0,
			    FAULT_AT + (int64_t)tor * 6 * RM_NS_PER_S, end);
		run_until(&world, end - RM_NS_PER_S);
		assert_true(world.opened <= 2);
		assert_string_equal(only(&world)->part.name, "s1--tor1");
		assert_string_equal(only(&world)->evidence.widened, "s1");
		assert_string_equal(only(&world)->evidence.links,
		    "s1--tor1, s1--tor2, s1--tor3, s1--tor4, s1--tor5");
		run_until(&world, end + 20 * RM_NS_PER_S);
		assert_true(world.opened <= 2);
		assert_int_equal(rm_incidents_open(world.incidents), 0);
		world_free(&world);
	}
}

/* Some come back before the others: the rest is still the same incident. */
static void
an_incident_lasts_until_the_last_link_works(void **state)
{
	struct world world;

	(void)state;
	world_new(&world, 8, 4, 3);
	for (size_t tor = 0; tor < 4; tor++)
		add_link(&world, tor, 0, FAULT_AT,
		    FAULT_AT + (int64_t)(tor == 2 ? 40 : 12) * RM_NS_PER_S);
	run_until(&world, FAULT_AT + 30 * RM_NS_PER_S);
	assert_string_equal(only(&world)->part.name, "s1");
	assert_string_equal(only(&world)->evidence.links, "s1--tor3");
	run_until(&world, FAULT_AT + 60 * RM_NS_PER_S);
	assert_int_equal(world.opened, 1);
	assert_int_equal(rm_incidents_open(world.incidents), 0);
	world_free(&world);
}

static void
uplinks_of_a_tor_are_links_of_the_tor(void **state)
{
	struct world world;

	(void)state;
	world_new(&world, 6, 5, 2);
	for (size_t spine = 0; spine < 3; spine++)
		add_link(&world, 1, spine, FAULT_AT, FOREVER);
	run_until(&world, FAULT_AT + 10 * RM_NS_PER_S);
	assert_string_equal(only(&world)->part.name, "tor2");
	assert_int_equal(only(&world)->part.type, RM_PART_TOR);
	assert_string_equal(
	    only(&world)->evidence.links, "s1--tor2, s2--tor2, s3--tor2");
	assert_int_equal(only(&world)->evidence.links_of, 5);
	world_free(&world);
}

static void
two_dead_links_of_a_switch_are_two_incidents(void **state)
{
	struct world world;

	(void)state;
	world_new(&world, 8, 4, 5);
	add_link(&world, 0, 0, FAULT_AT, FOREVER);
	add_link(&world, 1, 0, FAULT_AT, FOREVER);
	run_until(&world, FAULT_AT + 15 * RM_NS_PER_S);
	assert_int_equal(world.opened, 2);
	assert_int_equal(rm_incidents_open(world.incidents), 2);
	world_free(&world);
}

/* A ticket for an older fault of the same switch stays. */
static void
an_older_dead_link_of_the_switch_keeps_its_own_incident(void **state)
{
	struct world world;

	(void)state;
	world_new(&world, 8, 4, 6);
	add_link(&world, 7, 0, FAULT_AT, FOREVER);
	for (size_t tor = 0; tor < 3; tor++)
		add_link(&world, tor, 0, FAULT_AT + 45 * RM_NS_PER_S, FOREVER);
	run_until(&world, FAULT_AT + 60 * RM_NS_PER_S);
	assert_int_equal(world.opened, 2);
	assert_string_equal(world.first.verdict.part.name, "s1--tor8");
	assert_int_equal(rm_incidents_open(world.incidents), 2);
	assert_string_equal(
	    rm_incidents_get(world.incidents, 0)->verdict.part.name, "s1");
	assert_string_equal(
	    rm_incidents_get(world.incidents, 0)->verdict.evidence.links,
	    "s1--tor1, s1--tor2, s1--tor3");
	world_free(&world);
}

/* Most links of one of two spines; the racks probe `peers` others each. */
static void
world_of_many_links(struct world *world, size_t tors, size_t peers, size_t flows)
{
	const struct fabric_options options = { .tors = tors,
		.spines = 2,
		.peers = peers,
		.flows = flows,
		.flow_rate = 1,
		.loss = 1e-5,
		.seed = 9 };
	const struct rm_incident_options incidents = { .max_open = 128,
		.max_closed = 16,
		.resolve_after_ns = 2 * RM_NS_PER_S,
		.id_seed = 7 };

	*world = (struct world){ .healthy = "" };
	assert_int_equal(fabric_new(&options, &world->fabric), 0);
	assert_int_equal(rm_incidents_new(&incidents, &world->incidents), 0);
}

/* Their names do not fit into the evidence. */
static void
a_hundred_dead_links_are_one_incident(void **state)
{
	const struct rm_evidence *evidence;
	char sentence[RM_SENTENCE_BYTES];
	struct world world;

	(void)state;
	world_of_many_links(&world, 120, 12, 4);
	for (size_t tor = 0; tor < 120; tor++)
		if (tor % 6 != 0)
			add_link(&world, tor, 0, FAULT_AT, FAULT_AT + 15 * RM_NS_PER_S);
	run_until(&world, FAULT_AT + 10 * RM_NS_PER_S);
	evidence = &only(&world)->evidence;
	assert_int_equal(evidence->links_down, 100);
	assert_int_equal(evidence->links_of, 120);
	assert_true(rm_links_count(evidence->links) < 100);
	rm_verdict_sentence(only(&world), sentence, sizeof sentence);
	assert_non_null(strstr(sentence, "100 of its 120 links carry nothing"));
	assert_non_null(strstr(sentence, " and 92 more"));
	run_until(&world, FAULT_AT + 30 * RM_NS_PER_S);
	assert_int_equal(world.opened, 1);
	assert_int_equal(rm_incidents_open(world.incidents), 0);
	world_free(&world);
}

/* A rack probes its neighbours only, so no probe tells most of the dead links apart. */
static void
dead_links_that_cannot_be_distinguished_are_of_the_incident_of_their_switch(
    void **state)
{
	struct world world;

	(void)state;
	world_of_many_links(&world, 24, 6, 8);
	for (size_t tor = 0; tor < 16; tor++)
		add_link(&world, tor, 0, FAULT_AT, FAULT_AT + 30 * RM_NS_PER_S);
	run_until(&world, FAULT_AT + 25 * RM_NS_PER_S);
	assert_string_equal(only(&world)->part.name, "s1");
	run_until(&world, FAULT_AT + 50 * RM_NS_PER_S);
	assert_int_equal(world.opened, 1);
	assert_int_equal(rm_incidents_open(world.incidents), 0);
	world_free(&world);
}

/* ---- with verdicts of the test ---- */

static void
add_path(struct localise_map *map, int src, int dst)
{
	char name[RM_NAME_BYTES], to[RM_NAME_BYTES], path[2 * RM_NAME_BYTES];
	struct localise_rack *rack;
	struct localise_path *ret;

	snprintf(name, sizeof name, "tor%d", src);
	snprintf(to, sizeof to, "tor%d", dst);
	snprintf(path, sizeof path, "tor%d@10.0.%d.1 s1@10.1.1.%d tor%d@10.2.%d.1", src,
	    src, src, dst, dst);
	assert_int_equal(localise_map_rack(map, name, &rack), 0);
	assert_int_equal(
	    localise_map_path(map, rack,
		&(struct wire_path_row){ .dst_tor = to, .path = path }, &ret),
	    0);
}

static struct rm_verdict
verdict_on(const char *links, enum rm_kind kind, int64_t start_ns)
{
	struct rm_verdict verdict = { .part = { .type = RM_PART_LINK },
		.kind = kind,
		.confidence = 0.99,
		.evidence = {
		    .window_ns = RM_NS_PER_S, .window_start = { start_ns } } };

	snprintf(verdict.part.name, sizeof verdict.part.name, "%s", links);
	return verdict;
}

/* Three links of s1 have been dead for `ns`. Returns the number of verdicts if this one
 * is another one of that time. */
static size_t
joined_with(struct localise_map *map, struct localise_groups *groups, int64_t ns,
    const struct rm_verdict *verdict)
{
	static struct rm_verdict verdicts[LOCALISE_GROUPS];
	const struct localise_standings standings = { 0 };
	const struct localise_now now = {
		.map = map, .now = { FAULT_AT + ns }, .wall = { WALL_NS + ns }
	};

	for (int i = 0; i < 3; i++) {
		char name[RM_NAME_BYTES];

		snprintf(name, sizeof name, "s1--tor%d", i + 1);
		verdicts[i] = verdict_on(name, RM_KIND_LINK_DOWN, WALL_NS);
	}
	verdicts[3] = *verdict;
	return localise_groups_join(groups, &standings, &now, verdicts, 4);
}

static void
later_losses_of_one_of_two_links_are_no_losses_of_the_group(void **state)
{
	const int64_t days = 3 * 86400 * RM_NS_PER_S;
	const char *links = "s1--tor5 or s1--tor6";
	struct rm_verdict seconds = verdict_on(links, RM_KIND_LINK_DOWN, WALL_NS);
	struct rm_verdict minutes = verdict_on(links, RM_KIND_LINK_LOSSY, WALL_NS);
	struct localise_map map = { .row_interval_ns = RM_NS_PER_S };
	struct localise_groups groups = { 0 };

	(void)state;
	for (int src = 1; src <= 8; src++)
		for (int dst = 1; dst <= 8; dst++)
			if (dst != src)
				add_path(&map, src, dst);
	minutes.evidence.window_ns = LOCALISE_WINDOW_NS;
	/* One more link of the group, and it is not known which. */
	assert_int_equal(joined_with(&map, &groups, RM_NS_PER_S, &seconds), 1);
	/* It is not known when small losses began. */
	assert_int_equal(joined_with(&map, &groups, RM_NS_PER_S, &minutes), 2);
	assert_int_equal(joined_with(&map, &groups, days, &minutes), 2);
	/* Of another fault. */
	seconds.evidence.window_start.ns = WALL_NS + days;
	assert_int_equal(joined_with(&map, &groups, days, &seconds), 2);
	localise_groups_release(&groups);
	localise_map_release(&map);
}

static void
an_older_fault_of_one_of_two_links_is_not_of_the_group(void **state)
{
	static const struct {
		int64_t since_ns;
		size_t count;
	} cases[] = {
		{ -(LOCALISE_GROUP_NS - RM_NS_PER_S), 1 },
		{ -(LOCALISE_GROUP_NS + RM_NS_PER_S), 2 },
		{ 0, 1 },
		{ 86400 * RM_NS_PER_S, 1 },
	};
	struct localise_map map = { .row_interval_ns = RM_NS_PER_S };
	struct localise_groups groups = { 0 };

	(void)state;
	for (int src = 1; src <= 8; src++)
		for (int dst = 1; dst <= 8; dst++)
			if (dst != src)
				add_path(&map, src, dst);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct rm_verdict verdict = verdict_on("s1--tor1 or s1--tor6",
		    RM_KIND_LINK_DOWN, WALL_NS + cases[i].since_ns);

		assert_int_equal(
		    joined_with(&map, &groups, RM_NS_PER_S, &verdict), cases[i].count);
		verdict.kind = RM_KIND_LINK_LOSSY;
		verdict.evidence.window_ns = LOCALISE_WINDOW_NS;
		assert_int_equal(
		    joined_with(&map, &groups, RM_NS_PER_S, &verdict), cases[i].count);
	}
	localise_groups_release(&groups);
	localise_map_release(&map);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    half_of_a_switch_is_one_incident_from_its_opening_to_its_end),
		cmocka_unit_test(
		    links_that_fail_one_after_the_other_end_in_one_incident),
		cmocka_unit_test(an_incident_lasts_until_the_last_link_works),
		cmocka_unit_test(uplinks_of_a_tor_are_links_of_the_tor),
		cmocka_unit_test(a_hundred_dead_links_are_one_incident),
		cmocka_unit_test(
		    dead_links_that_cannot_be_distinguished_are_of_the_incident_of_their_switch),
		cmocka_unit_test(two_dead_links_of_a_switch_are_two_incidents),
		cmocka_unit_test(
		    an_older_dead_link_of_the_switch_keeps_its_own_incident),
		cmocka_unit_test(
		    later_losses_of_one_of_two_links_are_no_losses_of_the_group),
		cmocka_unit_test(
		    an_older_fault_of_one_of_two_links_is_not_of_the_group),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
