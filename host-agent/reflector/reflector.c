#include "host-agent/reflector/reflector.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host-agent/packet/probe_format.h"
#include "host-agent/packet/stamp.h"
#include "host-agent/probe/port.h"
#include "host-agent/reflector/reflector_counts.h"
#include "host-agent/reflector/reflector_keys.h"
#include "host-agent/reflector/reflector_roster.h"
#include "host-agent/reflector/reflector_session.h"

#define DEFAULT_SESSIONS 16384
#define FIRST_FREE_PORT 1024

struct reflector {
	struct port *port;
	struct wire_rnic_id own;
	const struct key_ring *ring; /* NULL: no peer authenticates */
	int64_t grace_ns;
	struct reflector_keys keys;
	struct reflector_roster roster;
	struct reflector_sessions *sessions;
	struct reflector_counts_table *table;
	struct reflector_counts counts;
};

static void
reflector_on_departures(
    const struct port_departure *departures, size_t count, void *arg)
{
	struct reflector *reflector = arg;

	for (size_t i = 0; i < count; i++)
		reflector_sessions_stamp(
		    reflector->sessions, departures[i].token, departures[i].stamp_ns);
}

static struct reflector_session *
reflector_begin(struct reflector *reflector, const struct wire_address *from,
    uint16_t ssid, struct wire_rnic_id prober, rm_mono_t now)
{
	struct reflector_session *session =
	    reflector_sessions_add(reflector->sessions, from, ssid, prober, now);

	reflector->counts.refused_full += session == NULL;
	return session;
}

/* Admits a packet without a MAC, or returns NULL. */
static struct reflector_session *
admit_plain(struct reflector *reflector, const struct wire_address *from,
    const struct probe_ask *ask, rm_mono_t now)
{
	struct reflector_session *session;
	const struct reflector_peer *peer;

	session = reflector_sessions_find(reflector->sessions, from, ask->ssid);
	/* The sender was in the roster when its session began; the session ends when
	 * the sender leaves it. */
	if (session != NULL && reflector->keys.count == 0)
		return session;
	peer = reflector_roster_peer(&reflector->roster, from);
	if (peer == NULL) {
		reflector->counts.refused_unknown++;
		return NULL;
	}
	if (reflector->keys.count > 0 &&
	    !reflector_peer_may_be_plain(peer, reflector->grace_ns, now)) {
		reflector->counts.refused_plain++;
		return NULL;
	}
	return session != NULL
		   ? session
		   : reflector_begin(reflector, from, ask->ssid, peer->wire.id, now);
}

/* Admits a packet with a MAC, or returns NULL. A packet with a wrong MAC changes no
 * state. */
static struct reflector_session *
admit_keyed(struct reflector *reflector, const struct port_arrival *arrival,
    const struct probe_ask *ask, rm_mono_t now)
{
	const struct probe_format *format = port_format(reflector->port)->keyed;
	const struct wire_address *from = &arrival->from;
	struct reflector_peer *peer = reflector_roster_peer(&reflector->roster, from);
	struct reflector_auth fresh = { .epoch = 0 }, *auth = &fresh;
	struct reflector_session *session;

	if (peer == NULL) {
		reflector->counts.refused_unknown++;
		return NULL;
	}
	session = reflector_sessions_find(reflector->sessions, from, ask->ssid);
	if (session != NULL)
		auth = reflector_session_auth(session);
	if (!reflector_keys_verify(&reflector->keys, format, arrival->data,
		arrival->len, peer->wire.id, auth)) {
		reflector->counts.refused_mac++;
		return NULL;
	}
	reflector->counts.authenticated++;
	peer->authenticated = true;
	if (!replay_window_take(&auth->window, ask->seq)) {
		reflector->counts.refused_replayed++;
		return NULL;
	}
	if (session != NULL)
		return session;
	session = reflector_begin(reflector, from, ask->ssid, peer->wire.id, now);
	if (session != NULL)
		*reflector_session_auth(session) = fresh;
	return session;
}

/* Returns the session of an admitted packet. NULL: the packet was refused and counted.
 * *keyed: the session's packets carry a MAC. */
static struct reflector_session *
reflector_admit(struct reflector *reflector, const struct port_arrival *arrival,
    struct probe_ask *ask, bool *keyed, rm_mono_t now)
{
	const struct probe_format *format = port_format(reflector->port);
	uint16_t own_port = port_reflector_port(reflector->port);
	const struct wire_address *from = &arrival->from;
	struct reflector_session *session;

