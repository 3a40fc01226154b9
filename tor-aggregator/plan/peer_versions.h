/*
 * peer_versions - which release each controller and analyzer runs, as its welcome says.
 * Pure.
 *
 * Those that refuse us are kept, too: a standby controller says its release while it
 * names the leader. Agents are kept elsewhere (agents/agent.h).
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

#define PEER_VERSIONS_MAX 64 /* more are not kept, but counted */

struct peer_version {
	enum wire_component component;
	char name[RM_NAME_BYTES];
	char software[RM_VERSION_BYTES]; /* "": it does not say */
	rm_wall_t since;                 /* when this was first heard of it */
	bool connected;
};

struct peer_versions { /* zeroed: nobody yet */
	struct peer_version peers[PEER_VERSIONS_MAX];
	size_t count;
	uint64_t dropped;
};

/* Of a welcome. Names that are not valid are passed over. */
void peer_versions_receive(struct peer_versions *versions,
    enum wire_component component, const struct wire_welcome *welcome, bool connected,
    rm_wall_t now);
/* Its link has ended. */
void peer_versions_gone(
    struct peer_versions *versions, enum wire_component component, const char *name);

#endif
