/*
 * history_points - makes points of line protocol from summaries, incidents and SLA
 * minutes. Pure.
 *
 * The same message always gives the same points. history_schema has the tags and
 * fields. A row that cannot be a point, for example because a name has a line break, is
 * left out and counted; the other rows are used.
 */
#ifndef ANALYZER_HISTORY_HISTORY_POINTS_H
#define ANALYZER_HISTORY_HISTORY_POINTS_H

#include <stddef.h>
#include <stdint.h>

#include "schemas/wire.h"

/* Largest number of paths of one message that are stored although no probe was lost on
 * them: those with the largest share of probes that arrived with other marks. */
#define HISTORY_MAX_MARKED_PATHS 32
/* Size of the memory for one point; larger than any valid one. */
#define HISTORY_POINT_BYTES 65536
#define HISTORY_TEXT_MAX_BYTES (64u << 20) /* of one message */

struct history_points; /* reusable scratch memory */
struct rm_incident;
struct sla_minute;

struct history_text {     /* borrowed until the next call */
	const char *text; /* whole lines */
	size_t len;
	uint64_t points;
	uint64_t left_out;
	uint64_t paths_left_out; /* beyond HISTORY_MAX_MARKED_PATHS */
};

struct history_points *history_points_new(void); /* NULL when out of memory */
void history_points_free(struct history_points *points);

/* Makes the points of an aggregator's message. -EBADMSG: no row can be a point;
 * -ENOMEM. */
int history_points_summary(struct history_points *points,
    const struct wire_summary_view *view, struct history_text *ret);
int history_points_rack_incident(struct history_points *points,
    const struct wire_incident *incident, struct history_text *ret);
/* Makes the points of the analyzer's own findings. */
int history_points_incident(struct history_points *points, const char *analyzer,
    const char *region, enum wire_incident_state state,
    const struct rm_incident *incident, struct history_text *ret);
int history_points_sla(struct history_points *points, const char *analyzer,
    const struct sla_minute *minute, struct history_text *ret);
/* Makes the points of the racks in an SLA minute. */
int history_points_sla_racks(struct history_points *points, const char *analyzer,
    const struct sla_minute *minute, struct history_text *ret);

#endif
