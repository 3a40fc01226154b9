#include "tor-aggregator/controller_requests.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "rackmesh/core/error.h"
#include "rackmesh/core/log.h"
#include "rackmesh/core/random.h"
#include "tor-aggregator/agents/agent.h"
#include "tor-aggregator/agents/agent_server.h"
#include "tor-aggregator/aggregator_config.h"
#include "tor-aggregator/api/drill.h"
#include "tor-aggregator/controller/address_book.h"
#include "tor-aggregator/controller/brake_store.h"
#include "tor-aggregator/controller/controller_link.h"
#include "tor-aggregator/controller/resolver.h"
#include "tor-aggregator/plan/key_store.h"
#include "tor-aggregator/rack/tor_rack.h"
#include "tor-aggregator/tor_aggregator_state.h"

struct controller_requests {
	struct tor_aggregator *aggregator;
	struct brake_store *brake;
	struct address_book book;
	struct resolver *resolver;
	struct wire_writer *writer;
	struct controller_requests_counts counts;
};

static void
brake_racks(struct controller_requests *controller_requests)
{
	struct tor_aggregator *aggregator = controller_requests->aggregator;
	const uint32_t rate =
	    brake_store_get(controller_requests->brake)->rate_permille;

	for (size_t i = 0; i < aggregator->rack_count; i++)
		tor_rack_brake(aggregator->racks[i], rate);
}

int
controller_requests_new(
    struct tor_aggregator *aggregator, struct controller_requests **ret)
{
	const char *folder = aggregator->config->state_folder;
	struct controller_requests *controller_requests =
	    calloc(1, sizeof(*controller_requests));
	struct rm_error error = { 0 };
	int r = -ENOMEM;

	if (controller_requests == NULL)
		goto out;
	controller_requests->aggregator = aggregator;
	controller_requests->writer = wire_writer_new();
	if (controller_requests->writer == NULL)
		goto out;
	r = resolver_new(
	    rm_random_u64() / RESOLVER_MAX_PENDING, &controller_requests->resolver);
	if (r == 0)
		r = brake_store_new(aggregator->worker, folder[0] == 0 ? NULL : folder,
		    &controller_requests->brake);
	if (r < 0)
		goto out;
	if (brake_store_load(controller_requests->brake, &error) < 0)
		rm_log_warn(0, "%s: started without it", error.text);
	brake_racks(controller_requests);
	*ret = controller_requests;
	return 0;
out:
	rm_log_error(r, "cannot prepare for the controllers' requests");
	controller_requests_free(controller_requests);
	return r;
}

void
controller_requests_free(struct controller_requests *controller_requests)
{
	if (controller_requests == NULL)
		return;
	address_book_release(&controller_requests->book);
	resolver_free(controller_requests->resolver);
	brake_store_free(controller_requests->brake);
	wire_writer_free(controller_requests->writer);
	free(controller_requests);
}

/* ---- the brake ---- */

static void
brake_agent(struct controller_requests *controller_requests, struct agent *agent)
{
	const struct wire_brake *brake = brake_store_get(controller_requests->brake);
	struct wire_bytes bytes;

	if (brake->version == 0) /* no brake was received yet */
		return;
	if (wire_write_brake(controller_requests->writer, brake, &bytes) == 0 &&
	    agent_server_send(controller_requests->aggregator->links, agent, &bytes) ==
		0)
		controller_requests->counts.brakes_sent++;
	else
		controller_requests->counts.brakes_failed++;
}

void
controller_requests_session(
    struct controller_requests *controller_requests, struct agent *agent)
{
	brake_agent(controller_requests, agent);
}

static int
take_brake(
    struct controller_requests *controller_requests, const uint8_t *data, size_t len)
{
	struct wire_brake brake;
	int r;

	r = wire_open_brake(&brake, data, len);
	if (r == 0)
		r = brake_store_take(controller_requests->brake, &brake);
	if (r <= 0)
		return r;
	rm_log_warn(
	    0, "brake: changed: %u of 1000 probes are allowed", brake.rate_permille);
	brake_racks(controller_requests);
	for (struct agent *agent =
		 agents_first(controller_requests->aggregator->agents);
	     agent != NULL; agent = agent->next)
		if (agent->link != NULL)
			brake_agent(controller_requests, agent);
	brake_store_save(controller_requests->brake);
	return 0;
}

/* ---- requests for the RNIC of an address ---- */

static bool
reports_for(const struct agent *agent, struct wire_rnic_id id)
{
	size_t hint = 0;

	return agent_owns(agent, id, &hint) != NULL;
}

