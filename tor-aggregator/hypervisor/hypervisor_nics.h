/*
 * hypervisor_nics - the NICs of one ESXi host and their counters. Pure.
 *
 * A reading is begun, gets names and values as the host prints them, and is closed:
 * only then its values count. A reading that is not closed leaves nothing behind. A NIC
 * that is missing for some readings is remembered, so that its totals continue when it
 * is back.
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
/* Values of one host on /metrics: enough for all of a dozen NICs. */
#define HYPERVISOR_METRICS_MAX 2048
/* Readings for which a missing NIC is remembered. */
#define HYPERVISOR_AWAY_READINGS 60

struct hypervisor_nic {
	char name[HYPERVISOR_NIC_BYTES];      /* "vmnic5" */
	char driver[HYPERVISOR_DRIVER_BYTES]; /* "": not told */
	bool there;                           /* it was in the last reading */
	uint8_t away;                         /* readings in a row without it */
	bool seen;                            /* it is in the running reading */
	bool on_metrics;                      /* see hypervisor_nics_choose() */
	/* Of the running reading: hypervisor_values() of them. */
	struct counter_sample *samples;
	struct counter_state *states; /* hypervisor_values() of them */
};

struct hypervisor_nics_counts {
	uint64_t values;       /* in complete readings */
	uint64_t parse_errors; /* values and names that could not be parsed */
	uint64_t refused;      /* NICs beyond the limit */
	uint64_t resets;       /* counters that began again at 0 */
};

struct hypervisor_on_metrics { /* number of values of the last reading */
	uint64_t exported;
	/* Left out: of priorities in which no counter was ever above 0. */
	uint64_t unused;
	uint64_t refused; /* left out: of NICs beyond the limit */
};

struct hypervisor_nics;

struct hypervisor_nics *hypervisor_nics_new(void);       /* NULL when out of memory */
void hypervisor_nics_free(struct hypervisor_nics *nics); /* NULL is allowed */

void hypervisor_nics_begin(struct hypervisor_nics *nics);
/* The NIC of this name, which is part of the reading from now on. NULL: the name is
 * not valid, there are too many, or no memory; counted. */
struct hypervisor_nic *hypervisor_nics_report(struct hypervisor_nics *nics,
    const char *name, struct hypervisor_nics_counts *counts);
/* Takes a value that a place of the host prints under this name. A name that no row
 * has is ignored. */
void hypervisor_nic_take(struct hypervisor_nic *nic, enum hypervisor_place place,
    const char *name, const char *text, struct hypervisor_nics_counts *counts);
/* Number of NICs in the running reading. */
size_t hypervisor_nics_seen(const struct hypervisor_nics *nics);
void hypervisor_nics_close(
    struct hypervisor_nics *nics, struct hypervisor_nics_counts *counts);

/* Chooses the NICs on /metrics: complete NICs, by name, as long as their values fit
 * into limit. */
void hypervisor_nics_choose(
    struct hypervisor_nics *nics, uint64_t limit, struct hypervisor_on_metrics *ret);
/* True: this value is on /metrics, if its NIC is. Most priorities have no traffic. */
bool hypervisor_nic_reports(const struct hypervisor_nic *nic,
    const struct hypervisor_row *row, unsigned priority);

/* Sorted by name; includes NICs that are missing. */
size_t hypervisor_nics_count(const struct hypervisor_nics *nics);
const struct hypervisor_nic *hypervisor_nics_get(
    const struct hypervisor_nics *nics, size_t i);

#endif
