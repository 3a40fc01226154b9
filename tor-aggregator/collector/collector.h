/*
 * collector - reads the counters of one device, every interval: when, for how long, at
 * which address, and how it went. What a reading is, its owner knows.
 *
 * One reading is under way at a time, with a deadline below the interval: a device that
 * hangs, is slow or lies costs that one reading, and nothing else waits for it. Of a
 * name with several addresses each has its share of the time that is left. After
 * readings that failed the next one may come later and later. What was read last stays
 * shown, with its age.
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

/* All but stage may end the reading by collector_fail() or collector_succeed(). */
struct collector_callbacks {
	/* A reading begins, which may take so long. < 0: it failed; error: "" where r
	 * says it. Calls collector_dial() if there is an address to connect to. */
	int (*begin)(int64_t limit_ns, struct rm_error *error, void *arg);
	/* Connects to it, instead of to the one before. < 0: the next one is tried. */
	int (*dial)(
	    const struct rm_address *address, struct rm_error *error, void *arg);
	/* Has it got as far as to the device? NULL, if dial is. */
	bool (*is_connected)(const void *arg);
	/* Frees what belongs to the reading alone; may have nothing to free. */
	void (*hang_up)(void *arg);
	/* What is still missing, for the error at the deadline: "no connection". */
	const char *(*stage)(const void *arg);
	void *arg;
};

struct collector_options { /* all borrowed, for as long as the collector lives */
	struct rm_loop *loop;
	const char *kind, *name; /* "hypervisor", "esx1": for the log */
	const char *address;     /* as the config has it */
	const struct rm_endpoint *endpoint;
	bool own; /* the rack's ToR: its name is looked up where others' must wait */
	const char *values;  /* what a reading has read: "NICs" */
	int64_t interval_ns; /* between two readings */
	int64_t limit_ns;    /* of a reading; 3/4 of the interval if that is less */
	int64_t backoff_ns;  /* longest wait after failures; 0: always the interval */
	int64_t refused_ns;  /* least wait after -EKEYREJECTED */
	struct collector_callbacks callbacks;
};

struct collector_counts {
	uint64_t reads, failed;
	uint64_t took_ns; /* of all that did not fail */
};

struct collector_shown {
	const char *address;
	bool up;           /* the last reading that ended was whole */
	const char *error; /* of the last one; "": none */
	rm_mono_t at;      /* the last whole one began; 0: none yet */
	int64_t
	    interval_ns; /* its end since that of the one before; 0: there was none */
	int64_t took_ns;
	int64_t wait_ns; /* from one attempt to the next, as things stand */
};

int collector_new(const struct collector_options *options, struct collector **ret);
void collector_free(struct collector *collector); /* NULL is fine; hangs up */

/* From begin: looks the endpoint's name up and dials its addresses. */
int collector_dial(struct collector *collector);
/* The address that was dialed is none that answers; r: why. */
void collector_dial_next(struct collector *collector, int r);

/* The reading ends; call it last. reason: "": r says it. */
void collector_fail(struct collector *collector, int r, const char *reason);
void collector_succeed(struct collector *collector, size_t values);

/* If its last reading failed: reads at once instead of when the wait is over. */
void collector_retry(struct collector *collector);

/* Borrowed until the loop goes on. */
struct collector_shown collector_shown(const struct collector *collector);
const struct collector_counts *collector_counts(const struct collector *collector);
/* That as members of an object of the API. */
void collector_show(const struct collector *collector, json_t *object);
/* One value of the device, of its "counters" there. priority: -1: of none. */
json_t *collector_show_value(const char *name, const char *unit, int priority,
    bool gauge, const struct counter_state *state);
/* Gauges; arg: a collector. Of the age -1: there was no whole reading. */
double collector_read_up(const void *arg);
double collector_read_age_s(const void *arg);

#endif
