#include "tor-aggregator/agents/agent_links.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rackmesh/core/address.h"
#include "rackmesh/core/clock.h"
#include "rackmesh/core/log.h"
#include "rackmesh/net/link.h"
#include "rackmesh/net/listener.h"
#include "tor-aggregator/agents/agent.h"
#include "tor-aggregator/agents/agent_links_state.h"
#include "tor-aggregator/agents/agent_watch.h"

/* An agent tells others whom it hears: acknowledgements alone come only with results.
 */
#define SIGN_OF_LIFE_NS RM_NS_PER_S
#define MAX_FRAME_BYTES (2u << 20) /* the largest batch and count report fit */

const char *
agent_links_refused_word(enum agent_links_refused reason)
{
	static const char *const words[AGENT_LINKS_REFUSALS] = {
		[AGENT_LINKS_FULL] = "full",
		[AGENT_LINKS_SILENT] = "silent",
		[AGENT_LINKS_CROWD] = "crowd",
		[AGENT_LINKS_STRANGER] = "stranger",
		[AGENT_LINKS_VERSION] = "version",
		[AGENT_LINKS_AGENTS] = "too-many-agents",
		[AGENT_LINKS_OUT_OF_TURN] = "out-of-turn",
		[AGENT_LINKS_MALFORMED] = "malformed",
		[AGENT_LINKS_NOT_ITSELF] = "not-itself",
		[AGENT_LINKS_SLOW] = "slow",
		[AGENT_LINKS_SUPERSEDED] = "superseded",
	};

	return words[reason];
}

static void
add_traffic(struct agent_links_counts *counts, const struct rm_link *link)
{
	const struct rm_link_counts *more = rm_link_counts(link);

	counts->bytes_in += more->bytes_in;
	counts->frames_in += more->frames_in;
	counts->bytes_out += more->bytes_out;
	counts->refused_frames += more->refused_frames;
}

static void
peer_free(struct agent_link *peer)
{
	struct agent_links *links = peer->links;

	if (peer->previous != NULL)
		peer->previous->next = peer->next;
	else
		links->first = peer->next;
	if (peer->next != NULL)
		peer->next->previous = peer->previous;
	links->count--;
	rm_strangers_remove(&links->strangers, &peer->stranger);
	if (peer->link != NULL) {
		add_traffic(&links->counts, peer->link);
		rm_link_free(peer->link);
	}
	free(peer);
}

/* Did the peer's kernel end it, or did nobody answer any more? One whose frame took too
 * long has a kernel that answers, else that had given up before. */
static bool
ended_by_peer(const struct rm_link *link, int reason)
{
	if (rm_link_counts(link)->slow_frames > 0)
		return true;
	return reason != -ETIMEDOUT && reason != -EHOSTUNREACH &&
	       reason != -ENETUNREACH;
}

static void
on_close(struct rm_link *link, int reason, void *arg)
{
	struct agent_link *peer = arg;
	struct agent_links *links = peer->links;
	struct agent *agent = peer->agent;

	links->counts.refused[AGENT_LINKS_SLOW] += rm_link_counts(link)->slow_frames;
	if (agent != NULL) {
		agent->link = NULL;
		agent_watch_ended(
		    agent->watch, rm_mono_now(), ended_by_peer(link, reason));
		rm_log_info("agent %s has gone (%s)", agent->host,
		    reason == 0 ? "closed" : strerror(-reason));
		links->callbacks.on_gone(agent, links->callbacks.arg);
	}
	if (peer->is_guest)
		links->guests.on_gone(link, links->guests.arg);
	peer_free(peer);
}

static int
on_open(struct rm_link *link, void *arg)
{
	const struct agent_link *peer = arg;

	rm_strangers_named(&peer->links->strangers, &peer->stranger);
	return 0;
}

static int
on_accept(int fd, const struct rm_address *address, void *arg)
{
	static const struct rm_link_callbacks callbacks = {
		.on_frame = agent_session_frame,
		.on_close = on_close,
		.on_open = on_open,
	};
	struct agent_links *links = arg;
	const struct rm_link_limits limits = {
		.max_frame_bytes = MAX_FRAME_BYTES,
		.max_output_bytes = links->options.max_output_bytes,
		.tls = links->options.tls,
		.accepting = true,
	};
	struct agent_link *peer;
	int r;

	if (links->count >= links->options.max_links) {
		links->counts.refused[AGENT_LINKS_FULL]++;
		close(fd);
		return -ENOSPC;
	}
	peer = calloc(1, sizeof(*peer));
	if (peer == NULL) {
		close(fd);
		return -ENOMEM;
	}
	peer->links = links;
	r = rm_link_new(links->loop, fd, &limits, &callbacks, peer, &peer->link);
	if (r < 0) {
		free(peer);
		return r;
	}
	peer->next = links->first;
	if (peer->next != NULL)
		peer->next->previous = peer;
	links->first = peer;
	rm_strangers_add(&links->strangers, &peer->stranger, peer->link, rm_mono_now());
	links->count++;
	links->counts.accepted++;
	return 0;
}

