#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host-agent/packet/gid.h"
#include "host-agent/verbs/lanes.h"
#include "host-agent/verbs/port_verbs_state.h"
#include "host-agent/verbs/verbs_ah.h"
#include "host-agent/verbs/verbs_calls.h"

#define HOP_LIMIT 64
#define ECN_CAPABLE 2 /* ECT(0), as RoCEv2 sends */

int
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

/* In a thread. */
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

/* In a thread. */
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

int
port_verbs_open_handles(struct port_verbs *port)
{
	struct port_verbs_domain *domain = port->domain;
	struct lanes *lanes = port->options.lanes;
	int r;

	if (lanes == NULL) {
		r = lanes_new(port->loop, LANES_MIN, &domain->own_lanes);
		if (r < 0) {
			domain->own_lanes = NULL;
			return r;
		}
		lanes = domain->own_lanes;
	}
	r = verbs_ah_cache_new(lanes,
	    &(struct verbs_ah_options){ .max_handles = port->options.max_handles,
		.calls = { domain_create, domain_destroy, domain },
		.on_ready = domain_on_ready,
		.arg = port },
	    &domain->handles);
	if (r < 0)
		domain->handles = NULL;
	return r;
}

/* Nobody makes or destroys handles any more. */
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

void
port_verbs_close_domain(struct port_verbs *port)
{
	struct port_verbs_domain *domain = port->domain;
	struct lanes *own_lanes;

	if (domain == NULL)
		return;
	own_lanes = domain->own_lanes;
	port->domain = NULL;
	if (domain->handles == NULL ||
	    verbs_ah_cache_stop(domain->handles, domain_on_stopped, domain) == 0)
		domain_on_stopped(domain);
	lanes_free(own_lanes); /* waits for what is running, and so ends the domain */
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
