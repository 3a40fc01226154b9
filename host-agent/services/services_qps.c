/* QPs come and go, by events and by lists; their flows, peers and processes with them.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/qp_event.h"
#include "host-agent/probe/flow_label.h"
#include "host-agent/services/services_state.h"

#define EPHEMERAL_PORT 32768 /* from here on the kernel gives out ports of rdma_cm */

static void
process_release(struct services *services, struct process *process)
{
	if (process->flows > 0)
		return;
	services->unnamed -= !process->asked;
	HASH_DEL(services->processes, process);
	free(process);
}

static struct process *
process_get(struct services *services, const struct services_connection *c)
{
	struct process_key key;
	struct process *process;

	memset(&key, 0, sizeof(key));
	key.pid = c->pid;
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
	struct process *process = flow->key.process;

	if (flow->qps > 0)
		return;
	HASH_DEL(services->flows, flow);
	free(flow);
	peer->flows--;
	services_peer_release(services, peer);
	process->flows--;
	process_release(services, process);
}

/* NULL: no room. */
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
	key->process->flows++;
	return flow;
}

static struct flow *
flow_get(struct services *services, const struct services_connection *c, rm_mono_t now)
{
	struct process *process = process_get(services, c);
	struct peer *peer = process == NULL ? NULL : peer_get(services, c, now);
	struct flow *flow = NULL;
	struct flow_key key;

	if (peer != NULL) {
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
	}
	if (flow == NULL && process != NULL)
		process_release(services, process);
	return flow;
}

struct qp *
services_qp_find(const struct services *services, size_t owner, uint32_t qpn)
{
	struct qp_key key = { (uint32_t)owner, qpn };
	struct qp *qp;

	HASH_FIND(hh, services->qps, &key, sizeof(key), qp);
	return qp;
}

void
services_qp_remove(struct services *services, struct qp *qp)
{
	struct flow *flow = qp->flow;

	HASH_DEL(services->qps, qp);
	free(qp);
	flow->qps--;
	flow_release(services, flow);
	services->news = true;
}

int
services_qp_add(
    struct services *services, const struct services_connection *c, rm_mono_t now)
{
	struct flow *flow = NULL;
	struct qp *qp = NULL;

	if (HASH_COUNT(services->qps) < SERVICES_MAX_QPS)
		flow = flow_get(services, c, now);
	if (flow != NULL)
		qp = calloc(1, sizeof(*qp));
	if (qp != NULL) {
		qp->key = (struct qp_key){ (uint32_t)c->owner, c->qpn };
		qp->flow = flow;
		qp->since = now;
		qp->dst_qpn = c->dst_qpn;
		HASH_ADD(hh, services->qps, key, sizeof(qp->key), qp);
		if (qp->hh.tbl == NULL) {
			free(qp);
			qp = NULL;
		}
	}
	if (qp == NULL) {
		if (flow != NULL)
			flow_release(services, flow);
		services->counts.refused++;
		return -ENOSPC;
	}
	flow->qps++;
	flow->qpn = c->qpn;
	flow->dst_qpn = c->dst_qpn;
	flow->older = c->older;
	services->news = true;
	return 0;
}

void
services_drop_owner(struct services *services, size_t owner)
{
	struct qp *qp, *next;

	HASH_ITER (hh, services->qps, qp, next) {
		if (qp->key.owner == owner)
			services_qp_remove(services, qp);
	}
}
