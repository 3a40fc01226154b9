#include "analyzer/incidents/incident_table.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "rackmesh/incident/incident.h"

#define BEGAN_NS (INT64_C(1700000000) * RM_NS_PER_S)

static int
setup(void **state)
{
	struct incident_table *table = NULL;

	assert_int_equal(incident_table_new(&table), 0);
	*state = table;
	return 0;
}

static int
teardown(void **state)
{
	incident_table_free(*state);
	return 0;
}

/* changed: in seconds after the incident began. */
static struct wire_incident
edge(const char *aggregator, uint64_t id, enum wire_incident_state state, int changed)
{
	return (struct wire_incident){
		.head = { aggregator, "lab", 7, 1 },
		.incident_id = id,
		.state = state,
		.tor = "tor1",
		.part_type = "rnic",
		.part = "h1/r0",
		.place = "tor1",
		.kind = "rnic-down",
		.confidence = 0.9,
		.began_wall_ns = BEGAN_NS,
		.opened_wall_ns = BEGAN_NS,
		.changed_wall_ns = (uint64_t)(BEGAN_NS + changed * RM_NS_PER_S),
		.sentence = "h1/r0 is down.",
		.evidence_json = "{\"evidence\":{\"peers\":3}}",
		.severity = "major",
	};
}

static int
report(struct incident_table *table, struct wire_incident incident)
{
	return incident_table_edge(table, &incident);
}

/* When one aggregator of a rack stops, the rack's other aggregator continues the
 * incident. */
static void
an_incident_that_another_aggregator_continues_stays_one(void **state)
{
	struct incident_table *table = *state;
	const struct incident_table_entry *entry;

	assert_int_equal(report(table, edge("agg1", 42, WIRE_OPENED, 0)), 1);
	assert_int_equal(report(table, edge("agg2", 42, WIRE_OPENED, 0)), 0);
	assert_int_equal(incident_table_open(table), 1);
	entry = incident_table_find(table, 42);
	assert_int_equal(entry->source_count, 2);
	assert_int_equal(report(table, edge("agg2", 42, WIRE_RESOLVED, 9)), 1);
	assert_int_equal(incident_table_open(table), 0);
	/* The first aggregator resumes, and repeats its last report. */
	assert_int_equal(report(table, edge("agg1", 42, WIRE_UPDATED, 5)), 0);
	assert_int_equal(incident_table_open(table), 0);
}

static void
an_incident_opens_changes_and_resolves(void **state)
{
	struct incident_table *table = *state;
	const struct incident_table_entry *entry;
	struct wire_incident update = edge("agg1", 42, WIRE_UPDATED, 2);

	assert_int_equal(report(table, edge("agg1", 42, WIRE_OPENED, 0)), 1);
	assert_int_equal(incident_table_open(table), 1);
	assert_int_equal(incident_table_find(table, 42)->impact, RM_IMPACT_UNKNOWN);
	update.kind = "rnic-send-dead";
	update.evidence_json = "{\"evidence\":{\"impact\":\"P0\"}}";
	assert_int_equal(incident_table_edge(table, &update), 1);
	entry = incident_table_find(table, 42);
	assert_ptr_equal(entry, incident_table_get(table, 0));
	assert_string_equal(entry->kind, "rnic-send-dead");
	assert_true(entry->is_open);
	assert_int_equal(entry->impact, RM_IMPACT_P0);
	assert_int_equal(entry->changes, 2);
	assert_int_equal(report(table, edge("agg1", 42, WIRE_RESOLVED, 5)), 1);
	assert_int_equal(incident_table_open(table), 0);
	entry = incident_table_find(table, 42);
	assert_false(entry->is_open);
	assert_true(entry->resolved.ns == BEGAN_NS + 5 * RM_NS_PER_S);
	assert_int_equal(incident_table_changes(table), 3);
}

