/*
 * reflector_roster - the RNICs that the reflector answers, by address, and whether a
 * MAC is required. Pure.
 */
#ifndef HOST_AGENT_REFLECTOR_REFLECTOR_ROSTER_H
#define HOST_AGENT_REFLECTOR_REFLECTOR_ROSTER_H

#include <stdbool.h>
#include <stddef.h>

#include "host-agent/packet/key_ring.h"
#include "rackmesh/core/clock.h"
#include "schemas/wire.h"

struct reflector_peer {
	struct wire_peer wire;
	enum key_demand demand;
	/* the peer has sent a packet with a right MAC since it was added */
	bool authenticated;
	rm_mono_t since; /* time at which demand got its present value */
};

struct reflector_roster {             /* all zeros: an empty roster */
	struct reflector_peer *peers; /* sorted by address */
	size_t count;
};

void reflector_roster_clear(struct reflector_roster *roster);
/* Replaces the roster by a copy of peers. Of several peers with one address one is
 * kept, if possible one with a known RNIC. -EMSGSIZE: more than WIRE_MAX_ROSTER;
 * -ENOMEM. On failure the roster is not changed. */
int reflector_roster_set(
    struct reflector_roster *roster, const struct wire_peer *peers, size_t count);
/* Finds a peer by address, without the port. NULL: it is not in the roster. */
const struct wire_peer *reflector_roster_find(
    const struct reflector_roster *roster, const struct wire_address *address);
struct reflector_peer *reflector_roster_peer(
    const struct reflector_roster *roster, const struct wire_address *address);

/* Sets, for each peer, whether it must authenticate. ring NULL: no peer must. */
void reflector_roster_demand(
    struct reflector_roster *roster, const struct key_ring *ring, rm_mono_t now);
/* True: packets without a MAC from this peer are answered now. grace_ns: time for the
 * peer to get its keys. */
bool reflector_peer_may_be_plain(
    const struct reflector_peer *peer, int64_t grace_ns, rm_mono_t now);

#endif
