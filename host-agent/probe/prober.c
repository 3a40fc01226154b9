#include "host-agent/probe/prober.h"

#include <errno.h>
#include <stdlib.h>

#include "host-agent/packet/key_ring.h"
#include "host-agent/probe/pending.h"
#include "host-agent/probe/port.h"
#include "host-agent/probe/prober_plan.h"
#include "host-agent/probe/prober_state.h"
#include "host-agent/probe/prober_target.h"
#include "rackmesh/core/random.h"
#include "rackmesh/loop/loop.h"

#define STALL_NS (100 * RM_NS_PER_MS) /* a timer this late: we did not run */
#define BURSTS_PER_TURN 4

void
prober_finish(struct prober *prober, struct pending_probe *probe, bool self_loss,
    enum wire_outcome forced)
{
	struct prober_target *target = probe->target;
	rm_mono_t posted = probe->posted;
	struct wire_result result = { .src_guid = target->wire.src.guid,
		.dst_guid = target->wire.dst.guid,
		.src_port_num = target->wire.src.port,
		.dst_port_num = target->wire.dst.port,
		.dst_qpn = probe->dst_qpn,
		.flow_label = probe->label,
		.kind = (uint8_t)target->wire.kind,
		.seq = probe->seq,
		.src_port = probe->src_port,
		.size_bytes = probe->size_bytes,
		.dscp = probe->dscp,
		.arrived_dscp = probe->arrived_dscp,
		.arrived_ecn = probe->arrived_ecn,
		.arrived_ttl = probe->arrived_ttl,
		.responder_count = probe->responder_count };

	pending_conclude(probe, prober->timeout_ns, self_loss, &result);
	if (forced != WIRE_OK)
		result.outcome = (uint8_t)forced;
	pending_remove(prober->pending, probe);
	prober_target_unref(target);

	prober->counts.outcomes[result.outcome]++;
	if (result.outcome == WIRE_INVALID)
		prober->counts.invalid[result.invalid_reason]++;
	if (result.outcome == WIRE_OK && (result.flags & WIRE_SPLIT))
		prober->counts.split_replies++;
	prober->on_result(&result, posted, prober->arg);
}

/* A timer that should have fired long ago: nothing of ours has run meanwhile. */
static void
prober_note_stall(struct prober *prober, rm_mono_t now)
{
	if (rm_mono_since(now, prober->armed) > STALL_NS)
		prober->stalled = now;
}

static void
prober_arm(struct prober *prober)
{
	const struct pending_probe *oldest = pending_oldest(prober->pending);
	rm_mono_t now = rm_mono_now(), at = { INT64_MAX };

	prober_note_stall(prober, now);
	if (!prober->paused && pacer_next(&prober->plan.pacer, &at)) {
		rm_mono_t free = rm_mono_add(now, prober_ceiling_wait(prober, now));

		if (rm_mono_since(free, at) > 0)
			at = free;
	}
	if (oldest != NULL) {
		rm_mono_t ends = rm_mono_add(oldest->posted, prober->timeout_ns);

		if (rm_mono_since(at, ends) > 0)
			at = ends;
	}
	/* Work put off on purpose is not a stall. */
	prober->armed = rm_mono_since(at, now) > 0 ? at : now;
	if (at.ns == INT64_MAX) {
		rm_timer_stop(prober->timer);
		return;
	}
	rm_timer_at(prober->timer, at);
}

/*
 * Ends what has waited long enough, but not before looking whether its reply lies
 * unread in a queue: the stamps decide what was in time, not when we came to look.
 */
static void
prober_expire(struct prober *prober, rm_mono_t now)
{
	bool drained = false;
	uint64_t overruns = 0;

	for (;;) {
		struct pending_probe *probe = pending_oldest(prober->pending);

		if (probe == NULL ||
		    rm_mono_since(now, probe->posted) < prober->timeout_ns)
			return;
		/* One with its reply has nothing to lose but its split. */
		if (!drained && !(probe->has & PENDING_REPLIED)) {
			bool whole = port_drain(prober->port, PORT_PROBER);

			/* Once only: a flood must not put off the end for ever. */
			prober->drain_cut = !whole && !prober->drain_cut;
			if (prober->drain_cut)
				return;
			overruns = port_overruns(prober->port, PORT_PROBER, true);
			drained = true;
			continue;
		}
		prober_finish(prober, probe,
		    overruns != probe->overruns ||
			rm_mono_since(prober->stalled, probe->posted) > 0,
		    WIRE_OK);
	}
}

static void
prober_on_timer(void *arg)
{
	struct prober *prober = arg;
	rm_mono_t now = rm_mono_now();

	prober_note_stall(prober, now);
	if (rm_mono_since(now, prober->focus_ends) >= 0)
		prober->focus_ends = prober_plan_pace(&prober->plan, now);
	prober_expire(prober, now);
	for (int i = 0; i < BURSTS_PER_TURN && !prober->paused; i++)
		if (!prober_send_burst(prober, now))
			break;
	prober_arm(prober);
}

int
prober_new(struct rm_loop *loop, struct port *port,
    const struct prober_options *options, prober_on_result *on_result, void *arg,
    struct prober **ret)
{
	struct prober *prober = calloc(1, sizeof(*prober));
	uint64_t rate = options->max_rate_per_s, seed = options->random_seed;
	int r = -ENOMEM;

