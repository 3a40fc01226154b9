/*
 * prober_target - one target of the pinglist: its pace; the flow, class and size of its
 * next probe; and the number of probes sent.
 *
 * A target lives as long as it is in the list or has probes in flight.
 */
#ifndef HOST_AGENT_PROBE_PROBER_TARGET_H
#define HOST_AGENT_PROBE_PROBER_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* no exit(): hh.tbl is NULL if an entry could not be added */
#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "host-agent/probe/pacer.h"
#include "host-agent/probe/target_filter.h"
#include "rackmesh/identity/probe_key.h"
#include "schemas/wire.h"

struct port;

/* Targets of two lists are the same if their keys are equal. */
struct prober_target_key {
	uint64_t src_guid, dst_guid;
	uint8_t src_port, dst_port, kind, family;
	uint8_t zero[4];
};

struct prober_target {
	struct pacer_entry pace; /* must be the first member: pointers to it are cast */
	struct wire_target wire; /* its arrays are the members flows, sizes and dscps */
	uint16_t flows[WIRE_MAX_FLOWS];
	uint16_t kept[WIRE_MAX_FLOWS]; /* the flows that are probed in turn */
	size_t kept_count;
	uint16_t sizes[WIRE_MAX_SIZES];
	uint8_t dscps[WIRE_MAX_CLASSES];
	struct prober_target_key key;
	bool has_qp; /* probes go to a QP of the target */
	bool keyed;  /* probes have a MAC, which `macs` makes */
	struct probe_macs macs;
	uint32_t turn; /* number of turns so far, which selects flow, class and size */
	/* for each class, at the index of its first occurrence in wire */
	uint32_t tx_counts[WIRE_MAX_CLASSES];
	rm_mono_t focus_until;
	int64_t focus_ns; /* interval of the focus; 0: no focus */
	size_t limit;     /* index of the rate limit for the target's address */
	/* references: one of the list, and one of each probe in flight */
	unsigned refs;
	UT_hash_handle hh;
};

/*
 * Checks a target of any pinglist: TARGET_FINE, or the reason why it must not be
 * probed. port: NULL if the caller sends through no transport but applies the same
 * rules. own_rnic: the RNIC's own addresses; NULL: not known.
 */
enum target_refusal prober_target_check(
    const struct wire_target *wire, struct port *port, const struct own_rnic *own_rnic);

/* Fills in the source ports that wire's probes get, without duplicates, in the order of
 * the wanted ports. Returns their number. port NULL: fills in the wanted ports. */
size_t prober_target_flows(const struct wire_target *wire, const struct port *port,
    uint16_t ret[WIRE_MAX_FLOWS]);

/* Copies a target that has passed prober_target_check; sizes that its QPs cannot
 * receive are left out. *ret has one reference. -ENOMEM. */
int prober_target_new(
    const struct wire_target *wire, struct port *port, struct prober_target **ret);
void prober_target_ref(struct prober_target *target);
void prober_target_unref(struct prober_target *target); /* NULL is allowed */

/* Copies the state of the old list's target into the new list's. */
void prober_target_inherit(
    struct prober_target *target, const struct prober_target *old);

/* Restricts probing to the flows of wire.flows whose bits are set; no bit set: all
 * flows. */
void prober_target_keep(struct prober_target *target, uint64_t flows);

/*
 * Flow, class and size of the probe in turn number `turn`: flows change fastest, then
 * classes, then sizes, so that every combination occurs. The first size differs from
 * flow to flow; otherwise all probes would be large during one round of the flows.
 */
struct prober_places {
	size_t flow, dscp, size; /* 0 to flows - 1, 0 to dscps - 1, 0 to sizes - 1 */
} prober_places(size_t turn, size_t flows, size_t dscps, size_t sizes);

struct prober_combination {
	uint16_t src_port, size;
	uint8_t dscp;
	uint32_t *tx_count;
};

/* Returns the next combination, by prober_places over the kept flows. Both packets of a
 * pair have the same combination, so each flow gets the follow-up of its pair.
 * pair_goes_on: the packet is the second of its pair. */
struct prober_combination prober_target_turn(
    struct prober_target *target, bool pair_goes_on);

/* Returns the interval that is requested now, in ns between two probes (or pairs),
 * before it is stretched. */
int64_t prober_target_interval(const struct prober_target *target, rm_mono_t now);

/* True: address belongs to the target. The port is compared only if the target has no
 * QP. */
bool prober_target_is(
    const struct prober_target *target, const struct wire_address *address);

#endif
