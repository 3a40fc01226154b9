/*
 * drift - compares the settings of one rack's RNICs, and of the ports of its switch,
 * with the expected ones. Pure.
 *
 * Agents report the settings; groups in the config define the expected ones. A setting
 * that no group declares is not compared. A setting that could not be read is unknown,
 * which does not count as different. If an agent does not report an RNIC any more, its
 * settings are not shown, but kept until the memory is needed: so `since` continues
 * when the RNIC returns. That happens at each start of an agent, which registers before
 * it has found its RNICs. `since` also continues when a state returns after unknown,
 * because all settings are unknown until the agent has read them.
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

#define DRIFT_MAX_RNICS (2 * WIRE_MAX_MEMBERS) /* and ports */

struct drift_known { /* the state before DRIFT_UNKNOWN */
	enum drift_state state;
	rm_wall_t since;
};

struct drift_rnic {
	struct wire_rnic_id id;
	/* for a port: the names of the switch and of the port, and no id */
	char host[RM_NAME_BYTES], device[RM_NAME_BYTES];
	bool is_port; /* a port of the rack's switch */
	/* A connected agent reports the RNIC, or the last reading had the port. */
	bool there;
	struct drift_settings expected, actual;
	enum drift_state states[WIRE_SETTINGS];
	rm_wall_t since[WIRE_SETTINGS]; /* when the setting got this state */
	/* The state before, for settings that are unknown now. */
	struct drift_known known[WIRE_SETTINGS];
};

struct drift_sums {                    /* sums over RNICs that are reported now */
	uint64_t states[DRIFT_STATES]; /* number of settings in each state */
	uint64_t rnics, rnics_different;
	uint64_t ports, ports_different;
};

int drift_new(struct drift **ret);
void drift_free(struct drift *drift); /* NULL is allowed */

/* No RNIC of the host counts as reported any more. Call it when the agent disconnects,
 * and before its RNICs are reported again, each by drift_report. */
void drift_report_again(struct drift *drift, const char *host);
/* Compares the settings of an RNIC. settings: NULL if the agent is too old to report
 * them. -EINVAL: an invalid name; -ENOSPC: too many RNICs, which is counted;
 * -ENOMEM. */
int drift_report(struct drift *drift, const struct drift_groups *groups,
    const struct wire_rnic *rnic, const struct wire_settings *settings, rm_wall_t now);
/* No port of the switch counts as read any more. Call it before the ports of a new
 * reading are given, each by drift_report_port. */
void drift_ports_again(struct drift *drift, const char *switch_name);
/* Compares the settings of a port, if some are expected of it. Errors as
 * drift_report. */
int drift_report_port(struct drift *drift, const struct drift_groups *groups,
    const char *switch_name, const char *port, const struct wire_settings *settings,
    rm_wall_t now);
/* Compares all RNICs again. Call it when the expected settings have changed. */
void drift_regroup(
    struct drift *drift, const struct drift_groups *groups, rm_wall_t now);

size_t drift_count(const struct drift *drift);
const struct drift_rnic *drift_get(const struct drift *drift, size_t i);
struct drift_sums drift_sums(const struct drift *drift);
const uint64_t *drift_refused(const struct drift *drift);

#endif