static void
answer(struct controller_requests *controller_requests, struct agent *agent,
    uint64_t token, const struct wire_rnic *rnic, const struct wire_pair_key *key)
{
	struct wire_resolve_answer out = { .token = token, .found = rnic != NULL };
	struct wire_bytes bytes;

	if (rnic != NULL)
		out.rnic = *rnic;
	/* An RNIC gets a key only if its own agent asks. */
	if (rnic != NULL && key != NULL && key->epoch != 0 &&
	    reports_for(agent, (struct wire_rnic_id){ key->src_guid, key->src_port }))
		out.key = *key;
	if (wire_write_resolved(controller_requests->writer, &out, &bytes) < 0 ||
	    agent_server_send(controller_requests->aggregator->links, agent, &bytes) <
		0)
		controller_requests->counts.resolve_failed++;
}

/* Adds the RNIC that was asked for to each rack in which the agent has RNICs, because
 * any of these may probe it soon. fresh: the data of the RNIC may be newer than those
 * in the racks. */
static void
learn(struct controller_requests *controller_requests, const struct agent *agent,
    const struct wire_rnic *rnic, bool fresh)
{
	bool changed = false;

	for (size_t i = 0; i < agent->rnic_count; i++) {
		struct tor_rack *rack = agent->rnics[i].rack;
		size_t k = 0;

		while (k < i && agent->rnics[k].rack != rack)
			k++;
		if (rack == NULL || k < i || (tor_rack_serve(rack, rnic->id) && !fresh))
			continue;
		changed = true;
		if (tor_rack_learn(rack, rnic, rm_mono_now()) < 0)
			controller_requests->counts.learn_failed++;
		else
			controller_requests->counts.learned++;
	}
	if (changed)
		address_book_stale(&controller_requests->book);
}

/* Sends the answer to the agent that asked, unless the agent has restarted since. */
static void
answer_asker(struct controller_requests *controller_requests,
    const struct resolver_asker *asker, const struct wire_rnic *rnic,
    const struct wire_pair_key *key)
{
	struct agent *agent =
	    agents_find(controller_requests->aggregator->agents, asker->host);

	if (agent == NULL || agent->link == NULL ||
	    agent->incarnation != asker->incarnation)
		return;
	if (rnic != NULL)
		learn(controller_requests, agent, rnic, true);
	if (!asker->ours)
		answer(controller_requests, agent, asker->token, rnic, key);
}

/* Remembers a request of the agent. *up: the token with which the controller is asked.
 */
static int
ask(struct controller_requests *controller_requests, const struct agent *agent,
    uint64_t token, bool ours, uint64_t *up)
{
	struct resolver_asker asker = {
		.incarnation = agent->incarnation, .token = token, .ours = ours
	};

	if (!controller_link_connected(
		controller_requests->aggregator->controller_link))
		return -ENOTCONN;
	snprintf(asker.host, sizeof(asker.host), "%s", agent->host);
	return resolver_ask(controller_requests->resolver, rm_mono_now(), &asker, up);
}

/* r: the result of encoding the request; < 0: nothing is sent. */
static int
send_up(struct controller_requests *controller_requests, int r, uint64_t up,
    const struct wire_bytes *bytes)
{
	struct resolver_asker asker;

	if (r == 0)
		r = controller_link_send(
		    controller_requests->aggregator->controller_link, bytes);
	if (r < 0)
		resolver_answered(controller_requests->resolver, up, &asker);
	return r;
}

static int
ask_address(struct controller_requests *controller_requests, const struct agent *agent,
    const struct wire_resolve *resolve, bool ours)
{
	struct wire_resolve up = { .address = resolve->address };
	struct wire_bytes bytes;
	int r;

	r = ask(controller_requests, agent, resolve->token, ours, &up.token);
	if (r < 0)
		return r;
	if (reports_for(agent, resolve->prober))
		up.prober = resolve->prober;
	r = wire_write_resolve(controller_requests->writer, &up, &bytes);
	return send_up(controller_requests, r, up.token, &bytes);
}

void
controller_requests_resolve(struct controller_requests *controller_requests,
    struct agent *agent, const struct wire_resolve *resolve)
{
	const struct tor_aggregator *aggregator = controller_requests->aggregator;
	struct wire_pair_key key = { .epoch = 0 };
	bool old = false, known, keyed;
	struct wire_rnic rnic;

