#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "host-agent/probe/flow_label.h"
#include "host-agent/verbs/port_verbs_state.h"
#include "host-agent/verbs/verbs_ah.h"
#include "host-agent/verbs/verbs_calls.h"
#include "rackmesh/core/log.h"

#define FLOW_RECEIVES 512 /* of all flow QPs together, but MIN_RECEIVES each */
#define MIN_RECEIVES 64
#define FLOW_SENDS 256 /* likewise */
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

/* What the device can do, and how the port is. */
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

/* ---- completion queues ------------------------------------------------------------
 */

static void
close_cqs(struct port_verbs *port)
{
	verbs_cq_close(&port->sends);
	for (int role = 0; role < PORT_ROLES; role++)
		verbs_cq_close(&port->receives[role].cq);
}

/* Twice as deep as needed: completions of a QP's former life may still be there. */
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

/* The best stamps that the device gives. */
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

/* ---- queues -------------------------------------------------------------------- */

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

	/* Without UDP there is no source port. */
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

int
port_verbs_open(struct port_verbs *port)
{
	const char *step = "";
	int r = open_all(port, &step);

	if (r < 0)
		rm_log_error(r, "%s, port %u: %s%s", port->options.device,
		    port->options.port_num, step,
		    r == -ENOMEM ? " (often the limit on locked memory)" : "");
	return r;
}

/* Queues before their memory and CQs, handles before the domain, the device last. */
void
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
