/* Keeps RNICs, processes and QPs of service flows, and the reports about flows. */
#include "host-agent/services/services.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/qp_event.h"
#include "host-agent/probe/flow_label.h"
#include "host-agent/services/services_state.h"
#include "rackmesh/core/fnv.h"

/* ---- adding and removing QPs, with their flows, peers and processes ---- */

/* the kernel gives rdma_cm source ports from this one on */
#define EPHEMERAL_PORT 32768

static size_t services_owner_of(
    const struct services *services, const char *device, uint32_t port);

static void
process_release(struct services *services, struct process *process)
{
	if (process->qps > 0)
		return;
	services->unnamed -= !process->asked;
	HASH_DEL(services->processes, process);
	free(process);
}

/* A QP with a peer, from an event or from a list. */
struct services_connection {
	size_t owner;
	uint32_t qpn, dst_qpn;
	uint8_t type;             /* enum wire_qp_type */
	struct wire_address peer; /* family 0: not known */
	uint16_t src_port;        /* 0: not known */
	uint8_t dscp, sl;
	uint32_t pid;
	bool pid_elsewhere;
	uint64_t cgroup_id;
	const char *comm, *kernel;
	bool older;
};

static struct process *
process_get(struct services *services, const struct services_connection *c)
{
	struct process_key key;
	struct process *process;

	memset(&key, 0, sizeof(key));
	key.pid = c->pid;
	key.elsewhere = c->pid_elsewhere;
	if (c->pid == 0)
		snprintf(key.kernel, sizeof(key.kernel), "%s", c->kernel);
	HASH_FIND(hh, services->processes, &key, sizeof(key), process);
	if (process != NULL)
		return process;
	process = calloc(1, sizeof(*process));
	if (process == NULL)
		return NULL;
	process->key = key;
	process->cgroup_id = c->cgroup_id;
	snprintf(process->name.comm, sizeof(process->name.comm), "%s",
	    c->pid == 0 ? c->kernel : c->comm);
	process_name_clean(process->name.comm);
	/* the QP is from a list, and its process is in another pid namespace */
	if (c->pid == 0 && c->kernel[0] == 0)
		snprintf(
		    process->name.service, sizeof(process->name.service), "comm:?");
	else
		snprintf(process->name.service, sizeof(process->name.service), "%s:%s",
		    c->pid == 0 ? "kernel" : "comm", process->name.comm);
	process->asked = c->pid == 0;
	HASH_ADD(hh, services->processes, key, sizeof(process->key), process);
	if (process->hh.tbl == NULL) {
		free(process);
		return NULL;
	}
	services->unnamed += !process->asked;
	return process;
}

static struct peer *
peer_get(struct services *services, const struct services_connection *c, rm_mono_t now)
{
	struct peer_key key;

	memset(&key, 0, sizeof(key));
	key.family = c->peer.family;
	if (key.family != 0) {
		memcpy(key.bytes, c->peer.bytes, sizeof(key.bytes));
	} else {
		key.owner = (uint8_t)c->owner;
		key.qpn = c->qpn;
		key.dst_qpn = c->dst_qpn;
	}
	return services_peer(services, &key, c->owner, c->type, now);
}

static void
flow_release(struct services *services, struct flow *flow)
{
	struct peer *peer = flow->key.peer;

	if (flow->qps > 0)
		return;
	HASH_DEL(services->flows, flow);
	free(flow);
	peer->flows--;
	services_peer_release(services, peer);
}

/* Returns NULL if there is no room for a flow. */
static struct flow *
flow_add(struct services *services, const struct flow_key *key)
{
	struct flow *flow;

	HASH_FIND(hh, services->flows, key, sizeof(*key), flow);
	if (flow != NULL)
		return flow;
	if (HASH_COUNT(services->flows) >= SERVICES_MAX_FLOWS)
		return NULL;
	flow = calloc(1, sizeof(*flow));
	if (flow == NULL)
		return NULL;
	flow->key = *key;
	HASH_ADD(hh, services->flows, key, sizeof(flow->key), flow);
	if (flow->hh.tbl == NULL) {
		free(flow);
		return NULL;
	}
	key->peer->flows++;
	return flow;
}

