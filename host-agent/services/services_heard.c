/* What the kernel tells of QPs, as it happens and when asked. */
#include <errno.h>
#include <string.h>

#include "bpf/qp_event.h"
#include "host-agent/probe/flow_label.h"
#include "host-agent/services/services_state.h"

#define EPHEMERAL_PORT 32768 /* from here on the kernel gives out ports of rdma_cm */

/* 0: none of those. */
static uint8_t
wire_type(uint32_t kernel_type)
{
	switch (kernel_type) {
	case QP_EVENT_RC:
		return WIRE_QP_RC;
	case QP_EVENT_UC:
		return WIRE_QP_UC;
	case QP_EVENT_XRC_INI:
	case QP_EVENT_XRC_TGT:
		return WIRE_QP_XRC;
	default:
		return 0;
	}
}

/* GIDs of IPv4 are mapped into IPv6; all zeros: none, as on InfiniBand. */
static struct wire_address
address_of_gid(const uint8_t gid[16])
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff }, none[16];
	struct wire_address address = { .family = 6 };

	if (memcmp(gid, mapped, sizeof(mapped)) == 0) {
		address.family = 4;
		memcpy(address.bytes, gid + sizeof(mapped), 4);
	} else if (memcmp(gid, none, sizeof(none)) == 0) {
		address.family = 0;
	} else {
		memcpy(address.bytes, gid, sizeof(address.bytes));
	}
	return address;
}

/* A program may ask for any; 24 bits are sent, and more no aggregator takes. */
static uint32_t
number(uint32_t qpn)
{
	return qpn & WIRE_MAX_QPN;
}

static bool
is_own(const struct owner *owner, const struct wire_address *address)
{
	for (size_t i = 0; i < owner->address_count; i++)
		if (services_same_address(&owner->addresses[i], address))
			return true;
	return false;
}

/* The QP of that number, whichever of the device's ports it had: its end does not tell,
 * and it may have got another one. */
static bool
forget(struct services *services, const struct qp_event *event)
{
	bool known = false;

	for (size_t i = 0; i < SERVICES_MAX_RNICS; i++) {
		struct qp *qp = NULL;

		if (services->owners[i].present &&
		    strcmp(services->owners[i].device, event->device) == 0)
			qp = services_qp_find(services, i, event->qpn);
		if (qp == NULL)
			continue;
		services_qp_remove(services, qp);
		known = true;
	}
	return known;
}

int
services_event(struct services *services, const struct qp_event *event, rm_mono_t now)
{
	bool destroyed = event->kind == QP_EVENT_DESTROYED;
	size_t owner =
	    services_owner_of(services, event->device, destroyed ? 0 : event->port);
	struct services_connection c;
	bool known;

	if (owner == 0 || wire_type(event->qp_type) == 0) {
		services->counts.foreign++;
		return -ENODEV;
	}
	owner--;
	known = forget(services, event);
	if (destroyed) {
		services->ended = now;
		services->counts.destroyed += known;
		return 0;
	}
	services->counts.connected++;
	c = (struct services_connection){
		.owner = owner,
		.qpn = event->qpn,
		.dst_qpn = number(event->dest_qpn),
		.type = wire_type(event->qp_type),
		.peer = address_of_gid(event->dgid),
		.src_port =
		    flow_label_sport(event->flow_label, event->qpn, event->dest_qpn),
		.dscp = event->traffic_class >> 2,
		.sl = event->sl,
		.pid = event->tgid,
		.cgroup_id = event->cgroup_id,
		.comm = event->comm,
		.kernel = "",
	};
	if (is_own(&services->owners[owner], &c.peer)) {
		services->counts.local++;
		return 0;
	}
	return services_qp_add(services, &c, now);
}

/*
 * Of a QP that is older than we are nobody tells the flow label. rdma_cm makes it of
 * the ports (cma_get_roce_udp_flow_label in the kernel), in the order of the side that
 * connected, whose port is one that was given out; programs that exchange QPNs
 * themselves leave it 0 as a rule.
 */
static uint16_t
older_port(const struct qp_list_row *row)
{
	uint32_t own = row->src.port, peer = row->dst.port, label = 0;

	if (row->dst.family != 0) {
		if ((own >= EPHEMERAL_PORT) == (peer >= EPHEMERAL_PORT))
			return 0;
		label = own > peer ? own * 31 + peer : peer * 31 + own;
	}
	return flow_label_sport(label & FLOW_LABEL_MAX, row->qpn, row->dst_qpn);
}

/* In states that have a peer. */
static void
listed_one(struct services *services, size_t owner, const struct qp_list_row *row,
    rm_mono_t asked, rm_mono_t now)
{
	struct services_connection c = {
		.owner = owner,
		.qpn = row->qpn,
		.dst_qpn = number(row->dst_qpn),
		.type = wire_type(row->type),
		.peer = row->dst,
		.src_port = older_port(row),
		.pid = row->pid,
		.comm = "",
		.kernel = row->kernel,
		.older = true,
	};
	struct qp *qp = services_qp_find(services, owner, row->qpn);

	/* Another one has its number, and of neither its end nor its start was heard.
	 */
	if (qp != NULL && rm_mono_since(qp->since, asked) < 0 && c.dst_qpn != 0 &&
	    qp->dst_qpn != 0 && qp->dst_qpn != c.dst_qpn) {
		services->counts.missed++;
		services_qp_remove(services, qp);
		qp = NULL;
	}
	if (qp == NULL && c.peer.family == 0 && c.dst_qpn == 0) {
		services->owners[owner].unjoinable++;
		return;
	}
	if (qp == NULL && is_own(&services->owners[owner], &c.peer)) {
		services->counts.local++;
		return;
	}
	if (qp == NULL && services_qp_add(services, &c, now) == 0) {
		services->counts.older++;
		qp = services_qp_find(services, owner, row->qpn);
	}
	if (qp != NULL)
		qp->listing = services->listing;
}

bool
services_listed(struct services *services, const struct qp_list *list, rm_mono_t asked,
    rm_mono_t now)
{
	uint64_t older = services->counts.older;
	struct qp *qp, *next;
	bool again;

	services->listing++;
	for (size_t i = 0; i < SERVICES_MAX_RNICS; i++)
		services->owners[i].unjoinable = 0;
	for (size_t i = 0; i < list->row_count; i++) {
		const struct qp_list_row *row = &list->rows[i];
		size_t owner = services_owner_of(
		    services, list->devices[row->device].name, row->port);

		if (owner == 0)
			continue;
		qp = services_qp_find(services, owner - 1, row->qpn);
		if (row->state >= QP_LIST_RTR && row->state <= QP_LIST_SQE)
			listed_one(services, owner - 1, row, asked, now);
		else if (qp != NULL) /* in error, but there */
			qp->listing = services->listing;
	}
	again = services->counts.older != older && services->ended.ns != 0 &&
		rm_mono_since(services->ended, asked) >= 0;
	if (list->cut)
		return again;
	HASH_ITER (hh, services->qps, qp, next) {
		if (qp->listing == services->listing ||
		    rm_mono_since(qp->since, asked) >= 0)
			continue;
		services->counts.missed++;
		services_qp_remove(services, qp);
	}
	return again;
}
