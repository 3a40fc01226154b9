/*
 * switch_asics - decides when the lists of a switch's ASICs become one list, and which
 * of them it takes. Pure.
 *
 * The lists are merged when each ASIC has a complete reading that no merged list has
 * used. An ASIC whose last reading failed is not waited for: if it hangs, the others
 * are not delayed. Each complete reading is used once: if an ASIC ends several readings
 * before the lists are merged, their deltas are added up, except that of a reading
 * after one that failed.
 *
 * If two ASICs have a port of the same name, the first one's is used. If that ASIC is
 * missing in SWITCH_AWAY_READINGS lists, the port of the next one is used.
 */
#ifndef TOR_AGGREGATOR_SWITCH_SWITCH_ASICS_H
#define TOR_AGGREGATOR_SWITCH_SWITCH_ASICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"

struct switch_counts;
struct switch_list;

/* The times of a complete reading, as in collector_shown; of a merged list: the first
 * start, the last end, and the longest duration and interval of its ASICs. */
struct switch_times {
	rm_mono_t at, ended;
	int64_t took_ns, interval_ns;
};

/* The readings of one ASIC; all 0 before its first one. */
struct switch_asic {
	/* the list of the last complete reading, and its times; NULL: there was none */
	struct switch_list *list;
	/* the interval is the sum of those of the readings whose deltas were added */
	struct switch_times times;
	bool up, down; /* the last reading was complete; it failed */
	bool unused;   /* no merged list has used the list yet */
	/* the list has deltas: the reading before it was complete, too, or those of an
	 * earlier one were kept */
	bool continues;
	uint8_t away; /* number of merged lists since the last one that used its list */
};

void switch_asic_clear(struct switch_asic *asic); /* frees its list */

/* A reading is complete. Takes ownership of list. */
void switch_asic_succeed(struct switch_asic *asic, struct switch_list *list,
    const struct switch_times *times);
/* A reading has failed. */
void switch_asic_fail(struct switch_asic *asic);

/* Call it after each reading. 1: *list is the new list of the switch, owned by the
 * caller, with its times; *list NULL: all ASICs have failed, and *times is not changed.
 * 0: the list does not change yet. -ENOMEM. */
int switch_asics_merge(struct switch_asic *asics, size_t count,
    struct switch_counts *counts, struct switch_list **list,
    struct switch_times *times);

#endif
