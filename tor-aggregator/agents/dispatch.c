#include "tor-aggregator/agents/dispatch.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "schemas/wire.h"
#include "tor-aggregator/agents/agent.h"
#include "tor-aggregator/agents/agent_links.h"
#include "tor-aggregator/plan/expansion.h"
#include "tor-aggregator/plan/key_store.h"
#include "tor-aggregator/rack/tor_rack.h"

#define PINGLISTS_PER_TICK 16 /* a rack of 256 gets all of them within a second */
#define KEYS_PER_TICK 64

struct dispatch {
	struct agents *agents;
	struct agent_links *links;
	struct tor_rack *const *racks; /* borrowed */
	size_t rack_count;
	struct expansion *expansion;
	struct key_store *keys; /* NULL: none */
	struct wire_writer *writer;
	struct dispatch_counts counts;
};

int
dispatch_new(struct agents *agents, struct agent_links *links,
    struct tor_rack *const *racks, size_t rack_count, struct dispatch **ret)
{
	struct dispatch *dispatch = calloc(1, sizeof(*dispatch));
	int r;

	if (dispatch == NULL)
		return -ENOMEM;
	dispatch->agents = agents;
	dispatch->links = links;
	dispatch->racks = racks;
	dispatch->rack_count = rack_count;
	dispatch->writer = wire_writer_new();
	r = dispatch->writer == NULL ? -ENOMEM : expansion_new(&dispatch->expansion);
	if (r < 0) {
		dispatch_free(dispatch);
		return r;
	}
	*ret = dispatch;
	return 0;
}

void
dispatch_free(struct dispatch *dispatch)
{
	if (dispatch == NULL)
		return;
	expansion_free(dispatch->expansion);
	wire_writer_free(dispatch->writer);
	free(dispatch);
}

/* The agent's RNICs in this rack. */
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

/* True when there was something to send. */
static bool
send_keys(struct dispatch *dispatch, struct agent *agent, size_t t)
{
	const struct tor_rack *rack = dispatch->racks[t];
	const struct wire_keys *view = key_store_view(dispatch->keys, t);
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
	r = key_store_expand(dispatch->keys, t, own, own_count, &out);
	if (r == 0)
		r = wire_write_keys(dispatch->writer, &out, &bytes);
	if (r == 0)
		r = agent_links_send(dispatch->links, agent, &bytes);
	if (r < 0) {
		dispatch->counts.failed++;
		return true;
	}
	agent->sent_keys[t] = state;
	dispatch->counts.keys++;
	return true;
}

/* False: not all of them have theirs yet. */
static bool
send_all_keys(struct dispatch *dispatch)
{
	int left = KEYS_PER_TICK;

	for (struct agent *agent = agents_first(dispatch->agents); agent != NULL;
	     agent = agent->next)
		for (size_t t = 0; agent->link != NULL && t < dispatch->rack_count; t++)
			if (send_keys(dispatch, agent, t) && --left == 0)
				return false;
	return true;
}

/* True when there was something to send. */
static bool
send_due(struct dispatch *dispatch, struct agent *agent, size_t t, rm_wall_t wall)
{
	const struct tor_rack *rack = dispatch->racks[t];
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
	state.rotation = expansion_rotation(&view->plan, wall.ns / RM_NS_PER_S);
	if (same_state(&agent->sent[t], &state))
		return false;
	own_count = own_rnics(agent, rack, own);
	if (own_count == 0)
		return false;
	expansion_pinglist(dispatch->expansion, view, state.rotation, own, own_count,
	    &out, &dispatch->counts.refused_targets);
	out.probe_timeout_ms = (uint32_t)(tor_rack_timeout_ns(rack) / RM_NS_PER_MS);
	r = wire_write_pinglist(dispatch->writer, &out, &bytes);
	if (r == 0)
		r = agent_links_send(dispatch->links, agent, &bytes);
	if (r < 0) {
		dispatch->counts.failed++;
		return true;
	}
	agent->sent[t] = state;
	dispatch->counts.pinglists++;
	return true;
}

void
dispatch_tick(struct dispatch *dispatch, rm_wall_t wall)
{
	int left = PINGLISTS_PER_TICK;

	if (dispatch->keys != NULL && !send_all_keys(dispatch))
		return;
	for (struct agent *agent = agents_first(dispatch->agents); agent != NULL;
	     agent = agent->next)
		for (size_t t = 0; agent->link != NULL && t < dispatch->rack_count; t++)
			if (send_due(dispatch, agent, t, wall) && --left == 0)
				return;
}

void
dispatch_set_keys(struct dispatch *dispatch, struct key_store *keys)
{
	dispatch->keys = keys;
}

void
dispatch_focus(
    struct dispatch *dispatch, const char *host, const struct wire_focus *focus)
{
	struct agent *agent = agents_find(dispatch->agents, host);
	struct wire_bytes bytes;

	if (agent != NULL && wire_write_focus(dispatch->writer, focus, &bytes) == 0 &&
	    agent_links_send(dispatch->links, agent, &bytes) == 0)
		dispatch->counts.focuses++;
	else
		dispatch->counts.focuses_failed++;
}

struct expansion *
dispatch_scratch(struct dispatch *dispatch)
{
	return dispatch->expansion;
}

const struct dispatch_counts *
dispatch_counts(const struct dispatch *dispatch)
{
	return &dispatch->counts;
}
