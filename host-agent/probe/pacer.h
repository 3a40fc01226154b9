/*
 * pacer - when each target's next probe is due, by deadlines that never drift.
 *
 * A deadline is computed from the previous deadline, not from the time of sending. A
 * packet that is overdue by up to PACER_MAKE_UP_NS is still sent; of packets that are
 * overdue by more, only the latest is sent, and the others are counted as skipped.
 * Pure: time is an argument.
 */
#ifndef HOST_AGENT_PROBE_PACER_H
#define HOST_AGENT_PROBE_PACER_H

#include <stdbool.h>
#include <stddef.h>

#include "rackmesh/core/clock.h"

#define PACER_MAKE_UP_NS (50 * RM_NS_PER_MS)
#define PACER_PAIR_GAP_NS (10 * RM_NS_PER_MS)

struct pacer_entry {   /* a member of the object that is paced */
	rm_mono_t due; /* time of the next packet */
	int64_t interval_ns;
	bool paired; /* two packets per interval, PACER_PAIR_GAP_NS apart */
	bool second; /* the next packet is the second of its pair */
	size_t at;   /* place in the heap */
};

struct pacer { /* all zeros at first; a heap by due time, the earliest first */
	struct pacer_entry **heap;
	size_t count, capacity;
};

void pacer_clear(struct pacer *pacer); /* the caller owns the entries */
int pacer_reserve(struct pacer *pacer, size_t capacity);
/* the heap must have room for the entry: see pacer_reserve */
void pacer_add(struct pacer *pacer, struct pacer_entry *entry);

/* False: the interval is shorter than the gap between the two packets of a pair. */
bool pacer_can_pair(int64_t interval_ns);
/* Changes the pace of an entry. Its next packet is due one new interval from now at the
 * latest. */
void pacer_set_pace(struct pacer *pacer, struct pacer_entry *entry, int64_t interval_ns,
    bool paired, rm_mono_t now);
void pacer_set_due(struct pacer *pacer, struct pacer_entry *entry, rm_mono_t due);

/* Returns false if there are no entries. */
bool pacer_next(const struct pacer *pacer, rm_mono_t *ret);

struct pacer_tick {
	rm_mono_t deadline;
	bool second; /* the packet is the second one of a pair */
	/* Earlier packets that were skipped because they were too old. */
	uint64_t skipped;
};

/* Takes the entry that is due first, if it is due before now + window_ns, and sets when
 * it is due next. NULL: no entry is due. */
struct pacer_entry *pacer_take(
    struct pacer *pacer, rm_mono_t now, int64_t window_ns, struct pacer_tick *tick);

/* True: the packet was sent too late, by more than half its interval. The allowed delay
 * is at least 2 ms and at most 50 ms. */
bool pacer_is_late(int64_t interval_ns, rm_mono_t deadline, rm_mono_t left);

#endif
