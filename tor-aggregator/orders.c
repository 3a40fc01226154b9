#include "tor-aggregator/orders.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "rackmesh/core/error.h"
#include "rackmesh/core/log.h"
#include "rackmesh/core/random.h"
#include "tor-aggregator/agents/agent.h"
#include "tor-aggregator/agents/agent_links.h"
#include "tor-aggregator/aggregator_config.h"
#include "tor-aggregator/api/drill.h"
#include "tor-aggregator/controller/address_book.h"
#include "tor-aggregator/controller/brake_store.h"
#include "tor-aggregator/controller/relay.h"
#include "tor-aggregator/controller/resolver.h"
#include "tor-aggregator/plan/key_store.h"
#include "tor-aggregator/rack/tor_rack.h"
#include "tor-aggregator/tor_aggregator_state.h"

struct orders {
	struct tor_aggregator *aggregator;
	struct brake_store *brake;
	struct address_book book;
	struct resolver *resolver;
	struct wire_writer *writer;
	struct orders_counts counts;
};

static void
brake_racks(struct orders *orders)
{
	struct tor_aggregator *aggregator = orders->aggregator;
	const uint32_t rate = brake_store_get(orders->brake)->rate_permille;

	for (size_t i = 0; i < aggregator->rack_count; i++)
		tor_rack_brake(aggregator->racks[i], rate);
}

int
orders_new(struct tor_aggregator *aggregator, struct orders **ret)
{
	const char *folder = aggregator->config->state_folder;
	struct orders *orders = calloc(1, sizeof(*orders));
	struct rm_error error = { 0 };
	int r = -ENOMEM;

	if (orders == NULL)
		goto out;
	orders->aggregator = aggregator;
	orders->writer = wire_writer_new();
	if (orders->writer == NULL)
		goto out;
	r = resolver_new(rm_random_u64() / RESOLVER_MAX_PENDING, &orders->resolver);
	if (r == 0)
		r = brake_store_new(
		    aggregator->worker, folder[0] == 0 ? NULL : folder, &orders->brake);
	if (r < 0)
		goto out;
	if (brake_store_load(orders->brake, &error) < 0)
		rm_log_warn(0, "%s: started without it", error.text);
	brake_racks(orders);
	*ret = orders;
	return 0;
out:
	rm_log_error(r, "cannot prepare for the controllers' requests");
	orders_free(orders);
	return r;
}

void
orders_free(struct orders *orders)
{
	if (orders == NULL)
		return;
	address_book_release(&orders->book);
	resolver_free(orders->resolver);
	brake_store_free(orders->brake);
	wire_writer_free(orders->writer);
	free(orders);
}

/* ---- the brake ---- */

static void
brake_agent(struct orders *orders, struct agent *agent)
{
	const struct wire_brake *brake = brake_store_get(orders->brake);
	struct wire_bytes bytes;

	if (brake->version == 0) /* nobody has said anything yet */
		return;
	if (wire_write_brake(orders->writer, brake, &bytes) == 0 &&
	    agent_links_send(orders->aggregator->links, agent, &bytes) == 0)
		orders->counts.brakes_sent++;
	else
		orders->counts.brakes_failed++;
}

void
orders_session(struct orders *orders, struct agent *agent)
{
	brake_agent(orders, agent);
}

static int
take_brake(struct orders *orders, const uint8_t *data, size_t len)
{
	struct wire_brake brake;
	int r;

	r = wire_open_brake(&brake, data, len);
	if (r == 0)
		r = brake_store_take(orders->brake, &brake);
	if (r <= 0)
		return r;
	rm_log_warn(
	    0, "brake: changed: %u of 1000 probes are allowed", brake.rate_permille);
	brake_racks(orders);
	for (struct agent *agent = agents_first(orders->aggregator->agents);
	     agent != NULL; agent = agent->next)
		if (agent->link != NULL)
			brake_agent(orders, agent);
	brake_store_save(orders->brake);
	return 0;
}

