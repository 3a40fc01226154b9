#include "analyzer/racks/racks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/api/health.h"
#include "analyzer/incidents/incident_table.h"
#include "analyzer/incidents/part_names.h"
#include "rackmesh/identity/sight.h"
#include "rackmesh/incident/incident.h"
#include "rackmesh/metrics/sketch.h"

#define WALL_NS (INT64_C(1700000000) * RM_NS_PER_S)
#define ROW_INTERVAL_NS (10 * RM_NS_PER_S)
#define FRESH_NS (3 * ROW_INTERVAL_NS)
#define FORGET_NS (3600 * RM_NS_PER_S)

struct fixture {
	struct racks *racks;
	struct incident_table *table;
	struct wire_writer *writer;
	int64_t row_interval_ns;
	rm_mono_t now;
};

static int
setup(void **state)
{
	const struct racks_options options = { FORGET_NS };
	struct fixture *f = calloc(1, sizeof(*f));

	assert_int_equal(racks_new(&options, &f->racks), 0);
	assert_int_equal(incident_table_new(&f->table), 0);
	f->writer = wire_writer_new();
	f->row_interval_ns = ROW_INTERVAL_NS;
	f->now.ns = 1000 * RM_NS_PER_S;
	*state = f;
	return 0;
}

static int
teardown(void **state)
{
	struct fixture *f = *state;

	racks_free(f->racks);
	incident_table_free(f->table);
	wire_writer_free(f->writer);
	free(f);
	return 0;
}

static struct wire_summary
summary_of(const char *tor, int seconds)
{
	return (struct wire_summary){
		.head = { "agg1", "lab", 7, 1 },
		.tor = tor,
		.start_wall_ns = WALL_NS,
		.end_wall_ns = (uint64_t)(WALL_NS + seconds * RM_NS_PER_S),
		.has_state = true,
		.state = { .rnics = 4,
		    .rnics_good = 4,
		    .hosts = 2,
		    .hosts_ok = 2,
		    .brake_permille = 1000 },
	};
}

static void
take(struct fixture *f, const struct wire_summary *summary)
{
	struct wire_summary_view view;
	struct wire_bytes bytes;

	assert_int_equal(wire_write_summary(f->writer, summary, &bytes), 0);
	assert_int_equal(wire_open_summary(&view, bytes.data, bytes.len), 0);
	racks_summary(f->racks, &view, f->row_interval_ns, f->now);
}

static struct wire_bytes
sketch_of(uint64_t value_ns, uint8_t *room, size_t len)
{
	struct rm_sketch *sketch = rm_sketch_new();
	int n;

	rm_sketch_add(sketch, value_ns);
	n = rm_sketch_encode(sketch, room, len);
	rm_sketch_free(sketch);
	assert_true(n > 0);
	return (struct wire_bytes){ room, (size_t)n };
}

static bool
all_seen(const struct rack *rack, rm_mono_t now, void *arg)
{
	return arg == NULL || strcmp(rack->tor, arg) != 0;
}

