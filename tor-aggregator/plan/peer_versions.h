/*
 * peer_versions - the release of each controller and analyzer, from its welcome. Pure.
 * Peers that refuse this aggregator are kept too: a standby controller sends its
 * release with its refusal. Agents are in agents/agent.h.
 */
#ifndef TOR_AGGREGATOR_PLAN_PEER_VERSIONS_H
#define TOR_AGGREGATOR_PLAN_PEER_VERSIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"
#include "rackmesh/core/version.h"
#include "rackmesh/judge/part.h"
#include "schemas/wire.h"

#define PEER_VERSIONS_MAX 64 /* further peers are not kept, but counted */

struct peer_version {
	enum wire_component component;
	char name[RM_NAME_BYTES];
	char software[RM_VERSION_BYTES]; /* "": not reported */
	rm_wall_t since;                 /* when this was first received */
	bool connected;
};

struct peer_versions { /* all zero: no peers yet */
	struct peer_version peers[PEER_VERSIONS_MAX];
	size_t count;
	uint64_t dropped;
};

/* Takes a welcome. Invalid names are ignored. */
void peer_versions_receive(struct peer_versions *versions,
    enum wire_component component, const struct wire_welcome *welcome, bool connected,
    rm_wall_t now);
/* Its link has ended. */
void peer_versions_gone(
    struct peer_versions *versions, enum wire_component component, const char *name);

#endif
