/*
 * reflector_roster - whom the reflector answers, by address. Pure.
 */
#ifndef HOST_AGENT_REFLECTOR_ROSTER_H
#define HOST_AGENT_REFLECTOR_ROSTER_H

#include <stdbool.h>
#include <stddef.h>

#include "schemas/wire.h"

struct reflector_roster {        /* all zero: nobody */
	struct wire_peer *peers; /* sorted by address */
	size_t count;
};

void reflector_roster_clear(struct reflector_roster *roster);
/* Copies; of those with the same address one, if possible of an RNIC that is known.
 * -EMSGSIZE: more than WIRE_MAX_ROSTER. On failure it is as it was. */
int reflector_roster_set(
    struct reflector_roster *roster, const struct wire_peer *peers, size_t count);
/* Whatever the port. NULL: a stranger. */
const struct wire_peer *reflector_roster_find(
    const struct reflector_roster *roster, const struct wire_address *address);

#endif
