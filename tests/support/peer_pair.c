#include "tests/support/peer_pair.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "schemas/wire.h"
#include "tor-aggregator/standby/peer.h"

#define AGENTS 4
#define STEP_NS (50 * RM_NS_PER_MS)
#define STANDING_STEPS 5
#define LIVE_NS (2500 * RM_NS_PER_MS)
#define READY_NS (3 * RM_NS_PER_S)
/* A node that could be active for this long must have noticed. */
#define SETTLED_NS (16 * RM_NS_PER_S)
#define BOTH_NS (2 * RM_NS_PER_S)

enum life { LIVES, STOPPED, DEAD };

struct node {
	struct peer peer;
	enum life life;
	rm_mono_t running, stopped; /* time of the last change */
	bool delivers;
	uint8_t agents; /* bit mask of the agents connected to it */
	/* When each agent last received from it, and whether it reported then that
	 * it delivers; when it became able to be active. */
	rm_mono_t agent_received[AGENTS];
	bool agent_reported[AGENTS];
	rm_mono_t able;
};

struct pair {
	struct node nodes[2];
	bool linked;
	rm_mono_t now, linked_since, spoken, alone;
	struct peer_pair_figures figures;
};

static void
begin(struct pair *pair, int i)
{
	struct node *node = &pair->nodes[i];

	node->life = LIVES;
	node->running = node->able = pair->now;
	peer_init(&node->peer, i == 0, pair->now);
}

static void
continue_node(struct pair *pair, struct node *node)
{
	node->life = LIVES;
	peer_stalled(&node->peer, rm_mono_since(pair->now, node->stopped), pair->now);
	if (rm_mono_since(pair->now, node->stopped) >= RM_NS_PER_S)
		node->running = pair->now;
	node->able = pair->now;
}

static void
apply_event(struct pair *pair, uint8_t event)
{
	struct node *node = &pair->nodes[event & 1];

	switch (event >> 1 & 7) {
	case 0:
		pair->linked = !pair->linked;
		pair->linked_since = pair->now;
		break;
	case 1:
		node->life = DEAD;
		break;
	case 2:
		if (node->life == LIVES) {
			node->life = STOPPED;
			node->stopped = pair->now;
		}
		break;
	case 3:
	case 4:
		if (node->life == STOPPED)
			continue_node(pair, node);
		else if (node->life == DEAD)
			begin(pair, event & 1);
		break;
	case 5:
		node->delivers = !node->delivers;
		node->able = pair->now;
		break;
	default:
		node->agents = event >> 4;
		node->able = pair->now;
	}
}

static uint32_t
count_bits(unsigned bits)
{
	uint32_t count = 0;

	for (; bits != 0; bits >>= 1)
		count += bits & 1;
	return count;
}

static struct peer_own
own_of(const struct pair *pair, int i)
{
	const struct node *node = &pair->nodes[i], *other = &pair->nodes[!i];
	struct peer_own own = {
		.ready = rm_mono_since(pair->now, node->running) >= READY_NS,
		.delivers = node->delivers,
		.agents = count_bits(node->agents),
		.asked = count_bits(node->agents),
	};

	for (int a = 0; a < AGENTS; a++) {
		const bool lost =
		    rm_mono_since(pair->now, other->agent_received[a]) > LIVE_NS;

		if ((node->agents >> a & 1) == 0)
			continue;
		own.lost += lost;
		own.other_cannot_deliver += !lost && !other->agent_reported[a];
		own.we_cannot_deliver += !node->agent_reported[a];
	}
	return own;
}

static void
report(struct pair *pair, int i)
{
	const struct peer_own own = own_of(pair, i);
	const struct wire_tor_standing standing = {
		.tor = "t",
		.active = pair->nodes[i].peer.active,
		.delivers = own.ready && own.delivers,
		.agents = own.ready ? own.agents : 0,
	};

	if (pair->linked && pair->nodes[i].life == LIVES &&
	    pair->nodes[!i].life == LIVES)
		peer_receive_state(&pair->nodes[!i].peer, &standing, pair->now);
}

static bool
active(const struct node *node)
{
	return node->life == LIVES && node->peer.active;
}

/* True: it has been running, delivering and connected to all agents for long enough. */
static bool
could_be_active(const struct pair *pair, int i)
{
	const struct node *node = &pair->nodes[i];

	return node->life == LIVES && node->delivers && node->agents == 15 &&
	       rm_mono_since(pair->now, node->able) >= SETTLED_NS &&
	       rm_mono_since(pair->now, node->running) >= SETTLED_NS;
}

/* True: one node is active and delivers. */
static bool
is_seen_outside(const struct pair *pair)
{
	for (int i = 0; i < 2; i++)
		if (active(&pair->nodes[i]) && pair->nodes[i].delivers)
			return true;
	return false;
}

static void
check(struct pair *pair, int64_t silent_ns, int64_t both_ns)
{
	if (silent_ns > pair->figures.silent_ns)
		pair->figures.silent_ns = silent_ns;
	if (both_ns > pair->figures.both_ns)
		pair->figures.both_ns = both_ns;
	if (silent_ns <= SETTLED_NS && both_ns <= BOTH_NS)
		return;
	fprintf(stderr, "nobody for %lld ms, both for %lld ms\n",
	    (long long)(silent_ns / RM_NS_PER_MS), (long long)(both_ns / RM_NS_PER_MS));
	abort();
}

static void
step(struct pair *pair, unsigned steps)
{
	struct node *nodes = pair->nodes;
	bool able = could_be_active(pair, 0) || could_be_active(pair, 1);
	bool both;

	pair->now = rm_mono_add(pair->now, STEP_NS);
	for (int i = 0; i < 2; i++) {
		struct peer_own own = own_of(pair, i);
		uint64_t taken = nodes[i].peer.taken;

		if (nodes[i].life != LIVES)
			continue;
		for (int a = 0; a < AGENTS; a++)
			if ((nodes[i].agents >> a & 1) != 0) {
				nodes[i].agent_received[a] = pair->now;
				nodes[i].agent_reported[a] = nodes[i].delivers;
			}
		peer_judge(&nodes[i].peer, &own, pair->now);
		pair->figures.turns += nodes[i].peer.taken - taken;
	}
	for (int i = 0; i < 2 && steps % STANDING_STEPS == 0; i++)
		report(pair, i);
	if (is_seen_outside(pair) || !able)
		pair->spoken = pair->now;
	both = active(&nodes[0]) && active(&nodes[1]) && pair->linked &&
	       rm_mono_since(pair->now, pair->linked_since) > RM_NS_PER_S &&
	       nodes[0].delivers;
	if (!both)
		pair->alone = pair->now;
	check(pair, rm_mono_since(pair->now, pair->spoken),
	    rm_mono_since(pair->now, pair->alone));
}

struct peer_pair_figures
peer_pair_run(const uint8_t *events, size_t len)
{
	struct pair pair = { .now = { 1000 * RM_NS_PER_S }, .linked = true };
	unsigned steps = 0;

	for (int i = 0; i < 2; i++) {
		begin(&pair, i);
		pair.nodes[i].delivers = true;
		pair.nodes[i].agents = 15;
	}
	pair.linked_since = pair.spoken = pair.alone = pair.now;
	for (size_t at = 0; at + 1 < len; at += 2) {
		apply_event(&pair, events[at]);
		for (unsigned n = 0; n < events[at + 1]; n++)
			step(&pair, steps++);
	}
	/* At the end every node that can be active has the time to become active. */
	for (unsigned n = 0; n < 800; n++)
		step(&pair, steps++);
	return pair.figures;
}
