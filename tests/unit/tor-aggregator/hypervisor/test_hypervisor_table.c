#include "tor-aggregator/hypervisor/hypervisor_table.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define LINE_BYTES 512

static void
a_number_is_digits_alone_and_fits_in_64_bits(void **unused)
{
	uint64_t value = 7;

	assert_int_equal(hypervisor_value_read("18446744073709551615", &value), 0);
	assert_true(value == UINT64_MAX);
	assert_int_equal(
	    hypervisor_value_read("18446744073709551616", &value), -EBADMSG);
	assert_int_equal(hypervisor_value_read("-1", &value), -EBADMSG);
	assert_int_equal(hypervisor_value_read("1 2", &value), -EBADMSG);
	assert_int_equal(hypervisor_value_read("N/A", &value), -ENODATA);
	assert_int_equal(hypervisor_value_read("", &value), -ENODATA);
	assert_true(value == UINT64_MAX);
	assert_int_equal(hypervisor_value_read("Down", &value), 0);
	assert_int_equal(value, 0);
	assert_int_equal(hypervisor_value_read("true", &value), 0);
	assert_int_equal(value, 1);
}

static void
a_name_matches_as_a_whole(void **unused)
{
	const struct hypervisor_row row = { .source = "d:rx_prio#_pause|q:Sent" };
	unsigned priority = 8;

	assert_int_equal(hypervisor_source_find(
			     &row, HYPERVISOR_DRIVER, "rx_prio3_pause", &priority),
	    0);
	assert_int_equal(priority, 3);
	assert_int_equal(
	    hypervisor_source_find(&row, HYPERVISOR_DCB, "Sent", &priority), 1);
	assert_int_equal(priority, 3);
	assert_int_equal(hypervisor_source_find(&row, HYPERVISOR_DRIVER,
			     "rx_prio3_pause_duration", &priority),
	    -ENOENT);
	assert_int_equal(hypervisor_source_find(
			     &row, HYPERVISOR_DRIVER, "rx_prio8_pause", &priority),
	    -ENOENT);
	assert_int_equal(
	    hypervisor_source_find(&row, HYPERVISOR_DRIVER, "rx_prio3", &priority),
	    -ENOENT);
	assert_int_equal(
	    hypervisor_source_find(&row, HYPERVISOR_STATS, "rx_prio3_pause", &priority),
	    -ENOENT);
}

static void
metrics_have_names_of_the_right_type(void **unused)
{
	for (const struct hypervisor_row *row = hypervisor_rows; row->name != NULL;
	     row++) {
		const size_t len = strlen(row->metric);

		assert_int_equal(
		    strcmp(row->metric + len - strlen("_total"), "_total") != 0,
		    row->gauge);
		assert_int_equal(strncmp(row->metric, "rackmesh_hypervisor_", 20), 0);
	}
}

/* Writes the row as a line of docs/hypervisors.md. */
static void
document(const struct hypervisor_row *row, char line[LINE_BYTES])
{
	char where[256] = "";
	size_t len = 0;

	for (const char *at = row->source; *at != '\0' && len < sizeof(where) - 8; at++)
		len += (size_t)sprintf(
		    where + len, "%.*s", *at == '|' ? 6 : 1, *at == '|' ? "`, `" : at);
	snprintf(line, LINE_BYTES, "| `%s` | `%s` | %s%s | `%s` | %s |\n", row->name,
	    row->metric, row->unit, row->by_priority ? " per priority" : "", where,
	    row->help);
}

static void
the_documentation_has_every_row(void **unused)
{
	char *text = calloc(1, 1 << 20), line[LINE_BYTES];
	FILE *file = fopen(DOCUMENTATION, "r");
	size_t missing = 0;

	assert_non_null(text);
	assert_non_null(file);
	assert_true(fread(text, 1, (1 << 20) - 1, file) > 0);
	fclose(file);
	for (const struct hypervisor_row *row = hypervisor_rows; row->name != NULL;
	     row++) {
		document(row, line);
		if (strstr(text, line) == NULL) {
			print_message("%s", line);
			missing++;
		}
	}
	free(text);
	if (missing > 0)
		fail_msg("docs/hypervisors.md lacks these %zu lines", missing);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_number_is_digits_alone_and_fits_in_64_bits),
		cmocka_unit_test(a_name_matches_as_a_whole),
		cmocka_unit_test(metrics_have_names_of_the_right_type),
		cmocka_unit_test(the_documentation_has_every_row),
	};

	return cmocka_run_group_tests_name("hypervisor_table", tests, NULL, NULL);
}
