#include "tor-aggregator/agents/agent_server.h"

#include <errno.h>
#include <netdb.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/core/address.h"
#include "rackmesh/core/clock.h"
#include "rackmesh/core/log.h"
#include "rackmesh/identity/authority.h"
#include "rackmesh/net/link.h"
#include "rackmesh/net/listener.h"
#include "tor-aggregator/agents/agent.h"
#include "tor-aggregator/agents/agent_health.h"
#include "tor-aggregator/agents/agent_server_state.h"
#include "tor-aggregator/agents/batch_sequence.h"
#include "tor-aggregator/agents/ingest.h"

/* ---- handles the messages of an agent, frame by frame ---- */

#define REASON_BYTES 1024
#define QUOTED_BYTES 128

/* Counts the reason, and closes the link in a later turn of the loop. Returns 0;
 * further frames of the link are ignored. */
static int
agent_session_refuse(struct agent_link *peer, enum agent_server_refused reason, int r)
{
	if (!peer->closing)
		peer->links->counts.refused[reason]++;
	peer->closing = true;
	rm_link_close(peer->conn.link, r);
	return 0;
}

static int
welcome(struct agent_link *peer, uint64_t counted_seq, const char *refused)
{
	struct agent_server *links = peer->links;
	const struct wire_welcome out = {
		.version = WIRE_VERSION,
		.id = links->options.name,
		.incarnation = links->options.incarnation,
		.counted_seq = counted_seq,
		.refused = refused,
		.software = RACKMESH_VERSION,
		.knows_overdue = true,
	};
	struct wire_bytes bytes;
	int r;

	r = wire_write_welcome(links->writer, &out, &bytes);
	if (r == 0)
		r = rm_link_send(peer->conn.link, bytes.data, bytes.len);
	return r;
}

static int
turn_away(struct agent_link *peer, enum agent_server_refused reason, const char *cause)
{
	welcome(peer, 0, cause);
	return agent_session_refuse(peer, reason, -EPERM);
}

/* Closes the host's older connection, if there is one. The agent does not count as
 * disconnected. */
static void
supersede(struct agent_link *peer, struct agent *agent)
{
	struct agent_link *old = agent->link;

	if (old == NULL)
		return;
	old->agent = NULL;
	agent_session_refuse(old, AGENT_SERVER_SUPERSEDED, -ECONNABORTED);
	agent->link = NULL;
	agent->superseded = agent->incarnation;
}

/* Writes an address without its port. */
static void
format_host(const struct rm_address *address, char text[RM_ADDRESS_TEXT])
{
	if (getnameinfo((const struct sockaddr *)&address->storage, address->len, text,
		RM_ADDRESS_TEXT, NULL, 0, NI_NUMERICHOST) != 0)
		snprintf(text, RM_ADDRESS_TEXT, "an unknown address");
}

static void
log_refused(const struct agent_link *peer, const char *reason)
{
	char who[RM_REFUSALS_TEXT];

	if (rm_refusals_report(&peer->links->refusals, rm_link_peer(peer->conn.link),
		reason, rm_mono_now(), who))
		rm_log_warn(0, "agent at %s: refused: %s", who, reason);
}

/*
 * True: the peer is a second host with the name of a connected one. Two such hosts
 * would replace each other's sessions for ever, so the connected one stays while its
 * heartbeats arrive. The peer is a second host if it comes from another address, or if
 * its incarnation is the one that the present session has replaced: the old incarnation
 * of a restarted agent does not return. An agent that moves to another address keeps
 * its incarnation, so it is not a second host.
 */
static bool
is_another_host(const struct agent_link *peer, const struct agent *agent,
    const struct wire_hello *hello, rm_mono_t now, char reason[REASON_BYTES])
{
	char here[RM_ADDRESS_TEXT], there[RM_ADDRESS_TEXT];

	if (agent->link == NULL || agent->link->closing ||
	    hello->incarnation == agent->incarnation ||
	    agent_health_silent(agent->watch, now))
		return false;
	format_host(rm_link_peer(agent->link->conn.link), here);
	format_host(rm_link_peer(peer->conn.link), there);
	if (strcmp(here, there) == 0 && hello->incarnation != agent->superseded)
		return false;
	snprintf(reason, REASON_BYTES,
	    "two hosts are called %s, at %s and at %s: give one of them another name",
	    agent->host, here, there);
	log_refused(peer, reason);
	return true;
}