/* ---- whose address is this? ---- */

static bool
speaks_for(const struct agent *agent, struct wire_rnic_id id)
{
	size_t hint = 0;

	return agent_owns(agent, id, &hint) != NULL;
}

static void
answer(struct orders *orders, struct agent *agent, uint64_t token,
    const struct wire_rnic *rnic, const struct wire_pair_key *key)
{
	struct wire_resolve_answer out = { .token = token, .found = rnic != NULL };
	struct wire_bytes bytes;

	if (rnic != NULL)
		out.rnic = *rnic;
	/* Nobody gets a key but for an RNIC of its own. */
	if (rnic != NULL && key != NULL && key->epoch != 0 &&
	    speaks_for(agent, (struct wire_rnic_id){ key->src_guid, key->src_port }))
		out.key = *key;
	if (wire_write_resolved(orders->writer, &out, &bytes) < 0 ||
	    agent_links_send(orders->aggregator->links, agent, &bytes) < 0)
		orders->counts.resolve_failed++;
}

/* Whoever is asked for is about to be probed, perhaps by RNICs in several racks.
 * fresh: it may be better than what they know. */
static void
learn(struct orders *orders, const struct agent *agent, const struct wire_rnic *rnic,
    bool fresh)
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
			orders->counts.learn_failed++;
		else
			orders->counts.learned++;
	}
	if (changed)
		address_book_stale(&orders->book);
}

/* To who asked, if that life of it is still there. */
static void
answer_asker(struct orders *orders, const struct resolver_asker *asker,
    const struct wire_rnic *rnic, const struct wire_pair_key *key)
{
	struct agent *agent = agents_find(orders->aggregator->agents, asker->host);

	if (agent == NULL || agent->link == NULL ||
	    agent->incarnation != asker->incarnation)
		return;
	if (rnic != NULL)
		learn(orders, agent, rnic, true);
	if (!asker->ours)
		answer(orders, agent, asker->token, rnic, key);
}

/* A question of the agent's: *up is the token of what is to be sent. */
static int
ask(struct orders *orders, const struct agent *agent, uint64_t token, bool ours,
    uint64_t *up)
{
	struct resolver_asker asker = {
		.incarnation = agent->incarnation, .token = token, .ours = ours
	};

	if (!relay_connected(orders->aggregator->relay))
		return -ENOTCONN;
	snprintf(asker.host, sizeof(asker.host), "%s", agent->host);
	return resolver_ask(orders->resolver, rm_mono_now(), &asker, up);
}

/* r: what writing the question said. */
static int
send_up(struct orders *orders, int r, uint64_t up, const struct wire_bytes *bytes)
{
	struct resolver_asker asker;

	if (r == 0)
		r = relay_send(orders->aggregator->relay, bytes);
	if (r < 0)
		resolver_answered(orders->resolver, up, &asker);
	return r;
}

static int
ask_address(struct orders *orders, const struct agent *agent,
    const struct wire_resolve *resolve, bool ours)
{
	struct wire_resolve up = { .address = resolve->address };
	struct wire_bytes bytes;
	int r;

	r = ask(orders, agent, resolve->token, ours, &up.token);
	if (r < 0)
		return r;
	if (speaks_for(agent, resolve->prober))
		up.prober = resolve->prober;
	r = wire_write_resolve(orders->writer, &up, &bytes);
	return send_up(orders, r, up.token, &bytes);
}

void
orders_resolve(
    struct orders *orders, struct agent *agent, const struct wire_resolve *resolve)
{
	const struct tor_aggregator *aggregator = orders->aggregator;
	struct wire_pair_key key = { .epoch = 0 };
	bool old = false, known, keyed;
	struct wire_rnic rnic;

