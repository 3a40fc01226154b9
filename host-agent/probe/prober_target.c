#include "host-agent/probe/prober_target.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host-agent/packet/probe_format.h"
#include "host-agent/probe/port.h"
#include "host-agent/probe/prober_limits.h"

#define FIRST_FREE_PORT 1024

/* True: the target has a QP whose receive buffers hold a probe of this size. */
static bool
size_fits_a_qp(const struct wire_target *wire, const struct port *port, uint16_t size)
{
	return wire->dst_large_qpn != 0 ||
	       port_format(port)->size(size) <= WIRE_ROCE_SMALL_BYTES;
}

/* A UDP packet to the RoCE port is refused: a NIC would treat it as RoCE. */
static bool
transport_is_ours(const struct wire_target *wire, const struct port *port)
{
	if (!port_has_qps(port))
		return wire->address.port != WIRE_ROCE_PORT;
	if (wire->dst_qpn == 0)
		return false;
	for (size_t i = 0; i < wire->size_count; i++)
		if (size_fits_a_qp(wire, port, wire->sizes[i]))
			return true;
	return false;
}

/* Reflectors do not answer probes from a reflector's port or from a privileged port. */
static enum target_refusal
check_flows(const struct wire_target *wire, struct port *port)
{
	for (size_t i = 0; i < wire->flow_count; i++) {
		if (wire->flows[i] < FIRST_FREE_PORT ||
		    wire->flows[i] == wire->address.port)
			return TARGET_MALFORMED;
		if (port != NULL && port_check(port, &wire->address,
					port_flow(port, wire->flows[i])) < 0)
			return TARGET_OTHER_PORT;
	}
	return TARGET_FINE;
}

static bool
same_id(struct wire_rnic_id a, struct wire_rnic_id b)
{
	return a.guid == b.guid && a.port == b.port;
}

static enum target_refusal
check_ends(const struct wire_target *wire, const struct own_rnic *own_rnic)
{
	static const struct own_rnic nowhere;

	if (own_rnic == NULL)
		own_rnic = &nowhere;
	if (own_rnic->id.guid != 0 &&
	    (!same_id(wire->src, own_rnic->id) || same_id(wire->dst, own_rnic->id)))
		return TARGET_SELF;
	return target_address_check(&wire->address, own_rnic);
}

enum target_refusal
prober_target_check(
    const struct wire_target *wire, struct port *port, const struct own_rnic *own_rnic)
{
	enum target_refusal refusal = check_ends(wire, own_rnic);

	if (refusal != TARGET_FINE)
		return refusal;
	if (wire->flow_count == 0 || wire->dscp_count == 0 || wire->size_count == 0 ||
	    wire->flow_count > WIRE_MAX_FLOWS || wire->dscp_count > WIRE_MAX_CLASSES ||
	    wire->size_count > WIRE_MAX_SIZES)
		return TARGET_MALFORMED;
	if (wire->interval_us < PROBER_MIN_INTERVAL_US)
		return TARGET_TOO_FAST;
	for (size_t i = 0; i < wire->size_count; i++)
		if (wire->sizes[i] > PROBER_MAX_SIZE_BYTES)
			return TARGET_TOO_LARGE;
	for (size_t i = 0; i < wire->dscp_count; i++)
		if (wire->dscps[i] > 63)
			return TARGET_MALFORMED;
	refusal = check_flows(wire, port);
	if (refusal == TARGET_FINE && port != NULL && !transport_is_ours(wire, port))
		refusal = TARGET_OTHER_PORT;
	return refusal;
}

size_t
prober_target_flows(const struct wire_target *wire, const struct port *port,
    uint16_t ret[WIRE_MAX_FLOWS])
{
	size_t count = 0;

	for (size_t i = 0; i < wire->flow_count && i < WIRE_MAX_FLOWS; i++) {
		uint16_t flow =
		    port != NULL ? port_flow(port, wire->flows[i]) : wire->flows[i];
		size_t same = 0;

		while (same < count && ret[same] != flow)
			same++;
		if (same == count)
			ret[count++] = flow;
	}
	return count;
}

static size_t
usable_sizes(const struct wire_target *wire, const struct port *port,
    uint16_t ret[WIRE_MAX_SIZES])
{
	size_t count = 0;

	for (size_t i = 0; i < wire->size_count; i++)
		if (!port_has_qps(port) || size_fits_a_qp(wire, port, wire->sizes[i]))
			ret[count++] = wire->sizes[i];
	return count;
}

