#include "analyzer/incidents/service_uses.h"

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
#define VIA_SPINE1 "tor1@10.0.0.1 spine1@10.0.0.2 tor2@10.0.0.3"
#define VIA_SPINE2 "tor1@10.0.0.1 spine2@10.0.0.4 tor2@10.0.0.5"

struct world {
	struct service_uses *uses;
	struct wire_writer *writer;
	rm_mono_t now;
	const char *aggregator;
	int64_t ahead_ns;  /* aggregator's monotonic clock minus the analyzer's */
	int64_t waited_ns; /* age of a summary when it arrives */
	uint64_t end_wall_ns;
};

static int
setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	w->uses = service_uses_new();
	w->writer = wire_writer_new();
	w->now.ns = 100 * S;
	w->aggregator = "agg";
	w->ahead_ns = 7000 * S;
	w->end_wall_ns = (uint64_t)(5000 * S);
	*state = w;
	return 0;
}

static int
teardown(void **state)
{
	struct world *w = *state;

	service_uses_free(w->uses);
	wire_writer_free(w->writer);
	free(w);
	return 0;
}

static void
pass(struct world *w, int64_t ns)
{
	w->now.ns += ns;
}

static int64_t
send(struct world *w, const char *tor, enum wire_uses_known known,
    const struct wire_use_row *rows, size_t count)
{
	const struct wire_summary summary = { .head = { w->aggregator, "lab", 1, 1 },
		.tor = tor,
		.end_wall_ns = w->end_wall_ns,
		.end_ns = (uint64_t)(w->now.ns + w->ahead_ns - w->waited_ns),
		.uses_known = known,
		.uses = rows,
		.use_count = count };
	struct wire_summary_view view;
	struct wire_bytes bytes;

	assert_int_equal(wire_write_summary(w->writer, &summary, &bytes), 0);
	assert_int_equal(wire_open_summary(&view, bytes.data, bytes.len), 0);
	return service_uses_summary(w->uses, &view, w->now);
}

static void
summary(struct world *w, const char *tor, enum wire_uses_known known,
    const struct wire_use_row *rows, size_t count)
{
	send(w, tor, known, rows, count);
	pass(w, S); /* within a second impact() returns a cached answer */
}

static const char *
impact(struct world *w, enum rm_part_type type, const char *name)
{
	static char text[RM_EVIDENCE_TEXT + 16];
	struct rm_verdict verdict = { .part = { .type = type } };

	strcpy(verdict.part.name, name);
	service_uses_fill(w->uses, &verdict, w->now);
	rm_verdict_impact(&verdict, text, sizeof(text));
	return text;
}

#define LINK RM_PART_LINK
#define SWITCH RM_PART_SWITCH

static void
a_service_on_the_path_is_named(void **state)
{
	struct world *w = *state;
	const struct wire_use_row rows[] = { { "pod:a (ml/t-0)", "tor2", VIA_SPINE1, 2,
						 8, 0 },
		{ "unit:b", "tor1", "", 1, 4, 0 } };

	summary(w, "tor1", WIRE_USES_ALL, rows, 2);
	summary(w, "tor2", WIRE_USES_ALL, NULL, 0);
	assert_string_equal(impact(w, LINK, "spine1--tor1"), "P1: pod:a (ml/t-0)");
	assert_string_equal(impact(w, LINK, "spine1--tor2"), "P1: pod:a (ml/t-0)");
	assert_string_equal(impact(w, SWITCH, "spine1"), "P1: pod:a (ml/t-0)");
	assert_string_equal(
	    impact(w, LINK, "spine1--tor2 or spine2--tor2"), "P1: pod:a (ml/t-0)");
	assert_string_equal(
	    impact(w, RM_PART_PATH, "tor1->tor2"), "P1: pod:a (ml/t-0)");
	/* Replies to its packets cross this path, too. */
	assert_string_equal(
	    impact(w, RM_PART_PATH, "tor2->tor1"), "P1: pod:a (ml/t-0)");
	assert_string_equal(
	    impact(w, RM_PART_TOR, "tor1"), "P1: pod:a (ml/t-0), unit:b");
	assert_string_equal(impact(w, RM_PART_TOR, "tor2"), "P1: pod:a (ml/t-0)");
	assert_string_equal(impact(w, LINK, "spine2--tor1"), "P2");
	assert_string_equal(impact(w, LINK, "spine2--spine1"), "P2");
	assert_string_equal(impact(w, SWITCH, "spine2"), "P2");
	assert_string_equal(impact(w, RM_PART_PATH, "tor1->tor3"), "P2");
}