static struct flow *
flow_get(struct services *services, const struct services_connection *c,
    struct process *process, rm_mono_t now)
{
	struct peer *peer = peer_get(services, c, now);
	struct flow *flow;
	struct flow_key key;

	if (peer == NULL)
		return NULL;
	memset(&key, 0, sizeof(key));
	key.peer = peer;
	key.process = process;
	key.src_port = c->src_port;
	key.owner = (uint8_t)c->owner;
	key.dscp = c->dscp;
	key.qp_type = c->type;
	key.sl = c->sl;
	flow = flow_add(services, &key);
	if (flow == NULL)
		services_peer_release(services, peer);
	return flow;
}

static struct qp *
services_qp_find(const struct services *services, size_t owner, uint32_t qpn)
{
	struct qp_key key = { (uint32_t)owner, qpn };
	struct qp *qp;

	HASH_FIND(hh, services->qps, &key, sizeof(key), qp);
	return qp;
}

static void
services_qp_remove(struct services *services, struct qp *qp)
{
	struct flow *flow = qp->flow;
	struct process *process = qp->process;

	process->qps--;
	process->on[qp->key.owner]--;
	services->flowless -= flow == NULL;
	HASH_DEL(services->qps, qp);
	free(qp);
	if (flow != NULL) {
		flow->qps--;
		flow_release(services, flow);
		services->news = true;
	}
	process_release(services, process);
}

/* Adds a QP that is not known yet, without a flow. NULL: no room, which is counted. */
static struct qp *
services_qp_record(
    struct services *services, const struct services_connection *c, rm_mono_t now)
{
	struct process *process = NULL;
	struct qp *qp = NULL;

	if (HASH_COUNT(services->qps) < SERVICES_MAX_QPS)
		process = process_get(services, c);
	if (process != NULL)
		qp = calloc(1, sizeof(*qp));
	if (qp != NULL) {
		qp->key = (struct qp_key){ (uint32_t)c->owner, c->qpn };
		qp->process = process;
		qp->since = now;
		qp->dst_qpn = c->dst_qpn;
		HASH_ADD(hh, services->qps, key, sizeof(qp->key), qp);
		if (qp->hh.tbl == NULL) {
			free(qp);
			qp = NULL;
		}
	}
	if (qp == NULL) {
		if (process != NULL)
			process_release(services, process);
		services->owners[c->owner].no_record++;
		return NULL;
	}
	process->qps++;
	process->on[c->owner]++;
	services->flowless++;
	return qp;
}

/* Gives the QP its flow. -ENOSPC: no room, which is counted; the QP stays without a
 * flow. */
static int
services_qp_flow(struct services *services, struct qp *qp,
    const struct services_connection *c, rm_mono_t now)
{
	struct flow *flow = NULL;

	if (qp != NULL)
		flow = flow_get(services, c, qp->process, now);
	if (flow == NULL) {
		services->counts.refused++;
		return -ENOSPC;
	}
	qp->flow = flow;
	services->flowless--;
	flow->qps++;
	flow->qpn = c->qpn;
	flow->dst_qpn = c->dst_qpn;
	flow->older = c->older;
	services->news = true;
	return 0;
}

static void
services_drop_owner(struct services *services, size_t owner)
{
	struct qp *qp, *next;

	HASH_ITER (hh, services->qps, qp, next) {
		if (qp->key.owner == owner)
			services_qp_remove(services, qp);
	}
}

/* ---- QPs that the kernel reports, as they change and when listed ---- */

/* The type on the wire; 0: QPs of this type are not followed. */
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

/* GIDs of IPv4 addresses are IPv4-mapped IPv6 addresses. All zeros: there is no GID, as
 * on InfiniBand. */
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

/* Cuts a number to 24 bits: a program may set any number, and aggregators accept no
 * larger one. */
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

/* Counts one QP less that has no record here: it is probably one of those for which
 * there was no room. The next list counts these QPs again. */
static void
forget_one_without_record(struct services *services, const char *device)
{
	for (size_t i = 0; i < SERVICES_MAX_RNICS; i++) {
		struct owner *owner = &services->owners[i];

		if (!owner->present || owner->no_record == 0 ||
		    strcmp(owner->device, device) != 0)
			continue;
		owner->no_record--;
		return;
	}
}