int
agent_links_new(struct rm_loop *loop, const struct agent_links_options *options,
    const struct agent_links_callbacks *callbacks, struct agents *agents,
    struct ingest *ingest, struct agent_links **ret)
{
	struct agent_links *links = calloc(1, sizeof(*links));

	if (links == NULL)
		return -ENOMEM;
	links->loop = loop;
	links->options = *options;
	links->callbacks = *callbacks;
	links->agents = agents;
	links->ingest = ingest;
	links->writer = wire_writer_new();
	if (links->writer == NULL) {
		free(links);
		return -ENOMEM;
	}
	*ret = links;
	return 0;
}

void
agent_links_free(struct agent_links *links)
{
	if (links == NULL)
		return;
	rm_listener_free(links->listener);
	while (links->first != NULL) {
		if (links->first->agent != NULL)
			links->first->agent->link = NULL;
		peer_free(links->first);
	}
	wire_writer_free(links->writer);
	free(links);
}

void
agent_links_admit(struct agent_links *links, const struct agent_links_guests *guests)
{
	links->guests = *guests;
}

int
agent_links_listen(struct agent_links *links, const struct rm_address *address)
{
	return rm_listener_new(
	    links->loop, address, on_accept, links, &links->listener);
}

int
agent_links_port(const struct agent_links *links)
{
	return rm_listener_port(links->listener);
}

int
agent_links_send(
    struct agent_links *links, struct agent *agent, const struct wire_bytes *bytes)
{
	int r;

	if (agent->link == NULL || agent->link->closing)
		return -ENOTCONN;
	r = rm_link_send(agent->link->link, bytes->data, bytes->len);
	if (r < 0)
		agent_session_refuse(agent->link, AGENT_LINKS_SLOW, r);
	return r;
}

/* What its kernel says arrives with the next tick at the latest. */
static void
ask_kernel(struct agent_link *peer, rm_mono_t now)
{
	struct agent_links *links = peer->links;
	struct agent *agent = peer->agent;
	bool overdue = agent_watch_overdue(agent->watch, now);
	bool asks = agent_watch_wants_ping(agent->watch, now);
	const struct wire_ping ping = {
		.now_ns = (uint64_t)now.ns,
		.ending = "",
		.mute = links->mute,
	};
	struct wire_bytes bytes;
	int64_t since_ns;
	uint32_t unacked;

	if ((asks || rm_mono_since(now, peer->pinged) >= SIGN_OF_LIFE_NS) &&
	    wire_write_ping_ending(links->writer, &ping, &bytes) == 0 &&
	    rm_link_send(peer->link, bytes.data, bytes.len) == 0) {
		peer->pinged = now;
		links->counts.pings++;
	}
	if (overdue && rm_link_peer_ack(peer->link, &since_ns, &unacked) == 0)
		agent_watch_acked(agent->watch, rm_mono_add(now, -since_ns));
}

void
agent_links_mute(struct agent_links *links, bool mute)
{
	for (struct agent_link *peer = links->first;
	     peer != NULL && mute != links->mute; peer = peer->next)
		peer->pinged.ns = 0;
	links->mute = mute;
}

void
agent_links_tick(struct agent_links *links)
{
	rm_mono_t now = rm_mono_now();

	for (struct agent_link *peer = links->first; peer != NULL; peer = peer->next) {
		if (!peer->closing && peer->agent != NULL)
			ask_kernel(peer, now);
	}
	rm_strangers_sweep(&links->strangers, now);
}

size_t
agent_links_open(const struct agent_links *links)
{
	return links->count;
}

const char *
agent_links_peer(const struct agent *agent, char *text, size_t len)
{
	char address[RM_ADDRESS_TEXT] = "";

	if (agent->link != NULL)
		rm_address_format(rm_link_peer(agent->link->link), address);
	snprintf(text, len, "%s", address);
	return text;
}

int64_t
agent_links_certificate_ends_s(const struct agent *agent, rm_wall_t now)
{
	const struct agent_link *peer = agent->link;

	if (peer == NULL ||
	    !rm_link_certificate_ending(peer->link, now.ns / RM_NS_PER_S))
		return 0;
	return rm_link_certificate_ends_s(peer->link);
}

const struct agent_links_counts *
agent_links_counts(struct agent_links *links)
{
	links->shown = links->counts;
	links->shown.refused[AGENT_LINKS_SILENT] = links->strangers.timed_out;
	links->shown.refused[AGENT_LINKS_CROWD] = links->strangers.pushed_out;
	for (const struct agent_link *peer = links->first; peer != NULL;
	     peer = peer->next)
		add_traffic(&links->shown, peer->link);
	return &links->shown;
}
