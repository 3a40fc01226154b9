/*
 * switch_collector - reads one switch's counters at every interval.
 *
 * A reading is one connection to the Redis of SONiC, or one request to a Nexus, at the
 * pace of tor-aggregator/collector. A Nexus that fails is read ever more seldom, at
 * least once in five minutes: it may count each failure against the user.
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
	struct rm_http_client *http; /* for a Nexus, as is the worker */
	struct rm_worker *worker;
	const char *of, *name;              /* "switch of", "tor1": for the log */
	bool own;                           /* as in collector_options */
	const struct switch_config *config; /* with a kind */
	int64_t interval_ns;                /* 0: the config's; for tests */
};

struct switch_collector_shown {
	struct collector_shown reading;
	const struct switch_list *list;  /* NULL: none yet */
	struct switch_exported exported; /* of it */
};

int switch_collector_new(
    const struct switch_collector_options *options, struct switch_collector **ret);
void switch_collector_free(struct switch_collector *device); /* NULL is allowed */

/* The state of its readings; owned by device. */
struct collector *switch_collector_reading(const struct switch_collector *device);
/* Borrowed until the loop continues. */
struct switch_collector_shown switch_collector_shown(
    const struct switch_collector *device);
const struct switch_counts *switch_collector_counts(
    const struct switch_collector *device);

#endif