/* Removes the QP of this event. The QP is searched for on all ports of the device,
 * because the event of its end does not name the port, and the QP may have moved to
 * another one. True: the QP had a flow. */
static bool
forget(struct services *services, const struct qp_event *event)
{
	bool known = false, recorded = false;

	for (size_t i = 0; i < SERVICES_MAX_RNICS; i++) {
		struct qp *qp = NULL;

		if (services->owners[i].present &&
		    strcmp(services->owners[i].device, event->device) == 0)
			qp = services_qp_find(services, i, event->qpn);
		if (qp == NULL)
			continue;
		known |= qp->flow != NULL;
		recorded = true;
		services_qp_remove(services, qp);
	}
	if (!recorded && event->kind == QP_EVENT_DESTROYED)
		forget_one_without_record(services, event->device);
	return known;
}

int
services_event(struct services *services, const struct qp_event *event, rm_mono_t now)
{
	bool destroyed = event->kind == QP_EVENT_DESTROYED;
	size_t owner =
	    services_owner_of(services, event->device, destroyed ? 0 : event->port);
	struct services_connection c;
	struct qp *qp;
	bool known;

	if (owner == 0 || wire_type(event->qp_type) == 0) {
		services->counts.unlisted++;
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
		.pid_elsewhere = services->options.pids_elsewhere,
		.cgroup_id = event->cgroup_id,
		.comm = event->comm,
		.kernel = "",
	};
	qp = services_qp_record(services, &c, now);
	if (is_own(&services->owners[owner], &c.peer)) {
		services->counts.local++;
		return 0;
	}
	return services_qp_flow(services, qp, &c, now);
}

/*
 * Guesses the source port of a QP that is older than the agent, whose flow label is not
 * known. rdma_cm derives the label from both ports (cma_get_roce_udp_flow_label in the
 * kernel), first that of the side that connected: the one whose port the kernel chose.
 * Programs that exchange QPNs by themselves usually leave the label 0.
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

/* Records one QP of a list. The caller has checked that the QP's state is one in which
 * it has a peer (RTR to SQE). */
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

	/* The number belongs to another QP now: the events of the old one's end and of
	 * the new one's start were lost. */
	if (qp != NULL && rm_mono_since(qp->since, asked) < 0 && c.dst_qpn != 0 &&
	    qp->dst_qpn != 0 && qp->dst_qpn != c.dst_qpn) {
		services->counts.missed += qp->flow != NULL;
		services_qp_remove(services, qp);
		qp = NULL;
	}
	if (qp == NULL) {
		qp = services_qp_record(services, &c, now);
		services->found += qp != NULL;
		services->counts.local += is_own(&services->owners[owner], &c.peer);
	}
	if (qp != NULL)
		qp->listing = services->listing;
	if (qp != NULL && qp->flow != NULL)
		return;
	if (c.peer.family == 0 && c.dst_qpn == 0)
		services->owners[owner].unjoinable++;
	else if (!is_own(&services->owners[owner], &c.peer) &&
		 services_qp_flow(services, qp, &c, now) == 0)
		services->counts.older++;
}

/* Called before a list is evaluated. */
static void
listing_begin(struct services *services, const struct qp_list *list)
{
	services->listing++;
	for (size_t i = 0; i < SERVICES_MAX_RNICS; i++) {
		services->owners[i].unjoinable = 0;
		if (!list->cut)
			services->owners[i].no_record = 0;
	}
}

bool
services_listed(struct services *services, const struct qp_list *list, rm_mono_t asked,
    rm_mono_t now)
{
	uint64_t found = services->found;
	struct qp *qp, *next;
	bool again;

	listing_begin(services, list);
	for (size_t i = 0; i < list->row_count; i++) {
		const struct qp_list_row *row = &list->rows[i];
		size_t owner = services_owner_of(
		    services, list->devices[row->device].name, row->port);

		if (owner == 0)
			continue;
		qp = services_qp_find(services, owner - 1, row->qpn);
		if (row->state >= QP_LIST_RTR && row->state <= QP_LIST_SQE)
			listed_one(services, owner - 1, row, asked, now);
		else if (qp != NULL) /* a QP in the error state still exists */
			qp->listing = services->listing;
	}
	again = services->found != found && services->ended.ns != 0 &&
		rm_mono_since(services->ended, asked) >= 0;
	if (list->cut)
		return again;
	HASH_ITER (hh, services->qps, qp, next) {
		if (qp->listing == services->listing ||
		    rm_mono_since(qp->since, asked) >= 0)
			continue;
		services->counts.missed += qp->flow != NULL;
		services_qp_remove(services, qp);
	}
	return again;
}

