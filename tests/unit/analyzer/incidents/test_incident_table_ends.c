#include "analyzer/incidents/incident_table_ends.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/incidents/incident_table.h"
#include "analyzer/localise/localise.h"
#include "rackmesh/incident/incident.h"

/* ---- instead of localise_ends: records what the table reports ---- */

#define REPORTED_BYTES 512

static char reported[REPORTED_BYTES]; /* "tor1:rnic-down:h1/r0 ..." */

void
localise_ends_none(struct localise *localise)
{
	(void)localise;
	reported[0] = '\0';
}

void
localise_rack_end(
    struct localise *localise, const char *tor, const char *kind, const char *part)
{
	const size_t len = strlen(reported);

	(void)localise;
	snprintf(reported + len, sizeof(reported) - len, "%s%s:%s:%s",
	    len > 0 ? " " : "", tor, kind, part);
}

static const char *
ends_of(const struct incident_table *table, const char *region)
{
	incident_table_ends_report(table, region, NULL);
	return reported;
}

/* ---- what the racks report to the table of incidents ---- */

#define OPENED_NS (INT64_C(1700000000) * RM_NS_PER_S)

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

struct message { /* a report of an aggregator about one part */
	const char *aggregator, *part_type, *part, *kind, *evidence;
	uint64_t id;
	enum wire_incident_state state;
	int changed_s; /* seconds after the opening */
	bool is_good;  /* since then, between two falls */
};

static void
report(struct incident_table *table, struct message message)
{
	const struct wire_incident incident = {
		.head = { message.aggregator, "lab", 7, 1 },
		.incident_id = message.id,
		.state = message.state,
		.tor = "tor1",
		.part_type = message.part_type,
		.part = message.part,
		.place = "tor1",
		.kind = message.kind,
		.confidence = 0.9,
		.began_wall_ns = OPENED_NS,
		.opened_wall_ns = OPENED_NS,
		.changed_wall_ns =
		    (uint64_t)(OPENED_NS + message.changed_s * RM_NS_PER_S),
		.sentence = "",
		.good_since_wall_ns = message.is_good ? OPENED_NS : 0,
		.evidence_json = message.evidence != NULL ? message.evidence : "{}",
		.severity = "major",
	};

	assert_true(incident_table_edge(table, &incident) >= 0);
}

static void
only_rnics_and_hosts_of_the_region_are_ends(void **state)
{
	struct incident_table *table = *state;

	report(table, (struct message){ "agg1", "rnic", "h1/r0", "rnic-down", NULL, 1,
			  WIRE_OPENED, 0 });
	report(table, (struct message){
			  "agg1", "host", "h2", "host-down", NULL, 2, WIRE_OPENED, 0 });
	report(table, (struct message){
			  "agg1", "tor", "tor1", "tor-down", NULL, 3, WIRE_OPENED, 0 });
	assert_non_null(strstr(ends_of(table, "lab"), "tor1:rnic-down:h1/r0"));
	assert_non_null(strstr(ends_of(table, "lab"), "tor1:host-down:h2"));
	assert_null(strstr(ends_of(table, "lab"), "tor-down"));
	assert_string_equal(ends_of(table, "other"), "");
}

static void
an_end_has_the_kind_that_its_incident_has_now(void **state)
{
	struct incident_table *table = *state;

	report(table, (struct message){
			  "agg1", "host", "h1", "host-down", NULL, 1, WIRE_OPENED, 0 });
	report(table, (struct message){ "agg1", "host", "h1", "management-down", NULL,
			  1, WIRE_UPDATED, 2 });
	assert_string_equal(ends_of(table, "lab"), "tor1:management-down:h1");
	report(table, (struct message){ "agg1", "host", "h1", "management-down", NULL,
			  1, WIRE_RESOLVED, 5 });
	assert_string_equal(ends_of(table, "lab"), "");
}

static void
a_flapping_end_is_not_bad_while_it_is_good(void **state)
{
	struct incident_table *table = *state;

	report(table, (struct message){ "agg1", "rnic", "h1/r0", "rnic-down", NULL, 1,
			  WIRE_OPENED, 0, false });
	report(table, (struct message){ "agg1", "rnic", "h1/r0", "rnic-down", NULL, 1,
			  WIRE_UPDATED, 2, true });
	assert_string_equal(ends_of(table, "lab"), "");
	report(table, (struct message){ "agg1", "rnic", "h1/r0", "rnic-down", NULL, 1,
			  WIRE_UPDATED, 5, false });
	assert_string_equal(ends_of(table, "lab"), "tor1:rnic-down:h1/r0");
}

