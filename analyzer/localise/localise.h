/*
 * localise - finds which parts between the racks of a region are at fault. It reads the
 * path rows in the summaries of all racks. Pure.
 *
 * Its input is these rows, and the racks' verdicts on themselves; its output is
 * verdicts on ToRs, links, switches and paths. A path is a list of switches and
 * directed links. The judge (rackmesh/judge/judge.h) explains all losses together by
 * the fewest, likeliest parts. Losses that a rack explains itself do not count: the
 * rack leaves probes of an RNIC or host that it has found bad out of its rows, and
 * losses of other racks to such an RNIC or host are left out here.
 *
 * A rack without lost or slow probes sends rows only once in a row interval. Until the
 * next rows, its last rows are used as if it still sent probes at the same rates, if
 * its aggregator is connected and its summaries are accepted. One judgement uses the
 * newest seconds. A second one uses the last two minutes, to find parts that lose a few
 * packets of many.
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
	const char *region;      /* copied */
	int64_t row_interval_ns; /* see localise_row_interval */
};

struct localise_counts {
	/* refused_rows: malformed rows, and rows beyond a limit */
	uint64_t rows, refused_rows;
	/* Number of judgements; losses in them that no blamed part explains. */
	uint64_t judged, unexplained_lost;
	/* Paths that are known now; probes of flows whose path is not traced. */
	uint64_t paths, untraced;
	/* lost probes to RNICs and hosts that their own rack has found bad, which do
	 * not count */
	uint64_t left_out;
	/* how often such an RNIC or host was not accepted, because a limit was reached
	 * or memory ran out: losses of other racks to it count */
	uint64_t refused_ends;
	/* how often a part was not suspected because too many parts were */
	uint64_t refused_suspicions;
};

int localise_new(const struct localise_options *options, struct localise **ret);
void localise_free(struct localise *localise);

/* Sets the time between two rows of a path without losses. Rows count for two and a
 * half intervals. */
void localise_row_interval(struct localise *localise, int64_t row_interval_ns);

/* Adds the path rows of a summary. A late or repeated summary changes nothing. Returns
 * 0; -EINVAL: the summary is malformed; -ENOBUFS: there are too many racks; or -ENOMEM.
 */
int localise_summary(
    struct localise *localise, const struct wire_summary_view *view, rm_mono_t now);

/* A rack's own verdict on its ToR (kind tor-down). */
enum localise_tor_report {
	LOCALISE_TOR_OVER,    /* the rack has no such verdict now */
	LOCALISE_TOR_CUT_OFF, /* only probes that leave the rack fail */
	LOCALISE_TOR_DEAD,    /* probes inside the rack fail, too */
	/* as LOCALISE_TOR_DEAD, but only two RNICs were probed: perhaps these are dead,
	   and not the ToR */
	LOCALISE_TOR_OR_TWO,
};

/* Returns which of these states the verdict means. stands: the verdict's incident is
 * open. inside: its counts of probes inside the rack. peers: number of RNICs whose
 * probes are its evidence. */
enum localise_tor_report localise_tor_report(
    bool stands, const struct rm_leg_counts *inside, unsigned peers);
/* A rack is named by its ToR, here and below. */
void localise_tor_verdict(struct localise *localise, const char *tor,
    enum localise_tor_report report, rm_mono_t now);

/* The rack has found a fault of its own. If this kind loses probes, the losses of paths
 * from and to the rack until now may have been caused by it, and do not count. */
void localise_rack_found(
    struct localise *localise, const char *tor, const char *kind, rm_mono_t now);

/* Empties the lists of bad RNICs and hosts of all racks. Then call localise_rack_end
 * for each RNIC or host that is bad now. */
void localise_ends_none(struct localise *localise);
/* The rack has found this RNIC ("host/device") or host of its own bad: from now on
 * losses of other racks to it do not count. kind: the kind of its verdict; the call
 * does nothing for a kind that loses no probes. */
void localise_rack_end(
    struct localise *localise, const char *tor, const char *kind, const char *part);

/* Sets whether some aggregator reports this rack. When that changes, the rack's newest
 * rows are not used any more; the sums of the last two minutes stay. */
void localise_rack_is_seen(struct localise *localise, const char *tor, bool seen);
/* Call it if another analyzer judges the region. Deletes all suspicions and verdicts,
 * the racks' verdicts on their ToRs, and the lists of bad RNICs and hosts. */
void localise_forget_named(struct localise *localise);

/* Call it every 250 ms. *verdicts is valid until the next call. Returns the number of
 * verdicts, or -ENOMEM. */
int localise_judge(struct localise *localise, rm_mono_t now, rm_wall_t wall,
    const struct rm_verdict **verdicts);

/* Returns the health of a part that has an open incident and no verdict now. It is good
 * only if enough probes cross the part and hardly any of them is lost. */
enum rm_health localise_health(
    const struct localise *localise, const struct rm_verdict *verdict);

const struct localise_counts *localise_counts(const struct localise *localise);

#endif
