#include "analyzer/intake/intake_session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/core/log.h"
#include "rackmesh/identity/authority.h"
#include "rackmesh/net/link.h"

/* ---- hello: the identity of an aggregator and its racks ---- */

#define QUOTED 128
#define REASON_BYTES 1024

static int
session_welcome(struct intake_session *session, const char *refused)
{
	struct intake *owner = session->owner;
	struct wire_welcome welcome = {
		.version = WIRE_VERSION,
		.id = owner->options.name,
		.incarnation = owner->options.incarnation,
		.refused = refused,
		.software = RACKMESH_VERSION,
	};
	struct wire_bytes bytes;
	int r;

	r = wire_write_welcome(owner->writer, &welcome, &bytes);
	if (r == 0)
		r = rm_link_send(session->conn.link, bytes.data, bytes.len);
	if (r == 0 && refused[0] != '\0') {
		char quoted[QUOTED], who[RM_REFUSALS_TEXT];

		owner->counts.refused_hellos++;
		rm_log_quote(quoted, sizeof(quoted), refused, strlen(refused));
		if (rm_refusals_report(&owner->refusals, &session->info.peer, refused,
			rm_mono_now(), who))
			rm_log_warn(0, "%s: refused: %s", who, quoted);
		rm_link_close(session->conn.link, -EPERM);
	}
	return r;
}

/* Returns why the hello is refused; "": it is accepted. */
static const char *
hello_refused(const struct intake_session *session, const struct wire_hello *hello)
{
	if (session->info.is_welcome)
		return "a second hello";
	if (hello->role != WIRE_ROLE_AGGREGATOR && hello->role != WIRE_ROLE_CHECK)
		return "an analyzer serves only tor-aggregators";
	if (!wire_hello_meets_us(hello))
		return "versions more than one apart do not work together; upgrade the "
		       "older side";
	if (!rm_name_valid(hello->region))
		return "the region's name is not valid";
	if (!rm_name_valid(hello->id))
		return "the aggregator's name is not valid";
	return "";
}

/* Checks that the certificate is valid for the name and for all ToRs of the hello. */
static bool
hello_is_its_own(const struct intake_session *session,
    const struct wire_hello_view *view, char reason[REASON_BYTES])
{
	const char *uri = rm_link_identity(session->conn.link);
	struct rm_request request = {
		.verb = RM_VERB_AGGREGATOR_SESSION,
		.region = view->hello.region,
		.name = view->hello.id,
	};
	bool own = rm_authority_admits(uri, &request, reason, REASON_BYTES);

	request.verb = RM_VERB_REPORT;
	for (size_t i = 0; own && i < view->hello.tor_count; i++) {
		struct wire_tor_state state;

		wire_hello_tor(view, i, &state);
		request.tor = state.tor;
		own = rm_authority_admits(uri, &request, reason, REASON_BYTES);
	}
	return own;
}

static int
session_take_tors(struct intake_session *session, const struct wire_hello_view *view)
{
	struct intake_info *info = &session->info;

	info->tors = calloc(view->hello.tor_count + 1, sizeof(*info->tors));
	if (info->tors == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < view->hello.tor_count; i++) {
		struct wire_tor_state state;

		wire_hello_tor(view, i, &state);
		if (rm_name_valid(state.tor))
			strcpy(info->tors[info->tor_count++], state.tor);
	}
	return 0;
}

static void
peer_begin_life(struct intake_peer *peer, uint64_t life)
{
	if (peer->life == life)
		return;
	peer->life = life;
	for (int l = 0; l < LANES; l++)
		intake_lanes_forget(peer->lanes[l]);
	intake_racks_new_life(peer->racks);
}

/* Returns the interval of the aggregator's summaries in ns: that of the hello, or the
 * default if the hello has none or one out of range. */
static int64_t
session_row_interval_ns(
    const struct intake_session *session, const struct wire_hello *hello)
{
	uint16_t interval_s = hello->summary_interval_s;

	if (interval_s > WIRE_MAX_SUMMARY_INTERVAL_S) {
		session->owner->counts.refused_intervals++;
		rm_log_warn(0,
		    "%s: summary interval of %u s refused: expected at most %d s; %d s "
		    "are used",
		    session->info.name, interval_s, WIRE_MAX_SUMMARY_INTERVAL_S,
		    WIRE_SUMMARY_INTERVAL_S);
		interval_s = 0;
	}
	return (interval_s != 0 ? interval_s : WIRE_SUMMARY_INTERVAL_S) * RM_NS_PER_S;
}

