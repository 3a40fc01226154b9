#include "analyzer/incidents/port_counts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rackmesh/judge/verdict.h"
#include "schemas/wire.h"

#define S RM_NS_PER_S

struct world {
	struct port_counts *port_counts;
	struct wire_writer *writer;
	rm_mono_t now;
	struct rm_verdict verdict;
};

static int
setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	w->port_counts = port_counts_new();
	w->writer = wire_writer_new();
	w->now.ns = 100 * S;
	*state = w;
	return 0;
}

static int
teardown(void **state)
{
	struct world *w = *state;

	port_counts_free(w->port_counts);
	wire_writer_free(w->writer);
	free(w);
	return 0;
}

static void
summary(struct world *w, const char *tor, const struct wire_port_row *rows,
    size_t count, int64_t age_ns)
{
	const struct wire_summary summary = { .head = { "agg", "lab", 1, 1 },
		.tor = tor,
		.has_state = true,
		.ports = rows,
		.port_count = count };
	struct wire_summary_view view;
	struct wire_bytes bytes;

	assert_int_equal(wire_write_summary(w->writer, &summary, &bytes), 0);
	assert_int_equal(wire_open_summary(&view, bytes.data, bytes.len), 0);
	port_counts_summary(w->port_counts, &view, age_ns, w->now);
}

static const char *
counters_of(struct world *w, enum rm_part_type type, const char *name)
{
	w->verdict = (struct rm_verdict){ .part = { .type = type } };
	strcpy(w->verdict.part.name, name);
	port_counts_fill(w->port_counts, &w->verdict, w->now);
	return w->verdict.evidence.counters;
}

static const struct wire_port_row near_end = { "tor1", "Ethernet48",
	"Spine1.lab.example", "the switch's port Ethernet48 counted 40 errors" };
static const struct wire_port_row far_end = { "spine1", "Ethernet4", "tor1",
	"the switch's port Ethernet4 went down 2 times" };

static void
a_verdict_on_a_link_names_what_both_ends_have_counted(void **state)
{
	struct world *w = *state;
	const struct wire_port_row rows[] = { near_end, far_end };

	summary(w, "tor1", rows, 2, 0);
	assert_string_equal(counters_of(w, RM_PART_LINK, "spine1--tor1"),
	    "tor1: the switch's port Ethernet48 counted 40 errors; spine1: the "
	    "switch's port Ethernet4 went down 2 times");
	assert_string_equal(counters_of(w, RM_PART_LINK, "spine1--tor2"), "");
	assert_string_equal(counters_of(w, RM_PART_LINK, "spine1--tor11"), "");
	assert_string_not_equal(counters_of(w, RM_PART_SWITCH, "spine1"), "");
	assert_string_equal(counters_of(w, RM_PART_SWITCH, "spine2"), "");
	assert_string_not_equal(counters_of(w, RM_PART_TOR, "tor1"), "");
	assert_string_equal(counters_of(w, RM_PART_RACK, "tor1"), "");
	assert_string_equal(counters_of(w, RM_PART_LINK, "spine1--tor1 or spine1"), "");
	assert_string_equal(counters_of(w, RM_PART_LINK, "tor1"), "");
}

static void
a_verdict_on_several_links_names_the_ports_of_these(void **state)
{
	struct world *w = *state;
	const struct wire_port_row rows[] = { near_end, far_end,
		{ "spine1", "Ethernet8", "tor2", "50 errors" },
		{ "spine1", "Ethernet12", "tor3", "60 errors" } };
	struct rm_verdict *verdict = &w->verdict;

	summary(w, "tor1", rows, 4, 0);
	*verdict = (struct rm_verdict){ .part = { RM_PART_SWITCH, "spine1", "" },
		.kind = RM_KIND_LINKS_DOWN,
		.evidence.links = "spine1--tor2, tor3->spine1" };
	port_counts_fill(w->port_counts, verdict, w->now);
	assert_string_equal(
	    verdict->evidence.counters, "spine1: 50 errors; spine1: 60 errors");
}