	/* Two reflectors that answer each other would never stop. */
	if (own_port != 0 && (from->port < FIRST_FREE_PORT || from->port == own_port)) {
		reflector->counts.refused_port++;
		return NULL;
	}
	*keyed = format->keyed->read_probe(arrival->data, arrival->len, ask) == 0;
	if (*keyed) {
		session = admit_keyed(reflector, arrival, ask, now);
	} else if (format->read_probe(arrival->data, arrival->len, ask) == 0) {
		session = admit_plain(reflector, from, ask, now);
	} else {
		/* A packet of an unknown sender is counted as a packet of an unknown
		 * sender, even if it is malformed. */
		if (reflector_roster_find(&reflector->roster, from) == NULL)
			reflector->counts.refused_unknown++;
		else
			reflector->counts.refused_malformed++;
		return NULL;
	}
	if (session != NULL)
		reflector_sessions_touch(reflector->sessions, session, now);
	return session;
}

/* Counts a probe. dscp: the class in which the prober sent it, if the probe says so,
 * because the path may have changed the DSCP in the IP header. */
static struct reflector_class *
reflector_count(
    struct reflector *reflector, struct reflector_session *session, uint8_t dscp)
{
	struct reflector_class *class = reflector_session_class(session, dscp);

	if (class == NULL)
		return NULL;
	if (class->row == NULL)
		class->row = reflector_counts_row(
		    reflector->table, reflector_session_prober(session), dscp);
	class->received++;
	class->replied++;
	if (class->row != NULL)
		reflector_counts_add(reflector->table, class->row);
	return class;
}

struct reply_burst {
	struct port_packet packets[PORT_BURST];
	struct reflector_session *sessions[PORT_BURST];
	struct reflector_class *classes[PORT_BURST];
	size_t count;
	rm_mono_t now;
	uint64_t timestamp;
};

static void
burst_send(struct reflector *reflector, struct reply_burst *burst)
{
	if (burst->count > 0)
		port_send(
		    reflector->port, PORT_REFLECTOR, burst->packets, burst->count);
	for (size_t i = 0; i < burst->count; i++) {
		if (burst->packets[i].error == 0) {
			reflector->counts.replied++;
			continue;
		}
		reflector->counts.send_failed++;
		if (burst->classes[i] != NULL)
			burst->classes[i]->replied--;
	}
	burst->count = 0;
}

/* True: the burst must be sent before this reply is added. Every reply carries the send
 * time of an earlier reply. With QPs that time is known only after the earlier reply
 * was sent. If two replies of one session were in the same burst, the second one would
 * carry no send time. */
static bool
burst_must_leave(const struct reflector *reflector, const struct reply_burst *burst,
    const struct reflector_session *session)
{
	if (!port_has_qps(reflector->port))
		return false;
	for (size_t i = 0; i < burst->count; i++)
		if (burst->sessions[i] == session)
			return true;
	return false;
}

/* Writes the reply into the probe: the reply reuses the probe's bytes and has its
 * length. */
static void
reflector_answer(struct reflector *reflector, struct port_arrival *arrival,
    struct reply_burst *burst)
{
	const struct probe_format *format = port_format(reflector->port);
	struct reflector_follow_up follow_up;
	struct reflector_session *session;
	struct reflector_class *class;
	struct probe_answer answer;
	struct probe_ask ask;
	bool keyed = false;
	uint8_t dscp;

