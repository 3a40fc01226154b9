#include "host-agent/verbs/port_verbs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host-agent/packet/gid.h"
#include "host-agent/packet/probe_format.h"
#include "host-agent/probe/flow_label.h"
#include "host-agent/verbs/port_verbs_state.h"
#include "host-agent/verbs/priority_pool.h"
#include "host-agent/verbs/verbs_ah.h"
#include "host-agent/verbs/verbs_calls.h"
#include "rackmesh/core/log.h"

#define HOP_LIMIT 64
#define ECN_CAPABLE 2 /* ECT(0), as RoCEv2 sends */

static struct port_verbs *port_verbs(struct port *port);

static int
port_verbs_open_domain(struct port_verbs *port, const char **step)
{
	struct port_verbs_domain *domain = calloc(1, sizeof(*domain));
	int r;

	*step = "memory";
	if (domain == NULL)
		return -ENOMEM;
	domain->calls = port->calls;
	port->domain = domain;
	*step = "ibv_open_device";
	r = port->calls->open(port->options.device, &domain->context);
	if (r < 0) {
		domain->context = NULL;
		return r;
	}
	*step = "ibv_alloc_pd";
	r = port->calls->alloc_pd(domain->context, &domain->pd);
	if (r < 0)
		domain->pd = NULL;
	return r;
}

/* A thread of the pool calls this function. */
static int
domain_create(const struct verbs_ah_key *key, struct ibv_ah **ret, void *arg)
{
	const struct port_verbs_domain *domain = arg;
	struct ibv_ah_attr attr = { .dlid = key->lid,
		.sl = key->sl,
		.port_num = key->port,
		.is_global = !gid_is_zero(key->gid),
		.grh = { .flow_label = key->flow_label,
		    .sgid_index = key->gid_index,
		    .hop_limit = HOP_LIMIT,
		    .traffic_class = key->traffic_class } };

	memcpy(attr.grh.dgid.raw, key->gid, sizeof(attr.grh.dgid.raw));
	return domain->calls->create_ah(domain->pd, &attr, ret);
}

/* A thread of the pool calls this function. */
static int
domain_destroy(struct ibv_ah *ah, void *arg)
{
	const struct port_verbs_domain *domain = arg;

	return domain->calls->destroy_ah(ah);
}

static void
domain_on_ready(const struct verbs_ah_key *key, int r, void *arg)
{
	port_verbs_send_waiting(arg);
}

static int
port_verbs_open_handles(struct port_verbs *port)
{
	struct port_verbs_domain *domain = port->domain;
	struct priority_pool *pool = port->options.pool;
	int r;

	if (pool == NULL) {
		r = priority_pool_new(port->loop, PRIORITY_POOL_MIN, &domain->own_pool);
		if (r < 0) {
			domain->own_pool = NULL;
			return r;
		}
		pool = domain->own_pool;
	}
	r = verbs_ah_cache_new(pool,
	    &(struct verbs_ah_options){ .max_handles = port->options.max_handles,
		.calls = { domain_create, domain_destroy, domain },
		.on_ready = domain_on_ready,
		.arg = port },
	    &domain->handles);
	if (r < 0)
		domain->handles = NULL;
	return r;
}

/* No thread uses the domain any more, and no handle is being made or destroyed. */
static void
domain_on_stopped(void *arg)
{
	struct port_verbs_domain *domain = arg;

	verbs_ah_cache_free(domain->handles);
	if (domain->pd != NULL)
		domain->calls->dealloc_pd(domain->pd);
	if (domain->context != NULL)
		domain->calls->close(domain->context);
	free(domain);
}

static void
port_verbs_close_domain(struct port_verbs *port)
{
	struct port_verbs_domain *domain = port->domain;
	struct priority_pool *own_pool;

	if (domain == NULL)
		return;
	own_pool = domain->own_pool;
	port->domain = NULL;
	if (domain->handles == NULL ||
	    verbs_ah_cache_stop(domain->handles, domain_on_stopped, domain) == 0)
		domain_on_stopped(domain);
	/* waits for running jobs; domain_on_stopped has run afterwards */
	priority_pool_free(own_pool);
}