static void
target_copy(struct prober_target *target, const struct wire_target *wire,
    const struct port *port)
{
	target->has_qp = port_has_qps(port);
	target->wire = *wire;
	target->wire.flow_count = prober_target_flows(wire, port, target->flows);
	target->wire.flows = target->flows;
	target->wire.size_count = usable_sizes(wire, port, target->sizes);
	target->wire.sizes = target->sizes;
	memcpy(target->dscps, wire->dscps, wire->dscp_count);
	target->wire.dscps = target->dscps;
	prober_target_keep(target, UINT64_MAX);
}

void
prober_target_keep(struct prober_target *target, uint64_t flows)
{
	size_t count = 0;

	for (size_t i = 0; i < target->wire.flow_count; i++)
		if (flows & UINT64_C(1) << i)
			target->kept[count++] = target->flows[i];
	target->kept_count = count;
	if (count == 0)
		prober_target_keep(target, UINT64_MAX);
}

int
prober_target_new(
    const struct wire_target *wire, struct port *port, struct prober_target **ret)
{
	struct prober_target *target = calloc(1, sizeof(*target));

	if (target == NULL)
		return -ENOMEM;
	target_copy(target, wire, port);
	target->refs = 1;
	target->key.src_guid = wire->src.guid;
	target->key.dst_guid = wire->dst.guid;
	target->key.src_port = wire->src.port;
	target->key.dst_port = wire->dst.port;
	target->key.kind = (uint8_t)wire->kind;
	target->key.family = wire->address.family;
	*ret = target;
	return 0;
}

void
prober_target_ref(struct prober_target *target)
{
	target->refs++;
}

void
prober_target_unref(struct prober_target *target)
{
	if (target == NULL || --target->refs > 0)
		return;
	if (target->keyed)
		probe_macs_clear(&target->macs);
	free(target);
}

static size_t
class_place(const struct wire_target *wire, uint8_t dscp)
{
	size_t i = 0;

	while (i < wire->dscp_count && wire->dscps[i] != dscp)
		i++;
	return i;
}

void
prober_target_inherit(struct prober_target *target, const struct prober_target *old)
{
	target->turn = old->turn;
	if (target->wire.flow_count == old->wire.flow_count &&
	    memcmp(target->flows, old->flows, sizeof(target->flows)) == 0) {
		memcpy(target->kept, old->kept, sizeof(target->kept));
		target->kept_count = old->kept_count;
	}
	target->focus_ns = old->focus_ns;
	target->focus_until = old->focus_until;
	target->pace.due = old->pace.due;
	target->pace.second = old->pace.second;
	target->pace.interval_ns = old->pace.interval_ns;
	for (size_t i = 0; i < target->wire.dscp_count; i++) {
		size_t was = class_place(&old->wire, target->wire.dscps[i]);

		if (was < old->wire.dscp_count)
			target->tx_counts[i] = old->tx_counts[was];
	}
}

struct prober_places
prober_places(size_t turn, size_t flows, size_t dscps, size_t sizes)
{
	const size_t flow = turn % flows, round = turn / flows;

	return (struct prober_places){ flow, round % dscps,
		(round / dscps + flow) % sizes };
}

struct prober_combination
prober_target_turn(struct prober_target *target, bool pair_goes_on)
{
	const struct wire_target *wire = &target->wire;
	const size_t turn = pair_goes_on ? target->turn - 1 : target->turn++;
	const struct prober_places at =
	    prober_places(turn, target->kept_count, wire->dscp_count, wire->size_count);
	const uint8_t dscp = wire->dscps[at.dscp];

	return (struct prober_combination){ .src_port = target->kept[at.flow],
		.size = wire->sizes[at.size],
		.dscp = dscp,
		.tx_count = &target->tx_counts[class_place(wire, dscp)] };
}

int64_t
prober_target_interval(const struct prober_target *target, rm_mono_t now)
{
	int64_t interval = target->wire.interval_us * RM_NS_PER_US;

	if (target->focus_ns == 0 || target->focus_ns >= interval ||
	    rm_mono_since(target->focus_until, now) <= 0)
		return interval;
	return target->focus_ns;
}

bool
prober_target_is(const struct prober_target *target, const struct wire_address *address)
{
	const struct wire_address *own = &target->wire.address;

	return own->family == address->family &&
	       (own->port == address->port || target->has_qp) &&
	       memcmp(own->bytes, address->bytes, own->family == 4 ? 4 : 16) == 0;
}