static void
the_last_rows_of_each_pair_make_the_figures(void **state)
{
	struct fixture *f = *state;
	uint8_t room[2][1024];
	struct rack_figures inside, outgoing;
	struct wire_row rows[] = {
		{ .src_tor = "tor1",
		    .dst_tor = "tor1",
		    .dscp = 26,
		    .flow_set = "all",
		    .sent = 100 },
		{ .src_tor = "tor1",
		    .dst_tor = "tor2",
		    .dscp = 26,
		    .flow_set = "all",
		    .sent = 50 },
		{ .src_tor = "tor1",
		    .dst_tor = "tor3",
		    .dscp = 26,
		    .flow_set = "all",
		    .sent = 50 },
	};
	struct wire_summary summary = summary_of("tor1", 10);

	rows[0].rtt = sketch_of(5000, room[0], sizeof(room[0]));
	rows[2].rtt = sketch_of(9000, room[1], sizeof(room[1]));
	rows[1].outcomes[WIRE_NO_REPLY] = 5;
	summary.rows = rows;
	summary.row_count = 3;
	take(f, &summary);
	/* A row with new losses is sent alone, and replaces only the same row. */
	rows[1].outcomes[WIRE_NO_REPLY] = 20;
	summary.end_wall_ns += RM_NS_PER_S;
	summary.rows = &rows[1];
	summary.row_count = 1;
	take(f, &summary);
	racks_figures(
	    racks_find(f->racks, "lab", "tor1"), f->racks, f->now, &inside, &outgoing);
	assert_int_equal(inside.sent, 100);
	assert_int_equal(inside.lost, 0);
	assert_int_equal(outgoing.sent, 100);
	assert_int_equal(outgoing.lost, 20);
	assert_in_range(inside.rtt_p50_ns, 4900, 5100);
	assert_in_range(outgoing.rtt_p99_ns, 8900, 9100);
	f->now.ns += FRESH_NS + 1;
	racks_figures(
	    racks_find(f->racks, "lab", "tor1"), f->racks, f->now, &inside, &outgoing);
	assert_int_equal(outgoing.sent, 0);
	assert_int_equal(outgoing.rtt_p99_ns, 0);
}

static uint64_t
outgoing_now(const struct fixture *f)
{
	struct rack_figures inside, outgoing;

	racks_figures(
	    racks_find(f->racks, "lab", "tor1"), f->racks, f->now, &inside, &outgoing);
	return outgoing.sent;
}

static void
rarely_reported_figures_stay_valid_for_longer(void **state)
{
	struct fixture *f = *state;
	struct wire_summary summary = summary_of("tor1", 100);
	const struct wire_row row = {
		.src_tor = "tor1", .dst_tor = "tor2", .flow_set = "all", .sent = 100
	};

	summary.rows = &row;
	summary.row_count = 1;
	f->row_interval_ns = 6 * ROW_INTERVAL_NS;
	take(f, &summary);
	f->now.ns += 6 * FRESH_NS;
	assert_int_equal(outgoing_now(f), 100);
	f->now.ns++;
	assert_int_equal(outgoing_now(f), 0);
	/* From here on rows come more often. */
	f->row_interval_ns = ROW_INTERVAL_NS;
	summary.end_wall_ns += RM_NS_PER_S;
	take(f, &summary);
	assert_int_equal(outgoing_now(f), 100);
	f->now.ns += FRESH_NS + 1;
	assert_int_equal(outgoing_now(f), 0);
}

static void
a_backlog_does_not_change_the_present_state(void **state)
{
	struct fixture *f = *state;
	struct wire_summary fresh = summary_of("tor1", 100);
	struct wire_summary old = summary_of("tor1", 50);

	take(f, &fresh);
	old.state.rnics_bad = 3;
	take(f, &old);
	assert_int_equal(racks_find(f->racks, "lab", "tor1")->state.rnics_bad, 0);
}