int
port_verbs_handle(struct port_verbs *port, const struct port_packet *packet,
    uint32_t label, struct verbs_ah **ret)
{
	struct verbs_ah_key key = { .flow_label = label,
		.lid = port->infiniband ? packet->lid : 0,
		.traffic_class = (uint8_t)(packet->dscp << 2 | ECN_CAPABLE),
		.sl = packet->sl,
		.port = port->options.port_num };
	int r, i = 0;

	if (packet->to->family != 0) {
		while (port->options.gids[i].address.family != packet->to->family)
			if (++i == PORT_VERBS_GIDS)
				return -EAFNOSUPPORT;
		key.gid_index = port->options.gids[i].index;
		r = gid_from_address(packet->to, key.gid);
		if (r < 0)
			return r;
	} else if (key.lid == 0) {
		return -EAFNOSUPPORT;
	}
	r = verbs_ah_get(port->domain->handles, &key, rm_mono_now(), ret);
	if (r == 0 || r == -EINPROGRESS)
		return r;
	port->counts.handles_refused++;
	if (r == -ENOBUFS || r == -ENOMEM)
		return -EAGAIN;
	return -EHOSTUNREACH;
}

void
port_verbs_forget_handles(struct port_verbs *port)
{
	verbs_ah_forget(port->domain->handles, NULL);
}

/* Receive buffers of all flow QPs together; each QP has at least MIN_RECEIVES. */
#define FLOW_RECEIVES 512
#define MIN_RECEIVES 64
#define FLOW_SENDS 256 /* send slots of all flow QPs together */
#define MIN_SENDS 64
#define MIN_MTU 256

struct device_limits {
	uint32_t queue_slots, cq_slots;
};

static uint32_t
at_most(size_t wanted, uint32_t max)
{
	return wanted < max ? (uint32_t)wanted : max;
}

static uint32_t
share(uint32_t all, size_t queues, uint32_t least)
{
	uint32_t each = all / (uint32_t)queues;

	return each > least ? each : least;
}

static int
set_nonblocking(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
		return -errno;
	return 0;
}

void
port_verbs_read_port(struct port_verbs *port, const struct ibv_port_attr *attr)
{
	port->link_up =
	    attr->state == IBV_PORT_ACTIVE || attr->state == IBV_PORT_ACTIVE_DEFER;
	port->infiniband = attr->link_layer == IBV_LINK_LAYER_INFINIBAND;
	port->mtu_bytes =
	    attr->active_mtu >= IBV_MTU_256 && attr->active_mtu <= IBV_MTU_4096
		? 128U << attr->active_mtu
		: MIN_MTU;
	port->lid = port->infiniband ? attr->lid : 0;
}

/* Reads what the device supports and the state of the port. */
static int
read_device(struct port_verbs *port, struct ibv_device_attr_ex *device,
    struct device_limits *limits, const char **step)
{
	struct ibv_port_attr attr = { 0 };
	int r;

	*step = "ibv_query_device";
	r = port->calls->query_device(port->domain->context, device);
	if (r < 0)
		return r;
	*step = "port number";
	if (port->options.port_num == 0 ||
	    port->options.port_num > device->orig_attr.phys_port_cnt)
		return -ENOENT;
	*step = "ibv_query_port";
	r = port->calls->query_port(
	    port->domain->context, port->options.port_num, &attr);
	if (r < 0)
		return r;
	port_verbs_read_port(port, &attr);
	*step = "address of the port";
	if (port->options.gids[0].address.family == 0 &&
	    port->options.gids[1].address.family == 0 && !port->infiniband)
		return -EADDRNOTAVAIL;
	limits->queue_slots =
	    at_most(VERBS_QUEUE_MAX_SLOTS, (uint32_t)device->orig_attr.max_qp_wr);
	limits->cq_slots = (uint32_t)device->orig_attr.max_cqe;
	return 0;
}

/* ---- completion queues ---- */

static void
close_cqs(struct port_verbs *port)
{
	verbs_cq_close(&port->sends);
	for (int role = 0; role < PORT_ROLES; role++)
		verbs_cq_close(&port->receives[role].cq);
}

/* The queue has twice the needed depth: completions from before a reset of a QP may
 * still be in it. */