/* True: the certificate of the peer is that of the host's agent. */
static bool
hello_is_its_own(const struct agent_link *peer, const struct wire_hello *hello,
    char reason[REASON_BYTES])
{
	const struct rm_request request = {
		.verb = RM_VERB_AGENT_SESSION,
		.region = peer->links->options.region,
		.name = hello->id,
	};

	if (rm_authority_admits(
		rm_link_identity(peer->conn.link), &request, reason, REASON_BYTES))
		return true;
	log_refused(peer, reason);
	return false;
}

/* Handles the hello of another aggregator. */
static int
take_peer_aggregator(struct agent_link *peer, const struct wire_hello_view *view)
{
	const struct agent_server_peers *peer_aggregators =
	    &peer->links->peer_aggregators;
	const char *refused =
	    peer_aggregators->on_hello(peer->conn.link, view, peer_aggregators->arg);
	int r;

	if (refused != NULL)
		return turn_away(peer, AGENT_SERVER_WRONG_IDENTITY, refused);
	peer->is_peer_aggregator = true;
	rm_server_settled(&peer->conn);
	r = welcome(peer, 0, "");
	if (r < 0)
		return agent_session_refuse(peer, AGENT_SERVER_SLOW, r);
	peer_aggregators->on_up(peer->conn.link, peer_aggregators->arg);
	return 0;
}

static int
take_peer_aggregators_frame(struct agent_link *peer, const uint8_t *data, size_t len)
{
	const struct agent_server_peers *peer_aggregators =
	    &peer->links->peer_aggregators;

	if (peer_aggregators->on_frame(
		peer->conn.link, data, len, peer_aggregators->arg) < 0)
		return agent_session_refuse(peer, AGENT_SERVER_MALFORMED, -EBADMSG);
	return 0;
}

static int
take_agent(struct agent_link *peer, const struct wire_hello *hello)
{
	struct agent_server *links = peer->links;
	rm_mono_t now = rm_mono_now();
	struct agent *agent;
	char reason[REASON_BYTES];
	bool fresh;
	int r;

	if (!hello_is_its_own(peer, hello, reason))
		return turn_away(peer, AGENT_SERVER_WRONG_IDENTITY, reason);
	r = agents_get(links->agents, hello->id, &agent);
	if (r < 0)
		return turn_away(peer, AGENT_SERVER_AGENTS, "too many agents");
	if (is_another_host(peer, agent, hello, now, reason))
		return turn_away(peer, AGENT_SERVER_NAME_TAKEN, reason);
	supersede(peer, agent);
	fresh = agent_hello(agent, hello->incarnation);
	agent_note_software(agent, hello->software, rm_wall_now());
	clock_map_sample(&agent->clock, hello->now_ns, now);
	agent_health_hello(agent->watch, now, fresh);
	peer->agent = agent;
	agent->link = peer;
	format_host(rm_link_peer(peer->conn.link), agent->address);
	rm_server_settled(&peer->conn);
	links->counts.sessions++;
	r = welcome(
	    peer, batch_sequence_counted(agent->sequence, agent->incarnation), "");
	if (r < 0)
		return agent_session_refuse(peer, AGENT_SERVER_SLOW, r);
	links->callbacks.on_session(agent, links->callbacks.arg);
	return 0;
}

static int
take_hello(struct agent_link *peer, const uint8_t *data, size_t len)
{
	const struct agent_server *links = peer->links;
	struct wire_hello_view view;
	const struct wire_hello *hello = &view.hello;
	bool is_peer_aggregator;

	if (wire_open_hello(&view, data, len) < 0 || hello->now_ns > INT64_MAX)
		return agent_session_refuse(peer, AGENT_SERVER_MALFORMED, -EBADMSG);
	is_peer_aggregator = hello->role == WIRE_ROLE_AGGREGATOR &&
			     links->peer_aggregators.on_hello != NULL;
	if ((hello->role != WIRE_ROLE_AGENT && hello->role != WIRE_ROLE_CHECK &&
		!is_peer_aggregator) ||
	    !rm_name_valid(hello->id))
		return turn_away(peer, AGENT_SERVER_WRONG_IDENTITY,
		    "an aggregator serves only host-agents");
	if (strcmp(hello->region, links->options.region) != 0)
		return turn_away(
		    peer, AGENT_SERVER_WRONG_IDENTITY, "this is another region");
	if (!wire_hello_meets_us(hello))
		return turn_away(peer, AGENT_SERVER_VERSION,
		    "versions more than one apart do not work together");
	/* The peer only checks its config (--check --connect): it gets a welcome, and
	 * closes the connection. */
	if (hello->role == WIRE_ROLE_CHECK)
		return welcome(peer, 0, "");
	return is_peer_aggregator ? take_peer_aggregator(peer, &view)
				  : take_agent(peer, hello);
}

