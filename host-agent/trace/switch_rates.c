#include "host-agent/trace/switch_rates.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define HASH_NONFATAL_OOM 1 /* no exit(): an entry that was not added has no hh.tbl */
#include <uthash.h>

#include "host-agent/trace/trace_path.h"

#define MISSES 3                    /* so many missed answers in a row halve the rate */
#define LESS 0.5                    /* the factor; at most once a second */
#define MORE 0.5                    /* packets per second, with each answer */
#define IDLE_NS (600 * RM_NS_PER_S) /* after that an entry may be replaced */

struct switch_rate {
	uint8_t address[16];
	double rate, room; /* packets per second; packets that may be sent now */
	rm_mono_t at, lowered;
	unsigned misses; /* in a row */
	UT_hash_handle hh;
};

struct switch_rates {
	struct switch_rate *all; /* the least recently used one is the first */
};

struct switch_rates *
switch_rates_new(void)
{
	return calloc(1, sizeof(struct switch_rates));
}

void
switch_rates_free(struct switch_rates *rates)
{
	struct switch_rate *rate, *next;

	if (rates == NULL)
		return;
	HASH_ITER (hh, rates->all, rate, next) {
		HASH_DEL(rates->all, rate);
		free(rate);
	}
	free(rates);
}

static bool
is_silent(const uint8_t address[16])
{
	static const uint8_t silent[16];

	return memcmp(address, silent, sizeof(silent)) == 0;
}

static double
most_room(const struct switch_rate *rate)
{
	return fmax(1, SWITCH_RATES_BURST * rate->rate / SWITCH_RATES_MOST);
}

static void
fill(struct switch_rate *rate, rm_mono_t now)
{
	const int64_t since = rm_mono_since(now, rate->at);

	if (since > 0)
		rate->room += rate->rate * (double)since / 1e9;
	rate->room = fmin(rate->room, most_room(rate));
	rate->at = now;
}

static void
drop_idle(struct switch_rates *rates, rm_mono_t now)
{
	struct switch_rate *oldest = rates->all;

	if (oldest == NULL || rm_mono_since(now, oldest->at) < IDLE_NS)
		return;
	HASH_DEL(rates->all, oldest);
	free(oldest);
}

/* Adds the entry as the last one. NULL: there was no memory, and it is freed. */
static struct switch_rate *
add(struct switch_rates *rates, struct switch_rate *rate)
{
	HASH_ADD(hh, rates->all, address, 16, rate);
	if (rate->hh.tbl == NULL) {
		free(rate);
		return NULL;
	}
	return rate;
}

/* NULL: the address is not limited, because there is no room for it. */
static struct switch_rate *
rate_of(struct switch_rates *rates, const uint8_t address[16], rm_mono_t now)
{
	struct switch_rate *rate;

	HASH_FIND(hh, rates->all, address, 16, rate);
	/* It was used at this same time, e.g. for another hop of the same path, so it
	 * is near the end of the list already. */
	if (rate != NULL && rate->at.ns == now.ns)
		return rate;
	if (rate != NULL) {
		fill(rate, now);
		HASH_DEL(rates->all, rate);
		return add(rates, rate);
	}
	if (HASH_COUNT(rates->all) >= SWITCH_RATES_MAX)
		drop_idle(rates, now);
	if (HASH_COUNT(rates->all) >= SWITCH_RATES_MAX)
		return NULL;
	rate = calloc(1, sizeof(*rate));
	if (rate == NULL)
		return NULL;
	memcpy(rate->address, address, 16);
	rate->rate = SWITCH_RATES_MOST;
	rate->room = SWITCH_RATES_BURST;
	rate->at = now;
	return add(rates, rate);
}

bool
switch_rates_take(struct switch_rates *rates, const struct trace_hops *path,
    rm_mono_t now, int64_t *wait_ns)
{
	struct switch_rate *found[WIRE_MAX_HOPS] = { NULL };
	int64_t wait = 0;

	for (uint8_t i = 0; i < path->count; i++) {
		if (is_silent(path->at[i]))
			continue;
		found[i] = rate_of(rates, path->at[i], now);
		if (found[i] != NULL && found[i]->room < 1) {
			const int64_t mine =
			    (int64_t)ceil((1 - found[i]->room) * 1e9 / found[i]->rate);

			wait = mine > wait ? mine : wait;
		}
	}
	*wait_ns = wait;
	for (uint8_t i = 0; i < path->count && wait == 0; i++)
		if (found[i] != NULL)
			found[i]->room--;
	return wait == 0;
}

/* True: the rate was lowered. */
static bool
note_miss(struct switch_rate *rate, rm_mono_t now)
{
	if (++rate->misses < MISSES ||
	    (rate->lowered.ns != 0 && rm_mono_since(now, rate->lowered) < RM_NS_PER_S))
		return false;
	rate->misses = 0;
	rate->lowered = now;
	rate->rate = fmax(rate->rate * LESS, SWITCH_RATES_LEAST);
	return true;
}

unsigned
switch_rates_note(struct switch_rates *rates, const struct trace_hops *path,
    uint32_t answered, rm_mono_t now)
{
	unsigned lowered = 0;

	for (uint8_t i = 0; i < path->count; i++) {
		struct switch_rate *rate = NULL;

		if (!is_silent(path->at[i]))
			rate = rate_of(rates, path->at[i], now);
		if (rate == NULL)
			continue;
		if (answered >> i & 1) {
			rate->misses = 0;
			rate->rate = fmin(rate->rate + MORE, SWITCH_RATES_MOST);
		} else if (answered >> i != 0) {
			lowered += note_miss(rate, now);
		}
	}
	return lowered;
}