static int
open_cqs(struct port_verbs *port, enum wire_stamp_source stamps,
    const struct device_limits *limits, size_t sends)
{
	int r;

	r = verbs_cq_open(&port->sends, port->calls, port->domain->context,
	    port->channel, (int)at_most(2 * sends, limits->cq_slots), stamps);
	for (int role = 0; r == 0 && role < PORT_ROLES; role++)
		r = verbs_cq_open(&port->receives[role].cq, port->calls,
		    port->domain->context, port->channel,
		    (int)at_most(2 * port->receives[role].size, limits->cq_slots),
		    stamps);
	if (r < 0)
		close_cqs(port);
	return r;
}

/* Chooses the best kind of stamps that the device supports. */
static int
open_stamps(struct port_verbs *port, const struct ibv_device_attr_ex *device,
    const struct device_limits *limits, size_t sends)
{
	uint64_t cycles;

	port->stamps = WIRE_STAMP_NIC;
	if (!port->options.software_stamps && device->completion_timestamp_mask != 0 &&
	    port->calls->query_clock(port->domain->context, &cycles) == 0 &&
	    open_cqs(port, port->stamps, limits, sends) == 0) {
		if (port_verbs_start_clock(port, device) == 0)
			return 0;
		close_cqs(port);
	}
	port->stamps = WIRE_STAMP_WALLCLOCK;
	if (!port->options.software_stamps &&
	    open_cqs(port, port->stamps, limits, sends) == 0) {
		if (port_verbs_start_clock(port, device) == 0)
			return 0;
		close_cqs(port);
	}
	port->stamps = WIRE_STAMP_USER;
	return open_cqs(port, port->stamps, limits, sends);
}

/* ---- queues ---- */

static int
open_queue(struct port_verbs *port, size_t number, enum port_role role,
    uint32_t receives, uint32_t receive_bytes, uint32_t sends, const char **step)
{
	struct port_verbs_queue *queue = &port->queues[number];
	struct verbs_queue_options options = { .calls = port->calls,
		.pd = port->domain->pd,
		.send_cq = port->sends.cq,
		.receive_cq = port->receives[role].cq.cq,
		.port_num = port->options.port_num,
		.number = (uint8_t)number,
		.receives = receives,
		.receive_bytes = receive_bytes,
		.sends = sends,
		.send_bytes = port->mtu_bytes };
	int r = verbs_queue_new(&options, &queue->queue, step);

	if (r < 0) {
		queue->queue = NULL;
		return r;
	}
	port_verbs_number(port, queue);
	port->queue_count = number + 1;
	return 0;
}

void
port_verbs_number(struct port_verbs *port, struct port_verbs_queue *queue)
{
	queue->qpn = verbs_queue_qpn(queue->queue);
	if (port->flows == PORT_FLOWS_QP && queue >= &port->queues[QUEUE_FLOWS])
		queue->port = flow_label_rxe_ud_sport(queue->qpn);
}

static int
open_ring(struct port_verbs_receive *receive, size_t size)
{
	receive->ring = calloc(size, sizeof(*receive->ring));
	receive->size = size;
	return receive->ring == NULL ? -ENOMEM : 0;
}

static int
open_queues(struct port_verbs *port, const struct ibv_device_attr_ex *device,
    const struct device_limits *limits, const char **step)
{
	size_t flows = port->flow_count;
	uint32_t small = at_most(port->options.small_receives, limits->queue_slots);
	uint32_t large = at_most(port->options.large_receives, limits->queue_slots);
	uint32_t receives =
	    at_most(share(FLOW_RECEIVES, flows, MIN_RECEIVES), limits->queue_slots);
	uint32_t sends =
	    at_most(share(FLOW_SENDS, flows, MIN_SENDS), limits->queue_slots);
	int r;

	*step = "memory";
	r = open_ring(&port->receives[PORT_PROBER], receives * flows);
	if (r == 0)
		r = open_ring(&port->receives[PORT_REFLECTOR], small + large);
	if (r < 0)
		return r;
	*step = "ibv_create_cq";
	r = open_stamps(port, device, limits, sends * flows + 2);
	if (r < 0)
		return r;
	r = open_queue(
	    port, QUEUE_SMALL, PORT_REFLECTOR, small, WIRE_ROCE_SMALL_BYTES, 0, step);
	if (r == 0)
		r = open_queue(
		    port, QUEUE_LARGE, PORT_REFLECTOR, large, port->mtu_bytes, 0, step);
	for (size_t i = 0; r == 0 && i < flows; i++)
		r = open_queue(port, QUEUE_FLOWS + i, PORT_PROBER, receives,
		    port->mtu_bytes, sends, step);
	return r;
}