static void
note_refused(struct agent_link *peer, const struct agent_refused *refused)
{
	char id[RM_RNIC_ID_TEXT], device[QUOTED_BYTES];

	peer->links->counts.refused_rnics += refused->count;
	if (refused->count == 0)
		return;
	rm_rnic_id_format(
	    (struct rm_rnic_id){ refused->rnic.id.guid, refused->rnic.id.port }, id);
	rm_log_quote(
	    device, sizeof(device), refused->rnic.device, strlen(refused->rnic.device));
	rm_log_warn(0, "agent %s: RNIC %s, device %s: refused: %s%s", peer->agent->host,
	    id, device, refused->reason,
	    refused->count > 1 ? "; and others before it" : "");
}

static int
take_register(struct agent_link *peer, const uint8_t *data, size_t len)
{
	struct agent_server *links = peer->links;
	struct agent *agent = peer->agent;
	struct wire_register_view view;
	struct agent_refused refused;

	if (wire_open_register(&view, data, len) < 0)
		return agent_session_refuse(peer, AGENT_SERVER_MALFORMED, -EBADMSG);
	if (strcmp(view.reg.host, agent->host) != 0 ||
	    view.reg.incarnation != agent->incarnation)
		return agent_session_refuse(peer, AGENT_SERVER_NOT_ITSELF, -EPERM);
	if (agent_register(links->agents, agent, &view, links->writer, &refused) < 0)
		return agent_session_refuse(peer, AGENT_SERVER_SLOW, -ENOMEM);
	note_refused(peer, &refused);
	links->callbacks.on_register(agent, &view, links->callbacks.arg);
	return 0;
}

static int
take_batch(struct agent_link *peer, rm_mono_t now, const uint8_t *data, size_t len)
{
	struct agent_server *links = peer->links;
	struct wire_bytes bytes;
	struct wire_ack ack;
	int r;

	r = ingest_batch(links->ingest, peer->agent, now, data, len, &ack);
	if (r == -EPERM)
		return agent_session_refuse(peer, AGENT_SERVER_NOT_ITSELF, r);
	if (r < 0)
		return agent_session_refuse(peer, AGENT_SERVER_MALFORMED, r);
	r = wire_write_ack(links->writer, &ack, &bytes);
	if (r == 0)
		r = rm_link_send(peer->conn.link, bytes.data, bytes.len);
	return r < 0 ? agent_session_refuse(peer, AGENT_SERVER_SLOW, r) : 0;
}

static int
take_heartbeat(struct agent_link *peer, rm_mono_t now, const uint8_t *data, size_t len)
{
	struct agent *agent = peer->agent;
	struct wire_heartbeat beat;
	rm_mono_t made, through;

	if (wire_open_heartbeat(&beat, data, len) < 0)
		return agent_session_refuse(peer, AGENT_SERVER_MALFORMED, -EBADMSG);
	if (beat.incarnation != agent->incarnation)
		return agent_session_refuse(peer, AGENT_SERVER_NOT_ITSELF, -EPERM);
	if (clock_map_sample(&agent->clock, beat.now_ns, now) < 0 ||
	    !clock_map_ours(&agent->clock, beat.now_ns, &made))
		return agent_session_refuse(peer, AGENT_SERVER_MALFORMED, -EBADMSG);
	if (beat.results_through_ns == 0)
		through = made;
	else if (beat.results_through_ns > beat.now_ns ||
		 !clock_map_ours(&agent->clock, beat.results_through_ns, &through))
		through = (rm_mono_t){ 0 };
	peer->links->counts.heartbeats++;
	for (size_t i = 0; i < beat.stall_count; i++) {
		rm_mono_t start, end;

		if (clock_map_ours(&agent->clock, beat.stalls[i].start_ns, &start) &&
		    clock_map_ours(&agent->clock, beat.stalls[i].end_ns, &end))
			agent_health_stall(agent->watch, start, end);
	}
	agent->paused = beat.paused;
	agent->slowed_permille = beat.slowed_permille < 1000 ? beat.slowed_permille : 0;
	agent->slowed_reason = beat.slowed_reason;
	agent_note_live(agent, &beat, now);
	agent_health_beat(agent->watch, now, made, through, beat.paused);
	agent_health_excuse(agent->watch, beat.paused_by_hand);
	return 0;
}