static void
an_end_is_bad_while_one_of_two_aggregators_reports_it(void **state)
{
	struct incident_table *table = *state;

	report(table, (struct message){ "agg1", "rnic", "h1/r0", "rnic-down", NULL, 1,
			  WIRE_OPENED, 0 });
	report(table, (struct message){ "agg2", "rnic", "h1/r0", "rnic-down", NULL, 2,
			  WIRE_OPENED, 0 });
	assert_string_equal(ends_of(table, "lab"), "tor1:rnic-down:h1/r0");
	report(table, (struct message){ "agg1", "rnic", "h1/r0", "rnic-down", NULL, 1,
			  WIRE_RESOLVED, 3 });
	assert_string_equal(ends_of(table, "lab"), "tor1:rnic-down:h1/r0");
	report(table, (struct message){ "agg2", "rnic", "h1/r0", "rnic-down", NULL, 2,
			  WIRE_RESOLVED, 4 });
	assert_string_equal(ends_of(table, "lab"), "");
}

static void
the_known_part_of_a_or_b_is_named(void **state)
{
	struct incident_table *table = *state;

	report(table, (struct message){ "agg1", "rnic", "h1/r0 or h2/r0", "rnic-down",
			  "{\"evidence\":{\"narrowed\":\"\"}}", 1, WIRE_OPENED, 0 });
	assert_string_equal(ends_of(table, "lab"), "tor1:rnic-down:h1/r0 or h2/r0");
	report(
	    table, (struct message){ "agg1", "rnic", "h1/r0 or h2/r0", "rnic-down",
		       "{\"evidence\":{\"narrowed\":\"h2/r0\"}}", 1, WIRE_UPDATED, 2 });
	assert_string_equal(ends_of(table, "lab"), "tor1:rnic-down:h2/r0");
	/* h3/r0 is not one of the two: such a value is ignored. */
	report(
	    table, (struct message){ "agg1", "rnic", "h1/r0 or h2/r0", "rnic-down",
		       "{\"evidence\":{\"narrowed\":\"h3/r0\"}}", 1, WIRE_UPDATED, 3 });
	assert_string_equal(ends_of(table, "lab"), "tor1:rnic-down:h2/r0");
	report(
	    table, (struct message){ "agg1", "rnic", "h1/r0 or h2/r0", "rnic-down",
		       "{\"evidence\":{\"narrowed\":\"h1/r0\"}}", 1, WIRE_UPDATED, 4 });
	assert_string_equal(ends_of(table, "lab"), "tor1:rnic-down:h1/r0");
}

/* Reports which RNIC of "h1/r0 or h2/r0" is at fault. evidence: NULL: the report has
 * none. */
static void
report_which(struct incident_table *table, const char *aggregator, const char *evidence,
    enum wire_incident_state state, int changed_s)
{
	const uint64_t id = aggregator[3] == '1' ? 1 : 2;

	report(table, (struct message){ aggregator, "rnic", "h1/r0 or h2/r0",
			  "rnic-down", evidence, id, state, changed_s });
}

static void
a_report_that_names_neither_part_changes_nothing(void **state)
{
	const char *knows = "{\"evidence\":{\"narrowed\":\"h2/r0\"}}";
	struct incident_table *table = *state;
	json_t *json;

	report_which(table, "agg1", "{\"evidence\":{}}", WIRE_OPENED, 0);
	report_which(table, "agg2", knows, WIRE_OPENED, 1);
	assert_string_equal(ends_of(table, "lab"), "tor1:rnic-down:h2/r0");
	report_which(table, "agg1", "{\"evidence\":{}}", WIRE_UPDATED, 2);
	assert_string_equal(ends_of(table, "lab"), "tor1:rnic-down:h2/r0");
	report_which(table, "agg1", NULL, WIRE_UPDATED, 3);
	report_which(
	    table, "agg2", "{\"evidence\":{\"narrowed\":\"\"}}", WIRE_UPDATED, 4);
	report_which(table, "agg1", "{\"evidence\":[]}", WIRE_UPDATED, 5);
	assert_string_equal(ends_of(table, "lab"), "tor1:rnic-down:h2/r0");

	/* The aggregator that knew the RNIC has ended its incident; the RNIC stays
	 * known. */
	report_which(table, "agg2", knows, WIRE_RESOLVED, 6);
	report_which(table, "agg1", "{\"evidence\":{}}", WIRE_UPDATED, 7);
	assert_string_equal(ends_of(table, "lab"), "tor1:rnic-down:h2/r0");
	json = incident_table_json(incident_table_get(table, 0));
	assert_string_equal(json_string_value(json_object_get(
				json_object_get(json, "evidence"), "narrowed")),
	    "h2/r0");
	json_decref(json);
}

