#include "tor-aggregator/collector/collector.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/core/endpoint.h"
#include "rackmesh/core/log.h"
#include "rackmesh/core/random.h"
#include "rackmesh/loop/loop.h"
#include "rackmesh/metrics/counter_delta.h"
#include "rackmesh/net/lookup.h"

/* The first reading starts at a random time within this interval, so that the two
 * aggregators of a ToR do not read the device at the same time. */
#define START_NS RM_NS_PER_S

/* Limits on the look-ups that the process may run when another one is started: for the
 * rack's own ToR, OWN_LOOKUPS; for other devices, OTHERS_LOOKUPS. The remaining
 * look-ups are reserved for the daemon's connections. */
#define OTHERS_LOOKUPS (RM_LOOKUPS_MAX / 2)
#define OWN_LOOKUPS (RM_LOOKUPS_MAX - 4)

struct collector {
	struct collector_options options;
	struct rm_timer *turn, *deadline;
	/* time-out of an address after which there are further addresses */
	struct rm_timer *attempt;

	/* State of the running reading. */
	bool reading;
	rm_mono_t begun, end; /* end: the deadline */
	bool resolving; /* the running reading waits for the answer of the lookup */
	struct rm_address addresses[RM_ENDPOINT_ADDRESSES];
	size_t address_count, address; /* `address`: index of the next address to try */

	/* The lookup is kept when a reading is abandoned: its thread cannot be stopped,
	 * and a second lookup would get the same answer. */
	struct rm_lookup *lookup;

	struct collector_shown shown;
	struct collector_counts counts;
	uint64_t failed_in_a_row;
	bool unanswered; /* the last reading failed because no name server answered */
	struct rm_error error;
};

static void on_turn(void *arg);
static void on_deadline(void *arg);
static void on_attempt(void *arg);

int
collector_new(const struct collector_options *options, struct collector **ret)
{
	struct collector *collector = calloc(1, sizeof(*collector));
	int r;

	if (collector == NULL)
		return -ENOMEM;
	collector->options = *options;
	collector->shown.address = options->address;
	collector->shown.wait_ns = options->interval_ns;
	r = rm_timer_new(options->loop, on_turn, collector, &collector->turn);
	if (r == 0)
		r = rm_timer_new(
		    options->loop, on_deadline, collector, &collector->deadline);
	if (r == 0)
		r = rm_timer_new(
		    options->loop, on_attempt, collector, &collector->attempt);
	if (r < 0) {
		collector_free(collector);
		return r;
	}
	rm_timer_after(
	    collector->turn, (int64_t)(rm_random_u64() % (uint64_t)START_NS));
	*ret = collector;
	return 0;
}

/* ---- the end of a reading ---- */

static void
hang_up(struct collector *collector)
{
	collector->reading = false;
	collector->resolving = false;
	rm_timer_stop(collector->deadline);
	rm_timer_stop(collector->attempt);
	collector->options.callbacks.hang_up(collector->options.callbacks.arg);
}

void
collector_free(struct collector *collector)
{
	if (collector == NULL)
		return;
	if (collector->reading)
		hang_up(collector);
	rm_lookup_free(collector->lookup);
	rm_timer_free(collector->turn);
	rm_timer_free(collector->deadline);
	rm_timer_free(collector->attempt);
	free(collector);
}

/* Sets the timer of the next reading. The pause is the interval, after failures twice
 * and four times the interval, up to backoff_ns. r: the result of the last reading. */
static void
wait_next(struct collector *collector, int r)
{
	const struct collector_options *options = &collector->options;
	const int64_t most = options->backoff_ns > options->interval_ns
				 ? options->backoff_ns
				 : options->interval_ns;
	int64_t wait = options->interval_ns;

	for (uint64_t i = 1; i < collector->failed_in_a_row && wait < most; i++)
		wait *= 2;
	if (wait > most)
		wait = most;
	if (r == -EKEYREJECTED && wait < options->refused_ns)
		wait = options->refused_ns;
	collector->shown.wait_ns = wait;
	rm_timer_at(collector->turn, rm_mono_add(collector->begun, wait));
}