/* Registers the session with the numbers of its lanes, and ends an older session of the
 * same aggregator. */
static const char *
session_take_place(struct intake_session *session, uint64_t life)
{
	struct intake *owner = session->owner;
	struct intake_info *info = &session->info;
	struct intake_peer *peer;
	const char *refused;
	char here[RM_ADDRESS_TEXT], there[RM_ADDRESS_TEXT];

	peer = intake_peer_get(owner, info->region, info->name);
	if (peer == NULL)
		return "the table of aggregators is full";
	if (intake_racks_serve(&peer->racks, info->tors, info->tor_count) < 0)
		return "no memory for its racks";
	refused = owner->callbacks.on_hello(info, owner->callbacks.arg);
	if (refused != NULL)
		return refused;
	peer_begin_life(peer, life);
	if (peer->session != NULL) {
		rm_address_format(&info->peer, here);
		rm_address_format(&peer->session->info.peer, there);
		rm_log_warn(0,
		    "%s: reconnected from %s, closed its older session from %s",
		    info->name, here, there);
		owner->counts.replaced++;
		rm_server_end(&peer->session->conn);
	}
	peer->session = session;
	session->peer = peer;
	return "";
}

/* The first message of a session. A second hello is refused with a reason. */
static int
intake_session_hello(struct intake_session *session, const uint8_t *data, size_t len)
{
	struct intake_info *info = &session->info;
	struct wire_hello_view view;
	const char *refused;
	char reason[REASON_BYTES];
	int r;

	r = wire_open_hello(&view, data, len);
	if (r < 0)
		return r;
	refused = hello_refused(session, &view.hello);
	if (refused[0] == '\0' && !hello_is_its_own(session, &view, reason))
		refused = reason;
	if (refused[0] != '\0' || view.hello.role == WIRE_ROLE_CHECK)
		return session_welcome(session, refused);
	strcpy(info->region, view.hello.region);
	strcpy(info->name, view.hello.id);
	rm_version_take(info->software, view.hello.software);
	info->row_interval_ns = session_row_interval_ns(session, &view.hello);
	free(info->tors); /* the ToRs of the refused hello */
	info->tors = NULL;
	info->tor_count = 0;
	r = session_take_tors(session, &view);
	if (r < 0)
		return r;
	info->last_seen = rm_mono_now();
	refused = session_take_place(session, view.hello.incarnation);
	info->is_welcome = refused[0] == '\0';
	if (info->is_welcome)
		rm_server_settled(&session->conn);
	if (info->is_welcome)
		rm_log_info("%s: connected, of region %s, serves %zu ToRs", info->name,
		    info->region, info->tor_count);
	return session_welcome(session, refused);
}

/* ---- the session ---- */

#define LAST_S UINT64_C(253402300799) /* of the year 9999 */

/* ---- summaries, incidents -------------------------------------------------------- */

static bool
session_serves(const struct intake_session *session, const char *tor)
{
	for (size_t i = 0; i < session->info.tor_count; i++)
		if (strcmp(session->info.tors[i], tor) == 0)
			return true;
	return false;
}

static bool
is_foreign(const struct intake_session *session, const struct wire_lane_head *head,
    const char *tor)
{
	return strcmp(head->region, session->info.region) != 0 ||
	       strcmp(head->aggregator, session->info.name) != 0 ||
	       !session_serves(session, tor);
}

static int
message_open(struct intake_message *message, const uint8_t *data, size_t len)
{
	if (wire_kind_of(data, len) == WIRE_SUMMARY) {
		message->lane = LANE_SUMMARY;
		return wire_open_summary(&message->summary, data, len);
	}
	message->lane = LANE_INCIDENT;
	return wire_open_incident(&message->incident, data, len);
}

static const struct wire_lane_head *
message_head(const struct intake_message *message)
{
	return message->lane == LANE_SUMMARY ? &message->summary.summary.head
					     : &message->incident.head;
}

static const char *
message_tor(const struct intake_message *message)
{
	return message->lane == LANE_SUMMARY ? message->summary.summary.tor
					     : message->incident.tor;
}

