/*
 * switch_collector - reads one switch's counters at every interval.
 *
 * A reading is one connection to the Redis server of SONiC, or one request to a Nexus;
 * tor-aggregator/collector decides when readings start. After each failure the pause
 * before the next reading of a Nexus grows, up to five minutes: the Nexus may count
 * each failure as a failed login, and lock the user.
 *
 * A SONiC switch with several ASICs has a Redis for each. Each is read by its own
 * collector, with its own deadline, and their ports are shown as one list. An ASIC that
 * fails is left out of the list until it is read again; the others are not delayed.
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
	/* the list of the last complete reading; NULL: there was none, or all of
	 * several ASICs failed in their last reading */
	const struct switch_list *list;
	struct switch_exported exported; /* numbers of the list's values */
};

int switch_collector_new(
    const struct switch_collector_options *options, struct switch_collector **ret);
void switch_collector_free(struct switch_collector *device); /* NULL is allowed */

/* If the last reading failed, starts the next one at once. */
void switch_collector_retry(struct switch_collector *device);

/* The number of ASICs that are read; 1 for a Nexus. */
size_t switch_collector_asics(const struct switch_collector *device);
/* The collector that times the readings of one ASIC; owned by device. */
const struct collector *switch_collector_reading(
    const struct switch_collector *device, size_t asic);
/* Borrowed until the loop continues. With several ASICs the reading is up only if the
 * last reading of each was complete, else address and error are those of an ASIC that
 * failed; its times are those of the list, see struct switch_times. */
struct switch_collector_shown switch_collector_shown(
    const struct switch_collector *device);
const struct switch_counts *switch_collector_counts(
    const struct switch_collector *device);

#endif
