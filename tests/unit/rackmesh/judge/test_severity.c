#include "rackmesh/judge/severity.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rackmesh/core/file.h"

static void
impact_decides_where_it_is_known(void **state)
{
	(void)state;
	for (int kind = 1; kind < RM_KINDS; kind++) {
		if (kind == RM_KIND_HOST_DOWN || kind == RM_KIND_MANAGEMENT_DOWN)
			continue;
		assert_int_equal(rm_severity((enum rm_kind)kind, RM_IMPACT_P0),
		    RM_SEVERITY_CRITICAL);
		assert_int_equal(
		    rm_severity((enum rm_kind)kind, RM_IMPACT_P2), RM_SEVERITY_WARNING);
	}
	assert_int_equal(
	    rm_severity(RM_KIND_RNIC_LOSSY, RM_IMPACT_P1), RM_SEVERITY_MAJOR);
}

static void
every_kind_has_a_severity_and_use_never_lowers_it(void **state)
{
	(void)state;
	for (int kind = 1; kind < RM_KINDS; kind++) {
		enum rm_severity unknown =
		    rm_severity((enum rm_kind)kind, RM_IMPACT_UNKNOWN);

		assert_int_not_equal(unknown, RM_SEVERITY_UNSET);
		assert_true(rm_severity((enum rm_kind)kind, RM_IMPACT_P1) >= unknown);
	}
}

static void
a_dead_part_that_services_use_is_critical(void **state)
{
	(void)state;
	assert_int_equal(
	    rm_severity(RM_KIND_RNIC_DOWN, RM_IMPACT_UNKNOWN), RM_SEVERITY_MAJOR);
	assert_int_equal(
	    rm_severity(RM_KIND_RNIC_DOWN, RM_IMPACT_P1), RM_SEVERITY_CRITICAL);
}

static void
a_fault_of_rackmeshs_own_parts_is_a_warning(void **state)
{
	static const enum rm_kind kinds[] = { RM_KIND_CERTIFICATE_ENDING,
		RM_KIND_AGENT_DOWN, RM_KIND_AGENT_FROZEN, RM_KIND_AGGREGATOR_DOWN };

	(void)state;
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
		assert_int_equal(
		    rm_severity(kinds[i], RM_IMPACT_UNKNOWN), RM_SEVERITY_WARNING);
}

/* The eight rails of a host end in eight racks, and each rack judges the host
 * itself. */
static void
racks_that_judge_the_same_host_agree(void **state)
{
	(void)state;
	for (int impact = 0; impact < RM_IMPACTS; impact++) {
		assert_int_equal(rm_severity(RM_KIND_HOST_DOWN, (enum rm_impact)impact),
		    RM_SEVERITY_MAJOR);
		assert_int_equal(
		    rm_severity(RM_KIND_MANAGEMENT_DOWN, (enum rm_impact)impact),
		    RM_SEVERITY_MAJOR);
	}
	assert_int_equal(rm_severity(RM_KIND_HOST_DOWN, RM_IMPACT_UNKNOWN),
	    rm_severity(RM_KIND_MANAGEMENT_DOWN, RM_IMPACT_UNKNOWN));
	assert_int_equal(rm_severity(RM_KIND_AGENT_DOWN, RM_IMPACT_UNKNOWN),
	    rm_severity(RM_KIND_AGENT_FROZEN, RM_IMPACT_UNKNOWN));
	assert_int_equal(rm_severity(RM_KIND_AGENT_DOWN, RM_IMPACT_UNKNOWN),
	    rm_severity(RM_KIND_AGENT_CONTRADICTED, RM_IMPACT_UNKNOWN));
}

static void
names_of_severities_are_read_as_written(void **state)
{
	(void)state;
	for (int i = 1; i < RM_SEVERITIES; i++)
		assert_int_equal(
		    rm_severity_parse(rm_severity_str((enum rm_severity)i)), i);
	assert_int_equal(rm_severity_parse(""), RM_SEVERITY_UNSET);
	assert_int_equal(rm_severity_parse("page"), RM_SEVERITY_UNSET);
	assert_string_equal(rm_severity_str(RM_SEVERITY_CRITICAL), "critical");
}

/* The caller frees the result. */
static char *
text_of(const char *path)
{
	uint8_t *data;
	size_t len;
	char *text;

	assert_int_equal(rm_file_read(path, 1 << 20, &data, &len), 0);
	text = calloc(1, len + 1);
	memcpy(text, data, len);
	free(data);
	return text;
}

/* Alerts link to this page: alerts.runbook_url. */
static void
every_kind_has_its_heading_in_the_docs(void **state)
{
	char *verdicts = text_of(DOCS "/verdicts.md");

	(void)state;
	for (int kind = 1; kind < RM_KINDS; kind++) {
		char heading[64];

		snprintf(heading, sizeof heading, "\n## %s\n",
		    rm_kind_str((enum rm_kind)kind));
		if (strstr(verdicts, heading) == NULL)
			fail_msg("docs/verdicts.md has no heading%s", heading);
	}
	free(verdicts);
}

/* The row of the table for this kind: its first cell contains the kinds' names. */
static void
the_docs_have_the_severity_of_every_kind(void **state)
{
	char *alerts = text_of(DOCS "/alerts.md");
	char *table = strstr(alerts, "| kind | impact unknown |");

	(void)state;
	assert_non_null(table);
	for (int kind = 1; kind < RM_KINDS; kind++) {
		const char *kind_name = rm_kind_str((enum rm_kind)kind);
		char wanted[64], name[64];
		const char *row;

		snprintf(name, sizeof name, "`%s`", kind_name);
		row = strstr(table, name);
		if (row == NULL)
			fail_msg("docs/alerts.md does not have %s", kind_name);
		snprintf(wanted, sizeof wanted, " | %s | ",
		    rm_severity_str(
			rm_severity((enum rm_kind)kind, RM_IMPACT_UNKNOWN)));
		row = strchr(row, '|') - 1;
		if (strncmp(row, wanted, strlen(wanted)) != 0)
			fail_msg("docs/alerts.md: %s is not%s", kind_name, wanted);
	}
	free(alerts);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(impact_decides_where_it_is_known),
		cmocka_unit_test(every_kind_has_a_severity_and_use_never_lowers_it),
		cmocka_unit_test(a_dead_part_that_services_use_is_critical),
		cmocka_unit_test(a_fault_of_rackmeshs_own_parts_is_a_warning),
		cmocka_unit_test(racks_that_judge_the_same_host_agree),
		cmocka_unit_test(every_kind_has_its_heading_in_the_docs),
		cmocka_unit_test(the_docs_have_the_severity_of_every_kind),
		cmocka_unit_test(names_of_severities_are_read_as_written),
	};

	return cmocka_run_group_tests_name("severity", tests, NULL, NULL);
}