	session = reflector_admit(reflector, arrival, &ask, &keyed, burst->now);
	if (session == NULL)
		return;
	if (burst_must_leave(reflector, burst, session))
		burst_send(reflector, burst);
	dscp = ask.has_class ? ask.dscp : arrival->dscp;
	class = reflector_count(reflector, session, dscp);
	follow_up = reflector_session_follow_up(session);
	answer = (struct probe_answer){
		.receive_timestamp = stamp_time_write(arrival->stamp_ns),
		.timestamp = burst->timestamp,
		.ttl = arrival->ttl,
		.dscp = arrival->dscp,
		.ecn = arrival->ecn,
		.rx_count = class != NULL ? class->received : 0,
		.tx_count = class != NULL ? class->replied : 0,
		.follow_up_seq = follow_up.seq,
		.follow_up_timestamp =
		    follow_up.stamp_ns == 0 ? 0 : stamp_time_write(follow_up.stamp_ns)
	};
	if (keyed)
		format = format->keyed;
	format->write_reply(arrival->data, arrival->len, &ask, &answer);
	if (keyed)
		format->sign(
		    arrival->data, &reflector_session_auth(session)->macs.reply);
	burst->sessions[burst->count] = session;
	burst->classes[burst->count] = class;
	burst->packets[burst->count++] = (struct port_packet){ .to = &arrival->from,
		.qpn = arrival->qpn,
		.lid = arrival->lid,
		.sl = arrival->sl,
		.label = ask.label,
		.data = arrival->data,
		.len = (uint16_t)arrival->len,
		.dscp = dscp,
		.token = reflector_session_token(session, ask.seq) };
}

static void
reflector_on_arrivals(struct port_arrival *arrivals, size_t count, void *arg)
{
	struct reflector *reflector = arg;
	struct reply_burst burst;

	burst.count = 0;
	burst.now = rm_mono_now();
	burst.timestamp = stamp_time_write(rm_wall_now().ns);
	reflector->counts.received += count;
	for (size_t i = 0; i < count && i < PORT_BURST; i++)
		reflector_answer(reflector, &arrivals[i], &burst);
	burst_send(reflector, &burst);
}

int
reflector_new(struct port *port, struct wire_rnic_id own, size_t max_sessions,
    struct reflector **ret)
{
	struct reflector *reflector = calloc(1, sizeof(*reflector));

	if (reflector == NULL)
		return -ENOMEM;
	reflector->port = port;
	reflector->own = own;
	reflector->sessions =
	    reflector_sessions_new(max_sessions != 0 ? max_sessions : DEFAULT_SESSIONS);
	reflector->table = reflector_counts_new(own);
	if (reflector->sessions == NULL || reflector->table == NULL) {
		reflector_sessions_free(reflector->sessions);
		reflector_counts_free(reflector->table);
		free(reflector);
		return -ENOMEM;
	}
	port_listen(port, PORT_REFLECTOR,
	    &(struct port_events){ .on_arrivals = reflector_on_arrivals,
		.on_departures = reflector_on_departures,
		.arg = reflector });
	*ret = reflector;
	return 0;
}

void
reflector_free(struct reflector *reflector)
{
	if (reflector == NULL)
		return;
	port_listen(reflector->port, PORT_REFLECTOR, NULL);
	reflector_sessions_free(reflector->sessions);
	reflector_counts_free(reflector->table);
	reflector_roster_clear(&reflector->roster);
	explicit_bzero(&reflector->keys, sizeof(reflector->keys));
	free(reflector);
}

static const struct wire_peer *
roster_keep(const struct wire_address *address, void *arg)
{
	return reflector_roster_find(arg, address);
}

int
reflector_set_roster(
    struct reflector *reflector, const struct wire_peer *peers, size_t count)
{
	int r = reflector_roster_set(&reflector->roster, peers, count);

	if (r < 0)
		return r;
	if (reflector->ring != NULL)
		reflector_keys_set(&reflector->keys, reflector->ring, reflector->own);
	/* An RNIC that has no key itself cannot verify the MACs of others, so it
	 * requires none. */
	reflector_roster_demand(&reflector->roster,
	    reflector->keys.count > 0 ? reflector->ring : NULL, rm_mono_now());
	reflector_sessions_sweep(reflector->sessions, roster_keep, &reflector->roster);
	return 0;
}

void
reflector_set_keys(
    struct reflector *reflector, const struct key_ring *ring, int64_t grace_ns)
{
	reflector->ring = ring;
	reflector->grace_ns = grace_ns;
}

uint32_t
reflector_key_epoch(const struct reflector *reflector)
{
	return reflector->keys.count > 0 ? reflector->keys.own[0].epoch : 0;
}

size_t
reflector_changed_counts(
    struct reflector *reflector, struct wire_count *rows, size_t max)
{
	return reflector_counts_changed(reflector->table, rows, max);
}

void
reflector_report_all(struct reflector *reflector)
{
	reflector_counts_change_all(reflector->table);
}

const struct reflector_counts *
reflector_counts(const struct reflector *reflector)
{
	return &reflector->counts;
}
