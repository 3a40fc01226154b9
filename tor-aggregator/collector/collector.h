/*
 * collector - reads the counters of one device at every interval. The collector decides
 * when a reading starts, how long it may take and which address is used, and it keeps
 * the result. Its owner's callbacks do the reading.
 *
 * Only one reading runs at a time, with a deadline shorter than the interval: if the
 * device hangs, is slow or sends wrong data, only that reading fails, and nothing else
 * waits for it. If a name has several addresses, each address gets a share of the time
 * that is left. After failed readings the pause before the next one may grow. The
 * values of the last successful reading stay on display, with their age.
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

/* All callbacks except is_connected and stage may end the reading, by collector_fail()
 * or collector_succeed(). */
struct collector_callbacks {
	/* Begins a reading, which may take limit_ns. It calls collector_dial() if the
	 * device has an address. < 0: the reading failed with this errno; error: its
	 * text, "" if the errno is enough. */
	int (*begin)(int64_t limit_ns, struct rm_error *error, void *arg);
	/* Ends the connection attempt to the previous address, and connects to this
	 * address. < 0: the collector tries the next address. */
	int (*dial)(
	    const struct rm_address *address, struct rm_error *error, void *arg);
	/* True: the connection to the device exists. NULL only if dial is NULL. */
	bool (*is_connected)(const void *arg);
	/* Frees the resources of the reading, if there are any. */
	void (*hang_up)(void *arg);
	/* For the error at the deadline: text for the step at which the reading waits,
	 * such as "no connection". */
	const char *(*stage)(const void *arg);
	void *arg;
};

struct collector_options { /* all members are borrowed for the life of the collector */
	struct rm_loop *loop;
	const char *kind, *name; /* for the log, such as "hypervisor" and "esx1" */
	const char *address;     /* the address, as in the config */
	const struct rm_endpoint *endpoint;
	/* the device is the rack's own ToR: the look-up of its name has priority */
	bool own;
	const char *values; /* for the log: what a reading counts, such as "NICs" */
	/* for the log: while readings fail, the last values are not in use */
	bool left_out;
	int64_t interval_ns; /* between two readings */
	/* longest time of a reading; 3/4 of the interval if that is shorter */
	int64_t limit_ns;
	/* longest pause after failures; 0: the pause is always the interval */
	int64_t backoff_ns;
	/* shortest pause after -EKEYREJECTED, so that wrong passwords do not lock an
	 * account */
	int64_t refused_ns;
	struct collector_callbacks callbacks;
};

struct collector_counts {
	uint64_t reads, failed;
	uint64_t took_ns; /* duration of all readings that succeeded */
};

struct collector_shown {
	const char *address;
	bool up;           /* the last finished reading was complete */
	const char *error; /* error of the last reading; "": it succeeded */
	/* when the last complete reading began; ns 0: there was none yet */
	rm_mono_t at;
	rm_mono_t ended; /* when that reading ended */
	/* Time between the ends of the last two complete readings; 0: there was only
	 * one. */
	int64_t interval_ns;
	int64_t took_ns;
	int64_t wait_ns; /* present time between the starts of two readings */
};

int collector_new(const struct collector_options *options, struct collector **ret);
/* Ends a running reading; NULL is allowed. */
void collector_free(struct collector *collector);

/* Call it from begin: looks up the endpoint's name, and calls dial with its addresses.
 * Returns 0 or a negative errno. */
int collector_dial(struct collector *collector);
/* Tries the next address, because the dialed one does not answer. r: the error, a
 * negative errno. */
void collector_dial_next(struct collector *collector, int r);

/* Ends the reading as failed; call it last, because it calls hang_up. r: a negative
 * errno; reason: its text, "" if r is enough. */
void collector_fail(struct collector *collector, int r, const char *reason);
void collector_succeed(struct collector *collector, size_t values);

/* If the last reading failed, starts the next one at once. */
void collector_retry(struct collector *collector);

/* Borrowed until the next turn of the loop. */
struct collector_shown collector_shown(const struct collector *collector);
const struct collector_counts *collector_counts(const struct collector *collector);
/* Adds its members to a JSON object of the API. */
void collector_show(const struct collector_shown *shown, json_t *object);
/* Returns one value of the device, for the array "counters" of the API; the caller owns
 * the reference. priority: -1 if the value belongs to no priority. NULL: out of memory.
 */
json_t *collector_show_value(const char *name, const char *unit, int priority,
    bool gauge, const struct counter_state *state);
/* These functions read gauges; arg: a collector. The age is -1 if no reading was
 * complete yet. */
double collector_read_up(const void *arg);
double collector_read_age_s(const void *arg);

#endif
