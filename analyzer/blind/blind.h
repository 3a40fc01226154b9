/*
 * blind - what we know nothing of: racks, aggregators, regions that are silent. Pure.
 *
 * Silence is never health. An aggregator whose link is down for grace_ns, or that is
 * connected and silent, is a finding; of two aggregators of a rack the one that stands
 * by says nothing of it, and whoever has told of it lately counts; a rack none of whose
 * aggregators is heard, or whose aggregator hears no agent, is blind; a region all of
 * whose aggregators are silent is one finding that inhibits all those below it. What a
 * blind rack's incidents were, stays. And what will be silent soon, since its
 * certificate ends: an aggregator that is heard, its controller, we ourselves.
 */
#ifndef ANALYZER_BLIND_BLIND_H
#define ANALYZER_BLIND_BLIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/incident/incident.h"
#include "schemas/wire.h"

#define BLIND_MAX_AGGREGATORS 16384
#define BLIND_MAX_RACKS 16384

struct blind;

struct blind_options {
	int64_t grace_ns;  /* 3 s: a restart of an aggregator is no finding */
	int64_t start_ns;  /* 15 s: so long after our own start nothing is said */
	int64_t forget_ns; /* a day: what stays silent for so long was taken away */
	/* Of an aggregator until it says its own. A state that is older than three of
	 * them says nothing any more; 0: it does. */
	int64_t row_interval_ns;
};

int blind_new(const struct blind_options *options, rm_mono_t now, struct blind **ret);
void blind_free(struct blind *blind);

/* A session has been welcomed, or has ended. */
void blind_connected(struct blind *blind, const char *region, const char *aggregator,
    const char *const *tors, size_t tor_count, rm_mono_t now);
/* Its summaries of healthy rows come so far apart. */
void blind_row_interval(struct blind *blind, const char *region, const char *aggregator,
    int64_t row_interval_ns);
/* The longest of those that are connected, or were so lately that their rows are still
 * of use; without any, that of the options. */
int64_t blind_longest_row_interval(const struct blind *blind, rm_mono_t now);
void blind_disconnected(
    struct blind *blind, const char *region, const char *aggregator, rm_mono_t now);
/* It has said that it leaves us for another analyzer: it is not missed. */
void blind_left(struct blind *blind, const char *region, const char *aggregator);
/* All have left us: nobody is missed any more. */
void blind_clear(struct blind *blind);
/* Has any of them a session? */
bool blind_is_connected(const struct blind *blind);
/* When anything came from any of them, last. False: none is known. */
bool blind_last_seen(const struct blind *blind, rm_mono_t *ret);
/* Anything came from it. */
void blind_seen(
    struct blind *blind, const char *region, const char *aggregator, rm_mono_t now);
/* It is there, but what it says is not read now: it may see somebody again. */
void blind_held(
    struct blind *blind, const char *region, const char *aggregator, rm_mono_t now);
/* A summary said how the rack stood lag_ns ago: our wall time less that of its end. A
 * backlog, whose lag is large and changes, says nothing of now; a clock that is wrong
 * is wrong by the same all the time. */
void blind_rack(struct blind *blind, const char *region, const char *aggregator,
    const char *tor, const struct wire_rack_state *state, int64_t lag_ns,
    rm_mono_t now);
/* Its certificate ends then, in wall-clock seconds, and that of the controller which it
 * has that name of, once that is soon; 0: not soon. Until it connects again, or says
 * something else. */
void blind_certificates(struct blind *blind, const char *region, const char *aggregator,
    int64_t ends_s, const char *controller, int64_t controller_ends_s);
/* Our own, likewise. */
void blind_own_certificate(struct blind *blind, const char *analyzer, int64_t ends_s);
/* We ourselves stood still until now: what was silent meanwhile gets its grace anew. */
void blind_stalled(struct blind *blind, rm_mono_t now);

/* All that are silent, also inhibited ones. What a rack knows is known here. */
bool blind_rack_is_seen(
    const struct blind *blind, const char *region, const char *tor, rm_mono_t now);

/* Every second. Verdicts with an alert of their own; inhibited ones are left out. *ret
 * lives until the next call. -ENOMEM. */
int blind_judge(
    struct blind *blind, rm_mono_t now, rm_wall_t wall, const struct rm_verdict **ret);
/* Of a part without a verdict now: an inhibited one is unknown, not good. */
enum rm_health blind_health(
    const struct blind *blind, const struct rm_verdict *verdict, rm_mono_t now);

#endif
