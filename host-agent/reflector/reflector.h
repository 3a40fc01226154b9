/*
 * reflector - answers probes: one reply per probe, never larger, only to RNICs of the
 * roster.
 *
 * It refuses, and counts by reason: replies (packets from a reflector's port; on
 * transports without ports, packets marked as replies), packets from sources outside
 * the roster, and short or damaged packets. It keeps, for each prober (address, SSID),
 * the send time of the previous reply, and for each prober and class the number of
 * received probes; the next reply carries both.
 *
 * With keys (key_ring.h), packets of a peer that can authenticate must have a MAC: a
 * packet with a wrong MAC, or a repeated packet, is refused and counted. A packet
 * without a MAC is refused once its sender has sent one with a MAC, or has had
 * REFLECTOR_GRACE_NS to get its keys.
 */
#ifndef HOST_AGENT_REFLECTOR_REFLECTOR_H
#define HOST_AGENT_REFLECTOR_REFLECTOR_H

#include <stddef.h>
#include <stdint.h>

#include "schemas/wire.h"

/* Time for a prober to get its keys. */
#define REFLECTOR_GRACE_NS (30 * RM_NS_PER_S)

struct key_ring;
struct port;
struct reflector;

struct reflector_counts {
	uint64_t received; /* all packets that arrived at the reflector */
	uint64_t replied;
	uint64_t send_failed;
	uint64_t refused_unknown;
	/* packets from a reflector's port or a privileged port */
	uint64_t refused_port;
	/* packets that are too short, or have a malformed TLV */
	uint64_t refused_malformed;
	/* packets that were refused because the session table is full, and no session
	 * in it is idle */
	uint64_t refused_full;
	/* packets with the right MAC; `received` includes them */
	uint64_t authenticated;
	/* packets with a wrong MAC, or without a key for the sender */
	uint64_t refused_mac;
	/* packets without a MAC, although the sender must have keys */
	uint64_t refused_plain;
	/* packets with the right MAC that were received before */
	uint64_t refused_replayed;
};

/* own: the RNIC of this reflector. max_sessions: at most REFLECTOR_MAX_SESSIONS; 0:
 * 16384. */
int reflector_new(struct port *port, struct wire_rnic_id own, size_t max_sessions,
    struct reflector **ret);
void reflector_free(struct reflector *reflector);

/* Replaces the roster by a copy of peers. count 0: no probe is answered. */
int reflector_set_roster(
    struct reflector *reflector, const struct wire_peer *peers, size_t count);

/* ring: borrowed for the reflector's life, and used from the next reflector_set_roster
 * on. grace_ns: time for a prober to get its keys. */
void reflector_set_keys(
    struct reflector *reflector, const struct key_ring *ring, int64_t grace_ns);
/* Returns the epoch of the keys in use; 0: there are no keys, and all RNICs of the
 * roster are answered. */
uint32_t reflector_key_epoch(const struct reflector *reflector);

/*
 * Fills at most max rows that changed since they were last returned; a row has the
 * number of probes since the start, by prober and class. Returns the number of rows;
 * call again while that is max.
 */
size_t reflector_changed_counts(
    struct reflector *reflector, struct wire_count *rows, size_t max);
/* Marks all rows as changed, for an aggregator with a new session, which has no
 * rows. */
void reflector_report_all(struct reflector *reflector);

const struct reflector_counts *reflector_counts(const struct reflector *reflector);

#endif
