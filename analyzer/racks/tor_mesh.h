/*
 * tor_mesh - stores loss and RTT of each ordered pair of ToRs in the last minute and
 * hour, from the rows of summaries. It is for display only; the judge does not use it.
 * Pure.
 *
 * The minute consists of slices of 10 s, the hour of slices of 15 min. The newest slice
 * is not full, so a period covers up to one slice more than its name says. A row counts
 * at the end of its summary. RTTs are those of the pair's newest rows. A pair takes
 * about 600 bytes, and is deleted after an hour without rows.
 */
#ifndef ANALYZER_RACKS_TOR_MESH_H
#define ANALYZER_RACKS_TOR_MESH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"
#include "schemas/wire.h"

struct rm_sight;
struct tor_mesh;

#define TOR_MESH_MAX_PAIRS 131072
#define TOR_MESH_MAX_TORS 32768

enum tor_mesh_period { TOR_MESH_MINUTE, TOR_MESH_HOUR, TOR_MESH_PERIODS };

enum tor_mesh_count {
	/* probes sent in time; includes all counts below except TOR_MESH_NOT_SENT */
	TOR_MESH_SENT,
	TOR_MESH_OK,
	TOR_MESH_NO_REPLY,
	TOR_MESH_LATE_REPLY,
	TOR_MESH_NOT_SENT,
	TOR_MESH_LOST_FORWARD,
	TOR_MESH_LOST_REVERSE,
	TOR_MESH_COUNTS
};

enum { TOR_MESH_P50, TOR_MESH_P95, TOR_MESH_P99, TOR_MESH_QUANTILES };

struct tor_mesh_row {
	size_t src, dst; /* indexes of ToRs, in the order of the calls of tor() */
	uint64_t counts[TOR_MESH_COUNTS];
	uint64_t rtt_ns[TOR_MESH_QUANTILES]; /* 0: not known */
	rm_mono_t last_seen;                 /* when the newest row arrived */
};

struct tor_mesh_reader {
	void (*tor)(const char *region, const char *tor, void *arg);
	void (*pair)(const struct tor_mesh_row *row, void *arg);
	void *arg;
};

int tor_mesh_new(rm_mono_t now, struct tor_mesh **ret);
void tor_mesh_free(struct tor_mesh *mesh);

/* Adds a summary. Call it once for each summary, and only for the aggregator that
 * rack_source has chosen. end: the end of the summary, so a delayed one counts at its
 * own time. */
void tor_mesh_summary(
    struct tor_mesh *mesh, const struct wire_summary_view *view, rm_mono_t end);
/* Call it once an hour. */
void tor_mesh_expire(struct tor_mesh *mesh, rm_mono_t now);

/*
 * Calls reader->tor for each ToR, sorted by region and name, then reader->pair for each
 * pair with probes in the period; only for regions that sight shows (NULL: all).
 */
void tor_mesh_read(struct tor_mesh *mesh, enum tor_mesh_period period,
    const struct rm_sight *sight, rm_mono_t now, const struct tor_mesh_reader *reader);
int64_t tor_mesh_covered_ns(
    const struct tor_mesh *mesh, enum tor_mesh_period period, rm_mono_t now);

/* These functions return how many rows so far were invalid or beyond a limit: in all
 * regions, or in the regions that sight shows. */
const uint64_t *tor_mesh_refused(const struct tor_mesh *mesh);
uint64_t tor_mesh_refused_in(const struct tor_mesh *mesh, const struct rm_sight *sight);

#endif
