#include "host-agent/engine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host-agent/pinglist.h"
#include "host-agent/port.h"
#include "host-agent/port_udp.h"
#include "host-agent/reflector.h"
#include "host-agent/rnic.h"
#include "rackmesh/base/random.h"
#include "rackmesh/base/worker.h"

struct engine {
	struct rm_loop *loop;
	struct rm_worker *worker;
	struct engine_options options;
	struct engine_callbacks callbacks;
	void *arg;

	bool looking;     /* a look is on the worker */
	bool seen;        /* facts hold */
	int waits_reason; /* of the last ENGINE_WAITS; 0: none is on */
	bool paused;
	struct rnic_facts facts;
	struct wire_address addresses[RNIC_FAMILIES]; /* as registered */
	uint64_t past_self_loss;                      /* of sockets since closed */

	struct port *port; /* all three, or none */
	struct prober *prober;
	struct reflector *reflector;
};

/* Travels to the worker and back. It borrows the options' strings: they outlive it. */
struct look_job {
	struct engine *engine;
	struct rnic_facts facts;
};

int
engine_new(struct rm_loop *loop, struct rm_worker *worker,
    const struct engine_options *options, const struct engine_callbacks *callbacks,
    void *arg, struct engine **ret)
{
	struct engine *engine = calloc(1, sizeof(*engine));

	if (engine == NULL)
		return -ENOMEM;
	engine->loop = loop;
	engine->worker = worker;
	engine->options = *options;
	engine->callbacks = *callbacks;
	engine->arg = arg;
	*ret = engine;
	return 0;
}

static void
engine_on_result(const struct wire_result *result, rm_mono_t sent, void *arg)
{
	struct engine *engine = arg;

	engine->callbacks.on_result(engine, result, sent, engine->arg);
}

static uint64_t
engine_overruns(const struct engine *engine)
{
	uint64_t sum = 0;

	for (int role = 0; engine->port != NULL && role < PORT_ROLES; role++)
		sum += port_overruns(engine->port, (enum port_role)role, true);
	return sum;
}

static void
engine_close(struct engine *engine)
{
	if (engine->port == NULL)
		return;
	engine->callbacks.on_counters(engine, false, engine->arg);
	engine->past_self_loss += engine_overruns(engine);
	prober_free(engine->prober);
	reflector_free(engine->reflector);
	port_free(engine->port);
	engine->prober = NULL;
	engine->reflector = NULL;
	engine->port = NULL;
}

void
engine_free(struct engine *engine)
{
	if (engine == NULL)
		return;
	engine_close(engine);
	free(engine);
}

static int
engine_start_prober(struct engine *engine, struct prober **ret)
{
	struct prober_options options = engine->options.prober;
	int r;

	options.random_seed = rm_random_u64();
	r = prober_new(
	    engine->loop, engine->port, &options, engine_on_result, engine, ret);
	if (r == 0)
		prober_pause(*ret, engine->paused);
	return r;
}

static int
engine_open(struct engine *engine)
{
	struct port_udp_options options = {
		.device = engine->options.device,
		.netns = engine->options.netns,
		.reflector_port = engine->options.udp_port,
	};
	int r;

	for (size_t i = 0; i < engine->facts.address_count; i++) {
		options.addresses[i] = engine->facts.addresses[i];
		engine->addresses[i] = engine->facts.addresses[i];
		engine->addresses[i].port = engine->options.udp_port;
	}
	r = port_udp_new(engine->loop, &options, &engine->port);
	if (r < 0)
		return r;
	r = reflector_new(engine->port, engine->facts.id, 0, &engine->reflector);
	if (r < 0)
		goto out;
	r = engine_start_prober(engine, &engine->prober);
	if (r < 0)
		goto out;
	engine->callbacks.on_counters(engine, true, engine->arg);
	return 0;
out:
	reflector_free(engine->reflector);
	port_free(engine->port);
	engine->reflector = NULL;
	engine->port = NULL;
	return r;
}

static void
engine_say_waits(struct engine *engine, int reason)
{
	if (engine->waits_reason == reason)
		return;
	engine->waits_reason = reason;
	engine->callbacks.on_event(engine, ENGINE_WAITS, reason, engine->arg);
}

