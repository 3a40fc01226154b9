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
	bool authenticated; /* it has been authenticated since it was added */
	rm_mono_t since;    /* when demand got this value */
};

struct reflector_roster {             /* all zero: nobody */
	struct reflector_peer *peers; /* sorted by address */
	size_t count;
};

void reflector_roster_clear(struct reflector_roster *roster);
/* Copies peers; if several have the same address, it keeps one, if possible of a
 * known RNIC. -EMSGSIZE: more than WIRE_MAX_ROSTER. On failure the roster is not
 * changed. */
int reflector_roster_set(
    struct reflector_roster *roster, const struct wire_peer *peers, size_t count);
/* Compares addresses without their ports. NULL: not in the roster. */
const struct wire_peer *reflector_roster_find(
    const struct reflector_roster *roster, const struct wire_address *address);
struct reflector_peer *reflector_roster_peer(
    const struct reflector_roster *roster, const struct wire_address *address);

/* Sets which RNICs must authenticate. ring NULL: none must. */
void reflector_roster_demand(
    struct reflector_roster *roster, const struct key_ring *ring, rm_mono_t now);
/* True: a packet without a MAC from this peer is answered now. grace_ns: time to get
 * its keys. */
bool reflector_peer_may_be_plain(
    const struct reflector_peer *peer, int64_t grace_ns, rm_mono_t now);

#endif