static void
a_repeated_message_changes_nothing(void **state)
{
	struct incident_table *table = *state;

	assert_int_equal(report(table, edge("agg1", 42, WIRE_OPENED, 0)), 1);
	assert_int_equal(report(table, edge("agg1", 42, WIRE_OPENED, 0)), 0);
	assert_int_equal(report(table, edge("agg1", 42, WIRE_RESOLVED, 5)), 1);
	assert_int_equal(report(table, edge("agg1", 42, WIRE_OPENED, 0)), 0);
	assert_int_equal(report(table, edge("agg1", 42, WIRE_UPDATED, 9)), 0);
	assert_int_equal(report(table, edge("agg1", 42, WIRE_RESOLVED, 5)), 0);
	assert_int_equal(incident_table_changes(table), 2);
	assert_int_equal(incident_table_open(table), 0);
	assert_int_equal(incident_table_counts(table)->repeated, 4);
}

/* Two aggregators report one host; an older one does not send good_since. */
static void
a_flapping_part_is_good_now_if_all_its_open_reports_agree(void **state)
{
	struct incident_table *table = *state;
	struct wire_incident one = edge("agg1", 42, WIRE_OPENED, 0);
	struct wire_incident two = edge("agg2", 43, WIRE_OPENED, 0);
	const struct incident_table_entry *entry;

	assert_true(incident_table_is_fall(&one));
	assert_int_equal(report(table, one), 1);
	assert_int_equal(report(table, two), 1);
	entry = incident_table_find(table, 42);
	one.state = two.state = WIRE_UPDATED;
	one.returned_wall_ns = 5;
	one.changed_wall_ns = one.good_since_wall_ns = BEGAN_NS + RM_NS_PER_S;
	assert_false(incident_table_is_fall(&one));
	assert_int_equal(report(table, one), 1);
	assert_int_equal(entry->good_since.ns, 0);
	two.changed_wall_ns = two.good_since_wall_ns = BEGAN_NS + 2 * RM_NS_PER_S;
	assert_int_equal(report(table, two), 1);
	assert_int_equal(entry->good_since.ns, BEGAN_NS + 2 * RM_NS_PER_S);
	one.changed_wall_ns = one.returned_wall_ns = BEGAN_NS + 3 * RM_NS_PER_S;
	one.good_since_wall_ns = 0;
	assert_true(incident_table_is_fall(&one));
	assert_int_equal(report(table, one), 1);
	assert_int_equal(entry->good_since.ns, 0);
	one.state = WIRE_RESOLVED;
	one.changed_wall_ns++;
	assert_int_equal(report(table, one), 1);
	assert_int_equal(entry->good_since.ns, BEGAN_NS + 2 * RM_NS_PER_S);
	two.changed_wall_ns = BEGAN_NS + 9 * RM_NS_PER_S;
	two.good_since_wall_ns = UINT64_MAX;
	assert_int_equal(report(table, two), -EINVAL);
}

static void
one_fault_reported_by_two_is_one_entry_and_ends_with_the_last(void **state)
{
	struct incident_table *table = *state;
	const struct incident_table_entry *entry;

	assert_int_equal(report(table, edge("agg1", 42, WIRE_OPENED, 0)), 1);
	assert_int_equal(report(table, edge("agg2", 43, WIRE_OPENED, 1)), 1);
	assert_int_equal(incident_table_open(table), 1);
	entry = incident_table_find(table, 43);
	assert_ptr_equal(entry, incident_table_find(table, 42));
	assert_int_equal(entry->source_count, 2);
	assert_string_equal(entry->sources[0], "agg1");
	assert_string_equal(entry->sources[1], "agg2");
	assert_int_equal(report(table, edge("agg1", 42, WIRE_RESOLVED, 5)), 1);
	assert_int_equal(incident_table_open(table), 1);
	assert_int_equal(report(table, edge("agg2", 43, WIRE_RESOLVED, 6)), 1);
	assert_int_equal(incident_table_open(table), 0);
}

