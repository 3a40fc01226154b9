#include "tor-aggregator/agents/pinglist_sender.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "schemas/wire.h"
#include "tor-aggregator/agents/agent.h"
#include "tor-aggregator/agents/agent_server.h"
#include "tor-aggregator/plan/key_store.h"
#include "tor-aggregator/plan/pinglist_builder.h"
#include "tor-aggregator/rack/tor_rack.h"

/* Messages of each kind that are sent in one tick: 256 agents get their pinglists
 * within a second. */
#define PINGLISTS_PER_TICK 16
#define KEYS_PER_TICK 64

struct pinglist_sender {
	struct agents *agents;
	struct agent_server *links;
	struct tor_rack *const *racks; /* borrowed */
	size_t rack_count;
	struct pinglist_builder *pinglist_builder;
	struct key_store *keys; /* NULL: none */
	struct wire_writer *writer;
	struct pinglist_sender_counts counts;
};

int
pinglist_sender_new(struct agents *agents, struct agent_server *links,
    struct tor_rack *const *racks, size_t rack_count, struct pinglist_sender **ret)
{
	struct pinglist_sender *pinglist_sender = calloc(1, sizeof(*pinglist_sender));
	int r;

	if (pinglist_sender == NULL)
		return -ENOMEM;
	pinglist_sender->agents = agents;
	pinglist_sender->links = links;
	pinglist_sender->racks = racks;
	pinglist_sender->rack_count = rack_count;
	pinglist_sender->writer = wire_writer_new();
	r = pinglist_sender->writer == NULL
		? -ENOMEM
		: pinglist_builder_new(&pinglist_sender->pinglist_builder);
	if (r < 0) {
		pinglist_sender_free(pinglist_sender);
		return r;
	}
	*ret = pinglist_sender;
	return 0;
}

void
pinglist_sender_free(struct pinglist_sender *pinglist_sender)
{
	if (pinglist_sender == NULL)
		return;
	pinglist_builder_free(pinglist_sender->pinglist_builder);
	wire_writer_free(pinglist_sender->writer);
	free(pinglist_sender);
}

/* Writes the agent's RNICs in this rack to own; returns their number. */
static size_t
own_rnics(const struct agent *agent, const struct tor_rack *rack,
    struct wire_rnic_id own[WIRE_MAX_HOST_RNICS])
{
	size_t count = 0;

	for (size_t i = 0; i < agent->rnic_count; i++)
		if (agent->rnics[i].rack == rack)
			own[count++] = agent->rnics[i].id;
	return count;
}

static bool
same_state(const struct agent_pinglist_state *a, const struct agent_pinglist_state *b)
{
	return a->rack == b->rack && a->version == b->version &&
	       a->rotation == b->rotation && a->registration == b->registration;
}

/* True: a message had to be sent. */
static bool
send_keys(struct pinglist_sender *pinglist_sender, struct agent *agent, size_t t)
{
	const struct tor_rack *rack = pinglist_sender->racks[t];
	const struct wire_keys *view = key_store_view(pinglist_sender->keys, t);
	struct agent_pinglist_state state = { .rack = rack,
		.registration = agent->registrations };
	struct wire_rnic_id own[WIRE_MAX_HOST_RNICS];
	struct wire_bytes bytes;
	struct wire_keys out;
	size_t own_count;
	int r;

	if (view == NULL)
		return false;
	state.version = view->version;
	if (same_state(&agent->sent_keys[t], &state))
		return false;
	own_count = own_rnics(agent, rack, own);
	if (own_count == 0)
		return false;
	r = key_store_expand(pinglist_sender->keys, t, own, own_count, &out);
	if (r == 0)
		r = wire_write_keys(pinglist_sender->writer, &out, &bytes);
	if (r == 0)
		r = agent_server_send(pinglist_sender->links, agent, &bytes);
	if (r < 0) {
		pinglist_sender->counts.failed++;
		return true;
	}
	agent->sent_keys[t] = state;
	pinglist_sender->counts.keys++;
	return true;
}

/* False: some agents do not have their present keys yet. */
static bool
send_all_keys(struct pinglist_sender *pinglist_sender)
{
	int left = KEYS_PER_TICK;

	for (struct agent *agent = agents_first(pinglist_sender->agents); agent != NULL;
	     agent = agent->next)
		for (size_t t = 0;
		     agent->link != NULL && t < pinglist_sender->rack_count; t++)
			if (send_keys(pinglist_sender, agent, t) && --left == 0)
				return false;
	return true;
}

/* True: a message had to be sent. */
static bool
send_due(struct pinglist_sender *pinglist_sender, struct agent *agent, size_t t,
    rm_wall_t wall)
{
	const struct tor_rack *rack = pinglist_sender->racks[t];
	const struct wire_plan_view *view = tor_rack_plan_view(rack);
	struct agent_pinglist_state state = { .rack = rack,
		.registration = agent->registrations };
	struct wire_rnic_id own[WIRE_MAX_HOST_RNICS];
	struct wire_pinglist out;
	struct wire_bytes bytes;
	size_t own_count;
	int r;

	if (view == NULL)
		return false;
	state.version = view->plan.version;
	state.rotation = pinglist_builder_rotation(&view->plan, wall.ns / RM_NS_PER_S);
	if (same_state(&agent->sent[t], &state))
		return false;
	own_count = own_rnics(agent, rack, own);
	if (own_count == 0)
		return false;
	pinglist_builder_pinglist(pinglist_sender->pinglist_builder, view,
	    state.rotation, own, own_count, &out,
	    &pinglist_sender->counts.refused_targets);
	out.probe_timeout_ms = (uint32_t)(tor_rack_timeout_ns(rack) / RM_NS_PER_MS);
	r = wire_write_pinglist(pinglist_sender->writer, &out, &bytes);
	if (r == 0)
		r = agent_server_send(pinglist_sender->links, agent, &bytes);
	if (r < 0) {
		pinglist_sender->counts.failed++;
		return true;
	}
	agent->sent[t] = state;
	pinglist_sender->counts.pinglists++;
	return true;
}

void
pinglist_sender_tick(struct pinglist_sender *pinglist_sender, rm_wall_t wall)
{
	int left = PINGLISTS_PER_TICK;

	if (pinglist_sender->keys != NULL && !send_all_keys(pinglist_sender))
		return;
	for (struct agent *agent = agents_first(pinglist_sender->agents); agent != NULL;
	     agent = agent->next)
		for (size_t t = 0;
		     agent->link != NULL && t < pinglist_sender->rack_count; t++)
			if (send_due(pinglist_sender, agent, t, wall) && --left == 0)
				return;
}

void
pinglist_sender_set_keys(
    struct pinglist_sender *pinglist_sender, struct key_store *keys)
{
	pinglist_sender->keys = keys;
}

void
pinglist_sender_focus(struct pinglist_sender *pinglist_sender, const char *host,
    const struct wire_focus *focus)
{
	struct agent *agent = agents_find(pinglist_sender->agents, host);
	struct wire_bytes bytes;

	if (agent != NULL &&
	    wire_write_focus(pinglist_sender->writer, focus, &bytes) == 0 &&
	    agent_server_send(pinglist_sender->links, agent, &bytes) == 0)
		pinglist_sender->counts.focuses++;
	else
		pinglist_sender->counts.focuses_failed++;
}

struct pinglist_builder *
pinglist_sender_scratch(struct pinglist_sender *pinglist_sender)
{
	return pinglist_sender->pinglist_builder;
}

const struct pinglist_sender_counts *
pinglist_sender_counts(const struct pinglist_sender *pinglist_sender)
{
	return &pinglist_sender->counts;
}
