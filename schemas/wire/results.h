/*
 * results - the outcomes of probes, and the paths that traces have found.
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

/* The outcome of a probe. Only WIRE_NO_REPLY can be evidence of a fault in the
 * network. */
enum wire_outcome {
	WIRE_OK = 0,
	/* The probe was sent in time, and no reply came before the deadline. */
	WIRE_NO_REPLY,
	/* The reply came after the deadline, by the NIC's time stamp. */
	WIRE_LATE_REPLY,
	/* The probe was not sent; sent_age_ns is the age of the attempt. */
	WIRE_SEND_FAILED,
	/* The probe was lost, and it was sent late because the prober's host stalled.
	 */
	WIRE_SENT_LATE,
	/* The probe was lost; it went to a QPN that has changed (the aggregator sets
	   this outcome). */
	WIRE_STALE_QPN,
	/* The probe was lost, and at that time the agent's receive queue overflowed or
	   the agent stalled. */
	WIRE_SELF_LOSS,
	/* The probe was answered, but a time stamp is impossible: see reason. */
	WIRE_INVALID,
	WIRE_OUTCOMES
};

/* Not the outcome of another probe: a late reply to a probe that was reported as
 * WIRE_NO_REPLY. wire_result_overdue_ns returns its round trip time without the
 * responder's time. Send it only to a peer whose welcome says that it accepts such
 * results: others refuse the batch. */
#define WIRE_OVERDUE 128

enum wire_invalid_reason {
	WIRE_VALID = 0,
	WIRE_T4_BEFORE_T3,
	WIRE_T5_BEFORE_T2,
	WIRE_RTT_NEGATIVE,
	WIRE_DELAY_NEGATIVE,
	WIRE_ABSURD, /* a delay above 10 s */
	WIRE_INVALID_REASONS
};

enum wire_probe_kind {
	WIRE_TOR_MESH = 0,
	WIRE_INTER_TOR,
	WIRE_WITNESS,       /* from a rack with few RNICs to another rack */
	WIRE_TOR_REFLECTOR, /* to the STAMP reflector of the rack's own ToR */
	WIRE_SERVICE,
	WIRE_PROBE_KINDS
};

enum wire_stamp_source {
	WIRE_STAMP_NIC = 1,   /* raw cycles of the NIC's clock, converted to ns */
	WIRE_STAMP_WALLCLOCK, /* NIC wall-clock completions */
	WIRE_STAMP_KERNEL,    /* SO_TIMESTAMPING software stamps */
	WIRE_STAMP_USER,      /* clock_gettime, called near the event */
};

enum wire_result_flags {
	WIRE_SPLIT = 1,     /* the three delays are set (T4 arrived in a follow-up) */
	WIRE_COUNTED = 2,   /* responder_count is set */
	WIRE_ARRIVAL = 4,   /* arrived_dscp, arrived_ecn, arrived_ttl are set */
	WIRE_LATE_SEND = 8, /* the probe was sent later than planned */
};

/* values of arrived_ecn (RFC 3168); all probes are sent with ECT(0) */
enum wire_ecn { WIRE_ECN_NOT_ECT, WIRE_ECN_ECT_1, WIRE_ECN_ECT_0, WIRE_ECN_CE };

/* The size is fixed, and the struct is read in place. Any change of this struct needs a
 * new message identifier. */