/* The aggregator was killed before it saved the incident that it had sent. */
static void
a_new_opening_of_an_aggregator_replaces_its_old_one(void **state)
{
	struct incident_table *table = *state;
	struct wire_incident other = edge("agg1", 50, WIRE_OPENED, 1);

	other.tor = "tor2"; /* the same part, reported by another rack */
	assert_int_equal(report(table, edge("agg1", 42, WIRE_OPENED, 0)), 1);
	assert_int_equal(incident_table_edge(table, &other), 1);
	assert_int_equal(report(table, edge("agg1", 44, WIRE_OPENED, 3)), 1);
	assert_int_equal(incident_table_open(table), 1);
	assert_int_equal(report(table, edge("agg1", 44, WIRE_RESOLVED, 5)), 1);
	assert_int_equal(incident_table_open(table), 1); /* that of the other rack */
	other.state = WIRE_RESOLVED;
	other.changed_wall_ns += 9 * RM_NS_PER_S;
	assert_int_equal(incident_table_edge(table, &other), 1);
	assert_int_equal(incident_table_open(table), 0);
}

static void
repeated_restarts_leave_room_for_the_last_report(void **state)
{
	struct incident_table *table = *state;

	for (uint64_t id = 1; id <= 100; id++)
		assert_int_equal(
		    report(table, edge("agg1", id, WIRE_OPENED, (int)id)), 1);
	assert_int_equal(incident_table_open(table), 1);
	assert_int_equal(report(table, edge("agg1", 100, WIRE_RESOLVED, 101)), 1);
	assert_int_equal(incident_table_open(table), 0);
	assert_int_equal(incident_table_counts(table)->refused, 0);
}

static void
a_fault_that_comes_back_is_a_new_entry(void **state)
{
	struct incident_table *table = *state;

	report(table, edge("agg1", 42, WIRE_OPENED, 0));
	report(table, edge("agg1", 42, WIRE_RESOLVED, 5));
	assert_int_equal(report(table, edge("agg1", 44, WIRE_OPENED, 9)), 1);
	assert_int_equal(incident_table_open(table), 1);
	assert_true(incident_table_find(table, 44) != incident_table_find(table, 42));
	/* Open incidents come first. */
	assert_int_equal(incident_table_get(table, 0)->id, 44);
	assert_int_equal(incident_table_get(table, 1)->id, 42);
	assert_null(incident_table_get(table, 2));
}

static void
the_resolution_of_an_unknown_incident_is_kept_as_closed(void **state)
{
	struct incident_table *table = *state;

	assert_int_equal(report(table, edge("agg1", 42, WIRE_RESOLVED, 5)), 1);
	assert_int_equal(incident_table_open(table), 0);
	assert_false(incident_table_find(table, 42)->is_open);
}

static void
equal_labels_of_two_regions_are_two_faults(void **state)
{
	struct incident_table *table = *state;
	struct wire_incident other = edge("agg1", 42, WIRE_OPENED, 0);

	other.head.region = "field";
	report(table, edge("agg1", 42, WIRE_OPENED, 0));
	assert_int_equal(incident_table_edge(table, &other), 1);
	assert_int_equal(incident_table_open(table), 2);
}

static void
a_report_of_the_analyzer_counts_more_than_one_of_a_rack(void **state)
{
	struct incident_table *table = *state;
	struct wire_incident rack = edge("agg1", 42, WIRE_OPENED, 0);
	struct rm_incident own;
	const struct incident_table_entry *entry;

	rack.part_type = "tor";
	rack.part = "tor1";
	rack.place = "";
	rack.kind = "tor-down";
	assert_int_equal(incident_table_edge(table, &rack), 1);
	memset(&own, 0, sizeof(own));
	own.id = 99;
	own.verdict.part.type = RM_PART_TOR;
	strcpy(own.verdict.part.name, "tor1");
	own.verdict.kind = RM_KIND_SWITCH_LOSSY;
	own.opened.ns = own.changed.ns = BEGAN_NS + RM_NS_PER_S;
	assert_int_equal(incident_table_own(table, "lab", "an1", WIRE_OPENED, &own), 1);
	entry = incident_table_find(table, 99);
	assert_int_equal(incident_table_open(table), 1);
	assert_string_equal(entry->kind, "switch-lossy");
	assert_string_equal(entry->tor, "tor1");
	/* An update of the rack does not replace the analyzer's own incident. */
	rack.state = WIRE_UPDATED;
	rack.changed_wall_ns += 3 * RM_NS_PER_S;
	assert_int_equal(incident_table_edge(table, &rack), 1);
	assert_string_equal(entry->kind, "switch-lossy");
	own.resolved.ns = own.changed.ns = BEGAN_NS + 9 * RM_NS_PER_S;
	assert_int_equal(
	    incident_table_own(table, "lab", "an1", WIRE_RESOLVED, &own), 1);
	assert_int_equal(
	    incident_table_open(table), 1); /* the rack's own incident is still open */
}

