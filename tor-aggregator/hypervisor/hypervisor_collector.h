/*
 * hypervisor_collector - reads one ESXi host's counters, every interval.
 *
 * A reading is one login and one command; tor-aggregator/collector decides when
 * readings start. ESXi locks a user for 15 minutes after 5 failed logins. Therefore the
 * next login after a refused key is 30 minutes later: so the lock can end, even if two
 * aggregators try.
 */
#ifndef TOR_AGGREGATOR_HYPERVISOR_HYPERVISOR_COLLECTOR_H
#define TOR_AGGREGATOR_HYPERVISOR_HYPERVISOR_COLLECTOR_H

#include <stdint.h>

#include "tor-aggregator/collector/collector.h"
#include "tor-aggregator/hypervisor/hypervisor_nics.h"

struct hypervisor_collector;
struct hypervisor_config;
struct rm_loop;

struct hypervisor_collector_options { /* all borrowed */
	struct rm_loop *loop;
	const struct hypervisor_config *config;
	/* 0: interval_s of the config; other values are for tests */
	int64_t interval_ns;
};

struct hypervisor_shown {
	const char *name;
	struct collector_shown reading;
	const struct hypervisor_nics *nics;
	struct hypervisor_on_metrics on_metrics; /* numbers of the NICs' values */
};

int hypervisor_collector_new(const struct hypervisor_collector_options *options,
    struct hypervisor_collector **ret);
void hypervisor_collector_free(struct hypervisor_collector *host); /* NULL is allowed */

/* The collector that times the readings; owned by host. */
struct collector *hypervisor_collector_reading(const struct hypervisor_collector *host);
/* Borrowed until the next turn of the loop. */
struct hypervisor_shown hypervisor_collector_shown(
    const struct hypervisor_collector *host);
const struct hypervisor_nics_counts *hypervisor_collector_counts(
    const struct hypervisor_collector *host);

#endif
