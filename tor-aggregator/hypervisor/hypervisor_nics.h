/*
 * hypervisor_nics - the NICs of one ESXi host, with what they have counted. Pure.
 *
 * A reading begins, tells names and values as the host calls them, and is closed: only
 * then do its values count. One that is not closed leaves nothing. A NIC that is
 * missing for some readings is remembered, so that its totals go on when it is back.
 */
#ifndef TOR_AGGREGATOR_HYPERVISOR_HYPERVISOR_NICS_H
#define TOR_AGGREGATOR_HYPERVISOR_HYPERVISOR_NICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/metrics/counter_delta.h"
#include "tor-aggregator/hypervisor/hypervisor_table.h"

#define HYPERVISOR_MAX_NICS 64
#define HYPERVISOR_NIC_BYTES 16
#define HYPERVISOR_DRIVER_BYTES 32
#define HYPERVISOR_METRICS_MAX \
	2048 /* values of a host on /metrics: of a dozen NICs all */
#define HYPERVISOR_AWAY_READINGS 60 /* that a NIC is remembered while it is missing */

struct hypervisor_nic {
	char name[HYPERVISOR_NIC_BYTES];      /* "vmnic5" */
	char driver[HYPERVISOR_DRIVER_BYTES]; /* "": not told */
	bool there;                           /* in the last reading */
	uint8_t away;                         /* readings in a row without it */
	bool seen;                            /* in the reading under way */
	bool on_metrics;                      /* see hypervisor_nics_choose() */
	struct counter_sample *samples;       /* of that one: hypervisor_values() */
	struct counter_state *states;         /* hypervisor_values() of them */
};

struct hypervisor_nics_counts {
	uint64_t values;       /* of whole readings */
	uint64_t parse_errors; /* values and names that made no sense */
	uint64_t refused;      /* NICs beyond the limit */
	uint64_t resets;       /* counters that began again at 0 */
};

struct hypervisor_on_metrics { /* values of the last reading */
	uint64_t exported;
	uint64_t unused;  /* of priorities in which nothing was ever above 0 */
	uint64_t refused; /* of NICs beyond the limit */
};

struct hypervisor_nics;

struct hypervisor_nics *hypervisor_nics_new(void);       /* NULL when out of memory */
void hypervisor_nics_free(struct hypervisor_nics *nics); /* NULL is fine */

void hypervisor_nics_begin(struct hypervisor_nics *nics);
/* The NIC of this name, from now on part of the reading. NULL: its name is none, there
 * are too many, or no memory; counted. */
struct hypervisor_nic *hypervisor_nics_report(struct hypervisor_nics *nics,
    const char *name, struct hypervisor_nics_counts *counts);
/* What a place calls name. A name that no row has is ignored. */
void hypervisor_nic_take(struct hypervisor_nic *nic, enum hypervisor_place place,
    const char *name, const char *text, struct hypervisor_nics_counts *counts);
/* How many NICs the reading has told. */
size_t hypervisor_nics_seen(const struct hypervisor_nics *nics);
void hypervisor_nics_close(
    struct hypervisor_nics *nics, struct hypervisor_nics_counts *counts);

/* Which NICs are on /metrics: as many as have no more values than limit, whole ones, by
 * name. */
void hypervisor_nics_choose(
    struct hypervisor_nics *nics, uint64_t limit, struct hypervisor_on_metrics *ret);
/* Is one of its values on /metrics, where the NIC is? Most priorities carry nothing. */
bool hypervisor_nic_reports(const struct hypervisor_nic *nic,
    const struct hypervisor_row *row, unsigned priority);

/* Ordered by name; also those that are away. */
size_t hypervisor_nics_count(const struct hypervisor_nics *nics);
const struct hypervisor_nic *hypervisor_nics_get(
    const struct hypervisor_nics *nics, size_t i);

#endif