static void
links(struct world *w, const char *names, unsigned down, const char *expected)
{
	struct rm_verdict verdict = { .part = { SWITCH, "spine1", "" },
		.kind = RM_KIND_LINKS_DOWN,
		.evidence.links_down = down };
	char text[RM_EVIDENCE_TEXT + 16];

	strcpy(verdict.evidence.links, names);
	service_uses_fill(w->uses, &verdict, w->now);
	rm_verdict_impact(&verdict, text, sizeof(text));
	assert_string_equal(text, expected);
}

static void
of_several_links_those_that_are_listed_count(void **state)
{
	struct world *w = *state;
	const struct wire_use_row row = { "unit:a", "tor2", VIA_SPINE1, 2, 8, 0 };

	summary(w, "tor1", WIRE_USES_ALL, &row, 1);
	summary(w, "tor2", WIRE_USES_ALL, NULL, 0);
	summary(w, "tor3", WIRE_USES_ALL, NULL, 0);
	summary(w, "tor4", WIRE_USES_ALL, NULL, 0);
	links(w, "spine1--tor3, spine1->tor2", 2, "P1: unit:a");
	links(w, "spine1--tor3, spine1--tor4", 2, "P2");
	/* Not all are listed: any service over the switch counts. */
	links(w, "spine1--tor3, spine1--tor4", 3, "P1: unit:a");
}

static void
a_service_with_lost_probes_counts_as_affected_for_some_seconds(void **state)
{
	struct world *w = *state;
	struct wire_use_row rows[] = { { "unit:well", "tor2", VIA_SPINE1, 1, 8, 0 },
		{ "unit:hurt", "tor2", VIA_SPINE1, 1, 8, 3 } };

	summary(w, "tor1", WIRE_USES_ALL, rows, 2);
	assert_string_equal(impact(w, LINK, "spine1--tor2"), "P0: unit:hurt, ...");
	rows[1].lost = 0;
	summary(w, "tor1", WIRE_USES_ALL, rows, 2);
	assert_string_equal(impact(w, LINK, "spine1--tor2"), "P0: unit:hurt, ...");
	pass(w, 5 * S);
	assert_string_equal(
	    impact(w, LINK, "spine1--tor2"), "P1: unit:hurt, unit:well");
}

/* One loss in each second, each in another row of a full rack. */
static void
losses_of_many_rows_stay_known(void **state)
{
	struct world *w = *state;
	struct wire_use_row rows[WIRE_MAX_USE_ROWS];
	char names[WIRE_MAX_USE_ROWS][16];

	for (size_t i = 0; i < WIRE_MAX_USE_ROWS; i++) {
		snprintf(names[i], sizeof(names[i]), "unit:%04zu", i);
		rows[i] = (struct wire_use_row){ names[i], "tor2",
			i % 2 == 0 ? VIA_SPINE1 : VIA_SPINE2, 1, 8, 0 };
	}
	rows[7].lost = rows[1022].lost = 1;
	summary(w, "tor1", WIRE_USES_ALL, rows, WIRE_MAX_USE_ROWS);
	rows[7].lost = rows[1022].lost = 0;
	rows[900].lost = 1;
	for (size_t i = 0; i < WIRE_MAX_USE_ROWS / 2;
	     i++) { /* swaps the order of rows */
		const struct wire_use_row row = rows[i];

		rows[i] = rows[WIRE_MAX_USE_ROWS - 1 - i];
		rows[WIRE_MAX_USE_ROWS - 1 - i] = row;
	}
	summary(w, "tor1", WIRE_USES_ALL, rows, WIRE_MAX_USE_ROWS);
	assert_string_equal(
	    impact(w, SWITCH, "spine1"), "P0: unit:0900, unit:1022, ...");
	assert_string_equal(impact(w, SWITCH, "spine2"), "P0: unit:0007, ...");
}

