/*
 * switch_collector - reads one switch's counters, every interval.
 *
 * A reading is one connection, or of a Nexus one request, with a deadline below the
 * interval: a switch that hangs, is slow or lies costs that one reading, and nothing
 * else waits for it. Each address of a name has its share of the time that is left.
 * What is shown is the last whole reading, with its age.
 *
 * A Nexus that fails is asked ever more seldom, up to once in five minutes: it may
 * count each failure against the user who asks.
 */
#ifndef TOR_AGGREGATOR_SWITCH_SWITCH_COLLECTOR_H
#define TOR_AGGREGATOR_SWITCH_SWITCH_COLLECTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"
#include "tor-aggregator/switch/switch_list.h"
#include "tor-aggregator/switch/switch_told.h"

struct rm_http_client;
struct rm_loop;
struct rm_worker;
struct switch_collector;
struct switch_config;
struct switch_list;

struct switch_collector_options { /* all borrowed */
	struct rm_loop *loop;
	struct rm_http_client *http; /* for a Nexus, as the worker */
	struct rm_worker *worker;
	const char *tor;
	const struct switch_config *config; /* with a kind */
	int64_t interval_ns;                /* 0: the config's; for tests */
};

struct switch_collector_counts {
	uint64_t reads, failed;
	uint64_t took_ns; /* of all that did not fail */
	struct switch_counts values;
};

struct switch_collector_shown {
	const char *tor, *address;
	bool up;             /* the last reading that ended was whole */
	const char *error;   /* of the last one; "": none */
	rm_mono_t at;        /* the last whole one began; 0: none yet */
	int64_t interval_ns; /* since the one before; 0: there was none */
	int64_t took_ns;
	const struct switch_list *list; /* NULL: none yet */
	struct switch_told told;        /* of it */
};

int switch_collector_new(
    const struct switch_collector_options *options, struct switch_collector **ret);
void switch_collector_free(struct switch_collector *collector); /* NULL is fine */

/* Borrowed until the loop goes on. */
struct switch_collector_shown switch_collector_shown(
    const struct switch_collector *collector);
const struct switch_collector_counts *switch_collector_counts(
    const struct switch_collector *collector);

#endif
