/*
 * localise - which part between the racks is at fault, from what all racks have seen.
 * Pure.
 *
 * The boundary behind which judgement over racks lives. In go path rows of summaries
 * and what racks say of themselves; out come verdicts on ToRs, links, switches and
 * paths. A path is a list of switches and directed links; what was lost forward is
 * explained jointly by the fewest, likeliest parts (rackmesh/judge/judge). What a rack
 * has already explained (a dead RNIC, a dead host) is taken out first, by the rack
 * itself: its rows hold no probe of an RNIC or host that is judged bad, and what other
 * racks' rows lose to one is left out here.
 *
 * Racks that lost nothing say so only every row interval: between two such rows they
 * count with the rates of their last one, while their aggregator is heard and what it
 * says is believed. Besides the newest seconds the last two minutes are judged, for
 * what loses a few of many.
 */
#ifndef ANALYZER_LOCALISE_LOCALISE_H
#define ANALYZER_LOCALISE_LOCALISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/incident/incident.h"
#include "schemas/wire.h"

#define LOCALISE_MAX_VERDICTS 256

struct localise;

struct localise_options {
	const char *region;      /* of all its racks; copied */
	int64_t row_interval_ns; /* as localise_row_interval */
};

struct localise_counts {
	uint64_t rows, refused_rows; /* malformed, or beyond a bound */
	uint64_t judged, unexplained_lost;
	uint64_t paths,
	    untraced;      /* known now; probes of flows without a path, so far */
	uint64_t left_out; /* probes lost to RNICs that their own rack has found bad */
	uint64_t refused_ends; /* of those RNICs, times that one was beyond a bound */
};

int localise_new(const struct localise_options *options, struct localise **ret);
void localise_free(struct localise *localise);

/* The interval of rows of healthy paths from now on; older rows do not count. */
void localise_row_interval(struct localise *localise, int64_t row_interval_ns);

/* The path rows of one summary, all of them; late or repeated ones change nothing. */
int localise_summary(
    struct localise *localise, const struct wire_summary_view *view, rm_mono_t now);

/* A rack's own verdict on its ToR (kind tor-down). */
enum localise_tor_report {
	LOCALISE_TOR_OVER,    /* stands no more */
	LOCALISE_TOR_CUT_OFF, /* what leaves the rack fails, its ToR-mesh does not */
	LOCALISE_TOR_DEAD,    /* the mesh fails, too */
	LOCALISE_TOR_OR_TWO,  /* the same, of two RNICs: both may be dead as well */
};

/* inside, peers: of the verdict's evidence. */
enum localise_tor_report localise_tor_report(
    bool stands, const struct rm_leg_counts *inside, unsigned peers);
void localise_tor_verdict(struct localise *localise, const char *tor,
    enum localise_tor_report report, rm_mono_t now);

/* This rack has found a fault of that kind in itself: what was lost from or to it until
 * now may have been its doing, if it is of a kind that loses probes. */
void localise_rack_found(
    struct localise *localise, const char *tor, const char *kind, rm_mono_t now);

/* No rack holds an RNIC or host of its own bad. */
void localise_ends_none(struct localise *localise);
/* This rack has found the RNIC ("host/device") or host bad: losses of others to it do
 * not count for their paths from now on. kind: of its verdict; other kinds than those
 * of localise_rack_found are ignored. */
void localise_rack_end(
    struct localise *localise, const char *tor, const char *kind, const char *part);

/* No reports of this rack arrive (any more): its last rows do not count. */
void localise_rack_is_seen(struct localise *localise, const char *tor, bool seen);
/* Another analyzer judges the region: what is named here is not any more. */
void localise_forget_named(struct localise *localise);

/* Called every 250 ms. *verdicts is valid until the next call. Returns their number, or
 * -ENOMEM. */
int localise_judge(struct localise *localise, rm_mono_t now, rm_wall_t wall,
    const struct rm_verdict **verdicts);

/* Of a part that has an open incident and no verdict now: good needs traffic over it.
 */
enum rm_health localise_health(
    const struct localise *localise, const struct rm_verdict *verdict);

const struct localise_counts *localise_counts(const struct localise *localise);

#endif
