/*
 * summary - the reports on a rack (aggregator -> analyzer), and requests for its raw
 * results (drill-down).
 */
#ifndef SCHEMAS_WIRE_SUMMARY_H
#define SCHEMAS_WIRE_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schemas/wire/identity.h"
#include "schemas/wire/results.h"
#include "schemas/wire/session.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- summaries and incidents ---- */

/* One row for each source ToR, destination ToR, class and flow set, over the time
 * window of the summary. */
struct wire_row {
	const char *src_tor, *dst_tor;
	uint8_t dscp;
	/* "all", or the flows with losses in a row that became bad */
	const char *flow_set;
	bool bad;
	uint64_t sent;
	uint64_t outcomes[WIRE_OUTCOMES];
	uint64_t lost_forward, lost_reverse,
	    lost_unknown; /* WIRE_NO_REPLY by direction */
	struct wire_bytes rtt, prober_delay, responder_delay; /* rm_sketch_encode */
	/* arrived: probes whose DSCP and ECN on arrival are known; rewritten: those
	 * that arrived with another DSCP than they were sent with; congested: probes
	 * that arrived with CE (RFC 3168). All 0: an older peer. */
	uint64_t arrived, rewritten, congested;
	uint8_t arrived_dscp; /* DSCP of the last probe whose DSCP was rewritten */
	/* hops_known: arrived probes whose TTL on arrival is known; hops: sum of the
	 * routers that these probes passed; hops_least, hops_most: of the shortest and
	 * the longest path. All 0: an older peer. */
	uint64_t hops_known, hops;
	uint8_t hops_least, hops_most;
};

enum { WIRE_P50, WIRE_P95, WIRE_P99, WIRE_MAX, WIRE_QUANTILES };

struct wire_rnic_row {
	struct wire_rnic_id id;
	const char *host, *device;
	bool bad;
	uint64_t sent;
	uint64_t outcomes[WIRE_OUTCOMES];
	uint32_t rtt_ns[WIRE_QUANTILES];
	uint32_t prober_delay_ns[WIRE_QUANTILES];
	uint32_t responder_delay_ns[WIRE_QUANTILES];
};

/* A network does not delay a packet for so long, even with full queues. */
#define WIRE_SLOW_NS 100000000

/*
 * The probes that left this rack for another one along one path. path: the hops from
 * the source's ToR to the destination's ToR, separated by one blank. A hop is
 * "switch@address", where the address is that of the interface that answered the trace,
 * on the side on which the probe arrived; "?@address" if no alias has the address; or
 * "?" for a silent hop. "": not traced yet; "*": multipath.
 */
struct wire_path_row {
	const char *dst_tor;
	const char *path;
	uint8_t dscp;
	uint64_t sent;
	/* WIRE_NO_REPLY, by direction */
	uint64_t lost_forward, lost_reverse, lost_unknown;
	/* dead: flows of which two or more probes were sent, and none was answered */
	uint32_t flows, flows_dead;
	/* flows_partial: flows with answered and lost probes; flows_silent: flows
	 * without any answer, even with only one probe. Both are 0 although probes were
	 * lost: an older aggregator has sent the row. */
	uint32_t flows_partial, flows_silent;
	/* Up to 8 flows with lost probes or, if none is lost, with slow ones, such as
	 * "h1/r0>h9/r0:49153", separated by one blank. */
	const char *samples;
	/* timed: answered probes whose round trip a NIC or a kernel has measured; slow:
	 * those of WIRE_SLOW_NS or longer; overdue: replies that arrived after their
	 * probes had been reported as lost; slow_ns: sum of the round trip times of
	 * slow and overdue. All 0: an older aggregator. */
	uint64_t timed, slow, overdue, slow_ns;
	/* How many of the sent and of the lost probes were large (above
	 * WIRE_ROCE_SMALL_BYTES), and the size of the smallest large probe that was
	 * lost. All 0: there were none, or the aggregator is older. */
	uint64_t large_sent, large_lost;
	uint16_t large_bytes;
	/* arrived: answered probes whose DSCP and ECN on arrival are known; of these,
	 * rewritten: arrived with another DSCP than they were sent with; congested:
	 * arrived with CE (RFC 3168); not_ect: a device has set their ECN field to 0,
	 * since all probes are sent with ECT. All 0: an older aggregator. */
	uint64_t arrived, rewritten, congested, not_ect;
};

#define WIRE_MAX_INSIDE_ROWS 8

