/*
 * hypervisor_nics - stores the NICs of one ESXi host and their counters. Pure.
 *
 * Order of the calls: hypervisor_nics_begin, then names and values as the host prints
 * them, then hypervisor_nics_close. Values are used only after close; the next begin
 * deletes those of a reading that was not closed. A NIC that is missing in some
 * readings is kept, so that its totals continue when it returns.
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
/* Most values of one host on /metrics: enough for all values of 12 NICs. */
#define HYPERVISOR_METRICS_MAX 2048
/* Number of readings after which a missing NIC is deleted. */
#define HYPERVISOR_AWAY_READINGS 60

struct hypervisor_nic {
	char name[HYPERVISOR_NIC_BYTES];      /* "vmnic5" */
	char driver[HYPERVISOR_DRIVER_BYTES]; /* "": not known */
	bool there;                           /* the NIC was in the last reading */
	/* number of successive readings without the NIC */
	uint8_t away;
	bool seen;       /* the NIC is in the running reading */
	bool on_metrics; /* see hypervisor_nics_choose() */
	/* Values of the running reading; array of hypervisor_values(). */
	struct counter_sample *samples;
	struct counter_state *states; /* array of hypervisor_values() */
};

struct hypervisor_nics_counts {
	uint64_t values;       /* in complete readings */
	uint64_t parse_errors; /* values and names that could not be parsed */
	uint64_t refused;      /* NICs beyond the limit */
	uint64_t resets;       /* counters that began again at 0 */
};

struct hypervisor_on_metrics { /* numbers of values in the last reading */
	uint64_t exported;
	/* Values that are not exported, because they belong to priorities whose
	 * counters were never above 0. */
	uint64_t unused;
	/* values that are not exported, because they belong to NICs beyond the limit */
	uint64_t refused;
};

struct hypervisor_nics;

struct hypervisor_nics *hypervisor_nics_new(void);       /* NULL when out of memory */
void hypervisor_nics_free(struct hypervisor_nics *nics); /* NULL is allowed */

void hypervisor_nics_begin(struct hypervisor_nics *nics);
/* Adds the NIC of this name to the running reading. NULL: the name is not valid, there
 * are too many NICs, or out of memory; that is counted. */
struct hypervisor_nic *hypervisor_nics_report(struct hypervisor_nics *nics,
    const char *name, struct hypervisor_nics_counts *counts);
/* Takes a value that the host prints under this name at this place. A name that no row
 * of hypervisor_rows[] has is ignored. */
void hypervisor_nic_take(struct hypervisor_nic *nic, enum hypervisor_place place,
    const char *name, const char *text, struct hypervisor_nics_counts *counts);
/* Number of NICs in the running reading. */
size_t hypervisor_nics_seen(const struct hypervisor_nics *nics);
void hypervisor_nics_close(
    struct hypervisor_nics *nics, struct hypervisor_nics_counts *counts);

/* Chooses the NICs that /metrics shows, in the order of names. A NIC is shown with all
 * its values, or left out if they would exceed limit. */
void hypervisor_nics_choose(
    struct hypervisor_nics *nics, uint64_t limit, struct hypervisor_on_metrics *ret);
/* True: /metrics shows this value if it shows the NIC. False for a priority without
 * traffic. */
bool hypervisor_nic_reports(const struct hypervisor_nic *nic,
    const struct hypervisor_row *row, unsigned priority);

/* Returns NIC number i, which is below hypervisor_nics_count. NICs are sorted by name,
 * and include missing ones. */
size_t hypervisor_nics_count(const struct hypervisor_nics *nics);
const struct hypervisor_nic *hypervisor_nics_get(
    const struct hypervisor_nics *nics, size_t i);

#endif