static void
the_order_of_services_does_not_depend_on_the_order_of_reports(void **state)
{
	struct world *w = *state;
	struct wire_use_row rows[] = { { "unit:e", "tor2", VIA_SPINE1, 1, 8, 0 },
		{ "unit:b", "tor2", VIA_SPINE1, 1, 8, 0 },
		{ "unit:a", "tor2", VIA_SPINE1, 1, 8, 0 },
		{ "unit:d", "tor2", VIA_SPINE1, 1, 8, 0 },
		{ "unit:c", "tor2", VIA_SPINE1, 1, 8, 0 } };

	summary(w, "tor1", WIRE_USES_ALL, rows, 4);
	assert_string_equal(
	    impact(w, SWITCH, "spine1"), "P1: unit:a, unit:b, unit:d, unit:e");
	summary(w, "tor1", WIRE_USES_ALL, rows, 5);
	assert_string_equal(
	    impact(w, SWITCH, "spine1"), "P1: unit:a, unit:b, unit:c, unit:d, ...");
}

static void
wall_clocks_of_two_machines_may_differ(void **state)
{
	struct world *w = *state;
	const struct wire_use_row row = { "unit:b", "tor2", VIA_SPINE1, 1, 8, 3 };

	w->end_wall_ns = 0;
	summary(w, "tor1", WIRE_USES_ALL, &row, 1);
	assert_string_equal(impact(w, LINK, "spine1--tor2"), "P0: unit:b");
	w->end_wall_ns = UINT64_MAX; /* the aggregator's wall clock was set */
	summary(w, "tor1", WIRE_USES_ALL, NULL, 0);
	summary(w, "tor2", WIRE_USES_ALL, NULL, 0);
	assert_string_equal(impact(w, LINK, "spine1--tor2"), "P2");
}

/* The summary waited in a spool. */
static void
a_loss_of_long_ago_is_not_of_this_fault(void **state)
{
	struct world *w = *state;
	struct wire_use_row row = { "unit:b", "tor2", VIA_SPINE1, 1, 8, 0 };

	summary(w, "tor1", WIRE_USES_ALL, &row, 1);
	pass(w, 20 * S);
	row.lost = 3;
	w->waited_ns = 10 * S;
	summary(w, "tor1", WIRE_USES_ALL, &row, 1);
	assert_string_equal(impact(w, LINK, "spine1--tor2"), "P1: unit:b");
	w->waited_ns = 0;
	summary(w, "tor1", WIRE_USES_ALL, &row, 1);
	assert_string_equal(impact(w, LINK, "spine1--tor2"), "P0: unit:b");
	pass(w, 2 * SERVICE_USES_KEEP_NS);
	w->waited_ns = SERVICE_USES_KEEP_NS + 2 * S;
	summary(w, "tor1", WIRE_USES_ALL, &row, 1);
	assert_string_equal(impact(w, LINK, "spine1--tor2"), "unknown");
}

/* For a rack without earlier summaries the age is only known after its backlog has been
 * read. */
static void
a_backlog_of_summaries_does_not_count_until_it_is_read(void **state)
{
	struct world *w = *state;
	const struct wire_use_row row = { "unit:b", "tor2", VIA_SPINE1, 1, 8, 3 };

	for (w->waited_ns = 600 * S; w->waited_ns > 0; w->waited_ns -= 10 * S) {
		send(w, "tor1", WIRE_USES_ALL, &row, 1);
		pass(w, S / 10);
		assert_string_equal(impact(w, LINK, "spine1--tor2"), "unknown");
		assert_string_equal(impact(w, LINK, "spine2--tor1"), "unknown");
	}
	send(w, "tor1", WIRE_USES_ALL, &row, 1);
	pass(w, S - 1);
	assert_string_equal(impact(w, LINK, "spine1--tor2"), "unknown");
	pass(w, S);
	assert_string_equal(impact(w, LINK, "spine1--tor2"), "P0: unit:b");
}

