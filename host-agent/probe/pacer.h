/*
 * pacer - when each target's next probe is due, by deadlines that never drift.
 *
 * A deadline is computed from the one before it, not from the time of sending. Packets
 * overdue by up to PACER_MAKE_UP_NS are sent; of older ones only the latest is sent,
 * and the skipped ones are counted. Pure: time is an argument.
 */
#ifndef HOST_AGENT_PROBE_PACER_H
#define HOST_AGENT_PROBE_PACER_H

#include <stdbool.h>
#include <stddef.h>

#include "rackmesh/core/clock.h"

#define PACER_MAKE_UP_NS (50 * RM_NS_PER_MS)
#define PACER_PAIR_GAP_NS (10 * RM_NS_PER_MS)

struct pacer_entry {   /* embedded in the object that is paced */
	rm_mono_t due; /* time of the next packet */
	int64_t interval_ns;
	bool paired; /* two packets an interval, PACER_PAIR_GAP_NS apart */
	bool second; /* the next packet is the second of its pair */
	size_t at;   /* place in the heap */
};

struct pacer { /* all zero initially; a heap, earliest first */
	struct pacer_entry **heap;
	size_t count, capacity;
};

void pacer_clear(struct pacer *pacer); /* the caller owns the entries */
int pacer_reserve(struct pacer *pacer, size_t capacity);
void pacer_add(struct pacer *pacer, struct pacer_entry *entry); /* within capacity */

/* False: the interval is shorter than the gap of a pair. */
bool pacer_can_pair(int64_t interval_ns);
/* The next packet is due no later than one new interval from now. */
void pacer_set_pace(struct pacer *pacer, struct pacer_entry *entry, int64_t interval_ns,
    bool paired, rm_mono_t now);
void pacer_set_due(struct pacer *pacer, struct pacer_entry *entry, rm_mono_t due);

/* False: no entry will ever be due. */
bool pacer_next(const struct pacer *pacer, rm_mono_t *ret);

struct pacer_tick {
	rm_mono_t deadline;
	bool second; /* of a pair */
	/* Earlier packets that were skipped because they were too old. */
	uint64_t skipped;
};

/* Takes the earliest that is due before now + window_ns, NULL if none, and sets when
 * it is due again. */
struct pacer_entry *pacer_take(
    struct pacer *pacer, rm_mono_t now, int64_t window_ns, struct pacer_tick *tick);

/* True: sent later than half its interval (at least 2 ms, at most 50 ms) after its
 * time. */
bool pacer_is_late(int64_t interval_ns, rm_mono_t deadline, rm_mono_t left);

#endif