	if (prober == NULL)
		return -ENOMEM;
	if (rate == 0 || rate > PROBER_MAX_RATE_PER_S)
		rate = PROBER_MAX_RATE_PER_S;
	prober_plan_init(&prober->plan, rate, seed != 0 ? seed : rm_random_u64());
	prober->loop = loop;
	prober->port = port;
	prober->on_result = on_result;
	prober->arg = arg;
	prober->timeout_ns = options->timeout_ns;
	prober->home = options->home;
	prober->host_ceiling = options->host_ceiling;
	ceiling_init(
	    &prober->ceiling, CEILING_RNIC_PACKETS_PER_S, CEILING_RNIC_BYTES_PER_S);
	prober->stalled = (rm_mono_t){ INT64_MIN / 2 };
	prober->focus_ends = prober->armed = (rm_mono_t){ INT64_MAX };
	while (prober->ssid == 0)
		prober->ssid = (uint16_t)prober_plan_random(&prober->plan);
	prober->pending = pending_new(0, (uint32_t)prober_plan_random(&prober->plan));
	if (prober->pending == NULL)
		goto fail;
	r = rm_timer_new(loop, prober_on_timer, prober, &prober->timer);
	if (r < 0)
		goto fail;
	port_listen(port, PORT_PROBER,
	    &(struct port_events){ .on_arrivals = prober_on_arrivals,
		.on_departures = prober_on_departures,
		.arg = prober });
	*ret = prober;
	return 0;
fail:
	pending_free(prober->pending);
	free(prober);
	return r;
}

void
prober_free(struct prober *prober)
{
	struct pending_probe *probe;

	if (prober == NULL)
		return;
	port_listen(prober->port, PORT_PROBER, NULL);
	while ((probe = pending_oldest(prober->pending)) != NULL) {
		prober_target_unref(probe->target);
		pending_remove(prober->pending, probe);
	}
	rm_timer_free(prober->timer);
	pending_free(prober->pending);
	prober_plan_clear(&prober->plan);
	free(prober);
}

/* Room for all that can be in flight at this rate, and as much again for what is made
 * up after a stall. Without memory for it the surplus is skipped, and counted. */
static void
prober_repace(struct prober *prober)
{
	rm_mono_t now = rm_mono_now();
	double seconds = (double)(prober->timeout_ns + PACER_MAKE_UP_NS) / 1e9;

	prober->focus_ends = prober_plan_pace(&prober->plan, now);
	(void)pending_reserve(
	    prober->pending, (size_t)(prober->plan.rate_per_s * seconds) + PORT_BURST);
	prober_arm(prober);
}

/* What is in flight holds on to the target, and so to the key, that it left with. */
static void
prober_take_keys(struct prober *prober)
{
	prober->keyed_targets = 0;
	for (size_t i = 0; prober->ring != NULL && i < prober->plan.count; i++) {
		struct prober_target *target = prober->plan.targets[i];
		const struct wire_pair_key *key =
		    key_ring_pair(prober->ring, target->wire.src, target->wire.dst);

		if (key == NULL)
			continue;
		probe_macs_init(&target->macs, key->key);
		target->keyed = true;
		prober->keyed_targets++;
	}
}

int
prober_set_targets(
    struct prober *prober, const struct wire_target *targets, size_t count)
{
	const struct prober_plan_place place = { prober->port, &prober->home };
	int r = prober_plan_set(&prober->plan, &place, targets, count, rm_mono_now(),
	    prober->counts.refused_targets);

	if (r < 0)
		return r;
	prober_take_keys(prober);
	prober_repace(prober);
	return 0;
}

void
prober_set_keys(struct prober *prober, const struct key_ring *ring)
{
	prober->ring = ring;
}

void
prober_choose_flows(struct prober *prober,
    uint64_t (*choose)(const struct wire_target *wire, void *arg), void *arg)
{
	for (size_t i = 0; i < prober->plan.count; i++) {
		struct prober_target *target = prober->plan.targets[i];

		prober_target_keep(target, choose(&target->wire, arg));
	}
}

void
prober_focus(struct prober *prober, struct wire_rnic_id dst, uint32_t interval_us,
    uint32_t duration_ms)
{
	rm_mono_t now = rm_mono_now();

	if (interval_us < PROBER_MIN_INTERVAL_US)
		interval_us = PROBER_MIN_INTERVAL_US;
	if (duration_ms > PROBER_MAX_FOCUS_MS)
		duration_ms = PROBER_MAX_FOCUS_MS;
	prober_plan_focus(&prober->plan, dst, interval_us * RM_NS_PER_US,
	    rm_mono_add(now, duration_ms * RM_NS_PER_MS));
	prober_repace(prober);
}

void
prober_pause(struct prober *prober, bool paused)
{
	if (prober->paused &&
	    !paused) /* what was not asked meanwhile was not skipped */
		prober_plan_jitter(&prober->plan, rm_mono_now());
	prober->paused = paused;
	prober_arm(prober);
}

void
prober_set_permille(struct prober *prober, uint32_t permille)
{
	if (permille < 1 || permille > 1000 || permille == prober->plan.permille)
		return;
	prober->plan.permille = permille;
	prober_repace(prober);
}

int64_t
prober_behind_ns(const struct prober *prober, rm_mono_t now)
{
	int64_t behind = rm_mono_since(now, prober->armed);

	return prober->armed.ns != INT64_MAX && behind > 0 ? behind : 0;
}

const struct prober_counts *
prober_counts(const struct prober *prober)
{
	return &prober->counts;
}

size_t
prober_targets(const struct prober *prober)
{
	return prober->plan.count;
}

size_t
prober_keyed_targets(const struct prober *prober)
{
	return prober->keyed_targets;
}

struct port *
prober_port(const struct prober *prober)
{
	return prober->port;
}
