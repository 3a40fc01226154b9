/*
 * results - what became of probes, and the paths that traces have found.
 */
#ifndef SCHEMAS_WIRE_RESULTS_H
#define SCHEMAS_WIRE_RESULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schemas/wire/identity.h"
#include "schemas/wire/session.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- probe results (agent -> aggregator) ---- */

/* What became of a probe. Only NO_REPLY can ever speak against the network. */
enum wire_outcome {
	WIRE_OK = 0,
	WIRE_NO_REPLY,    /* sent in time, nothing came back before the deadline */
	WIRE_LATE_REPLY,  /* a reply came after the deadline, by the NIC's stamp */
	WIRE_SEND_FAILED, /* never left: sent_age is of the attempt */
	WIRE_SENT_LATE,   /* lost, and it left late: our own host stalled */
	WIRE_STALE_QPN,   /* lost, to a QPN that has changed (set by the aggregator) */
	WIRE_SELF_LOSS,   /* lost, while our own receive queue overran or we stalled */
	WIRE_INVALID,     /* answered, but a time stamp is impossible: see reason */
	WIRE_OUTCOMES
};

/* Instead of an outcome: a reply to a probe that has been told as NO_REPLY, and what it
 * took by the stamps, the responder's share left out: wire_result_overdue_ns. It is no
 * probe of its own. Only to who knows it, by its welcome: others refuse it. */
#define WIRE_OVERDUE 128

enum wire_invalid_reason {
	WIRE_VALID = 0,
	WIRE_T4_BEFORE_T3,
	WIRE_T5_BEFORE_T2,
	WIRE_RTT_NEGATIVE,
	WIRE_DELAY_NEGATIVE,
	WIRE_ABSURD, /* a term beyond 10 s */
	WIRE_INVALID_REASONS
};

enum wire_probe_kind {
	WIRE_TOR_MESH = 0,
	WIRE_INTER_TOR,
	WIRE_WITNESS,       /* outward from a small rack */
	WIRE_TOR_REFLECTOR, /* to the own ToR's STAMP reflector */
	WIRE_SERVICE,
	WIRE_PROBE_KINDS
};

enum wire_stamp_source {
	WIRE_STAMP_NIC = 1,   /* raw cycles, converted */
	WIRE_STAMP_WALLCLOCK, /* NIC wall-clock completions */
	WIRE_STAMP_KERNEL,    /* SO_TIMESTAMPING software stamps */
	WIRE_STAMP_USER,      /* clock_gettime near the event */
};

enum wire_result_flags {
	WIRE_SPLIT = 1,     /* the three terms are there (T4 came in a follow-up) */
	WIRE_COUNTED = 2,   /* responder_count is there */
	WIRE_ARRIVAL = 4,   /* arrived_dscp, arrived_ecn, arrived_ttl are there */
	WIRE_LATE_SEND = 8, /* it left later than its pace allowed */
};

/* Fixed size, zero copy; a change of any kind means a new identifier. */
struct wire_result {
	uint64_t src_guid, dst_guid;
	uint64_t sent_age_ns;        /* batch.now_ns - T1 */
	uint32_t rtt_ns;             /* network RTT (T5-T2)-(T4-T3), with WIRE_SPLIT */
	uint32_t prober_delay_ns;    /* (T6-T1)-(T5-T2), with WIRE_SPLIT */
	uint32_t responder_delay_ns; /* T4-T3, with WIRE_SPLIT */
	uint32_t round_trip_ns;      /* T5-T2, whenever a reply came */
	uint32_t seq;
	uint32_t dst_qpn;
	uint32_t flow_label;
	uint32_t responder_count; /* probes of this prober and class it has received */
	uint16_t src_port;        /* the flow, on UDP and RoCEv2 */
	uint16_t size_bytes;      /* UDP payload */
	uint8_t src_port_num, dst_port_num;
	uint8_t outcome; /* enum wire_outcome; newer peers may send more */
	uint8_t invalid_reason;
	uint8_t kind;
	uint8_t dscp;
	uint8_t arrived_dscp, arrived_ecn, arrived_ttl;
	uint8_t stamp_source; /* 0: no stamp at all */
	uint8_t flags;
	uint8_t reserved;
};

