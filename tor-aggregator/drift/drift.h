/*
 * drift - where the settings of one rack's RNICs are not those that are expected. Pure.
 *
 * Agents tell the settings, groups of the config what is expected. A setting that no
 * group declares is not compared; one that could not be read is unknown, which is not
 * different. What an agent told last of an RNIC that it tells no more is not shown, and
 * remembered until the room is needed, so that "since" goes on when the RNIC is back:
 * an agent that starts registers before it has found its RNICs. "since" goes on, too,
 * when a state comes back after unknown, as which all stands that an agent has not read
 * yet.
 */
#ifndef TOR_AGGREGATOR_DRIFT_DRIFT_H
#define TOR_AGGREGATOR_DRIFT_DRIFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"
#include "rackmesh/judge/part.h"
#include "schemas/wire.h"
#include "tor-aggregator/drift/drift_settings.h"

struct drift;
struct drift_groups;

#define DRIFT_MAX_RNICS WIRE_MAX_MEMBERS

struct drift_known { /* the state before DRIFT_UNKNOWN */
	enum drift_state state;
	rm_wall_t since;
};

struct drift_rnic {
	struct wire_rnic_id id;
	char host[RM_NAME_BYTES], device[RM_NAME_BYTES];
	bool there; /* told by an agent that is there */
	struct drift_settings expected, actual;
	enum drift_state states[WIRE_SETTINGS];
	rm_wall_t since[WIRE_SETTINGS];          /* when it got this state */
	struct drift_known known[WIRE_SETTINGS]; /* of those that are unknown */
};

struct drift_sums {                    /* of those that are there */
	uint64_t states[DRIFT_STATES]; /* single settings */
	uint64_t rnics, rnics_different;
};

int drift_new(struct drift **ret);
void drift_free(struct drift *drift); /* NULL is fine */

/* Its agent has gone, or will tell its RNICs from anew, each with drift_report. */
void drift_report_anew(struct drift *drift, const char *host);
/* settings NULL: its agent is too old to tell. -EINVAL: a bad name; -ENOSPC: there are
 * too many, and it is counted; -ENOMEM. */
int drift_report(struct drift *drift, const struct drift_groups *groups,
    const struct wire_rnic *rnic, const struct wire_settings *settings, rm_wall_t now);
/* Something else is expected from now on. */
void drift_regroup(
    struct drift *drift, const struct drift_groups *groups, rm_wall_t now);

size_t drift_count(const struct drift *drift);
const struct drift_rnic *drift_get(const struct drift *drift, size_t i);
struct drift_sums drift_sums(const struct drift *drift);
const uint64_t *drift_refused(const struct drift *drift);

#endif
