/*
 * collector - reads the counters of one device at every interval: it decides when, for
 * how long and at which address, and keeps the result. Its owner defines how to read.
 *
 * Only one reading runs at a time, with a deadline below the interval: a device that
 * hangs, is slow or sends wrong data costs that one reading, and nothing else waits for
 * it. If a name has several addresses, each gets its share of the time that is left.
 * After readings that failed the pause before the next one may grow. The values read
 * last stay on display, with their age.
 */
#ifndef TOR_AGGREGATOR_COLLECTOR_COLLECTOR_H
#define TOR_AGGREGATOR_COLLECTOR_COLLECTOR_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"
#include "rackmesh/core/error.h"

struct collector;
struct counter_state;
struct rm_address;
struct rm_endpoint;
struct rm_loop;

/* All except stage may end the reading by collector_fail() or collector_succeed(). */
struct collector_callbacks {
	/* A reading begins, which may take limit_ns. < 0: it failed; error: "" if r
	 * is enough. Calls collector_dial() if there is an address to connect to. */
	int (*begin)(int64_t limit_ns, struct rm_error *error, void *arg);
	/* Connects to this address instead of the one before. < 0: the next address
	 * is tried. */
	int (*dial)(
	    const struct rm_address *address, struct rm_error *error, void *arg);
	/* True: the connection to the device exists. NULL only if dial is NULL. */
	bool (*is_connected)(const void *arg);
	/* Frees what belongs to the reading; there may be nothing to free. */
	void (*hang_up)(void *arg);
	/* The stage that the reading has not passed, for the error at the deadline:
	 * "no connection". */
	const char *(*stage)(const void *arg);
	void *arg;
};

struct collector_options { /* all members are borrowed for the life of the collector */
	struct rm_loop *loop;
	const char *kind, *name; /* "hypervisor", "esx1": for the log */
	const char *address;     /* as the config has it */
	const struct rm_endpoint *endpoint;
	bool own;            /* it is the rack's ToR: its name look-up has priority */
	const char *values;  /* what a reading reads: "NICs" */
	int64_t interval_ns; /* between two readings */
	int64_t limit_ns; /* limit on a reading; 3/4 of the interval if that is less */
	int64_t backoff_ns; /* longest pause after failures; 0: always the interval */
	int64_t refused_ns; /* least pause after -EKEYREJECTED */
	struct collector_callbacks callbacks;
};

struct collector_counts {
	uint64_t reads, failed;
	uint64_t took_ns; /* of all readings that did not fail */
};

struct collector_shown {
	const char *address;
	bool up;           /* the last finished reading was complete */
	const char *error; /* of the last reading; "": none */
	rm_mono_t at;      /* when the last complete reading began; 0: none yet */
	/* Between the ends of the last two; 0: there was only one. */
	int64_t interval_ns;
	int64_t took_ns;
	int64_t wait_ns; /* from one attempt to the next, at present */
};

int collector_new(const struct collector_options *options, struct collector **ret);
/* NULL is allowed; ends a running reading. */
void collector_free(struct collector *collector);

/* To be called from begin: looks the endpoint's name up and dials its addresses. */
int collector_dial(struct collector *collector);
/* The dialed address does not answer; r: the error. */
void collector_dial_next(struct collector *collector, int r);

/* Ends the reading; call it last. reason: "" if r is enough. */
void collector_fail(struct collector *collector, int r, const char *reason);
void collector_succeed(struct collector *collector, size_t values);

/* If its last reading failed: reads at once instead of after the pause. */
void collector_retry(struct collector *collector);

/* Borrowed until the loop continues. */
struct collector_shown collector_shown(const struct collector *collector);
const struct collector_counts *collector_counts(const struct collector *collector);
/* Adds the same as members to an object of the API. */
void collector_show(const struct collector *collector, json_t *object);
/* One value of the device, for its "counters" there. priority: -1: without one. */
json_t *collector_show_value(const char *name, const char *unit, int priority,
    bool gauge, const struct counter_state *state);
/* Gauges; arg: a collector. The age is -1 if no reading was complete yet. */
double collector_read_up(const void *arg);
double collector_read_age_s(const void *arg);

#endif
