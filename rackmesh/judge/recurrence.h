/*
 * recurrence - decides whether a part flaps: it fails, works again and fails again.
 * Pure.
 *
 * Three falls within half an hour are flapping, however short each of them is. A gap is
 * the time for which the part worked before one of its falls. Flapping is over when the
 * part has worked for three times the longest gap, but for at least 15 s and at most an
 * hour. So a part that falls every ten minutes flaps all the time, and does not begin
 * to flap again every ten minutes. (If falls come by chance at a steady rate, one gap
 * in ten is that long at first, and fewer later, because the longest gap grows.)
 */
#ifndef RACKMESH_JUDGE_RECURRENCE_H
#define RACKMESH_JUDGE_RECURRENCE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"

#define RM_RECURRENCE_FALLS 3
#define RM_RECURRENCE_WITHIN_NS (1800 * RM_NS_PER_S)
#define RM_RECURRENCE_QUIET_MIN_NS (15 * RM_NS_PER_S)
#define RM_RECURRENCE_QUIET_MAX_NS (3600 * RM_NS_PER_S)

struct rm_recurrence { /* all zero: a part that never fell */
	bool flaps;
	uint32_t falls;     /* number of falls since it began to flap; 0: not yet */
	rm_mono_t since;    /* time of the first of them */
	rm_mono_t at[2];    /* the last two falls, the newest first; ns 0: none */
	int64_t gap_ns;     /* time for which it was up before the last fall */
	int64_t longest_ns; /* longest gap before a fall since it began to flap */
	/* The time before this does not count as up: the part was down, or was not
	 * observed, e.g. before a restart. ns 0: it is up since its last fall. */
	rm_mono_t up_since;
};

/* Notes one fall. It makes a part flapping if it is the third one within within_ns. If
 * flapping was ended by setting flaps to false, the part flaps again from the next fall
 * on that is the third one within that time, and the number of falls goes on. */
void rm_recurrence_fall(
    struct rm_recurrence *recurrence, rm_mono_t now, int64_t within_ns);

/* The time for which a flapping part must work to end flapping. */
int64_t rm_recurrence_quiet_ns(const struct rm_recurrence *recurrence);

/* For a part whose state is always known; call it for each window. falls: number of
 * falls since the last call, may be 0; down: the state of the part now. Ends flapping
 * when the part was up for long enough. True: the part flaps. */
bool rm_recurrence_note(
    struct rm_recurrence *recurrence, rm_mono_t now, uint32_t falls, bool down);

/* True: the last fall is longer ago than half an hour, and than the time that ends
 * flapping, so a saved state is of no use any more, even if the part was not observed
 * since. */
bool rm_recurrence_is_old(const struct rm_recurrence *recurrence, rm_mono_t now);

/* Saves the state with times of the wall clock, because the monotonic clock begins
 * anew. Returns a new reference; NULL: out of memory. */
json_t *rm_recurrence_save(
    const struct rm_recurrence *recurrence, rm_mono_t now, rm_wall_t wall);
/* Reads a saved state, whose bytes are not trusted. Returns NULL, or the name of the
 * wrong key: then *ret is not usable. */
const char *rm_recurrence_restore(
    const json_t *saved, rm_mono_t now, rm_wall_t wall, struct rm_recurrence *ret);

#endif