static void
an_rnic_is_found_by_its_id_and_by_its_name(void **state)
{
	struct fixture *f = *state;
	struct wire_summary summary = summary_of("tor1", 10);
	struct wire_rnic_row rnics[] = {
		{ .id = { 0x020000000001, 0 }, .host = "h1", .device = "r0" },
		{ .id = { 0x020000000002, 0 }, .host = "h1", .device = "r10" },
		{ .id = { 0x020000000003, 0 }, .host = "no name", .device = "r0" },
	};
	const struct rm_sight north = { .asked = "north", .regions = "*" };
	const struct rack_rnic *found, *other;

	summary.rnics = rnics;
	summary.rnic_count = 3;
	take(f, &summary);
	assert_int_equal(racks_counts(f->racks)->rnics, 2);
	assert_int_equal(racks_counts(f->racks)->refused, 1);
	assert_string_equal(
	    racks_rnic(f->racks, "02:00:00:00:00:02", NULL, &other)->device, "r10");
	assert_string_equal(
	    racks_rnic(f->racks, "h1/r0", NULL, &other)->aggregator, "agg1");
	assert_null(other);
	assert_null(racks_rnic(f->racks, "h1/r1", NULL, &other));
	assert_null(racks_rnic(f->racks, "h1", NULL, &other));
	assert_null(racks_rnic(f->racks, "", NULL, &other));
	/* The RNIC was replaced by another one, which has the same name. */
	rnics[0].id.guid = 0x020000000008;
	summary.rnic_count = 1;
	f->now.ns += RM_NS_PER_S;
	take(f, &summary);
	found = racks_rnic(f->racks, "h1/r0", NULL, &other);
	assert_int_equal(found->id.guid, 0x020000000008);
	assert_null(other);
	/* Hosts of two regions may have the same names. */
	summary.head.region = "north";
	rnics[0].id.guid = 0x020000000009;
	take(f, &summary);
	found = racks_rnic(f->racks, "h1/r0", NULL, &other);
	assert_non_null(other);
	assert_string_not_equal(found->region, other->region);
	assert_string_equal(
	    racks_rnic(f->racks, "h1/r0", &north, &other)->region, "north");
	assert_null(other);
	f->now.ns += FORGET_NS + 1;
	racks_expire(f->racks, f->now);
	assert_int_equal(racks_counts(f->racks)->rnics, 0);
	assert_null(racks_find(f->racks, "lab", "tor1"));
}

static void
both_aggregators_of_a_rack_are_known(void **state)
{
	struct fixture *f = *state;
	struct wire_summary summary = summary_of("tor1", 10);
	const struct rack *rack;

	take(f, &summary);
	summary.head.aggregator = "agg2";
	summary.end_wall_ns += 1;
	take(f, &summary);
	rack = racks_find(f->racks, "lab", "tor1");
	assert_string_equal(rack->aggregators[0], "agg2");
	assert_string_equal(rack->aggregators[1], "agg1");
}

static void
names_between_racks_are_distinguished(void **state)
{
	char names[PART_NAMES_MAX][RM_NAME_BYTES];
	struct rm_part link = { .type = RM_PART_LINK, .name = "spine1--tor-2" };
	struct rm_part rnic = { .type = RM_PART_RNIC, .name = "tor-2" };

	assert_int_equal(part_names_of("spine1--tor-2 or tor3->tor4", names), 5);
	assert_string_equal(names[0], "spine1--tor-2"); /* a name, too */
	assert_string_equal(names[1], "spine1");
	assert_string_equal(names[2], "tor-2");
	assert_string_equal(names[3], "tor3");
	assert_string_equal(names[4], "tor4");
	assert_int_equal(part_names_of("s or s--a--b or s--c", names), 7);
	assert_string_equal(names[0], "s");
	assert_string_equal(names[1], "s--a--b");
	assert_string_equal(names[2], "a--b");
	assert_string_equal(names[3], "s--a");
	assert_string_equal(names[4], "b");
	assert_string_equal(names[5], "s--c");
	assert_string_equal(names[6], "c");
	assert_int_equal(part_names_of("", names), 0);
	assert_int_equal(part_names_of("--", names), 0);
	assert_true(part_names_tor(&link, "tor-2"));
	assert_false(part_names_tor(&link, "tor"));
	assert_false(part_names_tor(&rnic, "tor-2"));
}

static void
names_of_tors_may_contain_two_dashes(void **state)
{
	struct rm_part link = { .type = RM_PART_LINK,
		.name = "leaf--1--spine1 or leaf--2--spine1" };
	struct rm_part tor = { .type = RM_PART_TOR, .name = "leaf--1 or leaf--2" };
	struct rm_part spine = { .type = RM_PART_SWITCH,
		.name = "s--1 or leaf--1--s--1 or leaf--2--s--1" };

	assert_true(part_names_tor(&spine, "leaf--1"));
	assert_true(part_names_tor(&spine, "leaf--2"));
	assert_false(part_names_tor(&spine, "leaf--3"));
	assert_false(part_names_tor(&spine, "s")); /* that is the switch's own name */
	assert_true(part_names_tor(&link, "leaf--1"));
	assert_true(part_names_tor(&link, "leaf--2"));
	assert_true(part_names_tor(&link, "spine1"));
	assert_false(part_names_tor(&link, "1"));
	assert_false(part_names_tor(&link, "leaf--3"));
	assert_true(part_names_tor(&tor, "leaf--2"));
	assert_false(part_names_tor(&tor, "leaf"));
}

