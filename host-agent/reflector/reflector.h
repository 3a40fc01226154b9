/*
 * reflector - answers probes: one reply per probe, never larger, only to RNICs of the
 * roster.
 *
 * Refuses replies (any packet from a reflector port; where there are no ports, what
 * says that it is one), sources outside its roster, short and damaged packets; counts
 * each reason. Keeps per prober (address, SSID) the previous reply's send time, and per
 * prober and class how many probes came, both of which ride in the next reply.
 *
 * With keys (key_ring.h) it answers whoever can authenticate only so: what has a wrong
 * MAC or comes again is refused and leaves no trace but in the counts, and so is what
 * has none, once its sender has had one or has had the time to get its keys.
 */
#ifndef HOST_AGENT_REFLECTOR_REFLECTOR_H
#define HOST_AGENT_REFLECTOR_REFLECTOR_H

#include <stddef.h>
#include <stdint.h>

#include "schemas/wire.h"

#define REFLECTOR_GRACE_NS (30 * RM_NS_PER_S) /* time for a prober to get its keys */

struct key_ring;
struct port;
struct reflector;

struct reflector_counts {
	uint64_t received; /* everything that arrived at the reflector port */
	uint64_t replied;
	uint64_t send_failed;
	uint64_t refused_unknown;
	uint64_t refused_port;      /* from a reflector port or a privileged one */
	uint64_t refused_malformed; /* short, bad TLV lengths */
	uint64_t refused_full;      /* session table full of younger sessions */
	uint64_t authenticated;     /* of received: with the right MAC */
	uint64_t refused_mac;   /* with a wrong MAC, or without a key for the sender */
	uint64_t refused_plain; /* without one, though its sender has keys */
	uint64_t refused_replayed; /* the right MAC, but of a packet seen before */
};

/* own: the RNIC this reflector speaks for. max_sessions: 0 for 16384. */
int reflector_new(struct port *port, struct wire_rnic_id own, size_t max_sessions,
    struct reflector **ret);
void reflector_free(struct reflector *reflector);

/* Replaces the roster (copied, sorted or hashed). Empty: no probe is answered. */
int reflector_set_roster(
    struct reflector *reflector, const struct wire_peer *peers, size_t count);

/* Borrowed for the reflector's life; used from the next roster on. */
void reflector_set_keys(
    struct reflector *reflector, const struct key_ring *ring, int64_t grace_ns);
/* Epoch of the keys in use; 0: there are none, and all of the roster are answered. */
uint32_t reflector_key_epoch(const struct reflector *reflector);

/*
 * Fills rows (cumulative per prober and class) that changed since the last call
 * that returned them, at most max. Returns how many; call again while it returns max.
 */
size_t reflector_changed_counts(
    struct reflector *reflector, struct wire_count *rows, size_t max);
/* Marks all rows as changed: a new aggregator session starts from nothing. */
void reflector_report_all(struct reflector *reflector);

const struct reflector_counts *reflector_counts(const struct reflector *reflector);

#endif