static void
names_of_switches_may_contain_two_dashes(void **state)
{
	struct world *w = *state;
	const struct wire_port_row rows[] = { { "leaf--1", "Ethernet48", "spine--1",
						  "40 errors" },
		{ "leaf", "Ethernet9", "1--spine", "50 errors" } };

	summary(w, "leaf--1", rows, 2, 0);
	assert_string_equal(
	    counters_of(w, RM_PART_LINK, "leaf--1--spine--1"), "leaf--1: 40 errors");
	assert_string_equal(counters_of(w, RM_PART_LINK, "leaf--1--spine--2"), "");
}

static void
a_port_that_two_racks_report_is_named_once(void **state)
{
	struct world *w = *state;
	struct wire_port_row other = far_end;

	other.sentence = "the switch's port Ethernet4 went down 3 times";
	summary(w, "tor1", &far_end, 1, 0);
	summary(w, "tor2", &other, 1, 0);
	assert_string_equal(counters_of(w, RM_PART_LINK, "spine1--tor1"),
	    "spine1: the switch's port Ethernet4 went down 2 times");
	summary(w, "tor1", NULL, 0, 0);
	assert_string_equal(counters_of(w, RM_PART_LINK, "spine1--tor1"),
	    "spine1: the switch's port Ethernet4 went down 3 times");
}

static void
names_with_different_domains_are_different_switches(void **state)
{
	struct world *w = *state;

	summary(w, "tor1", &near_end, 1, 0);
	assert_string_not_equal(
	    counters_of(w, RM_PART_LINK, "spine1.lab.example--tor1"), "");
	assert_string_equal(counters_of(w, RM_PART_LINK, "spine1.other--tor1"), "");
}

static void
the_newest_summary_of_a_rack_replaces_the_one_before(void **state)
{
	struct world *w = *state;

	summary(w, "tor1", &near_end, 1, 0);
	summary(w, "tor2", NULL, 0, 0); /* a summary of another rack */
	assert_string_not_equal(counters_of(w, RM_PART_LINK, "spine1--tor1"), "");
	summary(w, "tor1", NULL, 0,
	    2 * PORT_COUNTS_KEEP_NS); /* an old summary, out of the spool */
	assert_string_not_equal(counters_of(w, RM_PART_LINK, "spine1--tor1"), "");
	summary(w, "tor1", NULL, 0, 0);
	assert_string_equal(counters_of(w, RM_PART_LINK, "spine1--tor1"), "");
	summary(w, "tor1", &near_end, 1, 2 * PORT_COUNTS_KEEP_NS);
	assert_string_equal(counters_of(w, RM_PART_LINK, "spine1--tor1"), "");
}

/* Two aggregators report the rack, and it is not known whose summary is the newer one.
 */
static void
nothing_is_named_while_the_newest_summary_of_a_rack_is_in_doubt(void **state)
{
	struct world *w = *state;

	summary(w, "tor1", &near_end, 1, 0);
	summary(w, "tor1", &far_end, 1, -1);
	assert_string_equal(counters_of(w, RM_PART_LINK, "spine1--tor1"), "");
	summary(w, "tor1", &far_end, 1, -1);
	assert_string_equal(counters_of(w, RM_PART_LINK, "spine1--tor1"), "");
	summary(w, "tor1", &near_end, 1, 0);
	assert_string_not_equal(counters_of(w, RM_PART_LINK, "spine1--tor1"), "");
}

static void
counts_that_are_not_repeated_are_removed(void **state)
{
	struct world *w = *state;

	summary(w, "tor1", &near_end, 1, 0);
	w->now.ns += PORT_COUNTS_KEEP_NS;
	assert_string_not_equal(counters_of(w, RM_PART_LINK, "spine1--tor1"), "");
	w->now.ns += 1;
	assert_string_equal(counters_of(w, RM_PART_LINK, "spine1--tor1"), "");
}