static void
nonsense_is_refused_and_counted(void **state)
{
	struct incident_table *table = *state;
	struct wire_incident good = edge("agg1", 42, WIRE_OPENED, 0), bad;
	char longest[400];

	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
#define REFUSED(change)                                                      \
	do {                                                                 \
		bad = good;                                                  \
		bad.change;                                                  \
		assert_int_equal(incident_table_edge(table, &bad), -EINVAL); \
	} while (0)
	REFUSED(incident_id = 0);
	REFUSED(part_type = "cat");
	REFUSED(part = "");
	REFUSED(part = longest);
	REFUSED(part = "a|b");
	REFUSED(part = "a\nb");
	REFUSED(kind = longest);
	REFUSED(place = "a b");
	REFUSED(tor = "");
	REFUSED(confidence = 1.5);
	REFUSED(confidence = 0.0 / 0.0);
	REFUSED(changed_wall_ns = UINT64_MAX);
	REFUSED(sentence = "\xff");
	REFUSED(head.region = "");
	assert_int_equal(incident_table_counts(table)->refused, 14);
	assert_null(incident_table_get(table, 0));
}

static void
the_oldest_closed_ones_are_forgotten_first(void **state)
{
	struct incident_table *table = *state;
	char part[32];

	for (unsigned i = 1; i <= INCIDENT_TABLE_MAX_CLOSED + 10; i++) {
		struct wire_incident incident = edge("agg1", i, WIRE_OPENED, 0);

		snprintf(part, sizeof(part), "h%u/r0", i);
		incident.part = part;
		assert_int_equal(incident_table_edge(table, &incident), 1);
		incident.state = WIRE_RESOLVED;
		assert_int_equal(incident_table_edge(table, &incident), 1);
	}
	assert_null(incident_table_find(table, 10));
	assert_non_null(incident_table_find(table, 11));
	assert_null(incident_table_get(table, INCIDENT_TABLE_MAX_CLOSED));
	assert_int_equal(
	    incident_table_get(table, 0)->id, INCIDENT_TABLE_MAX_CLOSED + 10);
}

static void
severity_stays_as_it_opened(void **state)
{
	struct incident_table *table = *state;
	struct wire_incident old = edge("agg1", 42, WIRE_OPENED, 0);
	json_t *json;

	old.severity =
	    ""; /* as from an older aggregator, which does not send the severity */
	assert_int_equal(incident_table_edge(table, &old), 1);
	json = incident_table_json(incident_table_get(table, 0));
	assert_true(json_is_null(json_object_get(json, "severity")));
	json_decref(json);
	assert_int_equal(report(table, edge("agg1", 42, WIRE_UPDATED, 1)), 1);
	old = edge("agg1", 42, WIRE_UPDATED, 2);
	old.severity = "critical";
	assert_int_equal(incident_table_edge(table, &old), 1);
	json = incident_table_json(incident_table_get(table, 0));
	assert_string_equal(
	    json_string_value(json_object_get(json, "severity")), "major");
	json_decref(json);
}

static void
an_entry_is_json_with_the_evidence_inside(void **state)
{
	struct incident_table *table = *state;
	json_t *json;

	report(table, edge("agg1", 0xabc, WIRE_OPENED, 0));
	json = incident_table_json(incident_table_get(table, 0));
	assert_string_equal(
	    json_string_value(json_object_get(json, "id")), "0000000000000abc");
	assert_string_equal(json_string_value(json_object_get(json, "state")), "open");
	assert_int_equal(json_integer_value(json_object_get(json, "number")), 1);
	assert_true(json_is_null(json_object_get(json, "resolved")));
	assert_int_equal(json_integer_value(json_object_get(
			     json_object_get(json, "evidence"), "peers")),
	    3);
	json_decref(json);
}

/* Stands for the state of racks: the time since which this rack has no open incident.
 */