static int
session_apply_summary(struct intake_session *session,
    const struct wire_summary_view *view, uint64_t *ticket)
{
	const struct intake_callbacks *callbacks = &session->owner->callbacks;
	const struct wire_summary *summary = &view->summary;
	int r = callbacks->take_summary(view, ticket, callbacks->arg);

	if (r == 0 || r == -EBADMSG)
		callbacks->on_summary(view,
		    intake_racks_repeated(
			session->peer->racks, summary->tor, summary->end_wall_ns),
		    callbacks->arg);
	return r;
}

static int
session_apply_incident(struct intake_session *session,
    const struct wire_incident *incident, uint64_t *ticket)
{
	const struct intake_callbacks *callbacks = &session->owner->callbacks;
	int r = callbacks->on_incident(incident, callbacks->arg);

	return r < 0 ? r : callbacks->take_incident(incident, ticket, callbacks->arg);
}

/* Returns -EBADMSG for a message that can never be stored; the caller acknowledges it,
 * so that the lane continues. */
static int
session_apply(struct intake_session *session, const struct intake_message *message,
    uint64_t *ticket)
{
	int r;

	if (is_foreign(session, message_head(message), message_tor(message))) {
		session->owner->counts.foreign++;
		return -EBADMSG;
	}
	r = message->lane == LANE_SUMMARY
		? session_apply_summary(session, &message->summary, ticket)
		: session_apply_incident(session, &message->incident, ticket);
	session->owner->counts.pointless += r == -EBADMSG;
	return r;
}

/* Stores the message. Returns 0: it was stored, or can never be stored; < 0: try again
 * later. */
static int
session_take(struct intake_session *session, const struct intake_message *message)
{
	const struct wire_lane_head *head = message_head(message);
	struct intake *owner = session->owner;
	struct intake_pending *pending = owner->pending[message->lane];
	uint64_t seq = head->seq, ticket = 0;
	struct intake_lane *lane;
	enum intake_status status;
	int r;

	lane = intake_lane_get(
	    session->peer->lanes[message->lane], head->incarnation, ++owner->last_used);
	status = lane == NULL ? INTAKE_BUSY
			      : intake_lane_status(lane, seq, INTAKE_MAX_UNACKED);
	if (status == INTAKE_NEW && intake_pending_full(pending))
		status = INTAKE_BUSY;
	if (status == INTAKE_BUSY)
		return -ENOBUFS;
	if (status != INTAKE_NEW) {
		owner->counts.repeated++;
		lane->ack_due = status == INTAKE_SAFE;
		if (lane->ack_due)
			intake_peer_due(owner, session->peer);
		return 0;
	}
	r = session_apply(session, message, &ticket);
	if (r < 0 && r != -EBADMSG)
		return r;
	/* A message without a ticket is durable as soon as all earlier ones are. */
	owner->counts.missing +=
	    intake_pending_add(pending, session->peer, lane, seq, r == 0 ? ticket : 0);
	if (r < 0)
		intake_settle(owner, message->lane);
	session->info.unacked++;
	return 0;
}

static int
session_on_message(struct intake_session *session, const struct intake_message *message)
{
	bool is_summary = message->lane == LANE_SUMMARY;
	int r = session_take(session, message);

	if (r == 0) {
		session->info.summaries += is_summary;
		session->owner->counts.summaries += is_summary;
		session->info.incidents += !is_summary;
		session->owner->counts.incidents += !is_summary;
	}
	return r;
}

/* ---- messages that wait ---- */

/* Keeps a copy of the message that could not be stored. Until it is stored, the session
 * is not read. */
static int
session_hold(struct intake_session *session, const uint8_t *data, size_t len)
{
	uint8_t *copy = malloc(len);
	int r;

	if (copy == NULL)
		/* the aggregator sends messages that are not acknowledged again */
		return -ENOMEM;
	memcpy(copy, data, len);
	r = message_open(&session->held_message, copy, len);
	if (r < 0) {
		free(copy);
		return r;
	}
	session->held = copy;
	session->info.is_held = true;
	session->owner->counts.held++;
	rm_link_pause(session->conn.link);
	return 0;
}