/* unanswered: no name server answered. That is logged as one reason, whichever step
 * notices it. */
static void
fail(struct collector *collector, int r, const char *reason, bool unanswered)
{
	const bool still = collector->unanswered && unanswered;
	const struct rm_error before = collector->error;

	rm_error_set(
	    &collector->error, 0, "%s", reason[0] != '\0' ? reason : strerror(-r));
	hang_up(collector);
	collector->unanswered = unanswered;
	collector->counts.failed++;
	collector->shown.up = false;
	/* A new reason is logged even in a series of failures: a changed host key must
	 * be seen, also after an hour without an answer. */
	if (collector->failed_in_a_row++ == 0 ||
	    (!still && strcmp(before.text, collector->error.text) != 0))
		rm_log_warn(0,
		    "%s %s: cannot read its counters at %s: %s; %s, and the aggregator "
		    "tries again",
		    collector->options.kind, collector->options.name,
		    collector->options.address, collector->error.text,
		    collector->options.left_out ? "its values are left out"
						: "the last values stay in use");
	wait_next(collector, r);
}

void
collector_fail(struct collector *collector, int r, const char *reason)
{
	fail(collector, r, reason, false);
}

void
collector_succeed(struct collector *collector, size_t values)
{
	struct collector_shown *shown = &collector->shown;
	const rm_mono_t now = rm_mono_now();

	/* The values are read at the end of a reading, after look-up and login. */
	shown->interval_ns = shown->at.ns == 0 ? 0 : rm_mono_since(now, shown->ended);
	shown->ended = now;
	shown->at = collector->begun;
	shown->took_ns = rm_mono_since(now, collector->begun);
	collector->counts.took_ns += (uint64_t)shown->took_ns;
	collector->error.text[0] = '\0';
	if (!shown->up)
		rm_log_info("%s %s: counters read: %zu %s, after %llu readings that "
			    "failed",
		    collector->options.kind, collector->options.name, values,
		    collector->options.values,
		    (unsigned long long)collector->failed_in_a_row);
	shown->up = true;
	collector->failed_in_a_row = 0;
	hang_up(collector);
	wait_next(collector, 0);
}

static void
on_deadline(void *arg)
{
	struct collector *collector = arg;
	const struct collector_callbacks *callbacks = &collector->options.callbacks;
	struct rm_error error;

	if (collector->resolving)
		rm_error_set(&error, 0, "its name could not be resolved in time");
	else
		rm_error_set(&error, 0, "%s in time", callbacks->stage(callbacks->arg));
	fail(collector, -ETIMEDOUT, error.text, collector->resolving);
}

/* ---- the addresses ---- */

/* Limits the time of the present address, so that an address that drops all packets
 * leaves time for the addresses after it. The last address may use all the time up to
 * the deadline. */
static void
limit_attempt(struct collector *collector)
{
	const int64_t left = rm_mono_since(collector->end, rm_mono_now());
	const size_t after = collector->address_count - collector->address;

	if (after == 0)
		rm_timer_stop(collector->attempt);
	else
		rm_timer_after(collector->attempt, left / (int64_t)(after + 1));
}

void
collector_dial_next(struct collector *collector, int r)
{
	const struct collector_callbacks *callbacks = &collector->options.callbacks;
	struct rm_error error = { .text = "" };

	while (collector->address < collector->address_count) {
		r = callbacks->dial(&collector->addresses[collector->address++], &error,
		    callbacks->arg);
		if (r == 0) {
			limit_attempt(collector);
			return;
		}
	}
	collector_fail(collector, r, error.text);
}

/* The next address is tried only if this one does not answer at all. */
static void
on_attempt(void *arg)
{
	struct collector *collector = arg;
	const struct collector_callbacks *callbacks = &collector->options.callbacks;

	if (!callbacks->is_connected(callbacks->arg))
		collector_dial_next(collector, -ETIMEDOUT);
}

static void
on_lookup(const struct rm_lookup_answer *answer, void *arg)
{
	struct collector *collector = arg;

	collector->lookup = NULL;
	if (!collector->resolving)
		return;
	collector->resolving = false;
	if (answer->r < 0 || answer->count == 0) {
		fail(collector, answer->r, answer->reason, answer->r == -EAGAIN);
		return;
	}
	collector->address_count = answer->count;
	memcpy(collector->addresses, answer->addresses,
	    answer->count * sizeof(answer->addresses[0]));
	collector_dial_next(collector, 0);
}