static void
decide_flows(struct port_verbs *port)
{
	const char *driver = port->options.driver;

	/* InfiniBand has no UDP, and so no source port. */
	port->flows = port->infiniband || driver == NULL ? PORT_FLOWS_UNKNOWN
							 : flow_label_driver(driver);
	port->flow_count = 1;
	if (port->flows == PORT_FLOWS_QP)
		port->flow_count =
		    at_most(port->options.flow_qps, PORT_VERBS_MAX_FLOWS);
}

static int
open_all(struct port_verbs *port, const char **step)
{
	struct ibv_device_attr_ex device = { 0 };
	struct device_limits limits;
	int r = port_verbs_open_domain(port, step);

	if (r == 0)
		r = read_device(port, &device, &limits, step);
	if (r < 0)
		return r;
	decide_flows(port);
	*step = "ibv_create_comp_channel";
	r = port->calls->create_channel(port->domain->context, &port->channel);
	if (r < 0) {
		port->channel = NULL;
		return r;
	}
	*step = "fcntl";
	r = set_nonblocking(port->channel->fd);
	if (r == 0)
		r = set_nonblocking(port->domain->context->async_fd);
	if (r == 0)
		r = open_queues(port, &device, &limits, step);
	if (r < 0)
		return r;
	*step = "address handles";
	return port_verbs_open_handles(port);
}

static int
port_verbs_open(struct port_verbs *port)
{
	const char *step = "";
	int r = open_all(port, &step);

	if (r < 0)
		rm_log_error(r, "%s, port %u: cannot open: %s%s", port->options.device,
		    port->options.port_num, step,
		    r == -ENOMEM ? " (often the limit on locked memory)" : "");
	return r;
}

/* The order matters: QPs before their memory and CQs, address handles before the
 * domain, and the device last. */
static void
port_verbs_close(struct port_verbs *port)
{
	for (size_t i = 0; i < port->queue_count; i++)
		verbs_queue_stop(port->queues[i].queue);
	for (size_t i = 0; i < port->queue_count; i++)
		verbs_queue_free(port->queues[i].queue, port_verbs_drop_sent, port);
	port->queue_count = 0;
	close_cqs(port);
	if (port->channel != NULL)
		port->calls->destroy_channel(port->channel);
	port->channel = NULL;
	port_verbs_close_domain(port);
	nic_clock_free(port->clock);
	for (int role = 0; role < PORT_ROLES; role++)
		free(port->receives[role].ring);
}

#define DEFAULT_FLOW_QPS 8
#define DEFAULT_SMALL_RECEIVES 1024
#define DEFAULT_LARGE_RECEIVES 128
#define DEFAULT_MAX_HANDLES 4096
#define BURSTS_PER_DRAIN 256

static struct port_verbs *
port_verbs(struct port *port)
{
	return (struct port_verbs *)port;
}

static const struct port_verbs *
port_verbs_const(const struct port *port)
{
	return (const struct port_verbs *)port;
}

/* Returns the source port of one of the device's flows, whatever port is wanted. */
static uint16_t
verbs_flow(const struct port *base, uint16_t wanted)
{
	const struct port_verbs *port = port_verbs_const(base);

	switch (port->flows) {
	case PORT_FLOWS_LABEL:
		return wanted | FLOW_LABEL_SPORT_MIN;
	case PORT_FLOWS_QP:
		return port->queues[QUEUE_FLOWS + wanted % port->flow_count].port;
	default:
		return 0;
	}
}

static int
verbs_check(struct port *base, const struct wire_address *to, uint16_t src_port)
{
	const struct port_verbs *port = port_verbs(base);
	bool ours = port->infiniband && to->family == 0;

	for (int i = 0; i < PORT_VERBS_GIDS && to->family != 0; i++)
		ours |= port->options.gids[i].address.family == to->family;
	if (!ours)
		return -EAFNOSUPPORT;
	if (port->flows == PORT_FLOWS_QP)
		return port_verbs_label(port, src_port) != 0 ? 0 : -ERANGE;
	return verbs_flow(base, src_port) == src_port ? 0 : -ERANGE;
}

static void
verbs_listen(struct port *base, enum port_role role, const struct port_events *events)
{
	struct port_verbs *port = port_verbs(base);

	port->listening[role] = events != NULL;
	if (events != NULL)
		port->listeners[role] = *events;
}

