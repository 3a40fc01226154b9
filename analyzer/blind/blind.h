/*
 * blind - finds racks, aggregators and regions that are silent. Pure.
 *
 * Silence never counts as health. An aggregator is a finding if its link is down for
 * grace_ns, or if it is connected and silent. A rack is blind if none of its
 * aggregators reports it, or if the aggregator that reports it is connected to no
 * agent; of two aggregators the standby does not report the rack, so only the one with
 * a recent report is used. If all aggregators of a region are silent, the region is one
 * finding, which inhibits the findings on its aggregators and racks. The incidents of a
 * blind rack stay open. There are also findings on daemons whose certificate expires
 * soon: a connected aggregator, its controller, and the analyzer itself.
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
	int64_t grace_ns; /* 3 s: a restart of an aggregator is not a finding */
	/* 15 s: no findings for this time after the analyzer's start */
	int64_t start_ns;
	/* a day: an aggregator that was silent for this long was removed on purpose */
	int64_t forget_ns;
	/* Summary interval of an aggregator until it reports its own. A state that is
	 * older than three intervals is not used; 0: a state is used at any age. */
	int64_t row_interval_ns;
};

int blind_new(const struct blind_options *options, rm_mono_t now, struct blind **ret);
void blind_free(struct blind *blind);

/* The aggregator has connected. tors: names of the ToRs that it serves. */
void blind_connected(struct blind *blind, const char *region, const char *aggregator,
    const char *const *tors, size_t tor_count, rm_mono_t now);
/* Sets the aggregator's time between two rows of a path without losses. */
void blind_row_interval(struct blind *blind, const char *region, const char *aggregator,
    int64_t row_interval_ns);
/* The longest row interval in ns of all aggregators whose rows are still used: they are
 * connected, or were until recently. Without such aggregators, that of the options. */
int64_t blind_longest_row_interval(const struct blind *blind, rm_mono_t now);
void blind_disconnected(
    struct blind *blind, const char *region, const char *aggregator, rm_mono_t now);
/* The aggregator has reported that it goes to another analyzer: forgets it. */
void blind_left(struct blind *blind, const char *region, const char *aggregator);
/* All aggregators have gone to another analyzer: forgets them. */
void blind_clear(struct blind *blind);
/* True: at least one aggregator is connected. */
bool blind_is_connected(const struct blind *blind);
/* *ret: when the last message of any aggregator arrived. False: no aggregator is known.
 */
bool blind_last_seen(const struct blind *blind, rm_mono_t *ret);
/* Call it when any message of the aggregator has arrived. */
void blind_seen(
    struct blind *blind, const char *region, const char *aggregator, rm_mono_t now);
/* The aggregator is connected, but its messages are not being read, so its last state
 * may be outdated. */
void blind_held(
    struct blind *blind, const char *region, const char *aggregator, rm_mono_t now);
/* Adds a summary with the state of a rack. lag_ns: the analyzer's wall-clock time minus
 * the end of the summary. A large lag that changes means a backlog, whose state is
 * outdated; a large constant lag means a wrong clock, and the state is used. */
void blind_rack(struct blind *blind, const char *region, const char *aggregator,
    const char *tor, const struct wire_rack_state *state, int64_t lag_ns,
    rm_mono_t now);
/* Sets when the certificate of the aggregator, and that of the named controller,
 * expires, in wall-clock seconds; 0: not soon. Valid until the aggregator connects
 * again or reports other values. */
void blind_certificates(struct blind *blind, const char *region, const char *aggregator,
    int64_t ends_s, const char *controller, int64_t controller_ends_s);
/* The same for the analyzer's own certificate. */
void blind_own_certificate(struct blind *blind, const char *analyzer, int64_t ends_s);
/* Call it after this daemon was stopped: the time until now does not count as
 * silence. */
void blind_stalled(struct blind *blind, rm_mono_t now);

/* True: at least one aggregator of the rack is not silent. */
bool blind_rack_is_seen(
    const struct blind *blind, const char *region, const char *tor, rm_mono_t now);

/* Call it every second. Returns verdicts with an alert of their own, without inhibited
 * ones. *ret lives until the next call. -ENOMEM. */
int blind_judge(
    struct blind *blind, rm_mono_t now, rm_wall_t wall, const struct rm_verdict **ret);
/* Returns the health of a part without a verdict now. If the verdict on it is only
 * inhibited, the health is unknown, not good. */
enum rm_health blind_health(
    const struct blind *blind, const struct rm_verdict *verdict, rm_mono_t now);

#endif
