/*
 * reflector - answers probes: one reply per probe, never larger, only to RNICs of the
 * roster.
 *
 * Refuses replies (any packet from a reflector port; where there are no ports, packets
 * marked as replies), sources outside its roster, short and damaged packets; counts
 * each reason. Keeps per prober (address, SSID) the previous reply's send time, and per
 * prober and class the number of received probes; the next reply carries both.
 *
 * With keys (key_ring.h) a peer that can authenticate is answered only when it does: a
 * packet with a wrong MAC or a repeated one is refused and only counted. A packet
 * without a MAC is refused, too, once its sender has sent one with a MAC or has had the
 * time to get its keys.
 */
#ifndef HOST_AGENT_REFLECTOR_REFLECTOR_H
#define HOST_AGENT_REFLECTOR_REFLECTOR_H

#include <stddef.h>
#include <stdint.h>

#include "schemas/wire.h"

/* Time that a prober has to get its keys. */
#define REFLECTOR_GRACE_NS (30 * RM_NS_PER_S)

struct key_ring;
struct port;
struct reflector;

struct reflector_counts {
	uint64_t received; /* every packet that arrived at the reflector port */
	uint64_t replied;
	uint64_t send_failed;
	uint64_t refused_unknown;
	uint64_t refused_port;      /* from a reflector port or a privileged one */
	uint64_t refused_malformed; /* short, bad TLV lengths */
	uint64_t refused_full;      /* the session table is full of younger sessions */
	uint64_t authenticated;     /* included in received: with the right MAC */
	uint64_t refused_mac;   /* with a wrong MAC, or without a key for the sender */
	uint64_t refused_plain; /* without a MAC, though the sender has keys */
	uint64_t refused_replayed; /* with the right MAC, but received before */
};

/* own: the RNIC of this reflector. max_sessions: 0 for 16384. */
int reflector_new(struct port *port, struct wire_rnic_id own, size_t max_sessions,
    struct reflector **ret);
void reflector_free(struct reflector *reflector);

/* Replaces the roster (copied, sorted or hashed). Empty: no probe is answered. */
int reflector_set_roster(
    struct reflector *reflector, const struct wire_peer *peers, size_t count);

/* Borrowed for the reflector's life; used from the next roster on. */
void reflector_set_keys(
    struct reflector *reflector, const struct key_ring *ring, int64_t grace_ns);
/* Epoch of the keys in use; 0: there are no keys, and all of the roster are
 * answered. */
uint32_t reflector_key_epoch(const struct reflector *reflector);

/*
 * Fills rows (cumulative per prober and class) that changed since the last call that
 * returned them, at most max. Returns how many; call again while it returns max.
 */
size_t reflector_changed_counts(
    struct reflector *reflector, struct wire_count *rows, size_t max);
/* Marks all rows as changed: a new aggregator session has no rows yet. */
void reflector_report_all(struct reflector *reflector);

const struct reflector_counts *reflector_counts(const struct reflector *reflector);

#endif
