/*
 * localise_standing - decides since when a part is suspected, and when it is named,
 * i.e. gets a verdict. Pure. No part is named for the losses of one second: the rows of
 * all racks must have had the time to arrive. A named part stays named while it is
 * blamed, and some seconds longer.
 */
#ifndef ANALYZER_SUSPICION_LOCALISE_STANDING_H
#define ANALYZER_SUSPICION_LOCALISE_STANDING_H

#include "analyzer/finding/localise_find.h"
#include "analyzer/suspicion/localise_standings.h"
#include "rackmesh/judge/verdict.h"

/* size: the number of parts that can be suspected at the same time. Returns 0 or
 * -ENOMEM. */
int localise_standings_init(struct localise_standings *standings, size_t size);
void localise_standings_release(struct localise_standings *standings);

/* Takes one finding, from seconds or, if `slow`, from minutes: suspects its part, and
 * names the part once it has been suspected for long enough. */
void localise_standings_weigh(struct localise_standings *standings,
    const struct localise_now *now, const struct localise_finding *finding, bool slow);
/* Takes replies that are lost between two racks while all probes arrive. Such path
 * parts take at most half of the places of suspected parts; further ones are refused
 * and counted. The function is in localise_reverse.c. */
void localise_standings_reverse(
    struct localise_standings *standings, const struct localise_now *now);
/* Takes a rack's verdict on its own ToR. To be called only if no other rack's probes
 * contradict it. */
void localise_standings_own(struct localise_standings *standings,
    const struct localise_now *now, const struct localise_rack *rack);
/* Ends suspicions and verdicts on parts that have not been blamed for some seconds. */
void localise_standings_fade(struct localise_standings *standings,
    const struct localise_map *map, rm_mono_t now);

struct localise_standing *localise_standings_find(
    const struct localise_standings *standings, const struct rm_part *part);
/* Returns the standing of the part, which is suspected now; it is made if it does not
 * exist. recent: the losses of the part in the last seconds. NULL: too many parts are
 * suspected. */
struct localise_standing *localise_standings_touch(struct localise_standings *standings,
    const struct rm_part *part, bool slow, const struct localise_sum *recent,
    const struct localise_now *now);

/* True: the finding has been suspected for long enough to be named. first: the part
 * among its ties that has been suspected longest. lossy_end: end of the time of the
 * newest rows with losses. */
bool localise_may_report(const struct localise_standings *standings,
    const struct localise_now *now, const struct localise_finding *finding,
    const struct localise_standing *first, bool slow, rm_wall_t lossy_end);

/* True: the part is on this path and, if it was named only for some pairs of racks, the
 * path is between the racks of such a pair. */
bool localise_standing_on(
    const struct localise_standing *s, const struct localise_path *path);

/* True: some part on this path is named, or was named since then, for the loss of all
 * packets, not of a share. */
bool localise_standings_explain(const struct localise_standings *standings,
    const struct localise_path *path, rm_mono_t since);
/* The same as localise_standings_explain for a link or a switch on some path between
 * these racks, in either direction. */
bool localise_standings_explain_between(const struct localise_standings *standings,
    const struct localise_element *pair, rm_mono_t since);
/* True: some part on this path, but no path part, is named, or was named since then.
 * slow: parts that are named for losses of minutes count, too. */
bool localise_standings_explain_path(const struct localise_standings *standings,
    const struct localise_path *path, bool slow, rm_mono_t since);
/* True: some part on this path is named for losses of minutes. */
bool localise_standings_slow(
    const struct localise_standings *standings, const struct localise_path *path);

/* True: some part has been suspected for a few seconds at most, and is not named yet.
 */
bool localise_standings_wait(const struct localise_standings *standings, rm_mono_t now);

/* The rack's wall clock was set back by by_ns; its newest rows end at `end`. */
void localise_standings_set_back(struct localise_standings *standings,
    const struct localise_rack *rack, rm_wall_t end, int64_t by_ns);

#endif
