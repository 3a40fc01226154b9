#include "analyzer/incidents/suppression.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/incidents/incident_table.h"
#include "rackmesh/judge/verdict.h"

#define NOW_NS (INT64_C(1700000000) * RM_NS_PER_S)

static const rm_wall_t now = { NOW_NS };

static void
report(struct incident_table *table, uint64_t id, enum wire_incident_state state,
    const char *type, const char *part, const char *kind)
{
	const struct wire_incident incident = {
		.head = { .aggregator = "agg1", .region = "lab", .seq = id },
		.incident_id = id,
		.state = state,
		.tor = "tor1",
		.part_type = type,
		.part = part,
		.place = "",
		.kind = kind,
		.confidence = 0.9,
		.opened_wall_ns = 1,
		.changed_wall_ns = (uint64_t)NOW_NS,
		.sentence = "",
		.evidence_json = "{}",
	};

	assert_int_equal(incident_table_edge(table, &incident), 1);
}

static void
sample(struct rm_verdict *verdict, const char *from, const char *to)
{
	struct rm_evidence_sample *sample =
	    &verdict->evidence.samples[verdict->evidence.sample_count++];

	strcpy(sample->from, from);
	strcpy(sample->to, to);
}

static void
losses_to_an_rnic_with_a_verdict_of_its_rack_do_not_count_for_a_path(void **state)
{
	struct rm_verdict link = { .part = { .type = RM_PART_LINK } };
	struct incident_table *table;

	assert_int_equal(incident_table_new(&table), 0);
	assert_false(suppressed_by_racks(table, "lab", &link, now));
	sample(&link, "h7/r0", "h1/r0");
	sample(&link, "h7/r0", "h2/r0");
	sample(&link, "h2/r1", "h8/r0");
	sample(&link, "h9/r0", "h3/r0");
	assert_false(suppressed_by_racks(table, "lab", &link, now));
	report(table, 1, WIRE_OPENED, "agent", "h2", "agent-frozen");
	assert_false(
	    suppressed_by_racks(table, "lab", &link, now)); /* only half of the hosts */
	report(table, 3, WIRE_OPENED, "agent", "h1", "certificate-ending");
	assert_false(suppressed_by_racks(table, "lab", &link,
	    now)); /* an expiring certificate does not affect probes */
	report(table, 2, WIRE_OPENED, "rnic", "h1/r0 or h11/r0", "rnic-down");
	assert_true(suppressed_by_racks(table, "lab", &link, now));
	assert_false(suppressed_by_racks(table, "field", &link, now));
	report(table, 1, WIRE_RESOLVED, "agent", "h2", "agent-frozen");
	assert_true(
	    suppressed_by_racks(table, "lab", &link, now)); /* it ended just now */
	assert_false(suppressed_by_racks(
	    table, "lab", &link, (rm_wall_t){ NOW_NS + 5 * RM_NS_PER_S }));
	incident_table_free(table);
}

/* Its incident is open for up to an hour, but it loses no probes meanwhile. */
static void
a_flapping_part_that_is_good_now_suppresses_nothing(void **state)
{
	const rm_wall_t soon = { NOW_NS + 3 * RM_NS_PER_S },
			later = { NOW_NS + 5 * RM_NS_PER_S };
	struct rm_verdict link = { .part = { .type = RM_PART_LINK },
		.kind = RM_KIND_LINK_LOSSY };
	struct wire_incident flapping = {
		.head = { .aggregator = "agg1", .region = "lab", .seq = 1 },
		.incident_id = 1,
		.state = WIRE_OPENED,
		.tor = "tor1",
		.part_type = "rnic",
		.part = "h1/r0",
		.place = "",
		.kind = "rnic-down",
		.confidence = 0.9,
		.opened_wall_ns = 1,
		.changed_wall_ns = (uint64_t)NOW_NS - 1,
		.sentence = "",
		.evidence_json = "{}",
	};
	struct incident_table *table;

	(void)state;
	assert_int_equal(incident_table_new(&table), 0);
	sample(&link, "h7/r0", "h1/r0");
	assert_int_equal(incident_table_edge(table, &flapping), 1);
	assert_true(suppressed_by_racks(table, "lab", &link, later));
	flapping.state = WIRE_UPDATED;
	flapping.changed_wall_ns = flapping.good_since_wall_ns = (uint64_t)NOW_NS;
	assert_int_equal(incident_table_edge(table, &flapping), 1);
	assert_true(suppressed_by_racks(table, "lab", &link, soon));
	assert_false(suppressed_by_racks(table, "lab", &link, later));
	/* It falls again. */
	flapping.changed_wall_ns = (uint64_t)later.ns;
	flapping.good_since_wall_ns = 0;
	assert_int_equal(incident_table_edge(table, &flapping), 1);
	assert_true(suppressed_by_racks(
	    table, "lab", &link, (rm_wall_t){ later.ns + 60 * RM_NS_PER_S }));
	incident_table_free(table);
}

static void
a_part_whose_name_only_begins_the_same_is_not_suppressed(void **state)
{
	struct rm_verdict link = { .part = { .type = RM_PART_LINK } };
	struct incident_table *table;

	assert_int_equal(incident_table_new(&table), 0);
	sample(&link, "h7/r0", "h11/r0");
	report(table, 1, WIRE_OPENED, "host", "h1", "host-down");
	report(table, 2, WIRE_OPENED, "rnic", "h11/r01", "rnic-down");
	report(table, 3, WIRE_OPENED, "tor", "h11", "tor-down");
	assert_false(suppressed_by_racks(table, "lab", &link, now));
	incident_table_free(table);
}

/* All RNICs of the rack have flapping ports, so each lost probe has such an RNIC at an
 * end; the cable is dead nevertheless. */
static void
a_flapping_port_does_not_suppress_the_incident_of_a_link(void **state)
{
	struct rm_verdict link = { .part = { .type = RM_PART_LINK },
		.kind = RM_KIND_LINK_DOWN };
	struct incident_table *table;

	assert_int_equal(incident_table_new(&table), 0);
	sample(&link, "h7/r0", "h1/r0");
	sample(&link, "h2/r0", "h8/r0");
	report(table, 1, WIRE_OPENED, "rnic", "h1/r0", "rnic-flapping");
	report(table, 2, WIRE_OPENED, "rnic", "h2/r0", "rnic-flapping");
	assert_false(suppressed_by_racks(table, "lab", &link, now));
	link.kind = RM_KIND_LINK_LOSSY;
	assert_true(suppressed_by_racks(table, "lab", &link, now));
	link.kind = RM_KIND_LINK_DOWN;
	report(table, 3, WIRE_OPENED, "agent", "h1", "agent-frozen");
	report(table, 4, WIRE_OPENED, "agent", "h2", "agent-frozen");
	assert_true(suppressed_by_racks(table, "lab", &link, now));
	incident_table_free(table);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    losses_to_an_rnic_with_a_verdict_of_its_rack_do_not_count_for_a_path),
		cmocka_unit_test(
		    a_part_whose_name_only_begins_the_same_is_not_suppressed),
		cmocka_unit_test(a_flapping_part_that_is_good_now_suppresses_nothing),
		cmocka_unit_test(
		    a_flapping_port_does_not_suppress_the_incident_of_a_link),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
