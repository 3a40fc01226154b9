/*
 * prober_target - one target of the pinglist: its pace, the flow, class and size of its
 * next probe, and its number of probes.
 *
 * It lives as long as it is listed or has probes in flight.
 */
#ifndef HOST_AGENT_PROBE_PROBER_TARGET_H
#define HOST_AGENT_PROBE_PROBER_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HASH_NONFATAL_OOM 1 /* no exit(): an entry that was not added has no hh.tbl */
#include <uthash.h>

#include "host-agent/probe/pacer.h"
#include "host-agent/probe/target_filter.h"
#include "rackmesh/identity/probe_key.h"
#include "schemas/wire.h"

struct port;

/* The key by which targets of two lists are compared. */
struct prober_target_key {
	uint64_t src_guid, dst_guid;
	uint8_t src_port, dst_port, kind, family;
	uint8_t zero[4];
};

struct prober_target {
	struct pacer_entry pace; /* first: the pacer returns a pointer to it */
	struct wire_target wire; /* its arrays are the following members: */
	uint16_t flows[WIRE_MAX_FLOWS];
	uint16_t kept[WIRE_MAX_FLOWS]; /* the flows that are probed in turn */
	size_t kept_count;
	uint16_t sizes[WIRE_MAX_SIZES];
	uint8_t dscps[WIRE_MAX_CLASSES];
	struct prober_target_key key;
	bool has_qp; /* probes are sent to a QP of the target */
	bool keyed;  /* and carry a MAC, made by macs */
	struct probe_macs macs;
	uint32_t turn;                        /* of flow, class and size */
	uint32_t tx_counts[WIRE_MAX_CLASSES]; /* indexed by the first place of the class
						 in wire */
	rm_mono_t focus_until;
	int64_t focus_ns; /* 0: not focused */
	size_t limit;     /* index of the limit of all targets with this address */
	unsigned refs; /* references: one from the list, and one per probe in flight */
	UT_hash_handle hh;
};

/*
 * Checks a target of any plan: TARGET_FINE, or the reason why it is never probed. port:
 * NULL for a caller that does not send through a transport but applies the same rules.
 * home: NULL: not known.
 */
enum target_refusal prober_target_check(
    const struct wire_target *wire, struct port *port, const struct target_home *home);

/* The real source ports of wire's probes, without duplicates, in the order of the
 * wanted ports. Returns their number. port NULL: the wanted ports. */
size_t prober_target_flows(const struct wire_target *wire, const struct port *port,
    uint16_t ret[WIRE_MAX_FLOWS]);

/* Copies the target, without the sizes that its QPs cannot receive. wire has passed
 * prober_target_check. -ENOMEM. */
int prober_target_new(
    const struct wire_target *wire, struct port *port, struct prober_target **ret);
void prober_target_ref(struct prober_target *target);
void prober_target_unref(struct prober_target *target); /* NULL is allowed */

/* The new list's target takes over the state of the old list's. */
void prober_target_inherit(
    struct prober_target *target, const struct prober_target *old);

/* Probes only the flows of wire.flows whose bits are set, in turn; all flows if no bit
 * is set. */
void prober_target_keep(struct prober_target *target, uint64_t flows);

/*
 * Flow, class and size of the turn-th probe: flows change fastest, then classes, then
 * sizes, so that every combination occurs. The first size differs from flow to flow;
 * otherwise all probes would be large during one round of the flows.
 */
struct prober_places {
	size_t flow, dscp, size; /* 0 .. flows - 1, and so on */
} prober_places(size_t turn, size_t flows, size_t dscps, size_t sizes);

struct prober_combination {
	uint16_t src_port, size;
	uint8_t dscp;
	uint32_t *tx_count;
};

/* prober_places applied to the kept flows. Both packets of a pair have the same
 * flow, class and size: each flow gets a follow-up in its turn. */
struct prober_combination prober_target_turn(
    struct prober_target *target, bool pair_goes_on);

/* ns between two probes (or pairs) as asked for now, before any stretching. */
int64_t prober_target_interval(const struct prober_target *target, rm_mono_t now);

/* A target with a QP ignores the address's port. */
bool prober_target_is(
    const struct prober_target *target, const struct wire_address *address);

#endif
