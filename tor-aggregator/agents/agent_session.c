/* What an agent says, frame by frame. */
#include <errno.h>
#include <string.h>

#include "rackmesh/core/log.h"
#include "rackmesh/identity/authority.h"
#include "rackmesh/net/link.h"
#include "tor-aggregator/agents/agent.h"
#include "tor-aggregator/agents/agent_links_state.h"
#include "tor-aggregator/agents/agent_watch.h"
#include "tor-aggregator/agents/ingest.h"
#include "tor-aggregator/agents/session.h"

#define WHY 1024

int
agent_session_refuse(struct agent_link *peer, enum agent_links_refused reason, int r)
{
	if (!peer->closing)
		peer->links->counts.refused[reason]++;
	peer->closing = true;
	rm_link_close(peer->link, r);
	return 0;
}

static int
welcome(struct agent_link *peer, uint64_t counted_seq, const char *refused)
{
	struct agent_links *links = peer->links;
	const struct wire_welcome out = {
		.version = WIRE_VERSION,
		.id = links->options.name,
		.incarnation = links->options.incarnation,
		.counted_seq = counted_seq,
		.refused = refused,
	};
	struct wire_bytes bytes;
	int r;

	r = wire_write_welcome(links->writer, &out, &bytes);
	if (r == 0)
		r = rm_link_send(peer->link, bytes.data, bytes.len);
	return r;
}

static int
turn_away(struct agent_link *peer, enum agent_links_refused reason, const char *why)
{
	welcome(peer, 0, why);
	return agent_session_refuse(peer, reason, -EPERM);
}

/* The host's former connection, if any, gives way without being missed. */
static void
supersede(struct agent_link *peer, struct agent *agent)
{
	struct agent_link *old = agent->link;

	if (old == NULL)
		return;
	old->agent = NULL;
	agent_session_refuse(old, AGENT_LINKS_SUPERSEDED, -ECONNABORTED);
	agent->link = NULL;
}

/* By its certificate: is it the agent of that host? */
static bool
hello_is_its_own(
    const struct agent_link *peer, const struct wire_hello *hello, char why[WHY])
{
	const struct rm_request request = {
		.verb = RM_VERB_AGENT_SESSION,
		.region = peer->links->options.region,
		.name = hello->id,
	};

	if (rm_authority_admits(rm_link_identity(peer->link), &request, why, WHY))
		return true;
	rm_log_warn(0, "agent refused: %s", why);
	return false;
}

/* The other aggregator of a ToR. */
static int
take_guest(struct agent_link *peer, const struct wire_hello_view *view)
{
	const struct agent_links_guests *guests = &peer->links->guests;
	const char *refused = guests->on_hello(peer->link, view, guests->arg);
	int r;

	if (refused != NULL)
		return turn_away(peer, AGENT_LINKS_STRANGER, refused);
	peer->is_guest = true;
	rm_strangers_remove(&peer->links->strangers, &peer->stranger);
	r = welcome(peer, 0, "");
	if (r < 0)
		return agent_session_refuse(peer, AGENT_LINKS_SLOW, r);
	guests->on_up(peer->link, guests->arg);
	return 0;
}

static int
take_guests_frame(struct agent_link *peer, const uint8_t *data, size_t len)
{
	const struct agent_links_guests *guests = &peer->links->guests;

	if (guests->on_frame(peer->link, data, len, guests->arg) < 0)
		return agent_session_refuse(peer, AGENT_LINKS_MALFORMED, -EBADMSG);
	return 0;
}

