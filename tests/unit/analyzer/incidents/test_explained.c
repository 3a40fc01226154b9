#include "analyzer/incidents/explained.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/incidents/board.h"
#include "rackmesh/judge/verdict.h"

#define NOW_NS (INT64_C(1700000000) * RM_NS_PER_S)

static const rm_wall_t now = { NOW_NS };

static void
tell(struct board *board, uint64_t id, enum wire_incident_state state, const char *type,
    const char *part, const char *kind)
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

	assert_int_equal(board_edge(board, &incident), 1);
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
flows_to_what_a_rack_has_blamed_say_nothing_of_the_way(void **state)
{
	struct rm_verdict link = { .part = { .type = RM_PART_LINK } };
	struct board *board;

	assert_int_equal(board_new(&board), 0);
	assert_false(explained_by_racks(board, "lab", &link, now));
	sample(&link, "h7/r0", "h1/r0");
	sample(&link, "h7/r0", "h2/r0");
	sample(&link, "h2/r1", "h8/r0");
	sample(&link, "h9/r0", "h3/r0");
	assert_false(explained_by_racks(board, "lab", &link, now));
	tell(board, 1, WIRE_OPENED, "agent", "h2", "agent-frozen");
	assert_false(explained_by_racks(board, "lab", &link, now)); /* half */
	tell(board, 3, WIRE_OPENED, "agent", "h1", "certificate-ending");
	assert_false(
	    explained_by_racks(board, "lab", &link, now)); /* no fault of probes */
	tell(board, 2, WIRE_OPENED, "rnic", "h1/r0 or h11/r0", "rnic-down");
	assert_true(explained_by_racks(board, "lab", &link, now));
	assert_false(explained_by_racks(board, "field", &link, now));
	tell(board, 1, WIRE_RESOLVED, "agent", "h2", "agent-frozen");
	assert_true(explained_by_racks(board, "lab", &link, now)); /* until lately */
	assert_false(explained_by_racks(
	    board, "lab", &link, (rm_wall_t){ NOW_NS + 5 * RM_NS_PER_S }));
	board_free(board);
}

static void
a_name_that_only_begins_like_it_is_another(void **state)
{
	struct rm_verdict link = { .part = { .type = RM_PART_LINK } };
	struct board *board;

	assert_int_equal(board_new(&board), 0);
	sample(&link, "h7/r0", "h11/r0");
	tell(board, 1, WIRE_OPENED, "host", "h1", "host-down");
	tell(board, 2, WIRE_OPENED, "rnic", "h11/r01", "rnic-down");
	tell(board, 3, WIRE_OPENED, "tor", "h11", "tor-down");
	assert_false(explained_by_racks(board, "lab", &link, now));
	board_free(board);
}

/* All RNICs of its rack flap: each sample ends at one, and the cable is dead anyway. */
static void
a_port_that_flaps_does_not_silence_a_link(void **state)
{
	struct rm_verdict link = { .part = { .type = RM_PART_LINK },
		.kind = RM_KIND_LINK_DOWN };
	struct board *board;

	assert_int_equal(board_new(&board), 0);
	sample(&link, "h7/r0", "h1/r0");
	sample(&link, "h2/r0", "h8/r0");
	tell(board, 1, WIRE_OPENED, "rnic", "h1/r0", "rnic-flapping");
	tell(board, 2, WIRE_OPENED, "rnic", "h2/r0", "rnic-flapping");
	assert_false(explained_by_racks(board, "lab", &link, now));
	link.kind = RM_KIND_LINK_LOSSY;
	assert_true(explained_by_racks(board, "lab", &link, now));
	link.kind = RM_KIND_LINK_DOWN;
	tell(board, 3, WIRE_OPENED, "agent", "h1", "agent-frozen");
	tell(board, 4, WIRE_OPENED, "agent", "h2", "agent-frozen");
	assert_true(explained_by_racks(board, "lab", &link, now));
	board_free(board);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    flows_to_what_a_rack_has_blamed_say_nothing_of_the_way),
		cmocka_unit_test(a_name_that_only_begins_like_it_is_another),
		cmocka_unit_test(a_port_that_flaps_does_not_silence_a_link),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
