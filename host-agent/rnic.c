#include "host-agent/rnic.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host-agent/pinglist.h"
#include "host-agent/port.h"
#include "host-agent/port_udp.h"
#include "host-agent/reflector.h"
#include "host-agent/rnic_facts.h"
#include "rackmesh/base/random.h"
#include "rackmesh/base/worker.h"

struct rnic {
	struct rm_loop *loop;
	struct rm_worker *worker;
	struct rnic_options options;
	struct rnic_callbacks callbacks;
	void *arg;

	bool looking;     /* a look is on the worker */
	bool seen;        /* facts hold */
	int waits_reason; /* of the last RNIC_WAITS; 0: none is on */
	bool paused;
	uint32_t brake_permille;
	struct rnic_facts facts;
	struct wire_address addresses[RNIC_FAMILIES]; /* as registered */
	uint64_t past_self_loss;                      /* of sockets since closed */

	struct port *port; /* all three, or none */
	struct prober *prober;
	struct reflector *reflector;
};

/* Travels to the worker and back. It borrows the options' strings: they outlive it. */
struct look_job {
	struct rnic *rnic;
	struct rnic_facts facts;
};

int
rnic_new(struct rm_loop *loop, struct rm_worker *worker,
    const struct rnic_options *options, const struct rnic_callbacks *callbacks,
    void *arg, struct rnic **ret)
{
	struct rnic *rnic = calloc(1, sizeof(*rnic));

	if (rnic == NULL)
		return -ENOMEM;
	rnic->loop = loop;
	rnic->worker = worker;
	rnic->options = *options;
	rnic->callbacks = *callbacks;
	rnic->arg = arg;
	rnic->brake_permille = 1000;
	*ret = rnic;
	return 0;
}

static void
rnic_on_result(const struct wire_result *result, rm_mono_t sent, void *arg)
{
	struct rnic *rnic = arg;

	rnic->callbacks.on_result(rnic, result, sent, rnic->arg);
}

static uint64_t
rnic_overruns(const struct rnic *rnic)
{
	uint64_t sum = 0;

	for (int role = 0; rnic->port != NULL && role < PORT_ROLES; role++)
		sum += port_overruns(rnic->port, (enum port_role)role, true);
	return sum;
}

static void
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
}

void
rnic_free(struct rnic *rnic)
{
	if (rnic == NULL)
		return;
	rnic_close(rnic);
	free(rnic);
}

static void
rnic_set_pace(const struct rnic *rnic, struct prober *prober)
{
	prober_set_permille(prober, rnic->brake_permille);
	prober_pause(prober, rnic->paused || rnic->brake_permille == 0);
}

static int
rnic_start_prober(struct rnic *rnic, struct prober **ret)
{
	struct prober_options options = rnic->options.prober;
	int r;

	options.random_seed = rm_random_u64();
	r = prober_new(rnic->loop, rnic->port, &options, rnic_on_result, rnic, ret);
	if (r == 0)
		rnic_set_pace(rnic, *ret);
	return r;
}

static int
rnic_open(struct rnic *rnic)
{
	struct port_udp_options options = {
		.device = rnic->options.device,
		.netns = rnic->options.netns,
		.reflector_port = rnic->options.udp_port,
	};
	int r;

	for (size_t i = 0; i < rnic->facts.address_count; i++) {
		options.addresses[i] = rnic->facts.addresses[i];
		rnic->addresses[i] = rnic->facts.addresses[i];
		rnic->addresses[i].port = rnic->options.udp_port;
	}
	r = port_udp_new(rnic->loop, &options, &rnic->port);
	if (r < 0)
		return r;
	r = reflector_new(rnic->port, rnic->facts.id, 0, &rnic->reflector);
	if (r < 0)
		goto out;
	r = rnic_start_prober(rnic, &rnic->prober);
	if (r < 0)
		goto out;
	rnic->callbacks.on_counters(rnic, true, rnic->arg);
	return 0;
out:
	reflector_free(rnic->reflector);
	port_free(rnic->port);
	rnic->reflector = NULL;
	rnic->port = NULL;
	return r;
}

static void
rnic_say_waits(struct rnic *rnic, int reason)
{
	if (rnic->waits_reason == reason)
		return;
	rnic->waits_reason = reason;
	rnic->callbacks.on_event(rnic, RNIC_WAITS, reason, rnic->arg);
}

static void
rnic_take_facts(struct rnic *rnic, const struct rnic_facts *facts)
{
	bool same_place = rnic->seen && rnic_facts_same_place(&rnic->facts, facts);
	bool same = rnic->seen && rnic_facts_same(&rnic->facts, facts);
	int r;

	rnic->facts = *facts;
	rnic->seen = true;
	if (!same_place)
		rnic_close(rnic);
	if (rnic->port == NULL) {
		r = rnic_open(rnic);
		if (r < 0) {
			rnic_say_waits(rnic, r);
			return;
		}
		rnic->waits_reason = 0;
		rnic->callbacks.on_event(rnic, RNIC_UP, 0, rnic->arg);
		return;
	}
	rnic->waits_reason = 0;
	if (!same)
		rnic->callbacks.on_event(rnic, RNIC_CHANGED, 0, rnic->arg);
}

