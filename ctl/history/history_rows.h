/*
 * history_rows - the past of one RNIC or ToR, from the analyzer's answers. The time is
 * divided into buckets, each with the sums of probes and the largest round-trip times.
 * Incidents are printed between the buckets; those that were open before are printed
 * first. If there are too many incidents, the oldest ones are left out and counted.
 */
#ifndef CTL_HISTORY_HISTORY_ROWS_H
#define CTL_HISTORY_HISTORY_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "rackmesh/core/clock.h"
#include "rackmesh/judge/part.h"

#define HISTORY_INCIDENTS 1000
#define HISTORY_REGIONS 8

/* Columns that the two requests need, in the form of ?columns=. */
#define HISTORY_PROBE_COLUMNS "sent,no_reply,rtt_p50_ns,rtt_p99_ns"
#define HISTORY_INCIDENT_COLUMNS                                                   \
	"region,id,state,kind,part_type,part,place,tor,impact,services,opened_ns," \
	"sentence"

/* Columns of the request for the regions of a name, with &by=region. */
#define HISTORY_REGIONS_COLUMNS "sent"

/* Columns of rm_sla, for whole regions. */
#define HISTORY_REGION_COLUMNS "sent,lost,rtt_p50_ns,rtt_p99_ns"

struct history_subject {
	const char *text;   /* as on the command line */
	bool whole;         /* true: the subject is a whole region, or all regions */
	const char *region; /* NULL: the rows may be of several regions */
	/* "": the subject has no such name */
	char tor[64], host[64], device[64], rnic[64];
	/* the second ToR of "tor1->tor2", whose first one is tor; "": the subject
	 * is no pair */
	char dst_tor[64];
};

struct history_span {
	int64_t from_ns, to_ns; /* from_ns: a multiple of bucket_ns */
	int64_t bucket_ns;      /* whole seconds */
};

/* Regions that have something of one name. */
struct history_regions {
	char names[HISTORY_REGIONS][RM_NAME_BYTES];
	size_t count; /* more than HISTORY_REGIONS are not distinguished */
};

/* Reads the regions from the rows of an answer, each once. An answer without this
 * column, as an older analyzer sends it, has none. */
void history_regions_read(const json_t *answer, struct history_regions *ret);

struct history_rows;

/* The longest time that the analyzer accepts. */
#define HISTORY_LONGEST_NS (400 * 86400 * RM_NS_PER_S)

/* The span of length_ns before until_ns, lengthened to a multiple of the bucket, or
 * shortened to the analyzer's limit. */
struct history_span history_span(int64_t until_ns, int64_t length_ns);

/* subject: borrowed. NULL: out of memory. */
struct history_rows *history_rows_new(
    const struct history_subject *subject, const struct history_span *span);
void history_rows_free(struct history_rows *rows);

/* Take answers of GET /v1/history/: rows of rm_tor_pair, rm_rnic or rm_sla, with a
 * bucket as step; and rows of rm_incident, also from before the span, in the order of
 * time. Incidents that do not concern the subject are skipped, and so are those from
 * end_ns on, which a later answer has again. -EBADMSG: not such an answer; -EPROTO: its
 * steps are not the requested ones; -ENOMEM. */
int history_rows_take_probes(struct history_rows *rows, const json_t *answer);
int history_rows_take_incidents(
    struct history_rows *rows, const json_t *answer, int64_t end_ns);

/* The rows from this long before the span show which incidents were open at its
 * beginning, except those that were opened even earlier. */
#define HISTORY_BEFORE_NS (86400 * RM_NS_PER_S)

/* Takes the ends of incidents after the span, and the incidents that are still open.
 * Each incident has the time of its opening, even if that is long before the span.
 * -EBADMSG, -ENOMEM. */
int history_rows_take_older(struct history_rows *rows, const json_t *answer);

/* Sets the paths to print after the rows; takes over the reference. */
void history_rows_paths(struct history_rows *rows, json_t *paths);

/* Stores that there are more incidents than were read. */
void history_rows_cut(struct history_rows *rows);

/* Prints to stdout, and returns an exit code: CTL_PROBLEM if there are no data. */
int history_rows_print(struct history_rows *rows, bool json);

/* True: the name of a part ("h1/r0 or h2/r0", "spine1--tor2", "a->b") contains this
 * name. */
bool history_part_holds(const char *part, const char *name);

#endif
