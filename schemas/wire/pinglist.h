/*
 * pinglist - which RNIC probes which: the plan of a ToR, and the part of it for one
 * agent.
 */
#ifndef SCHEMAS_WIRE_PINGLIST_H
#define SCHEMAS_WIRE_PINGLIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schemas/wire/identity.h"
#include "schemas/wire/results.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- plans (controller -> aggregator) ---- */

/* A planned pair in addition to the mesh of the ToR: from one of its RNICs (src: index
 * in members) to a remote RNIC (dst: index in the remote RNICs). */
struct wire_plan_entry {
	uint32_t src, dst;
	enum wire_probe_kind kind;
	uint32_t interval_us; /* between two probes (or pairs of probes) to this target,
				 over all flows */
	/* probes are sent in pairs, so that the time stamp T4 of the first arrives
	 * soon */
	bool paired;
	uint8_t sl;            /* service level of verbs probes */
	const uint16_t *flows; /* UDP source ports, which are used one after another */
	size_t flow_count;
	const uint8_t *dscps; /* used in turn; a DSCP that is in the list twice is used
				 twice as often */
	size_t dscp_count;
	const uint16_t *sizes; /* UDP payload bytes, used in turn */
	size_t size_count;
};

/* How the aggregator expands the mesh: see rackmesh/judge/mesh.h. */
struct wire_mesh {
	uint32_t peers;       /* at most this many targets per RNIC at a time */
	uint32_t interval_us; /* between two probes to one target */
	uint32_t rotation_s;  /* the targets change after each period of this length */
	uint8_t sl;           /* service level of verbs probes */
	const uint16_t *flows;
	size_t flow_count;
	const uint8_t *dscps;
	size_t dscp_count;
	const uint16_t *sizes;
	size_t size_count;
};

/* An interface address of a switch, and the switch's name: a trace finds addresses
 * only. */
struct wire_alias {
	const char *switch_name;
	struct wire_address address; /* port 0 */
};

struct wire_plan {
	const char *region;
	const char *tor;
	const char *plane;
	uint64_t version; /* a larger version is newer */
	/* digest of all members except version: plans with equal digests are equal */
	uint64_t digest;
	struct wire_mesh mesh;
	const struct wire_rnic *members; /* the rack, in a fixed order */
	size_t member_count;
	const struct wire_rnic *remotes; /* targets and probers outside the rack */
	size_t remote_count;
	const struct wire_plan_entry *entries;
	size_t entry_count;
	/* aliases of the switches that the ToR's paths may cross */
	const struct wire_alias *aliases;
	size_t alias_count;
	/* A probe without a reply after this time is lost; at most
	 * WIRE_MAX_PROBE_TIMEOUT_MS; 0: not set, so the aggregator's own time-out is
	 * used. */
	uint32_t probe_timeout_ms;
};

struct wire_plan_view {
	struct wire_plan
	    plan; /* .members, .remote RNICs, .entries, .aliases are NULL */
	const void *opaque;
};

int wire_write_plan(
    struct wire_writer *writer, const struct wire_plan *plan, struct wire_bytes *out);
int wire_open_plan(struct wire_plan_view *view, const uint8_t *data, size_t len);
void wire_plan_member(
    const struct wire_plan_view *view, size_t i, struct wire_rnic *out);
void wire_plan_remote(
    const struct wire_plan_view *view, size_t i, struct wire_rnic *out);
/* Copies entry i. wire_open_plan has checked that src and dst are valid indexes. */
void wire_plan_entry(
    const struct wire_plan_view *view, size_t i, struct wire_plan_entry *out);
void wire_plan_alias(
    const struct wire_plan_view *view, size_t i, struct wire_alias *out);

/* ---- pinglists (aggregator -> agent) ---- */

struct wire_target {
	struct wire_rnic_id src, dst;
	enum wire_probe_kind kind;
	struct wire_address address;
	uint32_t dst_qpn;
	uint32_t dst_large_qpn;
	uint16_t dst_lid;
	uint8_t sl;
	uint32_t interval_us;
	bool paired;
	const uint16_t *flows;
	size_t flow_count;
	const uint8_t *dscps;
	size_t dscp_count;
	const uint16_t *sizes;
	size_t size_count;
};

struct wire_peer { /* an RNIC whose probes the reflectors answer */
	struct wire_rnic_id id;
	struct wire_address address;
};

struct wire_pinglist {
	const char *tor;
	uint64_t version;  /* version of the plan from which the pinglist was built */
	uint32_t rotation; /* number of the rotation within that version */
	const struct wire_target *targets;
	size_t target_count;
	const struct wire_peer *roster;
	size_t roster_count;
	/* as in the plan; 0: the aggregator is too old to send it */
	uint32_t probe_timeout_ms;
};

struct wire_pinglist_view {
	struct wire_pinglist pinglist; /* .targets, .roster are NULL */
	struct wire_bytes bytes;       /* the message itself, borrowed */
	const void *opaque;
};

int wire_write_pinglist(struct wire_writer *writer,
    const struct wire_pinglist *pinglist, struct wire_bytes *out);
int wire_open_pinglist(
    struct wire_pinglist_view *view, const uint8_t *data, size_t len);
/* Copies the message of view to data, which is aligned to 8 and has room for
 * view->bytes.len, and sets *ret to a view of the copy. The message was verified when
 * view was opened, so the copy is not verified again. */
void wire_copy_pinglist(const struct wire_pinglist_view *view, uint8_t *data,
    struct wire_pinglist_view *ret);
void wire_pinglist_target(
    const struct wire_pinglist_view *view, size_t i, struct wire_target *out);
void wire_pinglist_peer(
    const struct wire_pinglist_view *view, size_t i, struct wire_peer *out);

#ifdef __cplusplus
}
#endif

#endif
