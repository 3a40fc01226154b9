/*
 * localise_late - finds parts between racks that delay packets. Pure. Nearly all probes
 * that cross such a part are answered, but the round trip takes longer than any healthy
 * fabric needs, or longer than the probe's timeout: then agents report the replies that
 * arrived after it. Probes that are never answered do not count as late.
 */
#ifndef ANALYZER_SUSPICION_LOCALISE_LATE_H
#define ANALYZER_SUSPICION_LOCALISE_LATE_H

#include "analyzer/finding/localise_case.h"
#include "analyzer/suspicion/localise_standings.h"

struct localise_late {
	struct localise_case c;
	struct localise_standings standings; /* standings of late parts only */
};

int localise_late_init(struct localise_late *late, size_t size); /* -ENOMEM */
void localise_late_release(struct localise_late *late);

/* hard: the parts that are suspected of losses, or named for them. Returns 0 or
 * -ENOMEM. */
int localise_late_judge(struct localise_late *late,
    const struct localise_standings *hard, const struct localise_now *now);
/* Ends the names of parts that have not been blamed for some seconds, and forgets these
 * parts after some more. */
void localise_late_fade(struct localise_late *late, rm_mono_t now);

/* Returns which losses of this path a late part explains, which is on the path or may
 * be on the path of its replies. slow: for losses of minutes. */
enum localise_known localise_late_known(const struct localise_late *late,
    const struct localise_path *path, bool slow, rm_mono_t now);

/* The round trips over a part that was late are quick again. */
bool localise_late_is_over(
    const struct localise_map *map, const struct rm_part *part, rm_mono_t now);
bool localise_late_is(enum rm_kind kind); /* True: this is the kind of a late part. */

#endif
