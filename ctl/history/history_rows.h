/*
 * history_rows - the past of one RNIC or ToR, from the analyzer's answers. Time is
 * divided into buckets, each with sums of probes and the largest round-trip times.
 * Incidents are printed between them, and those that were open before are printed
 * first. The number of incidents is limited; the oldest are left out and counted.
 */
#ifndef CTL_HISTORY_HISTORY_ROWS_H
#define CTL_HISTORY_HISTORY_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "rackmesh/core/clock.h"

#define HISTORY_INCIDENTS 1000

/* Columns that the two requests need, in the form of ?columns=. */
#define HISTORY_PROBE_COLUMNS "sent,no_reply,rtt_p50_ns,rtt_p99_ns"
#define HISTORY_INCIDENT_COLUMNS \
	"id,state,kind,part,place,tor,impact,services,opened_ns,sentence"

/* Columns of rm_sla, for a whole region. */
#define HISTORY_REGION_COLUMNS "sent,lost,rtt_p50_ns,rtt_p99_ns"

struct history_subject {
	const char *text;                             /* as it was asked */
	bool whole;                                   /* all of a region, or of all */
	char tor[64], host[64], device[64], rnic[64]; /* "": not asked by that */
	char
	    dst_tor[64]; /* of "tor1->tor2", whose first is tor; "": no pair is asked */
};

struct history_span {
	int64_t from_ns, to_ns; /* from: a multiple of the bucket */
	int64_t bucket_ns;      /* whole seconds */
};

struct history_rows;

/* Limits of the analyzer's answers. */
#define HISTORY_LONGEST_NS (400 * 86400 * RM_NS_PER_S)

/* The time before until_ns, up to a bucket longer, or shorter if the analyzer has a
 * limit. */
struct history_span history_span(int64_t until_ns, int64_t length_ns);

/* The subject is borrowed. NULL: memory. */
struct history_rows *history_rows_new(
    const struct history_subject *subject, const struct history_span *span);
void history_rows_free(struct history_rows *rows);

/* Answers of GET /v1/history/: of rm_tor_pair, rm_rnic or rm_sla, with a bucket's step;
 * of rm_incident, also of a time before the span, in the order of time. Incidents that
 * do not concern the subject are passed over, and those at end_ns or later: they come
 * again. -EBADMSG: it is no such answer; -EPROTO: it is not of the steps that were
 * asked for; -ENOMEM. */
int history_rows_take_probes(struct history_rows *rows, const json_t *answer);
int history_rows_take_incidents(
    struct history_rows *rows, const json_t *answer, int64_t end_ns);

/* Incidents that opened longer than this before the span are not among those of the
 * time before it. */
#define HISTORY_BEFORE_NS (86400 * RM_NS_PER_S)

/* Ends of incidents after the span, and incidents that are still open: those that
 * opened longer before the span have the time of their opening. -EBADMSG, -ENOMEM. */
int history_rows_take_older(struct history_rows *rows, const json_t *answer);

/* Printed below the rows; takes over the reference. */
void history_rows_paths(struct history_rows *rows, json_t *paths);

/* There are more incidents than were taken. */
void history_rows_cut(struct history_rows *rows);

/* To stdout. An exit code: bad news if nothing is known. */
int history_rows_print(struct history_rows *rows, bool json);

/* Whether a part's name ("h1/r0 or h2/r0", "spine1--tor2", "a->b") holds this one. */
bool history_part_holds(const char *part, const char *name);

#endif