#define MIN_INTERVAL_US 10000

uint64_t
services_random(struct services *services)
{
	/* xorshift64*, Vigna 2014; used for jitter only */
	uint64_t x = services->random;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	services->random = x;
	return x * 0x2545f4914f6cdd1d;
}

uint64_t
services_hash_text(const char *text)
{
	uint64_t hash = rm_fnv1a(RM_FNV1A, text, strlen(text));

	return hash == 0 ? 1 : hash;
}

void
services_tune(struct services *services, const struct services_options *options)
{
	services->options = *options;
	if (options->max_probed > SERVICES_MAX_PROBED)
		services->options.max_probed = SERVICES_MAX_PROBED;
	if (options->interval_us < MIN_INTERVAL_US)
		services->options.interval_us = MIN_INTERVAL_US;
	services->news = true;
}

int
services_new(const struct services_options *options, struct services **ret)
{
	struct services *services = calloc(1, sizeof(*services));

	if (services == NULL)
		return -ENOMEM;
	services->random = options->random_seed | 1;
	services->token = services_random(services) >> 1;
	services_tune(services, options);
	*ret = services;
	return 0;
}

void
services_free(struct services *services)
{
	if (services == NULL)
		return;
	for (size_t i = 0; i < SERVICES_MAX_RNICS; i++)
		services_drop_owner(services, i);
	services_peers_clear(services);
	services_turn_clear(services);
	free(services);
}

/* Returns owner + 1; 0: the device is no RNIC of this agent. port 0: any port of the
 * device. */
static size_t
services_owner_of(const struct services *services, const char *device, uint32_t port)
{
	for (size_t i = 0; i < SERVICES_MAX_RNICS; i++) {
		const struct owner *owner = &services->owners[i];

		if (owner->present && strcmp(owner->device, device) == 0 &&
		    (port == 0 || owner->port == port))
			return i + 1;
	}
	return 0;
}

static void
owner_fill(struct owner *owner, const struct services_rnic *rnic)
{
	*owner = (struct owner){ .present = true,
		.id = rnic->id,
		.port = rnic->port,
		.verbs = rnic->verbs,
		.large_bytes = rnic->large_bytes };
	snprintf(owner->device, sizeof(owner->device), "%s", rnic->device);
	for (size_t i = 0; i < rnic->tor_count && i < WIRE_MAX_ATTACHMENTS; i++)
		owner->tors[i] = services_hash_text(rnic->tors[i]);
	for (; owner->address_count < rnic->address_count &&
	       owner->address_count < WIRE_MAX_ADDRESSES;
	     owner->address_count++)
		owner->addresses[owner->address_count] =
		    rnic->addresses[owner->address_count];
	for (; owner->port_count < rnic->port_count &&
	       owner->port_count < SERVICES_MAX_PORTS;
	     owner->port_count++)
		owner->ports[owner->port_count] = rnic->ports[owner->port_count];
}

bool
services_set_rnic(
    struct services *services, size_t owner, const struct services_rnic *rnic)
{
	struct owner *old = &services->owners[owner];
	struct owner filled = { .present = false };
	bool same;

	if (rnic != NULL)
		owner_fill(&filled, rnic);
	same = rnic != NULL && old->present && old->port == filled.port &&
	       strcmp(old->device, filled.device) == 0;
	if (old->present && !same)
		services_drop_owner(services, owner);
	filled.unjoinable = same ? old->unjoinable : 0;
	filled.no_record = same ? old->no_record : 0;
	filled.digest = old->digest;
	filled.service_peers_digest = old->service_peers_digest;
	*old = filled;
	services->news = true;
	return rnic != NULL && !same;
}

