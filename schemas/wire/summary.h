/*
 * summary - what a rack reports (aggregator -> analyzer), and drill-down into it.
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

/* Per (source ToR, destination ToR, class, flow set). Wall-clock window. */
struct wire_row {
	const char *src_tor, *dst_tor;
	uint8_t dscp;
	const char *flow_set; /* "all", or the flows of a row that turned bad */
	bool bad;
	uint64_t sent;
	uint64_t outcomes[WIRE_OUTCOMES];
	uint64_t lost_forward, lost_reverse,
	    lost_unknown; /* of NO_REPLY, by direction */
	struct wire_bytes rtt, prober_delay, responder_delay; /* rm_sketch_encode */
	/* Of the probes whose marks are known as the responder received them: with
	 * another DSCP than they were sent with, and with CE (RFC 3168). All 0: an
	 * older peer. */
	uint64_t arrived, rewritten, congested;
	uint8_t arrived_dscp; /* that of the last one that was rewritten */
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

#define WIRE_SLOW_NS 100000000 /* no fabric does that, whatever its queues hold */

/*
 * What left this rack for another along one path. path: hops from the source's ToR to
 * the destination's, separated by one blank, each "switch@address" (the interface that
 * answered the trace, the side on which the probe came in), or "?@address" for an
 * address that no alias names, or "?" for a hop that is silent. "": not traced (yet);
 * "*": multipath.
 */
struct wire_path_row {
	const char *dst_tor;
	const char *path;
	uint8_t dscp;
	uint64_t sent;
	uint64_t lost_forward, lost_reverse, lost_unknown; /* NO_REPLY, by direction */
	uint32_t flows, flows_dead; /* dead: sent two or more, and nothing came back */
	/* To some of what they sent came a reply and to some none; to none, however few
	 * they sent. Both 0 although something was lost: an older aggregator. */
	uint32_t flows_partial, flows_silent;
	/* Up to 8 flows that lost something, or were slow: "h1/r0>h9/r0:49153",
	 * separated by one blank. */
	const char *samples;
	/* Of the answers those whose round trip a NIC or a kernel has timed; of these
	 * those that took WIRE_SLOW_NS or longer. Besides: replies that came only now,
	 * to probes that had been told as lost. What the latter two took in all. All 0:
	 * an older aggregator. */
	uint64_t timed, slow, overdue, slow_ns;
	/* Of sent, and of the lost, those above WIRE_ROCE_SMALL_BYTES; the smallest of
	 * these that was lost. All 0: none, or an older aggregator. */
	uint64_t large_sent, large_lost;
	uint16_t large_bytes;
};

#define WIRE_MAX_SERVICE_ROWS 256

/* The probes that followed the flows of one service from this rack, in one class. */
struct wire_service_row {
	const char *service;
	uint8_t dscp;
	uint64_t sent;
	uint64_t outcomes[WIRE_OUTCOMES];
	struct wire_bytes rtt; /* rm_sketch_encode */
};

#define WIRE_MAX_PORT_ROWS 64

/* What the counters of a switch's port say that a cable to another switch ends in: of
 * those ports that count what can explain a loss. */
struct wire_port_row {
	const char *switch_name, *port;
	const char *neighbor; /* the other switch, as its aggregator or LLDP calls it */
	const char *sentence; /* "the switch's port Ethernet48 counted ..." */
};

#define WIRE_MAX_USE_ROWS 1024

enum wire_uses_known {
	WIRE_USES_UNKNOWN, /* this summary does not report them, or an older peer */
	WIRE_USES_SOME, /* some hosts of the rack do not trace, or rows are left out */
	WIRE_USES_ALL,
};

/* The flows of one service from this rack to one other (or inside it), along one path,
 * and the probes that followed them since the last such rows. */
struct wire_use_row {
	const char *service; /* "pod:UID (namespace/name)", "unit:b" */
	const char *dst_tor; /* "": not known */
	const char *path;    /* as in wire_path_row; "" inside the rack, too */
	uint32_t flows;
	uint64_t sent, lost;
};

struct wire_rack_state {                       /* at the summary's end */
	uint32_t rnics, rnics_good, rnics_bad; /* the rest is unknown */
	uint32_t hosts, hosts_ok;
	uint32_t incidents_open;
	uint64_t plan_version;
	uint32_t brake_permille; /* 1000: none */
	uint32_t hosts_paused;   /* heard, and somebody told them not to probe */
	uint32_t hosts_slowed;   /* heard, and they hold themselves back: limits */
	/* RNICs that count all of the following, and their sums for one minute. */
	uint32_t rnics_counting;
	uint64_t rdma_sent, rdma_received; /* packets */
	uint64_t cnps_sent, cnps_received;
};

struct wire_summary {
	struct wire_lane_head head;
	const char *tor;
	uint64_t start_wall_ns, end_wall_ns;
	bool partial; /* the window was cut by a restart or a stall of the aggregator */
	uint64_t taken, windowed, late, invalid, duplicate; /* raw results, so far */
	uint64_t agent_dropped; /* results agents threw away, so far */
	const struct wire_row *rows;
	size_t row_count;
	const struct wire_rnic_row *rnics;
	size_t rnic_count;
	/* All of the rack's paths, every row interval, and every second while anything
	 * that left the rack is lost: they cover paths_start .. end_wall_ns. */
	uint64_t paths_start_wall_ns;
	const struct wire_path_row *paths;
	size_t path_count;
	/* Of services, every row interval: services_start .. end_wall_ns. */
	uint64_t services_start_wall_ns;
	const struct wire_service_row *services;
	size_t service_count;
	const struct wire_port_row *ports; /* with state: all that stand */
	size_t port_count;
	/* Every row interval, and every second while any of their probes is lost: all
	 * that there are now. */
	enum wire_uses_known uses_known;
	const struct wire_use_row *uses;
	size_t use_count;
	bool has_state;
	struct wire_rack_state state;
	/* Its end on its aggregator's monotonic clock, which nobody sets: only
	 * differences within one life count. 0: an older aggregator. */
	uint64_t end_ns;
};

struct wire_summary_view {
	struct wire_summary summary; /* .rows, .rnics, .paths ... are NULL */
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
void wire_summary_service(
    const struct wire_summary_view *view, size_t i, struct wire_service_row *out);

void wire_summary_port(
    const struct wire_summary_view *view, size_t i, struct wire_port_row *out);
void wire_summary_use(
    const struct wire_summary_view *view, size_t i, struct wire_use_row *out);

enum wire_incident_state { WIRE_OPENED = 1, WIRE_UPDATED, WIRE_RESOLVED };

struct wire_incident {
	struct wire_lane_head head;
	uint64_t incident_id; /* of this opening */
	enum wire_incident_state state;
	const char *tor;       /* whose rack found it */
	const char *part_type; /* words of rackmesh/judge */
	const char *part;
	const char *place;
	const char *kind;
	double confidence;
	uint64_t began_wall_ns; /* start of the first window that showed it */
	uint64_t opened_wall_ns;
	uint64_t changed_wall_ns;
	const char *sentence;      /* the evidence in one sentence */
	const char *evidence_json; /* counts, samples, what was ruled out */
	const char *severity; /* its alert's label; "": an older peer does not say */
};

int wire_write_incident(struct wire_writer *writer,
    const struct wire_incident *incident, struct wire_bytes *out);
int wire_open_incident(struct wire_incident *view, const uint8_t *data, size_t len);

/* ---- drill-down through a link ---- */

struct wire_drill {
	uint64_t token;
	const char *rnic; /* its id, or "host/device" */
	uint32_t seconds, limit;
	/* Not "": the pairs of this ToR are asked for, and no RNIC; seconds: of 3600
	 * the last hour, else the last minute. */
	const char *mesh;
	/* Not "": what the counters of this ToR's rack mean is asked for; hosts_only:
	 * of that answer its hosts alone (an older peer tells all of it). */
	const char *counted;
	bool hosts_only;
};

int wire_write_drill(
    struct wire_writer *writer, const struct wire_drill *drill, struct wire_bytes *out);
int wire_open_drill(struct wire_drill *view, const uint8_t *data, size_t len);

struct wire_drill_answer {
	uint64_t token;
	uint16_t status;        /* HTTP's */
	struct wire_bytes json; /* what /v1/drill answers, at most WIRE_MAX_JSON */
	bool mesh;    /* json is what /v1/mesh answers; an older peer knows none */
	bool counted; /* json is of counters; an older peer knows no such question */
};

int wire_write_drilled(struct wire_writer *writer,
    const struct wire_drill_answer *answer, struct wire_bytes *out);
int wire_open_drilled(struct wire_drill_answer *view, const uint8_t *data, size_t len);

#ifdef __cplusplus
}
#endif

#endif