static int
take_counts(struct agent_link *peer, rm_mono_t now, const uint8_t *data, size_t len)
{
	int r;

	r = ingest_receive_counts(peer->links->ingest, peer->agent, now, data, len);
	if (r == -EPERM)
		return agent_session_refuse(peer, AGENT_SERVER_NOT_ITSELF, r);
	return r < 0 ? agent_session_refuse(peer, AGENT_SERVER_MALFORMED, r) : 0;
}

static int
take_paths(struct agent_link *peer, rm_mono_t now, const uint8_t *data, size_t len)
{
	int r;

	r = ingest_paths(peer->links->ingest, peer->agent, now, data, len);
	if (r == -EPERM)
		return agent_session_refuse(peer, AGENT_SERVER_NOT_ITSELF, r);
	return r < 0 ? agent_session_refuse(peer, AGENT_SERVER_MALFORMED, r) : 0;
}

static int
take_resolve(struct agent_link *peer, const uint8_t *data, size_t len)
{
	struct agent_server *links = peer->links;
	struct wire_resolve resolve;

	if (wire_open_resolve(&resolve, data, len) < 0)
		return agent_session_refuse(peer, AGENT_SERVER_MALFORMED, -EBADMSG);
	links->callbacks.on_resolve(peer->agent, &resolve, links->callbacks.arg);
	return 0;
}

static int
take_join(struct agent_link *peer, const uint8_t *data, size_t len)
{
	struct agent_server *links = peer->links;
	struct wire_join join;

	if (wire_open_join(&join, data, len) < 0)
		return agent_session_refuse(peer, AGENT_SERVER_MALFORMED, -EBADMSG);
	links->callbacks.on_join(peer->agent, &join, links->callbacks.arg);
	return 0;
}

static int
take_services(struct agent_link *peer, const uint8_t *data, size_t len)
{
	struct agent_server *links = peer->links;
	struct wire_services_view view;

	if (wire_open_services(&view, data, len) < 0)
		return agent_session_refuse(peer, AGENT_SERVER_MALFORMED, -EBADMSG);
	if (strcmp(view.services.host, peer->agent->host) != 0 ||
	    view.services.incarnation != peer->agent->incarnation)
		return agent_session_refuse(peer, AGENT_SERVER_NOT_ITSELF, -EPERM);
	links->callbacks.on_services(peer->agent, &view, links->callbacks.arg);
	return 0;
}

static int
take_counter_report(struct agent_link *peer, const uint8_t *data, size_t len)
{
	struct agent_server *links = peer->links;
	struct wire_counter_report view;

	if (wire_open_counter_report(&view, data, len) < 0)
		return agent_session_refuse(peer, AGENT_SERVER_MALFORMED, -EBADMSG);
	if (view.incarnation != peer->agent->incarnation)
		return agent_session_refuse(peer, AGENT_SERVER_NOT_ITSELF, -EPERM);
	links->callbacks.on_counters(peer->agent, &view, links->callbacks.arg);
	return 0;
}

/* Callback on_frame of rm_link; arg: a struct agent_link. */
static int
agent_session_frame(struct rm_link *link, const uint8_t *data, size_t len, void *arg)
{
	struct agent_link *peer = arg;
	enum wire_kind kind = wire_kind_of(data, len);
	rm_mono_t now;

	if (peer->closing)
		return 0;
	if (peer->is_peer_aggregator)
		return take_peer_aggregators_frame(peer, data, len);
	if (peer->agent == NULL)
		return kind == WIRE_HELLO ? take_hello(peer, data, len)
					  : agent_session_refuse(peer,
						AGENT_SERVER_OUT_OF_TURN, -EPROTO);
	now = rm_mono_now();
	switch (kind) {
	case WIRE_REGISTER:
		return take_register(peer, data, len);
	case WIRE_BATCH:
		return take_batch(peer, now, data, len);
	case WIRE_HEARTBEAT:
		return take_heartbeat(peer, now, data, len);
	case WIRE_COUNTS:
		return take_counts(peer, now, data, len);
	case WIRE_COUNTER_REPORT:
		return take_counter_report(peer, data, len);
	case WIRE_PATHS:
		return take_paths(peer, now, data, len);
	case WIRE_RESOLVE:
		return take_resolve(peer, data, len);
	case WIRE_JOIN:
		return take_join(peer, data, len);
	case WIRE_SERVICES:
		return take_services(peer, data, len);
	default:
		if (!wire_is_newer(data, len))
			return agent_session_refuse(
			    peer, AGENT_SERVER_OUT_OF_TURN, -EPROTO);
		peer->links->counts.unknown_messages++;
		return 0;
	}
}