#define WIRE_RESULT_BYTES 72

/* What an overdue reply took: as much of it as round_trip_ns holds, the rest in rtt_ns.
 */
static inline void
wire_result_overdue(struct wire_result *result, uint64_t took_ns)
{
	result->round_trip_ns = took_ns < UINT32_MAX ? (uint32_t)took_ns : UINT32_MAX;
	result->rtt_ns = (uint32_t)(took_ns - result->round_trip_ns);
}

static inline uint64_t
wire_result_overdue_ns(const struct wire_result *result)
{
	return (uint64_t)result->round_trip_ns + result->rtt_ns;
}

struct wire_batch_head {
	const char *host;
	uint64_t incarnation; /* new at every agent start */
	uint64_t seq;    /* +1 per batch to this aggregator, from 1: a gap is a loss */
	uint64_t now_ns; /* agent's CLOCK_MONOTONIC when the batch was made */
	uint64_t dropped_batches,
	    dropped_results; /* thrown away so far, this incarnation */
};

struct wire_batch_view {
	struct wire_batch_head head;
	size_t count;
	const struct wire_result
	    *results; /* borrowed from the bytes; little endian hosts */
};

int wire_write_batch(struct wire_writer *writer, const struct wire_batch_head *head,
    const struct wire_result *results, size_t count, struct wire_bytes *out);
int wire_open_batch(struct wire_batch_view *view, const uint8_t *data, size_t len);

/* ---- traced paths ---- */

enum wire_path_flags {
	WIRE_PATH_COMPLETE = 1,  /* the hop behind the last one is the destination */
	WIRE_PATH_MULTIPATH = 2, /* repeated traces of this flow disagree */
};

/* One flow's way, by trace. Fixed size, zero copy. */
struct wire_path {
	uint64_t src_guid, dst_guid;
	uint64_t age_ns;   /* paths.now_ns - when it was traced */
	uint16_t src_port; /* the flow */
	uint8_t src_port_num, dst_port_num;
	uint8_t dscp;   /* of the trace */
	uint8_t family; /* 4 or 6 */
	uint8_t flags;  /* enum wire_path_flags */
	uint8_t hop_count;
	/* hops[i] answered for TTL i + 1, network order, IPv4 in the first 4; all 0:
	 * nobody did. */
	uint8_t hops[WIRE_MAX_HOPS][16];
};

#define WIRE_PATH_BYTES 160

struct wire_paths {
	const char *host;
	uint64_t incarnation;
	uint64_t now_ns;               /* agent's CLOCK_MONOTONIC */
	const struct wire_path *paths; /* new ones, and those that have changed */
	size_t path_count;
};

int wire_write_paths(
    struct wire_writer *writer, const struct wire_paths *paths, struct wire_bytes *out);
/* .paths is borrowed from the bytes. hop_count is within bounds, family 4 or 6. */
int wire_open_paths(struct wire_paths *view, const uint8_t *data, size_t len);

/*
 * Ways between racks, as they were found: for the topology. Each distinct sequence of
 * hops once, and again every some minutes while it is still seen.
 */
struct wire_traced {
	const char *tor;
	uint64_t now_ns; /* aggregator's CLOCK_MONOTONIC */
	const struct wire_path *paths;
	size_t path_count; /* at most WIRE_MAX_PATHS */
};

int wire_write_traced(struct wire_writer *writer, const struct wire_traced *traced,
    struct wire_bytes *out);
/* As wire_open_paths. */
int wire_open_traced(struct wire_traced *view, const uint8_t *data, size_t len);

#ifdef __cplusplus
}
#endif

#endif