static int
resolve(struct collector *collector)
{
	const struct collector_options *options = &collector->options;
	int r = 0;

	if (collector->lookup == NULL)
		r = rm_lookup_new(options->loop, options->endpoint,
		    options->own ? OWN_LOOKUPS : OTHERS_LOOKUPS, on_lookup, collector,
		    &collector->lookup);
	collector->resolving = r == 0;
	if (r != -EBUSY)
		return r;
	fail(collector, r, RM_LOOKUPS_BUSY, true);
	return 0;
}

int
collector_dial(struct collector *collector)
{
	const struct rm_endpoint *endpoint = collector->options.endpoint;

	collector->address = 0;
	if (endpoint->name[0] != '\0')
		return resolve(collector);
	collector->addresses[0] = endpoint->address;
	collector->address_count = 1;
	collector_dial_next(collector, 0);
	return 0;
}

/* ---- the start of a reading ---- */

static void
on_turn(void *arg)
{
	struct collector *collector = arg;
	const struct collector_options *options = &collector->options;
	const int64_t share = options->interval_ns / 4 * 3,
		      limit = share < options->limit_ns ? share : options->limit_ns;
	struct rm_error error = { .text = "" };
	int r;

	collector->counts.reads++;
	collector->reading = true;
	collector->begun = rm_mono_now();
	collector->end = rm_mono_add(collector->begun, limit);
	rm_timer_at(collector->deadline, collector->end);
	r = options->callbacks.begin(limit, &error, options->callbacks.arg);
	if (r < 0)
		collector_fail(collector, r, error.text);
}

void
collector_retry(struct collector *collector)
{
	if (collector->failed_in_a_row > 0 && !collector->reading)
		rm_timer_after(collector->turn, 0);
}

/* ---- for display ---- */

struct collector_shown
collector_shown(const struct collector *collector)
{
	struct collector_shown shown = collector->shown;

	shown.error = collector->error.text;
	return shown;
}

const struct collector_counts *
collector_counts(const struct collector *collector)
{
	return &collector->counts;
}

void
collector_show(const struct collector_shown *shown, json_t *object)
{
	json_object_set_new(object, "address", json_string(shown->address));
	json_object_set_new(object, "up", json_boolean(shown->up));
	json_object_set_new(object, "error",
	    shown->error[0] == '\0' ? json_null() : json_string(shown->error));
	json_object_set_new(object, "age_ms",
	    shown->at.ns == 0
		? json_null()
		: json_integer(rm_mono_since(rm_mono_now(), shown->at) / RM_NS_PER_MS));
	json_object_set_new(
	    object, "interval_ms", json_integer(shown->interval_ns / RM_NS_PER_MS));
	json_object_set_new(
	    object, "read_ms", json_integer(shown->took_ns / RM_NS_PER_MS));
	json_object_set_new(
	    object, "wait_ms", json_integer(shown->wait_ns / RM_NS_PER_MS));
}

json_t *
collector_show_value(const char *name, const char *unit, int priority, bool gauge,
    const struct counter_state *state)
{
	json_t *object = json_object(), *total = json_integer((json_int_t)state->total);

	json_object_set_new(object, "name", json_string(name));
	if (priority >= 0)
		json_object_set_new(object, "priority", json_integer(priority));
	json_object_set_new(object, "unit", json_string(unit));
	json_object_set_new(object, gauge ? "value" : "total", total);
	if (!gauge)
		json_object_set_new(
		    object, "delta", json_integer((json_int_t)state->delta));
	return object;
}

double
collector_read_up(const void *arg)
{
	const struct collector *collector = arg;

	return collector->shown.up;
}

double
collector_read_age_s(const void *arg)
{
	const struct collector_shown shown = collector_shown(arg);

	return shown.at.ns == 0 ? -1
				: (double)rm_mono_since(rm_mono_now(), shown.at) / 1e9;
}