/* Interval of pings. Agents report which aggregators are alive; acknowledgements alone
 * do not show that, because they are sent only after results. */
#define SIGN_OF_LIFE_NS RM_NS_PER_S
/* enough for the largest batch and the largest count report */
#define MAX_FRAME_BYTES (2u << 20)

const char *
agent_server_refused_str(enum agent_server_refused reason)
{
	static const char *const names[AGENT_SERVER_REFUSALS] = {
		[AGENT_SERVER_FULL] = "full",
		[AGENT_SERVER_SILENT] = "silent",
		[AGENT_SERVER_TOO_MANY_PENDING] = "too_many_pending",
		[AGENT_SERVER_WRONG_IDENTITY] = "wrong_identity",
		[AGENT_SERVER_NAME_TAKEN] = "name_taken",
		[AGENT_SERVER_VERSION] = "version",
		[AGENT_SERVER_AGENTS] = "too_many_agents",
		[AGENT_SERVER_OUT_OF_TURN] = "unexpected_message",
		[AGENT_SERVER_MALFORMED] = "malformed",
		[AGENT_SERVER_NOT_ITSELF] = "not_own_message",
		[AGENT_SERVER_SLOW] = "slow",
		[AGENT_SERVER_SUPERSEDED] = "superseded",
	};

	return names[reason];
}

/* True: the peer's kernel has ended the connection, or a frame came too slowly, during
 * which the kernel still answered. False: the connection timed out. */
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
	struct agent_server *links = peer->links;
	struct agent *agent = peer->agent;

	links->counts.refused[AGENT_SERVER_SLOW] += rm_link_counts(link)->slow_frames;
	if (agent != NULL) {
		agent->link = NULL;
		agent_health_ended(
		    agent->watch, rm_mono_now(), ended_by_peer(link, reason));
		rm_log_info("agent %s: disconnected: %s", agent->host,
		    reason == 0 ? "closed" : strerror(-reason));
		links->callbacks.on_gone(agent, links->callbacks.arg);
	}
	if (peer->is_peer_aggregator)
		links->peer_aggregators.on_gone(link, links->peer_aggregators.arg);
}

static void
on_accept(void *arg, const struct rm_address *address, void *owner)
{
	struct agent_link *peer = arg;

	(void)address;
	peer->links = owner;
}

static void
on_free(void *arg)
{
	struct agent_link *peer = arg;

	if (peer->agent != NULL && peer->agent->link == peer)
		peer->agent->link = NULL;
}

int
agent_server_new(struct rm_loop *loop, const struct agent_server_options *options,
    const struct agent_server_callbacks *callbacks, struct agents *agents,
    struct ingest *ingest, struct agent_server **ret)
{
	struct agent_server *links = calloc(1, sizeof(*links));
	struct rm_server_options server = {
		.loop = loop,
		.limits = { .max_frame_bytes = MAX_FRAME_BYTES,
		    .max_output_bytes = options->max_output_bytes,
		    .tls = options->tls },
		.max_conns = options->max_links,
		.session_bytes = sizeof(struct agent_link),
		.conn_offset = offsetof(struct agent_link, conn),
		.on_accept = on_accept,
		.on_frame = agent_session_frame,
		.on_close = on_close,
		.on_free = on_free,
	};

	if (links == NULL)
		return -ENOMEM;
	links->loop = loop;
	links->options = *options;
	links->callbacks = *callbacks;
	links->agents = agents;
	links->ingest = ingest;
	server.arg = links;
	rm_server_init(&links->server, &server);
	links->writer = wire_writer_new();
	if (links->writer == NULL) {
		free(links);
		return -ENOMEM;
	}
	*ret = links;
	return 0;
}