static void
two_reports_that_contradict_each_other_name_no_part(void **state)
{
	struct incident_table *table = *state;

	report_which(
	    table, "agg1", "{\"evidence\":{\"narrowed\":\"h1/r0\"}}", WIRE_OPENED, 0);
	report_which(
	    table, "agg2", "{\"evidence\":{\"narrowed\":\"h2/r0\"}}", WIRE_OPENED, 1);
	assert_string_equal(ends_of(table, "lab"), "tor1:rnic-down:h1/r0 or h2/r0");
	report_which(
	    table, "agg1", "{\"evidence\":{\"narrowed\":\"h2/r0\"}}", WIRE_UPDATED, 2);
	assert_string_equal(ends_of(table, "lab"), "tor1:rnic-down:h2/r0");
}

static rm_wall_t
first_is_quiet(const char *region, const char *source, const char *tor,
    rm_wall_t changed, void *arg)
{
	(void)region;
	(void)tor;
	(void)arg;
	return strcmp(source, "agg1") == 0 ? changed : (rm_wall_t){ 0 };
}

static void
on_ended(const struct incident_table_entry *entry, void *arg)
{
	(void)entry;
	(void)arg;
}

#define KNOWS_1 "{\"evidence\":{\"narrowed\":\"h1/r0\"}}"
#define KNOWS_2 "{\"evidence\":{\"narrowed\":\"h2/r0\"}}"

static void
a_report_that_ended_without_a_part_contradicts_no_other(void **state)
{
	struct incident_table *table = *state;
	uint64_t changes;

	report_which(table, "agg1", KNOWS_1, WIRE_OPENED, 0);
	report_which(table, "agg2", KNOWS_2, WIRE_OPENED, 1);
	changes = incident_table_changes(table);
	assert_int_equal(
	    incident_table_end_quiet(table, first_is_quiet, on_ended, NULL), 0);
	assert_string_equal(ends_of(table, "lab"), "tor1:rnic-down:h2/r0");
	assert_int_equal(incident_table_changes(table), changes + 1);

	/* The last known RNIC stays after the incident has ended everywhere. */
	report_which(table, "agg2", KNOWS_2, WIRE_RESOLVED, 2);
	assert_int_equal(incident_table_open(table), 0);
	assert_string_equal(incident_table_get(table, 0)->narrowed, "h2/r0");
}

static void
a_resolved_incident_does_not_narrow_the_next_one(void **state)
{
	const char *part = "h1/r0 or h2/r0";
	struct incident_table *table = *state;

	report_which(table, "agg2", NULL, WIRE_OPENED, 0);
	report_which(table, "agg1", KNOWS_2, WIRE_OPENED, 1);
	report_which(table, "agg1", KNOWS_2, WIRE_RESOLVED, 2);
	report(table, (struct message){ "agg1", "rnic", part, "rnic-down", NULL, 9,
			  WIRE_OPENED, 3600 });
	report_which(table, "agg2", KNOWS_1, WIRE_UPDATED, 3601);
	assert_string_equal(ends_of(table, "lab"), "tor1:rnic-down:h1/r0");
}

static void
the_analyzers_report_counts_before_those_of_racks(void **state)
{
	struct rm_incident own = {
		.id = 3,
		.verdict = { .part = { RM_PART_RNIC, "h1/r0 or h2/r0", "tor1" },
		    .kind = RM_KIND_RNIC_DOWN,
		    .evidence = { .narrowed = "h1/r0" } },
		.opened = { OPENED_NS },
		.changed = { OPENED_NS },
	};
	struct incident_table *table = *state;

	report_which(table, "agg1", KNOWS_2, WIRE_OPENED, 0);
	assert_int_equal(
	    incident_table_own(table, "lab", "analyzer", WIRE_OPENED, &own), 1);
	assert_string_equal(incident_table_get(table, 0)->narrowed, "h1/r0");
	own.resolved.ns = OPENED_NS + RM_NS_PER_S;
	assert_int_equal(
	    incident_table_own(table, "lab", "analyzer", WIRE_RESOLVED, &own), 1);
	assert_string_equal(incident_table_get(table, 0)->narrowed, "h2/r0");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(only_rnics_and_hosts_of_the_region_are_ends),
		TEST(an_end_has_the_kind_that_its_incident_has_now),
		TEST(a_flapping_end_is_not_bad_while_it_is_good),
		TEST(an_end_is_bad_while_one_of_two_aggregators_reports_it),
		TEST(the_known_part_of_a_or_b_is_named),
		TEST(a_report_that_names_neither_part_changes_nothing),
		TEST(two_reports_that_contradict_each_other_name_no_part),
		TEST(a_report_that_ended_without_a_part_contradicts_no_other),
		TEST(a_resolved_incident_does_not_narrow_the_next_one),
		TEST(the_analyzers_report_counts_before_those_of_racks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