static int
look_run(void *arg)
{
	struct look_job *job = arg;
	const struct rnic_options *options = &job->rnic->options;

	return rnic_facts_read(
	    options->netns, options->device, options->address, &job->facts);
}

static void
look_done(void *arg, int r)
{
	struct look_job *job = arg;
	struct rnic *rnic = job->rnic;

	rnic->looking = false;
	if (r == 0)
		rnic_take_facts(rnic, &job->facts);
	else if (r != -ECANCELED)
		rnic_say_waits(rnic, r);
	free(job);
}

void
rnic_look(struct rnic *rnic)
{
	struct look_job *job;

	if (rnic->looking)
		return;
	/* Out of memory, or the worker is busy: the next look comes soon. */
	job = calloc(1, sizeof(*job));
	if (job == NULL)
		return;
	job->rnic = rnic;
	if (rm_worker_submit(rnic->worker, look_run, look_done, job) < 0)
		free(job);
	else
		rnic->looking = true;
}

int
rnic_plan(struct rnic *rnic, const struct pinglist_sum *sum)
{
	int r;

	if (rnic->port == NULL)
		return 0;
	r = reflector_set_roster(rnic->reflector, sum->peers, sum->peer_count);
	if (r < 0)
		return r;
	return prober_set_targets(rnic->prober, sum->targets, sum->target_count);
}

void
rnic_focus(struct rnic *rnic, const struct wire_focus *focus)
{
	if (rnic->port != NULL)
		prober_focus(
		    rnic->prober, focus->dst, focus->interval_us, focus->duration_ms);
}

void
rnic_pause(struct rnic *rnic, bool paused)
{
	rnic->paused = paused;
	if (rnic->port != NULL)
		rnic_set_pace(rnic, rnic->prober);
}

void
rnic_brake(struct rnic *rnic, uint32_t permille)
{
	rnic->brake_permille = permille;
	if (rnic->port != NULL)
		rnic_set_pace(rnic, rnic->prober);
}

int
rnic_retune(struct rnic *rnic, const struct prober_options *options)
{
	int r;

	rnic->options.prober = *options;
	if (rnic->port == NULL)
		return 0;
	/* The old one first: a port has one listener per role. */
	rnic->callbacks.on_counters(rnic, false, rnic->arg);
	prober_free(rnic->prober);
	rnic->prober = NULL;
	r = rnic_start_prober(rnic, &rnic->prober);
	if (r < 0) {
		rnic_close(rnic); /* the next look opens everything anew */
		return r;
	}
	rnic->callbacks.on_counters(rnic, true, rnic->arg);
	rnic->callbacks.on_event(rnic, RNIC_UP, 0, rnic->arg);
	return 0;
}

const char *
rnic_device(const struct rnic *rnic)
{
	return rnic->options.device;
}

size_t
rnic_tor_count(const struct rnic *rnic)
{
	return rnic->options.tor_count;
}

const char *
rnic_tor(const struct rnic *rnic, size_t i)
{
	return rnic->options.tors[i];
}

bool
rnic_up(const struct rnic *rnic)
{
	return rnic->port != NULL;
}

const struct rnic_facts *
rnic_facts(const struct rnic *rnic)
{
	return rnic->seen ? &rnic->facts : NULL;
}

bool
rnic_describe(const struct rnic *rnic, struct wire_rnic *ret)
{
	if (rnic->port == NULL)
		return false;
	*ret = (struct wire_rnic){
		.id = rnic->facts.id,
		.device = rnic->options.device,
		.driver = rnic->facts.driver,
		.tor_count = rnic->options.tor_count,
		.plane = "",
		.address_count = rnic->facts.address_count,
		.mtu_bytes = rnic->facts.mtu_bytes,
	};
	memcpy(ret->tors, rnic->options.tors, sizeof(ret->tors));
	memcpy(ret->addresses, rnic->addresses, sizeof(rnic->addresses));
	return true;
}

uint64_t
rnic_self_loss(const struct rnic *rnic)
{
	return rnic->past_self_loss + rnic_overruns(rnic);
}

struct prober *
rnic_prober(const struct rnic *rnic)
{
	return rnic->prober;
}

struct reflector *
rnic_reflector(const struct rnic *rnic)
{
	return rnic->reflector;
}

const struct port_counts *
rnic_port_counts(const struct rnic *rnic)
{
	return rnic->port == NULL ? NULL : port_counts(rnic->port);
}