struct wire_result {
	uint64_t src_guid, dst_guid;
	uint64_t sent_age_ns;        /* batch.now_ns - T1 */
	uint32_t rtt_ns;             /* network RTT (T5-T2)-(T4-T3), with WIRE_SPLIT */
	uint32_t prober_delay_ns;    /* (T6-T1)-(T5-T2), with WIRE_SPLIT */
	uint32_t responder_delay_ns; /* T4-T3, with WIRE_SPLIT */
	uint32_t round_trip_ns;      /* T5-T2, if there was a reply */
	uint32_t seq;
	uint32_t dst_qpn;
	uint32_t flow_label;
	/* number of probes of this prober and class that the responder has received */
	uint32_t responder_count;
	uint16_t src_port;   /* UDP source port, for UDP and RoCEv2 */
	uint16_t size_bytes; /* UDP payload */
	uint8_t src_port_num, dst_port_num;
	uint8_t outcome; /* enum wire_outcome; newer peers may send more */
	uint8_t invalid_reason;
	uint8_t kind;
	uint8_t dscp;
	uint8_t arrived_dscp, arrived_ecn, arrived_ttl;
	uint8_t stamp_source; /* 0: no time stamp */
	uint8_t flags;
	uint8_t reserved;
};

#define WIRE_RESULT_BYTES 72

/* initial TTL of probes: Soft-RoCE always uses its own */
#define WIRE_TTL_OF_PROBES 255
#define WIRE_TTL_OF_SOFT_ROCE 64

/* The number of hops (routers that the probe passed), from the TTL with which it
 * arrived. The two initial values differ by more than the length of any path. */
static inline uint8_t
wire_hops(uint8_t arrived_ttl)
{
	return (uint8_t)((arrived_ttl > WIRE_TTL_OF_SOFT_ROCE ? WIRE_TTL_OF_PROBES
							      : WIRE_TTL_OF_SOFT_ROCE) -
			 arrived_ttl);
}

/* Converts the round trip time of an overdue reply in ns: round_trip_ns holds as much
 * of it as fits, and rtt_ns holds the rest. */
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
	/* number of the agent's run: new at every start of the agent */
	uint64_t incarnation;
	/* number of the batch to this aggregator, from 1 on; a missing number is a lost
	 * batch */
	uint64_t seq;
	uint64_t now_ns; /* agent's CLOCK_MONOTONIC when the batch was made */
	uint64_t dropped_batches,
	    dropped_results; /* results that this run of the agent has dropped so far */
};

struct wire_batch_view {
	struct wire_batch_head head;
	size_t count;
	const struct wire_result
	    *results; /* borrowed from the bytes; only on little-endian hosts */
};

int wire_write_batch(struct wire_writer *writer, const struct wire_batch_head *head,
    const struct wire_result *results, size_t count, struct wire_bytes *out);
int wire_open_batch(struct wire_batch_view *view, const uint8_t *data, size_t len);

/* ---- traced paths ---- */

enum wire_path_flags {
	WIRE_PATH_COMPLETE = 1,  /* the last hop is next to the destination */
	WIRE_PATH_MULTIPATH = 2, /* repeated traces of this flow disagree */
};

/* The traced path of one flow. Fixed size, zero copy. */
struct wire_path {
	uint64_t src_guid, dst_guid;
	uint64_t age_ns;   /* paths.now_ns minus the time of the trace */
	uint16_t src_port; /* the flow */
	uint8_t src_port_num, dst_port_num;
	uint8_t dscp;   /* of the trace */
	uint8_t family; /* 4 or 6 */
	uint8_t flags;  /* enum wire_path_flags */
	uint8_t hop_count;
	/* hops[i]: address that answered for TTL i + 1, in network order, IPv4 in the
	 * first 4 bytes; all 0: no answer. */
	uint8_t hops[WIRE_MAX_HOPS][16];
};

#define WIRE_PATH_BYTES 160

struct wire_paths {
	const char *host;
	uint64_t incarnation;
	uint64_t now_ns;               /* agent's CLOCK_MONOTONIC */
	const struct wire_path *paths; /* paths that are new or have changed */
	size_t path_count;
};

int wire_write_paths(
    struct wire_writer *writer, const struct wire_paths *paths, struct wire_bytes *out);
/* paths is borrowed from the bytes. hop_count and family of each path were checked. */
int wire_open_paths(struct wire_paths *view, const uint8_t *data, size_t len);

/*
 * Traced paths between racks, for the topology. Each distinct sequence of hops is sent
 * once, and every ten minutes again while a flow takes it.
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