static void
engine_take_facts(struct engine *engine, const struct rnic_facts *facts)
{
	bool same_place = engine->seen && rnic_same_place(&engine->facts, facts);
	bool same = engine->seen && rnic_same(&engine->facts, facts);
	int r;

	engine->facts = *facts;
	engine->seen = true;
	if (!same_place)
		engine_close(engine);
	if (engine->port == NULL) {
		r = engine_open(engine);
		if (r < 0) {
			engine_say_waits(engine, r);
			return;
		}
		engine->waits_reason = 0;
		engine->callbacks.on_event(engine, ENGINE_UP, 0, engine->arg);
		return;
	}
	engine->waits_reason = 0;
	if (!same)
		engine->callbacks.on_event(engine, ENGINE_CHANGED, 0, engine->arg);
}

static int
look_run(void *arg)
{
	struct look_job *job = arg;
	const struct engine_options *options = &job->engine->options;

	return rnic_look(
	    options->netns, options->device, options->address, &job->facts);
}

static void
look_done(void *arg, int r)
{
	struct look_job *job = arg;
	struct engine *engine = job->engine;

	engine->looking = false;
	if (r == 0)
		engine_take_facts(engine, &job->facts);
	else if (r != -ECANCELED)
		engine_say_waits(engine, r);
	free(job);
}

void
engine_look(struct engine *engine)
{
	struct look_job *job;

	if (engine->looking)
		return;
	/* Out of memory, or the worker is busy: the next look comes soon. */
	job = calloc(1, sizeof(*job));
	if (job == NULL)
		return;
	job->engine = engine;
	if (rm_worker_submit(engine->worker, look_run, look_done, job) < 0)
		free(job);
	else
		engine->looking = true;
}

int
engine_plan(struct engine *engine, const struct pinglist_sum *sum)
{
	int r;

	if (engine->port == NULL)
		return 0;
	r = reflector_set_roster(engine->reflector, sum->peers, sum->peer_count);
	if (r < 0)
		return r;
	return prober_set_targets(engine->prober, sum->targets, sum->target_count);
}

void
engine_focus(struct engine *engine, const struct wire_focus *focus)
{
	if (engine->port != NULL)
		prober_focus(
		    engine->prober, focus->dst, focus->interval_us, focus->duration_ms);
}

void
engine_pause(struct engine *engine, bool paused)
{
	engine->paused = paused;
	if (engine->port != NULL)
		prober_pause(engine->prober, paused);
}

int
engine_retune(struct engine *engine, const struct prober_options *options)
{
	int r;

	engine->options.prober = *options;
	if (engine->port == NULL)
		return 0;
	/* The old one first: a port has one listener per role. */
	engine->callbacks.on_counters(engine, false, engine->arg);
	prober_free(engine->prober);
	engine->prober = NULL;
	r = engine_start_prober(engine, &engine->prober);
	if (r < 0) {
		engine_close(engine); /* the next look opens everything anew */
		return r;
	}
	engine->callbacks.on_counters(engine, true, engine->arg);
	engine->callbacks.on_event(engine, ENGINE_UP, 0, engine->arg);
	return 0;
}

const char *
engine_device(const struct engine *engine)
{
	return engine->options.device;
}

size_t
engine_tor_count(const struct engine *engine)
{
	return engine->options.tor_count;
}

const char *
engine_tor(const struct engine *engine, size_t i)
{
	return engine->options.tors[i];
}

bool
engine_up(const struct engine *engine)
{
	return engine->port != NULL;
}

const struct rnic_facts *
engine_facts(const struct engine *engine)
{
	return engine->seen ? &engine->facts : NULL;
}

bool
engine_describe(const struct engine *engine, struct wire_rnic *ret)
{
	if (engine->port == NULL)
		return false;
	*ret = (struct wire_rnic){
		.id = engine->facts.id,
		.device = engine->options.device,
		.driver = engine->facts.driver,
		.tor_count = engine->options.tor_count,
		.plane = "",
		.address_count = engine->facts.address_count,
		.mtu_bytes = engine->facts.mtu_bytes,
	};
	memcpy(ret->tors, engine->options.tors, sizeof(ret->tors));
	memcpy(ret->addresses, engine->addresses, sizeof(engine->addresses));
	return true;
}

uint64_t
engine_self_loss(const struct engine *engine)
{
	return engine->past_self_loss + engine_overruns(engine);
}

struct prober *
engine_prober(const struct engine *engine)
{
	return engine->prober;
}

struct reflector *
engine_reflector(const struct engine *engine)
{
	return engine->reflector;
}

const struct port_counts *
engine_port_counts(const struct engine *engine)
{
	return engine->port == NULL ? NULL : port_counts(engine->port);
}