static void
open_links(
    struct fixture *f, enum rm_part_type type, const char *name, const char *links)
{
	struct rm_incident incident;

	memset(&incident, 0, sizeof(incident));
	incident.id = 5;
	incident.verdict.part.type = type;
	strcpy(incident.verdict.part.name, name);
	incident.verdict.kind =
	    links[0] != '\0' ? RM_KIND_LINKS_DOWN : RM_KIND_LINK_DOWN;
	strcpy(incident.verdict.evidence.links, links);
	assert_int_equal(
	    incident_table_own(f->table, "lab", "an1", WIRE_OPENED, &incident), 1);
}

static void
open_part(struct fixture *f, enum rm_part_type type, const char *name)
{
	open_links(f, type, name, "");
}

static void
the_racks_in_the_worst_state_come_first(void **state)
{
	struct fixture *f = *state;
	struct wire_summary summary;
	struct health_rack *racks = NULL;
	const struct rm_sight field = { .asked = "field", .regions = "*" };
	char blind[] = "tor5";
	size_t count = 0;

	summary = summary_of("tor1", 10);
	take(f, &summary);
	summary = summary_of("tor2", 10);
	summary.state.brake_permille = 0;
	take(f, &summary);
	summary = summary_of("tor3", 10);
	take(f, &summary);
	racks_served(f->racks, "lab", "tor4", "agg9", f->now);
	summary = summary_of("tor5", 10);
	take(f, &summary);
	summary = summary_of("tor7", 10);
	summary.state.hosts_slowed = 1;
	take(f, &summary);
	summary = summary_of("tor10", 10);
	summary.state.hosts_paused = summary.state.hosts;
	take(f, &summary);
	open_part(f, RM_PART_LINK, "spine1--tor3");
	assert_int_equal(health_of(f->racks, f->table, NULL, all_seen, blind, f->now,
			     &racks, &count),
	    0);
	assert_int_equal(count, 7);
	assert_string_equal(racks[0].rack->tor, "tor3");
	assert_int_equal(racks[0].state, HEALTH_BAD);
	assert_int_equal(racks[0].by_part[RM_PART_LINK], 1);
	assert_string_equal(racks[1].rack->tor, "tor5");
	assert_int_equal(racks[1].state, HEALTH_BLIND);
	assert_string_equal(racks[2].rack->tor, "tor2");
	assert_int_equal(racks[2].state, HEALTH_PAUSED);
	assert_string_equal(racks[3].rack->tor, "tor10");
	assert_int_equal(racks[3].state, HEALTH_PAUSED);
	assert_string_equal(racks[4].rack->tor, "tor7");
	assert_int_equal(racks[4].state, HEALTH_SLOWED);
	assert_string_equal(racks[5].rack->tor, "tor4");
	assert_int_equal(racks[5].state, HEALTH_UNKNOWN);
	assert_string_equal(racks[6].rack->tor, "tor1");
	assert_int_equal(racks[6].state, HEALTH_OK);
	free(racks);
	assert_int_equal(health_of(f->racks, f->table, &field, all_seen, NULL, f->now,
			     &racks, &count),
	    0);
	assert_int_equal(count, 0);
	free(racks);
}

