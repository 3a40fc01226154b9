/* The port of an RNIC, UDP or verbs, with the prober and the reflector over it. */
#include <errno.h>
#include <string.h>

#include "host-agent/probe/port.h"
#include "host-agent/reflector/reflector.h"
#include "host-agent/rnic/rnic_state.h"
#include "host-agent/udp/port_udp.h"
#include "rackmesh/core/random.h"
#include "rackmesh/loop/loop.h"

#define LINK_TELL_NS RM_NS_PER_S

uint64_t
rnic_overruns(const struct rnic *rnic)
{
	uint64_t sum = 0;

	for (int role = 0; rnic->port != NULL && role < PORT_ROLES; role++)
		sum += port_overruns(rnic->port, (enum port_role)role, true);
	return sum;
}

void
rnic_close(struct rnic *rnic)
{
	if (rnic->port == NULL)
		return;
	rnic->callbacks.on_counters(rnic, false, rnic->arg);
	rnic->past_self_loss += rnic_overruns(rnic);
	prober_free(rnic->prober);
	reflector_free(rnic->reflector);
	port_free(rnic->port);
	rnic->prober = NULL;
	rnic->reflector = NULL;
	rnic->port = NULL;
	rnic->verbs.link_up = false;
	rm_timer_stop(rnic->news);
	rnic->renumbered = rnic->gone = false;
}

static void
rnic_on_result(const struct wire_result *result, rm_mono_t sent, void *arg)
{
	struct rnic *rnic = arg;

	rnic->callbacks.on_result(rnic, result, sent, rnic->arg);
}

void
rnic_set_pace(struct rnic *rnic)
{
	bool down = rnic->facts.transport == RNIC_ROCE && !rnic->verbs.link_up;

	prober_set_permille(rnic->prober, rnic->brake_permille);
	prober_pause(rnic->prober, rnic->paused || rnic->brake_permille == 0 || down);
}

int
rnic_start_prober(struct rnic *rnic)
{
	struct prober_options options = rnic->options.prober;
	int r;

	options.random_seed = rm_random_u64();
	/* On a made-up wire there may be nobody to probe but us. */
	if (rnic->options.calls == NULL)
		options.home.id = rnic->facts.id;
	for (size_t i = 0; i < rnic->facts.address_count && rnic->options.calls == NULL;
	     i++) {
		options.home.addresses[i] = rnic->facts.addresses[i];
		options.home.prefix_bits[i] = rnic->facts.prefix_bits[i];
	}
	r = prober_new(
	    rnic->loop, rnic->port, &options, rnic_on_result, rnic, &rnic->prober);
	if (r < 0)
		return r;
	prober_set_keys(rnic->prober, rnic->options.keys);
	rnic_set_pace(rnic);
	return 0;
}

/* ---- ports ---------------------------------------------------------------------- */

static void
own_addresses(struct rnic *rnic, uint16_t port)
{
	memset(rnic->addresses, 0, sizeof(rnic->addresses));
	for (size_t i = 0; i < rnic->facts.address_count; i++) {
		rnic->addresses[i] = rnic->facts.addresses[i];
		rnic->addresses[i].port = port;
	}
}

static int
open_udp(struct rnic *rnic)
{
	struct port_udp_options options = {
		.device = rnic->facts.netdev,
		.netns = rnic->options.place.netns,
		.reflector_port = rnic->options.udp_port,
	};

	for (size_t i = 0; i < rnic->facts.address_count; i++)
		options.addresses[i] = rnic->facts.addresses[i];
	own_addresses(rnic, rnic->options.udp_port);
	return port_udp_new(rnic->loop, &options, &rnic->port);
}

/* The port may be in the middle of something: what it says is dealt with by a timer
 * that is due at once. */
static void
on_link(bool up, void *arg)
{
	struct rnic *rnic = arg;

	rm_timer_after(rnic->news, 0);
}

static void
on_renumbered(void *arg)
{
	struct rnic *rnic = arg;

	rnic->renumbered = true;
	rm_timer_after(rnic->news, 0);
}

static void
on_gone(int reason, void *arg)
{
	struct rnic *rnic = arg;

	rnic->gone = true;
	rnic->gone_reason = reason;
	rm_timer_after(rnic->news, 0);
}

/* A link that flaps is followed at once, but its falls are told of once a second: each
 * telling is a registration, which goes as far as etcd. That it is back is told at
 * once, or a short fall would look like a long one. */
bool
rnic_read_news(struct rnic *rnic, enum rnic_event *ret)
{
	const rm_mono_t now = rm_mono_now();
	const int64_t since = rm_mono_since(now, rnic->fall_told);
	bool turned, fell;

	port_verbs_facts(rnic->port, &rnic->verbs);
	rnic_set_pace(rnic);
	turned = rnic->verbs.link_up != rnic->told_link_up;
	fell = turned && !rnic->verbs.link_up;
	if (fell && !rnic->renumbered && since < LINK_TELL_NS) {
		rm_timer_after(rnic->news, LINK_TELL_NS - since);
		return false;
	}
	if (!turned && !rnic->renumbered)
		return false; /* there and back again */
	if (fell)
		rnic->fall_told = now;
	*ret = rnic->renumbered      ? RNIC_UP
	       : rnic->verbs.link_up ? RNIC_LINK_UP
				     : RNIC_LINK_DOWN;
	rnic->renumbered = false;
	return true;
}

static int
open_roce(struct rnic *rnic)
{
	const struct rnic_facts *facts = &rnic->facts;
	const struct port_verbs_events events = { on_link, on_renumbered, on_gone,
		rnic };
	struct port_verbs_options options = {
		.device = facts->rdma_device,
		.port_num = facts->id.port,
		.lid = facts->lid,
		.driver = facts->driver,
		.flow_qps = rnic->options.flow_qps,
		.software_stamps = rnic->options.software_stamps,
		.calls = rnic->options.calls,
		.lanes = rnic->options.lanes,
	};
	int r;

	for (size_t i = 0; i < facts->address_count; i++) {
		options.gids[i].address = facts->addresses[i];
		options.gids[i].index = facts->gid_index[i];
		memcpy(options.gids[i].gid, facts->gids[i], 16);
	}
	r = port_verbs_new(rnic->loop, &options, &events, &rnic->port);
	if (r < 0)
		return r;
	own_addresses(rnic, WIRE_ROCE_PORT);
	port_verbs_facts(rnic->port, &rnic->verbs);
	/* Once seen as such it is never taken for another RNIC, one of UDP. */
	rnic->options.place.transport = RNIC_ROCE;
	return 0;
}

int
rnic_open(struct rnic *rnic)
{
	int r;

	r = rnic->facts.transport == RNIC_ROCE ? open_roce(rnic) : open_udp(rnic);
	if (r < 0)
		return r;
	r = reflector_new(rnic->port, rnic->facts.id, 0, &rnic->reflector);
	if (r < 0)
		goto out;
	reflector_set_keys(rnic->reflector, rnic->options.keys, REFLECTOR_GRACE_NS);
	r = rnic_start_prober(rnic);
	if (r < 0)
		goto out;
	rnic->opened = rnic->facts;
	rnic->callbacks.on_counters(rnic, true, rnic->arg);
	return 0;
out:
	reflector_free(rnic->reflector);
	port_free(rnic->port);
	rnic->reflector = NULL;
	rnic->port = NULL;
	rnic->verbs.link_up = false;
	return r;
}