static void
another_aggregator_of_a_rack_replaces_what_the_former_one_reported(void **state)
{
	struct world *w = *state;
	const struct wire_use_row of_a = { "unit:a", "tor2", VIA_SPINE1, 1, 8, 3 };
	const struct wire_use_row back = { "unit:c", "tor1",
		"tor2@10.0.0.5 spine2@10.0.0.4 tor1@10.0.0.1", 1, 8, 0 };
	const struct wire_use_row of_b = { "unit:b", "tor2", VIA_SPINE1, 1, 8, 0 };

	summary(w, "tor2", WIRE_USES_ALL, &back, 1);
	summary(w, "tor1", WIRE_USES_ALL, &of_a, 1);
	assert_string_equal(impact(w, LINK, "spine1--tor2"), "P0: unit:a");
	w->aggregator = "other";
	w->ahead_ns = -50 * S; /* another host, with another monotonic clock */
	summary(w, "tor1", WIRE_USES_UNKNOWN, NULL, 0);
	assert_string_equal(impact(w, LINK, "spine1--tor2"), "unknown");
	assert_string_equal(impact(w, LINK, "spine3--tor1"), "unknown");
	pass(w, 40 * S);
	summary(w, "tor1", WIRE_USES_ALL, &of_b, 1);
	assert_string_equal(impact(w, LINK, "spine1--tor2"), "P1: unit:b");
	assert_string_equal(impact(w, LINK, "spine3--tor1"), "P2");
	/* The former aggregator delivers its backlog late. */
	w->aggregator = "agg";
	w->ahead_ns = 7000 * S;
	w->waited_ns = 20 * S;
	summary(w, "tor1", WIRE_USES_ALL, &of_a, 1);
	assert_string_equal(impact(w, LINK, "spine1--tor2"), "P1: unit:b");
	w->waited_ns = 0; /* the former aggregator is active again */
	summary(w, "tor1", WIRE_USES_ALL, &of_a, 1);
	assert_string_equal(impact(w, LINK, "spine1--tor2"), "P0: unit:a");
}

static void
both_aggregators_report(struct world *w, enum wire_uses_known known,
    const struct wire_use_row *of_a, const struct wire_use_row *of_b)
{
	const int64_t ahead_ns = w->ahead_ns;

	send(w, "tor1", known, of_a, of_a != NULL);
	w->aggregator = "other";
	w->ahead_ns = -50 * S;
	send(w, "tor1", known == WIRE_USES_ALL ? WIRE_USES_SOME : known, of_b,
	    of_b != NULL);
	w->aggregator = "agg";
	w->ahead_ns = ahead_ns;
	pass(w, S / 4);
}

/* Both aggregators are active while each believes that the other is dead. The second
 * one does not see all hosts. */
static void
what_either_of_two_aggregators_reports_counts(void **state)
{
	struct world *w = *state;
	const struct wire_use_row of_a = { "unit:a", "tor2", VIA_SPINE1, 1, 8, 0 };
	const struct wire_use_row of_b = { "unit:b", "tor2", VIA_SPINE1, 1, 8, 0 };

	summary(w, "tor2", WIRE_USES_ALL, NULL, 0);
	both_aggregators_report(w, WIRE_USES_ALL, &of_a, &of_b);
	pass(w, S);
	for (int i = 0; i < 40; i++) { /* rows arrive every ten seconds */
		both_aggregators_report(w, WIRE_USES_UNKNOWN, NULL, NULL);
		assert_string_equal(
		    impact(w, LINK, "spine1--tor2"), "P1: unit:a, unit:b");
		assert_string_equal(impact(w, LINK, "spine3--tor1"), "P2");
	}
	for (int i = 0; i < 5; i++) { /* the other aggregator goes standby */
		pass(w, 10 * S);
		send(w, "tor1", WIRE_USES_UNKNOWN, NULL, 0);
	}
	assert_string_equal(impact(w, LINK, "spine1--tor2"), "P1: unit:a");
}