static void
foreign_texts_are_checked_and_cut(void **state)
{
	struct world *w = *state;
	char many[RM_EVIDENCE_TEXT + 50];
	const struct wire_port_row rows[] = {
		{ "tor1", "p", "spine1", many },
		{ "tor1", "p", "spine1", "a\nb" },
		{ "", "p", "spine1", "nobody" },
		{ "tor1", "p", "", "nowhere" },
	};

	memset(many, 'x', sizeof(many) - 1);
	many[sizeof(many) - 1] = '\0';
	summary(w, "tor1", rows, 4, 0);
	assert_int_equal(
	    strlen(counters_of(w, RM_PART_LINK, "spine1--tor1")), RM_EVIDENCE_TEXT - 1);
	assert_null(strstr(w->verdict.evidence.counters, "nowhere"));
	assert_int_equal(port_counts_counts(w->port_counts)->refused, 3);

	many[90] = many[170] = ',';
	summary(w, "tor1", rows, 4, 0);
	assert_int_equal(strlen(counters_of(w, RM_PART_LINK, "spine1--tor1")),
	    strlen("tor1: ") + 170);
}

static void
ports_beyond_the_bound_are_left_out(void **state)
{
	struct world *w = *state;
	struct wire_port_row rows[WIRE_MAX_PORT_ROWS];

	for (size_t i = 0; i < WIRE_MAX_PORT_ROWS; i++)
		rows[i] = near_end;
	for (int i = 0; i < 2 * PORT_COUNTS_MAX / WIRE_MAX_PORT_ROWS; i++) {
		char tor[16];

		snprintf(tor, sizeof(tor), "tor%d", i);
		summary(w, tor, rows, WIRE_MAX_PORT_ROWS, 0);
	}
	assert_string_not_equal(counters_of(w, RM_PART_LINK, "spine1--tor1"), "");
	assert_int_equal(port_counts_counts(w->port_counts)->left_out, PORT_COUNTS_MAX);

	summary(w, "tor0", rows, WIRE_MAX_PORT_ROWS,
	    0); /* fills the limit with rows of tor0 */
	assert_int_equal(port_counts_counts(w->port_counts)->left_out, PORT_COUNTS_MAX);
	w->now.ns += PORT_COUNTS_KEEP_NS + 1;
	summary(w, "tor9999", &far_end, 1,
	    0); /* takes the room of rows that have expired */
	assert_int_equal(port_counts_counts(w->port_counts)->left_out, PORT_COUNTS_MAX);
	assert_string_not_equal(counters_of(w, RM_PART_LINK, "spine1--tor1"), "");
}

/* Each rack has its own rows: a summary of one rack does not replace those of others.
 */
static void
port_counts_stay_with_the_rack_that_reported_them(void **state)
{
	struct world *w = *state;
	struct wire_port_row row = { NULL, "p1", "spine1", "the port p1 counted" };
	char name[24];

	for (int round = 0; round < 3; round++)
		for (int i = 0; i < 500; i++) {
			snprintf(name, sizeof(name), "tor%d", i);
			row.switch_name = name;
			summary(w, name, &row, i % 3 != round, 0);
		}
	for (int i = 0; i < 500; i++) {
		const char *text;

		snprintf(name, sizeof(name), "tor%d--spine1", i);
		text = counters_of(w, RM_PART_LINK, name);
		assert_int_equal(text[0] != '\0', i % 3 != 2);
		assert_true(
		    text[0] == '\0' || strncmp(text, name, strcspn(name, "-")) == 0);
	}
	assert_int_equal(port_counts_counts(w->port_counts)->left_out, 0);
	assert_int_equal(port_counts_counts(w->port_counts)->refused, 0);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_verdict_on_a_link_names_what_both_ends_have_counted),
		TEST(a_verdict_on_several_links_names_the_ports_of_these),
		TEST(names_of_switches_may_contain_two_dashes),
		TEST(a_port_that_two_racks_report_is_named_once),
		TEST(names_with_different_domains_are_different_switches),
		TEST(the_newest_summary_of_a_rack_replaces_the_one_before),
		TEST(nothing_is_named_while_the_newest_summary_of_a_rack_is_in_doubt),
		TEST(counts_that_are_not_repeated_are_removed),
		TEST(foreign_texts_are_checked_and_cut),
		TEST(ports_beyond_the_bound_are_left_out),
		TEST(port_counts_stay_with_the_rack_that_reported_them),
	};

	return cmocka_run_group_tests_name("port_counts", tests, NULL, NULL);
}