static int
take_agent(struct agent_link *peer, const struct wire_hello *hello)
{
	struct agent_links *links = peer->links;
	rm_mono_t now = rm_mono_now();
	struct agent *agent;
	char why[WHY];
	bool fresh;
	int r;

	if (!hello_is_its_own(peer, hello, why))
		return turn_away(peer, AGENT_LINKS_STRANGER, why);
	r = agents_get(links->agents, hello->id, &agent);
	if (r < 0)
		return turn_away(peer, AGENT_LINKS_AGENTS, "too many agents");
	supersede(peer, agent);
	fresh = agent_hello(agent, hello->incarnation);
	clock_map_sample(&agent->clock, hello->now_ns, now);
	agent_watch_hello(agent->watch, now, fresh);
	peer->agent = agent;
	agent->link = peer;
	rm_strangers_remove(&links->strangers, &peer->stranger);
	links->counts.sessions++;
	r = welcome(peer, session_counted(agent->session, agent->incarnation), "");
	if (r < 0)
		return agent_session_refuse(peer, AGENT_LINKS_SLOW, r);
	links->callbacks.on_session(agent, links->callbacks.arg);
	return 0;
}

static int
take_hello(struct agent_link *peer, const uint8_t *data, size_t len)
{
	const struct agent_links *links = peer->links;
	struct wire_hello_view view;
	const struct wire_hello *hello = &view.hello;
	bool is_guest;

	if (wire_open_hello(&view, data, len) < 0 || hello->now_ns > INT64_MAX)
		return agent_session_refuse(peer, AGENT_LINKS_MALFORMED, -EBADMSG);
	is_guest =
	    hello->role == WIRE_ROLE_AGGREGATOR && links->guests.on_hello != NULL;
	if ((hello->role != WIRE_ROLE_AGENT && !is_guest) || !rm_name_valid(hello->id))
		return turn_away(
		    peer, AGENT_LINKS_STRANGER, "only host-agents are served here");
	if (strcmp(hello->region, links->options.region) != 0)
		return turn_away(peer, AGENT_LINKS_STRANGER, "this is another region");
	if (!wire_hello_meets_us(hello))
		return turn_away(peer, AGENT_LINKS_VERSION,
		    "versions more than one apart do not work together");
	return is_guest ? take_guest(peer, &view) : take_agent(peer, hello);
}

static int
take_register(struct agent_link *peer, const uint8_t *data, size_t len)
{
	struct agent_links *links = peer->links;
	struct agent *agent = peer->agent;
	struct wire_register_view view;

	if (wire_open_register(&view, data, len) < 0)
		return agent_session_refuse(peer, AGENT_LINKS_MALFORMED, -EBADMSG);
	if (strcmp(view.reg.host, agent->host) != 0 ||
	    view.reg.incarnation != agent->incarnation)
		return agent_session_refuse(peer, AGENT_LINKS_NOT_ITSELF, -EPERM);
	if (agent_register(links->agents, agent, &view, links->writer,
		&links->counts.refused_rnics) < 0)
		return agent_session_refuse(peer, AGENT_LINKS_SLOW, -ENOMEM);
	links->callbacks.on_register(agent, &view, links->callbacks.arg);
	return 0;
}

static int
take_batch(struct agent_link *peer, rm_mono_t now, const uint8_t *data, size_t len)
{
	struct agent_links *links = peer->links;
	struct wire_bytes bytes;
	struct wire_ack ack;
	int r;

	r = ingest_batch(links->ingest, peer->agent, now, data, len, &ack);
	if (r == -EPERM)
		return agent_session_refuse(peer, AGENT_LINKS_NOT_ITSELF, r);
	if (r < 0)
		return agent_session_refuse(peer, AGENT_LINKS_MALFORMED, r);
	r = wire_write_ack(links->writer, &ack, &bytes);
	if (r == 0)
		r = rm_link_send(peer->link, bytes.data, bytes.len);
	return r < 0 ? agent_session_refuse(peer, AGENT_LINKS_SLOW, r) : 0;
}

