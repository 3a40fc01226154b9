/*
 * peer_versions - stores the release that each controller and analyzer reports in its
 * welcome. Pure. Peers that refuse this aggregator are stored, too: a standby
 * controller sends its release with the refusal. The releases of agents are in
 * agents/agent.h.
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

#define PEER_VERSIONS_MAX 64 /* further peers are only counted, in dropped */

struct peer_version {
	enum wire_component component;
	char name[RM_NAME_BYTES];
	char software[RM_VERSION_BYTES]; /* "": not reported */
	rm_wall_t since;                 /* when this release was received first */
	bool connected;
};

struct peer_versions { /* initially all zero: no peers */
	struct peer_version peers[PEER_VERSIONS_MAX];
	size_t count;
	uint64_t dropped;
};

/* Stores the release in a welcome. A welcome with an invalid name is ignored. */
void peer_versions_receive(struct peer_versions *versions,
    enum wire_component component, const struct wire_welcome *welcome, bool connected,
    rm_wall_t now);
/* The link to this peer has ended. */
void peer_versions_gone(
    struct peer_versions *versions, enum wire_component component, const char *name);

#endif