/* The analyzer was restarted, and knows neither clock. */
static void
a_backlog_of_the_former_aggregator_is_not_a_report_of_both(void **state)
{
	struct world *w = *state;
	const struct wire_use_row old = { "unit:old", "tor2", VIA_SPINE1, 1, 8, 0 };

	w->aggregator = "a";
	summary(w, "tor2", WIRE_USES_ALL, NULL, 0);
	summary(w, "tor1", WIRE_USES_ALL, NULL, 0);
	w->aggregator = "b";
	w->waited_ns = 3600 * S;
	send(w, "tor1", WIRE_USES_ALL, &old, 1);
	w->waited_ns = 0;
	pass(w, 8 * S);
	w->aggregator = "a";
	summary(w, "tor2", WIRE_USES_ALL, NULL, 0);
	summary(w, "tor1", WIRE_USES_ALL, NULL, 0);
	assert_string_equal(impact(w, SWITCH, "spine1"), "P2");
}

static int64_t
age_from(struct world *w, const char *aggregator, int64_t waited_ns)
{
	w->aggregator = aggregator;
	w->waited_ns = waited_ns;
	return send(w, "tor1", WIRE_USES_ALL, NULL, 0);
}

/* The former aggregator of the rack delivers what has waited in its spool. */
static void
a_backlog_beside_the_summaries_of_the_present_aggregator_is_old(void **state)
{
	struct world *w = *state;

	/* The analyzer was restarted: at first either may be the one with a backlog. */
	assert_int_equal(age_from(w, "former", 3600 * S), 0);
	pass(w, 2 * S);
	assert_int_equal(age_from(w, "present", 0), SERVICE_USES_AGE_IN_DOUBT);
	assert_int_equal(age_from(w, "former", 3590 * S), SERVICE_USES_AGE_IN_DOUBT);
	pass(w, 10 * S);
	assert_int_equal(age_from(w, "present", 0), 0);
	for (int64_t waited_ns = 3580 * S; waited_ns > 0; waited_ns -= 10 * S) {
		assert_int_equal(age_from(w, "former", waited_ns), INT64_MAX);
		pass(w, S / 100);
	}
	assert_int_equal(age_from(w, "present", 0), 0);
	/* It is the present one again. */
	assert_int_equal(age_from(w, "former", 0), INT64_MAX);
	pass(w, 10 * S);
	assert_int_equal(age_from(w, "former", 0), 0);
}

static void
a_restarted_machine_of_an_aggregator_reports_at_once(void **state)
{
	struct world *w = *state;
	const struct wire_use_row before = { "unit:a", "tor2", VIA_SPINE1, 1, 8, 0 };
	const struct wire_use_row after = { "unit:b", "tor2", VIA_SPINE1, 1, 8, 3 };

	summary(w, "tor1", WIRE_USES_ALL, &before, 1);
	assert_string_equal(impact(w, LINK, "spine1--tor2"), "P1: unit:a");
	pass(w, 60 * S);
	/* A restart: the spool has kept the incarnation, the clock begins at 0. */
	w->ahead_ns = 20 * S - w->now.ns;
	send(w, "tor1", WIRE_USES_UNKNOWN, NULL, 0);
	assert_string_equal(impact(w, LINK, "spine1--tor2"), "unknown");
	summary(w, "tor1", WIRE_USES_ALL, &after, 1);
	assert_string_equal(impact(w, LINK, "spine1--tor2"), "P0: unit:b");
}

