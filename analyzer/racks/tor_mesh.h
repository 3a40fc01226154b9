/*
 * tor_mesh - loss and RTT of each ordered pair of ToRs in the last minute and hour,
 * from the rows of summaries, for display; the judge does not use it. Pure.
 *
 * A minute is slices of 10 s, an hour slices of 15 min; the newest is not full yet, so
 * a period covers up to one slice more than its name. Rows count at their summary's
 * end. RTTs are those of the pair's newest rows. A pair takes some 600 bytes, and is
 * forgotten when the hour is.
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
	TOR_MESH_SENT, /* in time; all but TOR_MESH_NOT_SENT are among them */
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
	size_t src, dst; /* indexes of the reported ToRs */
	uint64_t counts[TOR_MESH_COUNTS];
	uint64_t rtt_ns[TOR_MESH_QUANTILES]; /* 0: none is known */
	rm_mono_t last_seen;                 /* its newest row */
};

struct tor_mesh_reader {
	void (*tor)(const char *region, const char *tor, void *arg);
	void (*pair)(const struct tor_mesh_row *row, void *arg);
	void *arg;
};

int tor_mesh_new(rm_mono_t now, struct tor_mesh **ret);
void tor_mesh_free(struct tor_mesh *mesh);

/* Adds a summary, of the aggregator that rack_turns chose, and none twice. end: of the
 * summary; a delayed one counts at its own time. */
void tor_mesh_summary(
    struct tor_mesh *mesh, const struct wire_summary_view *view, rm_mono_t end);
/* Once an hour. */
void tor_mesh_expire(struct tor_mesh *mesh, rm_mono_t now);

/*
 * Calls back for every known ToR, by region and name, and then for the pairs with
 * probes in that period, of the regions in sight (NULL: all).
 */
void tor_mesh_read(struct tor_mesh *mesh, enum tor_mesh_period period,
    const struct rm_sight *sight, rm_mono_t now, const struct tor_mesh_reader *reader);
int64_t tor_mesh_covered_ns(
    const struct tor_mesh *mesh, enum tor_mesh_period period, rm_mono_t now);

/* Rows that were invalid or beyond a bound, so far: of all regions, and of those in
 * sight.
 */
const uint64_t *tor_mesh_refused(const struct tor_mesh *mesh);
uint64_t tor_mesh_refused_in(const struct tor_mesh *mesh, const struct rm_sight *sight);

#endif
