/*
 * switch_collector - reads one switch's counters at every interval.
 *
 * A reading is one connection to the Redis server of SONiC, or one request to a Nexus;
 * tor-aggregator/collector decides when readings start. After each failure the pause
 * before the next reading of a Nexus grows, up to five minutes: the Nexus may count
 * each failure as a failed login, and lock the user.
 */
#ifndef TOR_AGGREGATOR_SWITCH_SWITCH_COLLECTOR_H
#define TOR_AGGREGATOR_SWITCH_SWITCH_COLLECTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "tor-aggregator/collector/collector.h"
#include "tor-aggregator/switch/switch_exported.h"
#include "tor-aggregator/switch/switch_list.h"

struct rm_http_client;
struct rm_loop;
struct rm_worker;
struct switch_collector;
struct switch_config;
struct switch_list;

struct switch_collector_options { /* all borrowed */
	struct rm_loop *loop;
	struct rm_http_client *http; /* used only for a Nexus, as is worker */
	struct rm_worker *worker;
	/* for the log, such as "switch of" and "tor1" */
	const char *of, *name;
	bool own;                           /* as in collector_options */
	const struct switch_config *config; /* its kind is not SWITCH_NONE */
	/* 0: interval_s of the config; others are for tests */
	int64_t interval_ns;
};

struct switch_collector_shown {
	struct collector_shown reading;
	/* the list of the last complete reading; NULL: there was none */
	const struct switch_list *list;
	struct switch_exported exported; /* numbers of the list's values */
};

int switch_collector_new(
    const struct switch_collector_options *options, struct switch_collector **ret);
void switch_collector_free(struct switch_collector *device); /* NULL is allowed */

/* The collector that times the readings; owned by device. */
struct collector *switch_collector_reading(const struct switch_collector *device);
/* Borrowed until the loop continues. */
struct switch_collector_shown switch_collector_shown(
    const struct switch_collector *device);
const struct switch_counts *switch_collector_counts(
    const struct switch_collector *device);

#endif