static int
take_heartbeat(struct agent_link *peer, rm_mono_t now, const uint8_t *data, size_t len)
{
	struct agent *agent = peer->agent;
	struct wire_heartbeat beat;
	rm_mono_t made, through;

	if (wire_open_heartbeat(&beat, data, len) < 0)
		return agent_session_refuse(peer, AGENT_LINKS_MALFORMED, -EBADMSG);
	if (beat.incarnation != agent->incarnation)
		return agent_session_refuse(peer, AGENT_LINKS_NOT_ITSELF, -EPERM);
	if (clock_map_sample(&agent->clock, beat.now_ns, now) < 0 ||
	    !clock_map_ours(&agent->clock, beat.now_ns, &made))
		return agent_session_refuse(peer, AGENT_LINKS_MALFORMED, -EBADMSG);
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
			agent_watch_stall(agent->watch, start, end);
	}
	agent->paused = beat.paused;
	agent->slowed_permille = beat.slowed_permille < 1000 ? beat.slowed_permille : 0;
	agent->slowed_why = beat.slowed_why;
	agent_note_live(agent, &beat, now);
	agent_watch_beat(agent->watch, now, made, through, beat.paused);
	return 0;
}

static int
take_counts(struct agent_link *peer, rm_mono_t now, const uint8_t *data, size_t len)
{
	int r;

	r = ingest_receive_counts(peer->links->ingest, peer->agent, now, data, len);
	if (r == -EPERM)
		return agent_session_refuse(peer, AGENT_LINKS_NOT_ITSELF, r);
	return r < 0 ? agent_session_refuse(peer, AGENT_LINKS_MALFORMED, r) : 0;
}

static int
take_paths(struct agent_link *peer, rm_mono_t now, const uint8_t *data, size_t len)
{
	int r;

	r = ingest_paths(peer->links->ingest, peer->agent, now, data, len);
	if (r == -EPERM)
		return agent_session_refuse(peer, AGENT_LINKS_NOT_ITSELF, r);
	return r < 0 ? agent_session_refuse(peer, AGENT_LINKS_MALFORMED, r) : 0;
}

static int
take_resolve(struct agent_link *peer, const uint8_t *data, size_t len)
{
	struct agent_links *links = peer->links;
	struct wire_resolve resolve;

	if (wire_open_resolve(&resolve, data, len) < 0)
		return agent_session_refuse(peer, AGENT_LINKS_MALFORMED, -EBADMSG);
	links->callbacks.on_resolve(peer->agent, &resolve, links->callbacks.arg);
	return 0;
}

static int
take_join(struct agent_link *peer, const uint8_t *data, size_t len)
{
	struct agent_links *links = peer->links;
	struct wire_join join;

	if (wire_open_join(&join, data, len) < 0)
		return agent_session_refuse(peer, AGENT_LINKS_MALFORMED, -EBADMSG);
	links->callbacks.on_join(peer->agent, &join, links->callbacks.arg);
	return 0;
}

static int
take_services(struct agent_link *peer, const uint8_t *data, size_t len)
{
	struct agent_links *links = peer->links;
	struct wire_services_view view;

	if (wire_open_services(&view, data, len) < 0)
		return agent_session_refuse(peer, AGENT_LINKS_MALFORMED, -EBADMSG);
	if (strcmp(view.services.host, peer->agent->host) != 0 ||
	    view.services.incarnation != peer->agent->incarnation)
		return agent_session_refuse(peer, AGENT_LINKS_NOT_ITSELF, -EPERM);
	links->callbacks.on_services(peer->agent, &view, links->callbacks.arg);
	return 0;
}

int
agent_session_frame(struct rm_link *link, const uint8_t *data, size_t len, void *arg)
{
	struct agent_link *peer = arg;
	enum wire_kind kind = wire_kind_of(data, len);
	rm_mono_t now;

	if (peer->closing)
		return 0;
	if (peer->is_guest)
		return take_guests_frame(peer, data, len);
	if (peer->agent == NULL)
		return kind == WIRE_HELLO ? take_hello(peer, data, len)
					  : agent_session_refuse(
						peer, AGENT_LINKS_OUT_OF_TURN, -EPROTO);
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
			    peer, AGENT_LINKS_OUT_OF_TURN, -EPROTO);
		peer->links->counts.unknown_messages++;
		return 0;
	}
}