	known = address_book_find(&orders->book, aggregator->racks,
	    aggregator->rack_count, &resolve->address, rm_mono_now(), &rnic, &old);
	/* Of another rack's RNIC only the controller can make a key. */
	keyed = !known || resolve->prober.guid == 0 || !rnic.authenticates ||
		key_store_pair(aggregator->keys, resolve->prober, rnic.id, &key);
	if ((!known || old || !keyed) &&
	    ask_address(orders, agent, resolve, false) == 0)
		return;
	/* What is old is better than nothing. */
	if (known) {
		orders->counts.resolved_here++;
		learn(orders, agent, &rnic, false);
	}
	answer(orders, agent, resolve->token, known ? &rnic : NULL, &key);
}

int
orders_peer(
    struct orders *orders, struct agent *agent, const struct wire_address *address)
{
	return ask_address(
	    orders, agent, &(struct wire_resolve){ .address = *address }, true);
}

static int
ask_join(struct orders *orders, const struct agent *agent, const struct wire_join *join)
{
	struct wire_join up = *join;
	struct wire_bytes bytes;
	int r;

	r = ask(orders, agent, join->token, false, &up.token);
	if (r < 0)
		return r;
	r = wire_write_join(orders->writer, &up, &bytes);
	return send_up(orders, r, up.token, &bytes);
}

void
orders_join(struct orders *orders, struct agent *agent, const struct wire_join *join)
{
	size_t hint = 0;
	int r = -EPERM;

	if (agent_owns(agent, join->rnic, &hint) != NULL)
		r = ask_join(orders, agent, join);
	else
		orders->counts.unauthorized++;
	if (r < 0)
		answer(orders, agent, join->token, NULL, NULL);
}

static int
take_answer(struct orders *orders, const uint8_t *data, size_t len)
{
	struct wire_resolve_answer in;
	struct resolver_asker asker;
	int r;

	r = wire_open_resolved(&in, data, len);
	if (r < 0)
		return r;
	if (resolver_answered(orders->resolver, in.token, &asker))
		answer_asker(orders, &asker, in.found ? &in.rnic : NULL, &in.key);
	return 0;
}

void
orders_roster(struct orders *orders)
{
	address_book_stale(&orders->book);
}

/* ---- drill-down ---- */

int
orders_drill(struct orders *orders, const uint8_t *data, size_t len,
    int (*send)(const struct wire_bytes *bytes, void *arg), void *arg)
{
	struct wire_drill drill;
	struct wire_bytes bytes;
	int r;

	r = wire_open_drill(&drill, data, len);
	if (r < 0)
		return r;
	orders->counts.drills++;
	if (drill_write(orders->aggregator, &drill, orders->writer, &bytes) < 0 ||
	    send(&bytes, arg) < 0)
		orders->counts.drills_failed++;
	return 0;
}

static int
send_to_controller(const struct wire_bytes *bytes, void *arg)
{
	return relay_send(arg, bytes);
}

/* ---- */

int
orders_take(enum wire_kind kind, const uint8_t *data, size_t len, void *arg)
{
	struct orders *orders = arg;

	switch (kind) {
	case WIRE_BRAKE:
		return take_brake(orders, data, len);
	case WIRE_RESOLVE_ANSWER:
		return take_answer(orders, data, len);
	case WIRE_KEYS:
		return key_store_take(orders->aggregator->keys, data, len);
	case WIRE_DRILL:
		return orders_drill(
		    orders, data, len, send_to_controller, orders->aggregator->relay);
	default:
		return -EPROTO;
	}
}

void
orders_tick(struct orders *orders, rm_mono_t now)
{
	struct resolver_asker asker;

	while (resolver_expired(orders->resolver, now, &asker))
		answer_asker(orders, &asker, NULL, NULL);
	brake_store_save(orders->brake);
}

const struct brake_store *
orders_brake(const struct orders *orders)
{
	return orders->brake;
}

const struct resolver *
orders_resolver(const struct orders *orders)
{
	return orders->resolver;
}

const struct orders_counts *
orders_counts(const struct orders *orders)
{
	return &orders->counts;
}