#define WIRE_MAX_SERVICE_ROWS 256

/* The probes of this rack along the flows of one service, in one class. */
struct wire_service_row {
	const char *service;
	uint8_t dscp;
	uint64_t sent;
	uint64_t outcomes[WIRE_OUTCOMES];
	struct wire_bytes rtt; /* rm_sketch_encode */
};

#define WIRE_MAX_PORT_ROWS 64

/* A port of a switch with a cable to another switch, whose counters can explain lost
 * packets. */
struct wire_port_row {
	const char *switch_name, *port;
	/* name of the other switch, by its aggregator or by LLDP */
	const char *neighbor;
	const char *sentence; /* "the switch's port Ethernet48 counted ..." */
};

#define WIRE_MAX_USE_ROWS 1024

enum wire_uses_known {
	WIRE_USES_UNKNOWN, /* this summary does not have uses, or the peer is older */
	/* incomplete: some hosts of the rack do not trace services, or rows are left
	 * out */
	WIRE_USES_SOME,
	WIRE_USES_ALL,
};

/* The flows of one service from this rack to one other rack (or inside it) along one
 * path, and the probes along these flows since the last rows of this kind. */
struct wire_use_row {
	const char *service; /* "pod:UID (namespace/name)", "unit:b" */
	const char *dst_tor; /* "": not known */
	/* as in wire_path_row; "" also for flows inside the rack */
	const char *path;
	uint32_t flows;
	uint64_t sent, lost;
};

#define WIRE_UNCOUNTED_BYTES 160

struct wire_rack_state { /* the state of the rack at the end of the summary */
	/* the state of the other RNICs is not known */
	uint32_t rnics, rnics_good, rnics_bad;
	uint32_t hosts, hosts_ok;
	uint32_t incidents_open;
	uint64_t plan_version;
	uint32_t brake_permille; /* 1000: none */
	/* connected hosts on which an operator has paused probing */
	uint32_t hosts_paused;
	/* connected hosts that slow down their own probing because of a limit */
	uint32_t hosts_slowed;
	/* rnics_counting: number of RNICs of the rack that have all of the following
	 * counters. The counters are sums of one minute over all RNICs that have them,
	 * including RNICs that have just left the rack. */
	uint32_t rnics_counting;
	uint64_t rdma_sent, rdma_received; /* packets */
	uint64_t cnps_sent, cnps_received;
	/* rnics_packets_only: number of the other RNICs that count at least the RDMA
	 * packets that they send. packets_only_sent: these packets in one minute. Such
	 * an RNIC receives at most one CNP for each of them. */
	uint32_t rnics_packets_only;
	uint64_t packets_only_sent;
};

/* True: the rack has hosts, none of their agents reports, not even that it is paused,
 * and no RNIC is known to work. */
static inline bool
wire_rack_state_is_empty(const struct wire_rack_state *state)
{
	return state->hosts > 0 && state->hosts_ok == 0 && state->hosts_paused == 0 &&
	       state->rnics_good == 0;
}

struct wire_summary {
	struct wire_lane_head head;
	const char *tor;
	uint64_t start_wall_ns, end_wall_ns;
	/* a restart or a stall of the aggregator has made the window incomplete */
	bool partial;
	/* number of raw results so far */
	uint64_t taken, windowed, late, invalid, duplicate;
	uint64_t agent_dropped; /* results that agents dropped, so far */
	const struct wire_row *rows;
	size_t row_count;
	const struct wire_rnic_row *rnics;
	size_t rnic_count;
	/* Rows of all paths, every row interval, and every second while probes that
	 * left the rack are lost. They cover the time from paths_start to
	 * end_wall_ns. */
	uint64_t paths_start_wall_ns;
	const struct wire_path_row *paths;
	size_t path_count;
	/* The probes inside the rack in the same time, a row for each class: dst_tor
	 * and path are "", all losses are lost_unknown. They cross the ToR only. Left
	 * out is the RNIC that loses most. None: an older aggregator, or no such
	 * probes. */
	const struct wire_path_row *inside;
	size_t inside_count;
	/* Rows of services, every row interval. They cover the time from services_start
	 * to end_wall_ns. */
	uint64_t services_start_wall_ns;
	const struct wire_service_row *services;
	size_t service_count;
	/* all present findings on ports; sent only together with state */
	const struct wire_port_row *ports;
	size_t port_count;
	/* All present uses, every row interval, and every second while probes along
	 * their flows are lost. */
	enum wire_uses_known uses_known;
	const struct wire_use_row *uses;
	size_t use_count;
	bool has_state;
	struct wire_rack_state state;
	/* The first RNICs that lack some of these counters: "host/device, ...". Never
	 * NULL when read. */
	const char *uncounted;
	/* The end of the summary on the aggregator's monotonic clock, which is never
	 * set, and begins anew when its machine starts. Only differences within one
	 * incarnation and one run of the machine have a meaning. 0: an older
	 * aggregator. */
	uint64_t end_ns;
};