void
intake_session_retry(struct intake_session *session)
{
	if (session_on_message(session, &session->held_message) < 0)
		return;
	free(session->held);
	session->held = NULL;
	session->info.is_held = false;
	session->info.last_seen = rm_mono_now();
	rm_link_resume(session->conn.link);
}

/* Verifies a message of a lane. A held message is verified a second time, as a copy. */
static int
session_on_lane(struct intake_session *session, const uint8_t *data, size_t len)
{
	struct intake_message message;
	int r = message_open(&message, data, len);

	if (r < 0)
		return r;
	r = session_on_message(session, &message);
	return r == -ENOBUFS || r == -ENOMEM ? session_hold(session, data, len) : r;
}

/* ---- messages ------------------------------------------------------------------- */

static int
session_on_drilled(struct intake_session *session, const uint8_t *data, size_t len)
{
	const struct intake_callbacks *callbacks = &session->owner->callbacks;
	struct wire_drill_answer answer;
	int r;

	r = wire_open_drilled(&answer, data, len);
	if (r == 0)
		callbacks->on_drilled(&session->info, &answer, callbacks->arg);
	return r;
}

/* An aggregator sends this message without any ToR when it leaves for another
 * analyzer. */
static int
session_on_standing(struct intake_session *session, const uint8_t *data, size_t len)
{
	const struct intake_callbacks *callbacks = &session->owner->callbacks;
	struct wire_standing standing;
	int r;

	r = wire_open_standing(&standing, data, len);
	if (r == 0 && standing.tor_count == 0 && callbacks->on_left != NULL)
		callbacks->on_left(&session->info, callbacks->arg);
	return r;
}

static int
session_on_ping(struct intake_session *session, const uint8_t *data, size_t len)
{
	struct intake_info *info = &session->info;
	struct rm_link *link = session->conn.link;
	struct wire_ping ping;
	int r = wire_open_ping_ending(&ping, data, len);

	if (r < 0)
		return r;
	session->has_pinged = true;
	info->ends_s = rm_link_certificate_ending(link, rm_wall_now().ns / RM_NS_PER_S)
			   ? rm_link_certificate_ends_s(link)
			   : 0;
	info->controller_ends_s = rm_name_valid(ping.ending) && ping.ends_s <= LAST_S
				      ? (int64_t)ping.ends_s
				      : 0;
	snprintf(info->controller, sizeof(info->controller), "%s",
	    info->controller_ends_s != 0 ? ping.ending : "");
	return 0;
}

static int
session_on_known(struct intake_session *session, const uint8_t *data, size_t len)
{
	const struct intake_callbacks *callbacks = &session->owner->callbacks;

	session->info.last_seen = rm_mono_now();
	callbacks->on_seen(&session->info, callbacks->arg);
	switch (wire_kind_of(data, len)) {
	case WIRE_PING:
		return session_on_ping(session, data, len);
	case WIRE_SUMMARY:
	case WIRE_INCIDENT:
		return session_on_lane(session, data, len);
	case WIRE_STANDING:
		return session_on_standing(session, data, len);
	case WIRE_DRILL_ANSWER:
		return session_on_drilled(session, data, len);
	case WIRE_HELLO:
		/* logs errors itself */
		return intake_session_hello(session, data, len);
	default:
		/* A newer aggregator may send messages that this release does not know.
		 */
		session->owner->counts.refused_messages++;
		return 0;
	}
}

int
intake_session_on_frame(
    struct rm_link *link, const uint8_t *data, size_t len, void *arg)
{
	struct intake_session *session = arg;
	struct intake *owner = session->owner;
	int r;

	if (session->info.is_welcome)
		r = session_on_known(session, data, len);
	else if (wire_kind_of(data, len) == WIRE_HELLO)
		r = intake_session_hello(session, data, len);
	else
		r = -EPROTO;
	if (r < 0)
		owner->counts.refused_messages++;
	intake_flush(owner);
	return r;
}

int
intake_session_ping(struct intake_session *session, rm_mono_t now)
{
	struct intake *owner = session->owner;
	struct wire_bytes bytes;
	int r;

	session->pinged = now;
	r = wire_write_ping(owner->writer, (uint64_t)now.ns, &bytes);
	return r < 0 ? r : rm_link_send(session->conn.link, bytes.data, bytes.len);
}
