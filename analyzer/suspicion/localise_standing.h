/*
 * localise_standing - the suspicions, their beginning, and the reported findings. Pure.
 * Nothing is named because of the losses of one second: rows of all racks must have had
 * the time to arrive. A named part stays named while it is blamed, and a little longer.
 */
#ifndef ANALYZER_SUSPICION_LOCALISE_STANDING_H
#define ANALYZER_SUSPICION_LOCALISE_STANDING_H

#include "analyzer/finding/localise_find.h"
#include "analyzer/suspicion/localise_standings.h"
#include "rackmesh/judge/verdict.h"

/* Room for so many; more are not suspected. -ENOMEM. */
int localise_standings_init(struct localise_standings *standings, size_t size);
void localise_standings_release(struct localise_standings *standings);

/* One finding, of recent losses or of those of many seconds. */
void localise_standings_weigh(struct localise_standings *standings,
    const struct localise_now *now, const struct localise_finding *finding, bool slow);
/* Replies that are lost between two racks while all probes arrive: localise_reverse.c.
 */
void localise_standings_reverse(
    struct localise_standings *standings, const struct localise_now *now);
/* A rack's report about its own ToR, if nothing contradicts it. */
void localise_standings_own(struct localise_standings *standings,
    const struct localise_now *now, const struct localise_rack *rack);
/* Forgets what has not been blamed for long. */
void localise_standings_fade(struct localise_standings *standings,
    const struct localise_map *map, rm_mono_t now);

struct localise_standing *localise_standings_find(
    const struct localise_standings *standings, const struct rm_part *part);
/* Found or made: it is under suspicion now, for what it lost lately. NULL: too many. */
struct localise_standing *localise_standings_touch(struct localise_standings *standings,
    const struct rm_part *part, bool slow, const struct localise_sum *recent,
    const struct localise_now *now);

/* It has been under suspicion for long enough; first: since it, or one of its kind. */
bool localise_may_report(const struct localise_standings *standings,
    const struct localise_now *now, const struct localise_finding *finding,
    const struct localise_standing *first, bool slow, rm_wall_t lossy_end);

/* The part is on this path, and was not named for other paths only. */
bool localise_standing_on(
    const struct localise_standing *s, const struct localise_path *path);

/* Some part that is named, or was named at some time since then, is on this path, and
 * lost all of its packets, not a share. */
bool localise_standings_explain(const struct localise_standings *standings,
    const struct localise_path *path, rm_mono_t since);
/* Some part that is named, or was, and is no whole path, is on it. slow: it may have a
 * small loss. */
bool localise_standings_explain_path(const struct localise_standings *standings,
    const struct localise_path *path, bool slow, rm_mono_t since);
/* One that loses a few, and is named, is on it. */
bool localise_standings_slow(
    const struct localise_standings *standings, const struct localise_path *path);

/* Something has come under suspicion lately, and has not been named yet. */
bool localise_standings_wait(const struct localise_standings *standings, rm_mono_t now);

/* The rack's wall clock was set back by so much; its rows end at `end` now. */
void localise_standings_set_back(struct localise_standings *standings,
    const struct localise_rack *rack, rm_wall_t end, int64_t by_ns);

#endif