static void
all_racks_of_an_incident_are_marked(void **state)
{
	static const struct {
		enum rm_part_type type;
		const char *name, *bad, *links;
	} parts[] = {
		{ RM_PART_SWITCH, "spine1 or spine1--tor1 or spine1--tor2",
		    "tor1 tor2 " },
		{ RM_PART_TOR, "tor1 or tor2", "tor1 tor2 " },
		{ RM_PART_TOR, "tor--4", "tor--4 " },
		{ RM_PART_LINK, "spine1--tor--4", "tor--4 " },
		{ RM_PART_LINK, "spine1--tor3 or spine2--tor3", "tor3 " },
		{ RM_PART_PATH, "tor2->tor3", "tor2 tor3 " },
		{ RM_PART_SWITCH, "spine1", "" },
		{ RM_PART_SWITCH, "spine1", "tor1 tor2 ",
		    "spine1--tor1, spine1->tor2, spine1--leaf9" },
		{ RM_PART_LINK, "spine1--tor1", "tor1 tor3 ",
		    "spine1--tor1, spine1--tor3" },
	};
	static const char *const tors[] = { "tor1", "tor2", "tor3", "tor--4" };
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		struct health_rack *racks = NULL;
		size_t count = 0;
		char bad[64] = "";

		for (size_t k = 0; k < 4; k++) {
			const struct wire_summary summary =
			    summary_of(tors[k], 10 * ((int)i + 1));

			take(f, &summary);
		}
		incident_table_free(f->table);
		assert_int_equal(incident_table_new(&f->table), 0);
		open_links(f, parts[i].type, parts[i].name,
		    parts[i].links != NULL ? parts[i].links : "");
		assert_int_equal(health_of(f->racks, f->table, NULL, all_seen, NULL,
				     f->now, &racks, &count),
		    0);
		assert_int_equal(count, 4);
		for (size_t k = 0; k < count; k++)
			if (racks[k].state == HEALTH_BAD) {
				assert_int_equal(racks[k].incidents, 1);
				strcat(strcat(bad, racks[k].rack->tor), " ");
			}
		assert_string_equal(bad, parts[i].bad);
		free(racks);
	}
}

static void
send_open(struct fixture *f, const char *aggregator, int seconds, uint32_t open)
{
	struct wire_summary summary = summary_of("tor1", seconds);

	summary.head.aggregator = aggregator;
	summary.state.incidents_open = open;
	take(f, &summary);
}

static int64_t
quiet_s(struct fixture *f, const char *aggregator, int changed)
{
	rm_wall_t since = racks_quiet(f->racks, "lab", aggregator, "tor1",
	    (rm_wall_t){ WALL_NS + changed * RM_NS_PER_S });

	return since.ns == 0 ? -1 : (since.ns - WALL_NS) / RM_NS_PER_S;
}

static void
a_rack_is_quiet_when_it_has_reported_so_for_a_while(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(quiet_s(f, "agg1", 0), -1);
	send_open(f, "agg1", 1, 0);
	assert_int_equal(quiet_s(f, "agg1", 0), -1);
	for (int s = 2; s <= 11; s++) { /* two active aggregators report in turn */
		send_open(f, "agg2", s, 1);
		send_open(f, "agg1", s, 0);
	}
	assert_int_equal(quiet_s(f, "agg1", 0), 1);
	assert_int_equal(quiet_s(f, "agg2", 0), -1);
	assert_int_equal(quiet_s(f, "agg3", 0), -1);
	/* The opening travels on another lane, and may be newer than this summary. */
	assert_int_equal(quiet_s(f, "agg1", 2), -1);
	send_open(f, "agg1", 12, 0);
	assert_int_equal(quiet_s(f, "agg1", 2), 2);
	send_open(f, "agg1", 13, 1);
	assert_int_equal(quiet_s(f, "agg1", 0), -1);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_last_rows_of_each_pair_make_the_figures),
		TEST(rarely_reported_figures_stay_valid_for_longer),
		TEST(a_backlog_does_not_change_the_present_state),
		TEST(an_rnic_is_found_by_its_id_and_by_its_name),
		TEST(both_aggregators_of_a_rack_are_known),
		TEST(names_between_racks_are_distinguished),
		TEST(names_of_tors_may_contain_two_dashes),
		TEST(the_racks_in_the_worst_state_come_first),
		TEST(all_racks_of_an_incident_are_marked),
		TEST(a_rack_is_quiet_when_it_has_reported_so_for_a_while),
	};

	return cmocka_run_group_tests_name("racks", tests, NULL, NULL);
}