static bool
verbs_drain(struct port *base, enum port_role role)
{
	struct port_verbs *port = port_verbs(base);
	int bursts = BURSTS_PER_DRAIN;

	port_verbs_take_sent(port);
	do
		port_verbs_take(port, role);
	while (port_verbs_deliver(port, role) == PORT_BURST && --bursts > 0);
	/* also posts the buffers of packets that were dropped */
	port_verbs_refill(port);
	if (bursts == 0)
		port_verbs_again(port);
	return bursts > 0;
}

static uint64_t
verbs_overruns(struct port *base, enum port_role role, bool refresh)
{
	return port_verbs(base)->overruns[role];
}

static uint16_t
verbs_reflector_port(const struct port *base)
{
	return 0;
}

static uint32_t
verbs_label(const struct port *base, uint16_t src_port)
{
	return port_verbs_label(port_verbs_const(base), src_port);
}

static enum port_flows
verbs_flows(const struct port *base)
{
	return port_verbs_const(base)->flows;
}

static const struct port_counts *
verbs_counts(const struct port *base)
{
	return &port_verbs_const(base)->counts;
}

static void
verbs_free(struct port *base)
{
	struct port_verbs *port = port_verbs(base);

	port_verbs_unwire(port);
	port_verbs_drop_waiting(port);
	port_verbs_close(port);
	free(port);
}

static const struct port_ops verbs_ops = {
	.check = verbs_check,
	.listen = verbs_listen,
	.send = port_verbs_send,
	.drain = verbs_drain,
	.overruns = verbs_overruns,
	.reflector_port = verbs_reflector_port,
	.flow = verbs_flow,
	.label = verbs_label,
	.flows = verbs_flows,
	.format = &roce_format,
	.counts = verbs_counts,
	.free = verbs_free,
};

static void
port_set_options(struct port_verbs *port, const struct port_verbs_options *options)
{
	struct port_verbs_options *own = &port->options;

	*own = *options;
	snprintf(port->device, sizeof(port->device), "%s", options->device);
	port->calls = options->calls != NULL ? options->calls : &verbs_calls_real;
	if (own->flow_qps == 0)
		own->flow_qps = DEFAULT_FLOW_QPS;
	if (own->small_receives == 0)
		own->small_receives = DEFAULT_SMALL_RECEIVES;
	if (own->large_receives == 0)
		own->large_receives = DEFAULT_LARGE_RECEIVES;
	if (own->max_handles == 0)
		own->max_handles = DEFAULT_MAX_HANDLES;
}

int
port_verbs_new(struct rm_loop *loop, const struct port_verbs_options *options,
    const struct port_verbs_events *events, struct port **ret)
{
	struct port_verbs *port = calloc(1, sizeof(*port));
	int r;

	if (port == NULL)
		return -ENOMEM;
	port->base.ops = &verbs_ops;
	port->loop = loop;
	port->events = *events;
	port_set_options(port, options);
	r = port_verbs_open(port);
	if (r == 0)
		r = port_verbs_wire(port);
	if (r < 0) {
		verbs_free(&port->base);
		return r;
	}
	port_verbs_check_lid(port);
	/* The caller's strings are valid only during this call. */
	port->options.device = port->options.driver = NULL;
	*ret = &port->base;
	return 0;
}

void
port_verbs_facts(const struct port *base, struct port_verbs_facts *ret)
{
	const struct port_verbs *port = port_verbs_const(base);
	struct verbs_queue_level level;

	verbs_queue_level(port->queues[QUEUE_SMALL].queue, &level);
	*ret = (struct port_verbs_facts){
		.qpn = port->queues[QUEUE_SMALL].qpn,
		.large_qpn = port->queues[QUEUE_LARGE].qpn,
		.mtu_bytes = port->mtu_bytes,
		.stamps = port->stamps,
		.flows = port->flows,
		.flow_count = port->flow_count,
		.link_up = port->link_up,
		.receives_lowest = level.lowest,
		.handles = verbs_ah_counts(port->domain->handles)->handles,
		.handle_counts = verbs_ah_counts(port->domain->handles),
		.clock_counts =
		    port->clock == NULL ? NULL : nic_clock_counts(port->clock),
		.clock_drift_ppb =
		    port->clock == NULL ? 0 : nic_clock_drift_ppb(port->clock),
	};
}