static void
no_impact_is_reported_only_where_all_uses_are_known(void **state)
{
	struct world *w = *state;
	struct wire_use_row row = { "unit:b", "tor2", VIA_SPINE2, 1, 4, 0 };

	assert_string_equal(impact(w, LINK, "spine1--tor1"), "unknown");
	summary(w, "tor1", WIRE_USES_SOME, &row,
	    1); /* one host does not trace its services */
	assert_string_equal(impact(w, LINK, "spine1--tor1"), "unknown");
	summary(w, "tor1", WIRE_USES_ALL, &row, 1);
	/* Packets from tor2 to tor1 may take another path than those from tor1 to tor2.
	 */
	assert_string_equal(impact(w, LINK, "spine1--tor1"), "unknown");
	assert_string_equal(impact(w, SWITCH, "spine1"), "unknown");
	assert_string_equal(impact(w, RM_PART_PATH, "tor1->tor3"), "P2");
	summary(w, "tor2", WIRE_USES_SOME, NULL, 0);
	assert_string_equal(impact(w, LINK, "spine1--tor1"), "unknown");
	summary(w, "tor2", WIRE_USES_ALL, NULL, 0);
	assert_string_equal(impact(w, LINK, "spine1--tor1"), "P2");
	/* If the uses of tor3 are unknown, the impact of tor1's links stays known, but
	 * that of spines becomes unknown. */
	summary(w, "tor3", WIRE_USES_UNKNOWN, NULL, 0);
	assert_string_equal(impact(w, LINK, "spine1--tor1"), "P2");
	assert_string_equal(impact(w, SWITCH, "spine1"), "unknown");
	pass(w, SERVICE_USES_KEEP_NS);
	assert_string_equal(impact(w, LINK, "spine1--tor1"), "unknown");
}

static void
a_rack_that_is_gone_for_good_is_forgotten(void **state)
{
	struct world *w = *state;
	const struct wire_use_row row = { "unit:b", "tor1",
		"tor2@10.0.0.5 spine2@10.0.0.3 tor1@10.0.0.1", 1, 4, 0 };

	summary(w, "tor1", WIRE_USES_ALL, NULL, 0);
	summary(w, "tor2", WIRE_USES_ALL, &row, 1);
	assert_string_equal(impact(w, SWITCH, "spine1"), "P2");
	pass(w, SERVICE_USES_KEEP_NS);
	summary(w, "tor1", WIRE_USES_ALL, NULL, 0);
	assert_string_equal(impact(w, SWITCH, "spine1"), "unknown");
	pass(w, SERVICE_USES_FORGET_NS);
	summary(w, "tor1", WIRE_USES_ALL, NULL, 0);
	assert_string_equal(impact(w, SWITCH, "spine1"), "P2");
	summary(w, "tor2", WIRE_USES_UNKNOWN, NULL, 0);
	assert_string_equal(impact(w, SWITCH, "spine1"), "unknown");
}

/* Verdicts name the switch by its address, and the ToRs at both ends by their names. */
static void
a_switch_that_the_topology_does_not_name_is_found_by_its_address(void **state)
{
	struct world *w = *state;
	const struct wire_use_row row = { "unit:a", "tor2",
		"?@10.0.0.1 ?@10.0.0.2 ?@10.0.0.3", 1, 8, 0 };

	summary(w, "tor1", WIRE_USES_ALL, &row, 1);
	summary(w, "tor2", WIRE_USES_ALL, NULL, 0);
	assert_string_equal(impact(w, SWITCH, "10.0.0.2"), "P1: unit:a");
	assert_string_equal(impact(w, LINK, "10.0.0.2--tor1"), "P1: unit:a");
	assert_string_equal(impact(w, LINK, "10.0.0.2--tor2"), "P1: unit:a");
	assert_string_equal(impact(w, SWITCH, "10.0.0.9"), "P2");
}