struct wire_summary_view {
	struct wire_summary summary; /* its arrays (rows, rnics, paths ...) are NULL */
	struct wire_bytes bytes;     /* the message itself, borrowed */
	const void *opaque;
};

int wire_write_summary(struct wire_writer *writer, const struct wire_summary *summary,
    struct wire_bytes *out);
int wire_open_summary(struct wire_summary_view *view, const uint8_t *data, size_t len);
void wire_summary_row(
    const struct wire_summary_view *view, size_t i, struct wire_row *out);
void wire_summary_rnic(
    const struct wire_summary_view *view, size_t i, struct wire_rnic_row *out);
void wire_summary_path(
    const struct wire_summary_view *view, size_t i, struct wire_path_row *out);
void wire_summary_inside(
    const struct wire_summary_view *view, size_t i, struct wire_path_row *out);
void wire_summary_service(
    const struct wire_summary_view *view, size_t i, struct wire_service_row *out);

void wire_summary_port(
    const struct wire_summary_view *view, size_t i, struct wire_port_row *out);
void wire_summary_use(
    const struct wire_summary_view *view, size_t i, struct wire_use_row *out);

enum wire_incident_state { WIRE_OPENED = 1, WIRE_UPDATED, WIRE_RESOLVED };

struct wire_incident {
	struct wire_lane_head head;
	uint64_t incident_id; /* id of this incident, new at each opening */
	enum wire_incident_state state;
	const char *tor;       /* ToR of the rack that found it */
	const char *part_type; /* names as in rackmesh/judge */
	const char *part;
	const char *place;
	const char *kind;
	double confidence;
	uint64_t began_wall_ns; /* start of the first window with the fault */
	uint64_t opened_wall_ns;
	uint64_t changed_wall_ns;
	const char *sentence;      /* the evidence in one sentence */
	const char *evidence_json; /* counts, samples, causes that were ruled out */
	/* label of the alert; "": the peer is too old to send it */
	const char *severity;
	/* Of a flapping part: since when it is good, between two of its falls. 0: it is
	 * bad now, or the peer is too old to send it. */
	uint64_t good_since_wall_ns;
	uint64_t returned_wall_ns; /* time of its last fall; 0: it is not flapping */
};

int wire_write_incident(struct wire_writer *writer,
    const struct wire_incident *incident, struct wire_bytes *out);
int wire_open_incident(struct wire_incident *view, const uint8_t *data, size_t len);

/* ---- drill-down over a link ---- */

struct wire_drill {
	uint64_t token;
	const char *rnic; /* id of an RNIC, or "host/device" */
	uint32_t seconds, limit;
	/* If not "": the request is for the pairs of this ToR, and not for an RNIC.
	 * With seconds 3600 it is for the last hour, else for the last minute. */
	const char *mesh;
	/* If not "": the request is for the diagnosis of this ToR's rack; hosts_only:
	 * only for the hosts in that answer (an older peer sends the whole answer). */
	const char *counted;
	bool hosts_only;
};

int wire_write_drill(
    struct wire_writer *writer, const struct wire_drill *drill, struct wire_bytes *out);
int wire_open_drill(struct wire_drill *view, const uint8_t *data, size_t len);

struct wire_drill_answer {
	uint64_t token;
	uint16_t status; /* an HTTP status */
	/* the answer, as that of /v1/drill; at most WIRE_MAX_JSON bytes */
	struct wire_bytes json;
	bool mesh;    /* json is the answer of /v1/mesh; false from an older peer */
	bool counted; /* json is the diagnosis of counters; false from an older peer */
};

int wire_write_drilled(struct wire_writer *writer,
    const struct wire_drill_answer *answer, struct wire_bytes *out);
int wire_open_drilled(struct wire_drill_answer *view, const uint8_t *data, size_t len);

#ifdef __cplusplus
}
#endif

#endif