void
agent_server_free(struct agent_server *links)
{
	if (links == NULL)
		return;
	rm_listener_free(links->listener);
	rm_server_clear(&links->server);
	wire_writer_free(links->writer);
	free(links);
}

void
agent_server_admit(
    struct agent_server *links, const struct agent_server_peers *peer_aggregators)
{
	links->peer_aggregators = *peer_aggregators;
}

int
agent_server_listen(struct agent_server *links, const struct rm_address *address)
{
	return rm_listener_new(
	    links->loop, address, rm_server_accept, &links->server, &links->listener);
}

int
agent_server_port(const struct agent_server *links)
{
	return rm_listener_port(links->listener);
}

int
agent_server_send(
    struct agent_server *links, struct agent *agent, const struct wire_bytes *bytes)
{
	int r;

	if (agent->link == NULL || agent->link->closing)
		return -ENOTCONN;
	r = rm_link_send(agent->link->conn.link, bytes->data, bytes->len);
	if (r < 0)
		agent_session_refuse(agent->link, AGENT_SERVER_SLOW, r);
	return r;
}

/* Asks the agent's kernel for an acknowledgement, and reads the one that has arrived
 * since the last tick. */
static void
ask_kernel(struct agent_link *peer, rm_mono_t now)
{
	struct agent_server *links = peer->links;
	struct agent *agent = peer->agent;
	bool overdue = agent_health_overdue(agent->watch, now);
	bool asks = agent_health_wants_ping(agent->watch, now);
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
	    rm_link_send(peer->conn.link, bytes.data, bytes.len) == 0) {
		peer->pinged = now;
		links->counts.pings++;
	}
	if (overdue && rm_link_peer_ack(peer->conn.link, &since_ns, &unacked) == 0)
		agent_health_acked(agent->watch, rm_mono_add(now, -since_ns));
}

void
agent_server_mute(struct agent_server *links, bool mute)
{
	for (struct agent_link *peer = rm_server_first(&links->server);
	     peer != NULL && mute != links->mute; peer = agent_link_next(peer))
		peer->pinged.ns = 0;
	links->mute = mute;
}

void
agent_server_tick(struct agent_server *links)
{
	rm_mono_t now = rm_mono_now();

	for (struct agent_link *peer = rm_server_first(&links->server); peer != NULL;
	     peer = agent_link_next(peer)) {
		if (!peer->closing && peer->agent != NULL)
			ask_kernel(peer, now);
	}
	rm_server_sweep(&links->server, now);
}

size_t
agent_server_open(const struct agent_server *links)
{
	return links->server.count;
}

const char *
agent_server_peer(const struct agent *agent, char *text, size_t len)
{
	char address[RM_ADDRESS_TEXT] = "";

	if (agent->link != NULL)
		rm_address_format(rm_link_peer(agent->link->conn.link), address);
	snprintf(text, len, "%s", address);
	return text;
}

int64_t
agent_server_certificate_ends_s(const struct agent *agent, rm_wall_t now)
{
	const struct agent_link *peer = agent->link;

	if (peer == NULL ||
	    !rm_link_certificate_ending(peer->conn.link, now.ns / RM_NS_PER_S))
		return 0;
	return rm_link_certificate_ends_s(peer->conn.link);
}

const struct agent_server_counts *
agent_server_counts(struct agent_server *links)
{
	const struct rm_server *server = &links->server;
	const struct rm_link_counts traffic = rm_server_traffic(server);
	struct agent_server_counts *shown = &links->shown;

	*shown = links->counts;
	shown->accepted = server->accepted;
	shown->refused[AGENT_SERVER_FULL] = server->refused;
	shown->refused[AGENT_SERVER_SILENT] = server->pending_conns.timed_out;
	shown->refused[AGENT_SERVER_TOO_MANY_PENDING] =
	    server->pending_conns.pushed_out;
	shown->bytes_in = traffic.bytes_in;
	shown->frames_in = traffic.frames_in;
	shown->bytes_out = traffic.bytes_out;
	shown->frames_out = traffic.frames_out;
	shown->refused_sends = traffic.refused_sends;
	shown->slow_frames = traffic.slow_frames;
	shown->refused_frames = traffic.refused_frames;
	return shown;
}