bool
services_next_process(struct services *services, struct services_process *ret)
{
	struct process *process, *next;

	if (services->unnamed == 0)
		return false;
	HASH_ITER (hh, services->processes, process, next) {
		if (process->asked)
			continue;
		process->asked = true;
		services->unnamed--;
		*ret =
		    (struct services_process){ process->key.pid, process->key.elsewhere,
			    process->cgroup_id, process->name.comm };
		return true;
	}
	return false;
}

void
services_named(struct services *services, uint32_t pid, bool elsewhere,
    const struct process_name *name)
{
	struct process_key key;
	struct process *process;

	memset(&key, 0, sizeof(key));
	key.pid = pid;
	key.elsewhere = elsewhere;
	HASH_FIND(hh, services->processes, &key, sizeof(key), process);
	if (process != NULL)
		process->name = *name;
}

static uint8_t
state_of(const struct flow *flow)
{
	const struct peer *peer = flow->key.peer;

	if (peer->state == PEER_UNKNOWN)
		return WIRE_SERVICE_RESOLVING;
	if (peer->state == PEER_NOT_FOUND)
		return WIRE_SERVICE_UNRESOLVED;
	/* The flow had no turn yet, or none of its probes can be sent. */
	if (flow->slot == NULL)
		return WIRE_SERVICE_RESOLVING;
	return flow->slot->on ? WIRE_SERVICE_PROBED : WIRE_SERVICE_WAITING;
}

size_t
services_flows(
    const struct services *services, struct wire_service_flow *out, size_t max)
{
	struct flow *flow, *next;
	size_t n = 0;

	HASH_ITER (hh, services->flows, flow, next) {
		const struct peer *peer = flow->key.peer;
		const struct process *process = flow->key.process;

		if (n == max)
			break;
		out[n] = (struct wire_service_flow){
			.src = services->owners[flow->key.owner].id,
			.dst = peer->id,
			.service = process->name.service,
			.comm = process->name.comm,
			.pid = process->key.pid,
			.qp_type = flow->key.qp_type,
			.state = state_of(flow),
			.dscp = flow->key.dscp,
			.older = flow->older,
			.src_port = flow->key.src_port,
			.src_qpn = flow->qpn,
			.dst_qpn = flow->dst_qpn,
			.qps = (uint32_t)flow->qps,
		};
		if (peer->key.family != 0) {
			out[n].peer.family = peer->key.family;
			memcpy(out[n].peer.bytes, peer->key.bytes,
			    sizeof(peer->key.bytes));
		} else if (peer->address_count > 0) {
			out[n].peer = peer->addresses[0];
		}
		if (flow->slot != NULL && flow->exact)
			out[n].probe_port = flow->slot->key.probe_port;
		n++;
	}
	return n;
}

const struct process_name *
services_process(const struct services *services, uint32_t pid)
{
	struct process_key key;
	struct process *process;

	memset(&key, 0, sizeof(key));
	key.pid = pid;
	HASH_FIND(hh, services->processes, &key, sizeof(key), process);
	return process == NULL ? NULL : &process->name;
}

bool
services_is_reported(const struct wire_service_flow *flow)
{
	return flow->peer.family != 0;
}

struct services_counts
services_counts(const struct services *services)
{
	struct services_counts counts = services->counts;
	struct flow *flow, *next_flow;
	struct slot *slot, *next_slot;
	uint64_t placed = 0;

	counts.qps = HASH_COUNT(services->qps) - services->flowless;
	counts.flows = HASH_COUNT(services->flows);
	counts.service_peers = services_peers_count(services);
	for (size_t i = 0; i < SERVICES_MAX_RNICS; i++)
		counts.unresolved += services->owners[i].unjoinable;
	HASH_ITER (hh, services->flows, flow, next_flow) {
		uint8_t state = state_of(flow);

		placed += flow->slot != NULL;
		counts.waiting += state == WIRE_SERVICE_WAITING;
		if (state == WIRE_SERVICE_UNRESOLVED)
			counts.unresolved += flow->qps;
	}
	HASH_ITER (hh, services->slots, slot, next_slot)
		counts.probed += slot->on;
	counts.merged = placed - HASH_COUNT(services->slots);
	return counts;
}

uint64_t
services_unjoinable(const struct services *services, size_t owner)
{
	return services->owners[owner].unjoinable;
}