static rm_wall_t
quiet(const char *region, const char *source, const char *tor, rm_wall_t changed,
    void *arg)
{
	const char *const *quiet_source = arg;

	(void)changed;
	assert_string_equal(region, "lab");
	assert_string_equal(tor, "tor1");
	return (rm_wall_t){
		strcmp(source, *quiet_source) == 0 ? BEGAN_NS + 20 * RM_NS_PER_S : 0
	};
}

static void
on_ended(const struct incident_table_entry *entry, void *arg)
{
	(void)arg;
	assert_string_equal(entry->kind, "rnic-down");
	assert_int_equal(entry->resolved.ns, BEGAN_NS + 20 * RM_NS_PER_S);
}

/* The aggregator was killed before it saved the incident, and the fault ended
 * meanwhile. */
static void
an_incident_that_its_rack_does_not_list_as_open_ends(void **state)
{
	struct incident_table *table = *state;
	const struct incident_table_entry *entry;
	const char *source = "agg3";

	report(table, edge("agg1", 42, WIRE_OPENED, 0));
	report(table, edge("agg2", 43, WIRE_OPENED, 1));
	assert_int_equal(incident_table_end_quiet(table, quiet, on_ended, &source), 0);
	source = "agg1";
	assert_int_equal(incident_table_end_quiet(table, quiet, on_ended, &source), 0);
	assert_int_equal(
	    incident_table_open(table), 1); /* agg2 still lists it as open */
	source = "agg2";
	assert_int_equal(incident_table_end_quiet(table, quiet, on_ended, &source), 1);
	assert_int_equal(incident_table_open(table), 0);
	assert_int_equal(incident_table_counts(table)->resolved, 1);
	entry = incident_table_find(table, 42);
	assert_string_equal(entry->sentence, "h1/r0 is down.");
	assert_int_equal(entry->changed.ns, entry->resolved.ns);
	/* A late report changes nothing. */
	assert_int_equal(report(table, edge("agg2", 43, WIRE_RESOLVED, 30)), 0);
	assert_int_equal(report(table, edge("agg1", 42, WIRE_UPDATED, 31)), 0);
}

static void
a_report_of_the_analyzer_only_ends_by_the_analyzer(void **state)
{
	struct rm_incident own = { .id = 77, .opened = { BEGAN_NS } };
	struct incident_table *table = *state;
	const char *source = "agg1";

	own.verdict.part.type = RM_PART_RNIC;
	strcpy(own.verdict.part.name, "h1/r0");
	strcpy(own.verdict.part.place, "tor1");
	own.verdict.kind = RM_KIND_RNIC_DOWN;
	own.changed = own.opened;
	incident_table_own(table, "lab", "an1", WIRE_OPENED, &own);
	report(table, edge("agg1", 42, WIRE_OPENED, 0));
	assert_int_equal(incident_table_end_quiet(table, quiet, on_ended, &source), 0);
	assert_int_equal(incident_table_open(table), 1);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_incident_that_another_aggregator_continues_stays_one),
		TEST(an_incident_opens_changes_and_resolves),
		TEST(a_flapping_part_is_good_now_if_all_its_open_reports_agree),
		TEST(a_repeated_message_changes_nothing),
		TEST(one_fault_reported_by_two_is_one_entry_and_ends_with_the_last),
		TEST(a_new_opening_of_an_aggregator_replaces_its_old_one),
		TEST(repeated_restarts_leave_room_for_the_last_report),
		TEST(a_fault_that_comes_back_is_a_new_entry),
		TEST(the_resolution_of_an_unknown_incident_is_kept_as_closed),
		TEST(equal_labels_of_two_regions_are_two_faults),
		TEST(a_report_of_the_analyzer_counts_more_than_one_of_a_rack),
		TEST(nonsense_is_refused_and_counted),
		TEST(the_oldest_closed_ones_are_forgotten_first),
		TEST(severity_stays_as_it_opened),
		TEST(an_entry_is_json_with_the_evidence_inside),
		TEST(an_incident_that_its_rack_does_not_list_as_open_ends),
		TEST(a_report_of_the_analyzer_only_ends_by_the_analyzer),
	};

	return cmocka_run_group_tests_name("incident_table", tests, NULL, NULL);
}