static void
a_flow_whose_path_is_not_known_may_use_any_link_of_its_racks(void **state)
{
	struct world *w = *state;
	struct wire_use_row row = { "unit:b", "tor2", "", 1, 4, 0 };

	summary(w, "tor1", WIRE_USES_ALL, &row, 1);
	summary(w, "tor2", WIRE_USES_ALL, NULL, 0);
	summary(w, "tor3", WIRE_USES_ALL, NULL, 0);
	assert_string_equal(impact(w, LINK, "spine1--tor1"), "unknown");
	assert_string_equal(impact(w, SWITCH, "spine1"), "unknown");
	assert_string_equal(impact(w, RM_PART_TOR, "tor2"), "P1: unit:b");
	assert_string_equal(impact(w, LINK, "spine1--tor3"), "P2");
	row.path = "tor1@10.0.0.1 ? tor2@10.0.0.5";
	summary(w, "tor1", WIRE_USES_ALL, &row, 1);
	assert_string_equal(impact(w, LINK, "spine1--tor1"), "unknown");
	row.path = "?@10.0.0.1";
	summary(w, "tor1", WIRE_USES_ALL, &row, 1);
	assert_string_equal(impact(w, LINK, "spine1--tor1"), "unknown");
	row.path = "tor1@10.0.0.1 spine1@10.0.0.2";
	summary(w, "tor1", WIRE_USES_ALL, &row, 1);
	assert_string_equal(impact(w, LINK, "spine2--tor2"), "unknown");
	row.path = "*";
	summary(w, "tor1", WIRE_USES_ALL, &row, 1);
	assert_string_equal(impact(w, LINK, "spine1--tor1"), "unknown");
	row.dst_tor = "";
	summary(w, "tor1", WIRE_USES_ALL, &row, 1);
	assert_string_equal(impact(w, RM_PART_PATH, "tor1->tor9"), "unknown");
	assert_string_equal(impact(w, RM_PART_PATH, "tor2->tor3"), "P2");
}

static void
a_fault_of_a_daemon_affects_no_service(void **state)
{
	struct world *w = *state;

	assert_string_equal(impact(w, RM_PART_AGGREGATOR, "agg"), "P2");
	assert_string_equal(impact(w, RM_PART_RACK, "tor1"), "unknown");
}

static void
received_names_are_made_printable(void **state)
{
	struct world *w = *state;
	struct wire_use_row row = { "unit:\n\x1b[2J", "tor2", VIA_SPINE1, 1, 4, 0 };
	char path[40 * 4 + 1] = "";

	summary(w, "tor1", WIRE_USES_ALL, &row, 1);
	assert_string_equal(impact(w, LINK, "spine1--tor1"), "P1: unit:??[2J");
	for (size_t i = 0; i < 40; i++)
		strcat(path, "a@b ");
	row.path = path; /* longer than any real path */
	summary(w, "tor1", WIRE_USES_ALL, &row, 1);
	assert_string_equal(impact(w, LINK, "spine1--tor1"), "unknown");
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_service_on_the_path_is_named),
		TEST(of_several_links_those_that_are_listed_count),
		TEST(a_service_with_lost_probes_counts_as_affected_for_some_seconds),
		TEST(losses_of_many_rows_stay_known),
		TEST(the_order_of_services_does_not_depend_on_the_order_of_reports),
		TEST(wall_clocks_of_two_machines_may_differ),
		TEST(a_backlog_of_summaries_does_not_count_until_it_is_read),
		TEST(
		    another_aggregator_of_a_rack_replaces_what_the_former_one_reported),
		TEST(what_either_of_two_aggregators_reports_counts),
		TEST(a_backlog_of_the_former_aggregator_is_not_a_report_of_both),
		TEST(a_backlog_beside_the_summaries_of_the_present_aggregator_is_old),
		TEST(a_restarted_machine_of_an_aggregator_reports_at_once),
		TEST(a_loss_of_long_ago_is_not_of_this_fault),
		TEST(no_impact_is_reported_only_where_all_uses_are_known),
		TEST(a_rack_that_is_gone_for_good_is_forgotten),
		TEST(a_switch_that_the_topology_does_not_name_is_found_by_its_address),
		TEST(a_flow_whose_path_is_not_known_may_use_any_link_of_its_racks),
		TEST(a_fault_of_a_daemon_affects_no_service),
		TEST(received_names_are_made_printable),
	};

	return cmocka_run_group_tests_name("service_uses", tests, NULL, NULL);
}
