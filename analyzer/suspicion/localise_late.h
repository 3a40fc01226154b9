/*
 * localise_late - parts between racks that packets pass, but late. Pure. Nearly all
 * packets that cross such a part come back, but take longer than any fabric does, or
 * longer than probes wait: then agents report the replies that they had given up.
 * Packets that never came back do not count here.
 */
#ifndef ANALYZER_SUSPICION_LOCALISE_LATE_H
#define ANALYZER_SUSPICION_LOCALISE_LATE_H

#include "analyzer/finding/localise_case.h"
#include "analyzer/suspicion/localise_standings.h"

struct localise_late {
	struct localise_case c;
	struct localise_standings standings; /* kinds of lateness alone */
};

int localise_late_init(struct localise_late *late, size_t size); /* -ENOMEM */
void localise_late_release(struct localise_late *late);

/* hard: what is suspected to lose what crosses it, and named for that. -ENOMEM. */
int localise_late_judge(struct localise_late *late,
    const struct localise_standings *hard, const struct localise_now *now);
/* Names no more what has not been blamed for a while; forgets it later. */
void localise_late_fade(struct localise_late *late, rm_mono_t now);

/* The known explanation of this path's losses, if some part that is late, or seems
 * late, is on it or on the path of its replies. slow: for the losses of minutes. */
enum localise_known localise_late_known(const struct localise_late *late,
    const struct localise_path *path, bool slow, rm_mono_t now);

/* What passes a part that was late is quick again. */
bool localise_late_is_over(
    const struct localise_map *map, const struct rm_part *part, rm_mono_t now);
bool localise_late_is(enum rm_kind kind);

#endif
