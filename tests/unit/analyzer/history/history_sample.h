/*
 * history_sample - a summary with all it can hold, and an incident, for tests.
 *
 * Include it after cmocka.h. Every failure fails the test.
 */
#ifndef TESTS_HISTORY_SAMPLE_H
#define TESTS_HISTORY_SAMPLE_H

#include <stdint.h>
#include <string.h>

#include "rackmesh/incident/incident.h"
#include "rackmesh/metrics/sketch.h"
#include "schemas/wire.h"

#define SAMPLE_SUMMARY_POINTS 5 /* rack, two rows, an RNIC, the path with losses */
#define SAMPLE_END_NS UINT64_C(1767225600000000000)

static inline struct wire_bytes
sample_sketch(void)
{
	static uint8_t bytes[RM_SKETCH_MAX_BYTES];
	struct rm_sketch *sketch = rm_sketch_new();
	int len;

	assert_non_null(sketch);
	for (uint64_t i = 0; i < 100; i++)
		rm_sketch_add(sketch, 8000 + 10 * i);
	len = rm_sketch_encode(sketch, bytes, sizeof(bytes));
	assert_true(len > 0);
	rm_sketch_free(sketch);
	return (struct wire_bytes){ bytes, (size_t)len };
}

static const struct wire_path_row sample_paths[2] = {
	{ .dst_tor = "t2",
	    .path = "t1@10.0.0.1 s1@10.0.0.2 t2@10.0.0.3",
	    .dscp = 26,
	    .sent = 5,
	    .flows = 2,
	    .samples = "" },
	{ .dst_tor = "t2",
	    .path = "t1@10.0.0.1 s2@10.0.0.2 t2@10.0.0.3",
	    .dscp = 26,
	    .sent = 5,
	    .lost_forward = 2,
	    .flows = 2,
	    .flows_dead = 1,
	    .samples = "h1/r0>h9/r0:49153" },
};

/* The summary with this number of one aggregator. */
static inline struct wire_bytes
sample_summary(struct wire_writer *writer, uint64_t number)
{
	struct wire_rnic_row rnic = { .id = { 0x0c42a10300651234, 1 },
		.host = "h1",
		.device = "r0",
		.sent = 100,
		.rtt_ns = { 8000, 9000, 10000, 11000 },
		.prober_delay_ns = { 1, 2, 3, 4 },
		.responder_delay_ns = { 5, 6, 7, 8 } };
	struct wire_row rows[2] = { { .src_tor = "t1",
					.dst_tor = "t2",
					.dscp = 26,
					.flow_set = "49153,49154",
					.bad = true,
					.sent = 10,
					.lost_forward = 2 },
		{ .src_tor = "t1",
		    .dst_tor = "t1",
		    .dscp = 26,
		    .flow_set = "all",
		    .sent = 90 } };
	const struct wire_summary summary = {
		.head = { .aggregator = "agg",
		    .region = "lab",
		    .incarnation = 5,
		    .seq = number },
		.tor = "t1",
		.start_wall_ns = SAMPLE_END_NS + (number - 1) * 1000000000,
		.end_wall_ns = SAMPLE_END_NS + number * 1000000000,
		.taken = 10 * number,
		.windowed = 10 * number,
		.rows = rows,
		.row_count = 2,
		.rnics = &rnic,
		.rnic_count = 1,
		.paths = sample_paths,
		.path_count = 2,
		.has_state = true,
		.state = { .rnics = 4, .rnics_good = 4, .brake_permille = 1000 },
	};
	struct wire_bytes bytes;

	rows[1].rtt = rows[1].prober_delay = rows[1].responder_delay = sample_sketch();
	rows[1].outcomes[WIRE_OK] = 90;
	rows[0].outcomes[WIRE_OK] = 8;
	rows[0].outcomes[WIRE_NO_REPLY] = 2;
	rnic.outcomes[WIRE_OK] = 98;
	rnic.outcomes[WIRE_NO_REPLY] = 2;
	assert_int_equal(wire_write_summary(writer, &summary, &bytes), 0);
	return bytes;
}

static inline struct wire_bytes
sample_incident(
    struct wire_writer *writer, uint64_t number, enum wire_incident_state state)
{
	const struct wire_incident incident = {
		.head = { .aggregator = "agg",
		    .region = "lab",
		    .incarnation = 5,
		    .seq = number },
		.incident_id = 0x77,
		.state = state,
		.tor = "t1",
		.part_type = "rnic",
		.part = "h1/r0 or h2/r0",
		.place = "t1",
		.kind = "rnic-down",
		.confidence = 0.97,
		.began_wall_ns = SAMPLE_END_NS - 1000000000,
		.opened_wall_ns = SAMPLE_END_NS,
		.changed_wall_ns = SAMPLE_END_NS + number,
		.sentence = "h1/r0 is \"dead\", of 10 probes 10 were lost",
		.evidence_json = "{\"peers\": 3}",
	};
	struct wire_bytes bytes;

	assert_int_equal(wire_write_incident(writer, &incident, &bytes), 0);
	return bytes;
}

static inline struct rm_incident
sample_own_incident(void)
{
	struct rm_incident incident = { .id = 78, .opened = { 3000000000 } };

	incident.verdict.part.type = RM_PART_SWITCH;
	strcpy(incident.verdict.part.name, "spine1");
	incident.verdict.kind = RM_KIND_SWITCH_DOWN;
	incident.verdict.confidence = 0.9;
	incident.verdict.evidence.window_start.ns = 2000000000;
	incident.changed.ns = 3000000000;
	return incident;
}

#endif
