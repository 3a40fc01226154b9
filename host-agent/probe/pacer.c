#include "host-agent/probe/pacer.h"

#include <errno.h>
#include <stdlib.h>

#define LATE_MIN_NS (2 * RM_NS_PER_MS)
#define LATE_MAX_NS (50 * RM_NS_PER_MS)

void
pacer_clear(struct pacer *pacer)
{
	free(pacer->heap);
	*pacer = (struct pacer){ 0 };
}

int
pacer_reserve(struct pacer *pacer, size_t capacity)
{
	struct pacer_entry **heap;

	if (capacity <= pacer->capacity)
		return 0;
	heap = reallocarray(pacer->heap, capacity, sizeof(struct pacer_entry *));
	if (heap == NULL)
		return -ENOMEM;
	pacer->heap = heap;
	pacer->capacity = capacity;
	return 0;
}

static bool
earlier(const struct pacer_entry *a, const struct pacer_entry *b)
{
	return rm_mono_since(a->due, b->due) < 0;
}

static void
pacer_put(struct pacer *pacer, size_t at, struct pacer_entry *entry)
{
	pacer->heap[at] = entry;
	entry->at = at;
}

/* Moves the entry to the place in the heap that its due time requires. */
static void
pacer_sift(struct pacer *pacer, struct pacer_entry *entry)
{
	size_t at = entry->at;

	while (at > 0 && earlier(entry, pacer->heap[(at - 1) / 2])) {
		pacer_put(pacer, at, pacer->heap[(at - 1) / 2]);
		at = (at - 1) / 2;
	}
	for (;;) {
		size_t child = 2 * at + 1;

		if (child + 1 < pacer->count &&
		    earlier(pacer->heap[child + 1], pacer->heap[child]))
			child++;
		if (child >= pacer->count || !earlier(pacer->heap[child], entry))
			break;
		pacer_put(pacer, at, pacer->heap[child]);
		at = child;
	}
	pacer_put(pacer, at, entry);
}

void
pacer_add(struct pacer *pacer, struct pacer_entry *entry)
{
	pacer_put(pacer, pacer->count++, entry);
	pacer_sift(pacer, entry);
}

bool
pacer_can_pair(int64_t interval_ns)
{
	return interval_ns > 2 * PACER_PAIR_GAP_NS;
}

void
pacer_set_pace(struct pacer *pacer, struct pacer_entry *entry, int64_t interval_ns,
    bool paired, rm_mono_t now)
{
	rm_mono_t latest = rm_mono_add(now, interval_ns);
	int64_t ahead = rm_mono_since(entry->due, now);

	/* The wait shrinks in proportion to the interval. If it were only cut to the
	 * latest time, many entries would become due together, in this interval and in
	 * every later one. */
	if (ahead > 0 && entry->interval_ns > interval_ns)
		entry->due = rm_mono_add(
		    now, (int64_t)((double)ahead / (double)entry->interval_ns *
				   (double)interval_ns));
	entry->interval_ns = interval_ns;
	entry->paired = paired && pacer_can_pair(interval_ns);
	entry->second = entry->second && entry->paired;
	if (rm_mono_since(entry->due, latest) > 0)
		entry->due = latest;
	pacer_sift(pacer, entry);
}

void
pacer_set_due(struct pacer *pacer, struct pacer_entry *entry, rm_mono_t due)
{
	entry->due = due;
	pacer_sift(pacer, entry);
}

bool
pacer_next(const struct pacer *pacer, rm_mono_t *ret)
{
	if (pacer->count == 0)
		return false;
	*ret = pacer->heap[0]->due;
	return true;
}

static void
entry_advance(struct pacer_entry *entry)
{
	if (entry->paired && !entry->second) {
		entry->due = rm_mono_add(entry->due, PACER_PAIR_GAP_NS);
		entry->second = true;
		return;
	}
	entry->due = rm_mono_add(
	    entry->due, entry->interval_ns - (entry->second ? PACER_PAIR_GAP_NS : 0));
	entry->second = false;
}

/* Skips all packets that are too old; of the packets that are due, the latest is not
 * skipped. Returns the number of skipped packets. */
static uint64_t
entry_skip(struct pacer_entry *entry, rm_mono_t now)
{
	int64_t behind = rm_mono_since(now, entry->due);
	uint64_t skipped = 0;
	int64_t periods;

	if (behind <= PACER_MAKE_UP_NS)
		return 0;
	if (entry->second) { /* the first packet of the pair is too old */
		if (rm_mono_since(now, entry->due) <
		    entry->interval_ns - PACER_PAIR_GAP_NS)
			return 0; /* no newer packet is due */
		entry_advance(entry);
		skipped++;
		behind = rm_mono_since(now, entry->due);
	}
	if (behind <= PACER_MAKE_UP_NS)
		return skipped;
	periods = (behind - PACER_MAKE_UP_NS - 1) / entry->interval_ns + 1;
	if (periods > behind / entry->interval_ns)
		periods = behind / entry->interval_ns;
	entry->due = rm_mono_add(entry->due, periods * entry->interval_ns);
	return skipped + (uint64_t)periods * (entry->paired ? 2 : 1);
}

struct pacer_entry *
pacer_take(
    struct pacer *pacer, rm_mono_t now, int64_t window_ns, struct pacer_tick *tick)
{
	struct pacer_entry *entry;

	if (pacer->count == 0 || rm_mono_since(pacer->heap[0]->due, now) > window_ns)
		return NULL;
	entry = pacer->heap[0];
	tick->skipped = entry_skip(entry, now);
	tick->deadline = entry->due;
	tick->second = entry->second;
	entry_advance(entry);
	pacer_sift(pacer, entry);
	return entry;
}

bool
pacer_is_late(int64_t interval_ns, rm_mono_t deadline, rm_mono_t left)
{
	int64_t allowed = interval_ns / 2;

	if (allowed < LATE_MIN_NS)
		allowed = LATE_MIN_NS;
	if (allowed > LATE_MAX_NS)
		allowed = LATE_MAX_NS;
	return rm_mono_since(left, deadline) > allowed;
}
