/*
 * hypervisor_collector - reads one ESXi host's counters, every interval.
 *
 * A reading is one login and one command, with a deadline below the interval: a host
 * that hangs, is slow or lies costs that one reading, and nothing else waits for it.
 * After readings that failed the next one comes later and later. ESXi locks a user for
 * 15 minutes after 5 failed logins: after a refused key the next one comes 30 minutes
 * later, so that such a lock also ends while two aggregators ask. What is shown is the
 * last whole reading, with its age.
 */
#ifndef TOR_AGGREGATOR_HYPERVISOR_HYPERVISOR_COLLECTOR_H
#define TOR_AGGREGATOR_HYPERVISOR_HYPERVISOR_COLLECTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"
#include "tor-aggregator/hypervisor/hypervisor_nics.h"

struct hypervisor_collector;
struct hypervisor_config;
struct rm_loop;

struct hypervisor_collector_options { /* all borrowed */
	struct rm_loop *loop;
	const struct hypervisor_config *config;
	int64_t interval_ns; /* 0: the config's; for tests */
};

struct hypervisor_collector_counts {
	uint64_t reads, failed;
	uint64_t took_ns; /* of all that did not fail */
	struct hypervisor_nics_counts nics;
};

struct hypervisor_shown {
	const char *name, *address;
	bool up;             /* the last reading that ended was whole */
	const char *error;   /* of the last one; "": none */
	rm_mono_t at;        /* the last whole one began; 0: none yet */
	int64_t interval_ns; /* since the one before; 0: there was none */
	int64_t took_ns;
	int64_t wait_ns; /* from one attempt to the next, as things stand */
	const struct hypervisor_nics *nics;
};

int hypervisor_collector_new(const struct hypervisor_collector_options *options,
    struct hypervisor_collector **ret);
void hypervisor_collector_free(
    struct hypervisor_collector *collector); /* NULL is fine */

/* If its last reading failed: reads at once instead of when the wait is over. */
void hypervisor_collector_retry(struct hypervisor_collector *collector);

/* Borrowed until the loop goes on. */
struct hypervisor_shown hypervisor_collector_shown(
    const struct hypervisor_collector *collector);
const struct hypervisor_collector_counts *hypervisor_collector_counts(
    const struct hypervisor_collector *collector);

#endif