	known = address_book_find(&controller_requests->book, aggregator->racks,
	    aggregator->rack_count, &resolve->address, rm_mono_now(), &rnic, &old);
	/* Only the controller can make a key for an RNIC of another rack. */
	keyed = !known || resolve->prober.guid == 0 || !rnic.authenticates ||
		key_store_pair(aggregator->keys, resolve->prober, rnic.id, &key);
	if ((!known || old || !keyed) &&
	    ask_address(controller_requests, agent, resolve, false) == 0)
		return;
	/* The controller cannot be asked: the roster's data may be old, but are better
	 * than no answer. */
	if (known) {
		controller_requests->counts.resolved_here++;
		learn(controller_requests, agent, &rnic, false);
	}
	answer(controller_requests, agent, resolve->token, known ? &rnic : NULL, &key);
}

int
controller_requests_peer(struct controller_requests *controller_requests,
    struct agent *agent, const struct wire_address *address)
{
	return ask_address(controller_requests, agent,
	    &(struct wire_resolve){ .address = *address }, true);
}

static int
ask_join(struct controller_requests *controller_requests, const struct agent *agent,
    const struct wire_join *join)
{
	struct wire_join up = *join;
	struct wire_bytes bytes;
	int r;

	r = ask(controller_requests, agent, join->token, false, &up.token);
	if (r < 0)
		return r;
	r = wire_write_join(controller_requests->writer, &up, &bytes);
	return send_up(controller_requests, r, up.token, &bytes);
}

void
controller_requests_join(struct controller_requests *controller_requests,
    struct agent *agent, const struct wire_join *join)
{
	size_t hint = 0;
	int r = -EPERM;

	if (agent_owns(agent, join->rnic, &hint) != NULL)
		r = ask_join(controller_requests, agent, join);
	else
		controller_requests->counts.unauthorized++;
	if (r < 0)
		answer(controller_requests, agent, join->token, NULL, NULL);
}

static int
take_answer(
    struct controller_requests *controller_requests, const uint8_t *data, size_t len)
{
	struct wire_resolve_answer in;
	struct resolver_asker asker;
	int r;

	r = wire_open_resolved(&in, data, len);
	if (r < 0)
		return r;
	if (resolver_answered(controller_requests->resolver, in.token, &asker))
		answer_asker(
		    controller_requests, &asker, in.found ? &in.rnic : NULL, &in.key);
	return 0;
}

void
controller_requests_roster(struct controller_requests *controller_requests)
{
	address_book_stale(&controller_requests->book);
}

/* ---- drill-down ---- */

int
controller_requests_drill(struct controller_requests *controller_requests,
    const uint8_t *data, size_t len,
    int (*send)(const struct wire_bytes *bytes, void *arg), void *arg)
{
	struct wire_drill drill;
	struct wire_bytes bytes;
	int r;

	r = wire_open_drill(&drill, data, len);
	if (r < 0)
		return r;
	controller_requests->counts.drills++;
	if (drill_write(controller_requests->aggregator, &drill,
		controller_requests->writer, &bytes) < 0 ||
	    send(&bytes, arg) < 0)
		controller_requests->counts.drills_failed++;
	return 0;
}

static int
send_to_controller(const struct wire_bytes *bytes, void *arg)
{
	return controller_link_send(arg, bytes);
}

/* ---- */

int
controller_requests_take(
    enum wire_kind kind, const uint8_t *data, size_t len, void *arg)
{
	struct controller_requests *controller_requests = arg;

	switch (kind) {
	case WIRE_BRAKE:
		return take_brake(controller_requests, data, len);
	case WIRE_RESOLVE_ANSWER:
		return take_answer(controller_requests, data, len);
	case WIRE_KEYS:
		return key_store_take(controller_requests->aggregator->keys, data, len);
	case WIRE_DRILL:
		return controller_requests_drill(controller_requests, data, len,
		    send_to_controller,
		    controller_requests->aggregator->controller_link);
	default:
		return -EPROTO;
	}
}

void
controller_requests_tick(struct controller_requests *controller_requests, rm_mono_t now)
{
	struct resolver_asker asker;

	while (resolver_expired(controller_requests->resolver, now, &asker))
		answer_asker(controller_requests, &asker, NULL, NULL);
	brake_store_save(controller_requests->brake);
}

const struct brake_store *
controller_requests_brake(const struct controller_requests *controller_requests)
{
	return controller_requests->brake;
}

const struct resolver *
controller_requests_resolver(const struct controller_requests *controller_requests)
{
	return controller_requests->resolver;
}

const struct controller_requests_counts *
controller_requests_counts(const struct controller_requests *controller_requests)
{
	return &controller_requests->counts;
}
