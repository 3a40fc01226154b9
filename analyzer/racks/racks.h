/*
 * racks - stores the last reported state of each rack, and the aggregator of each RNIC.
 * Pure. Only the last figures of each pair of ToRs and class are stored; older ones are
 * in the history. A rack or an RNIC without a report for forget_ns counts as removed,
 * and is deleted.
 */
#ifndef ANALYZER_RACKS_RACKS_H
#define ANALYZER_RACKS_RACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"
#include "rackmesh/judge/part.h"
#include "schemas/wire.h"

#define RACKS_MAX 16384
#define RACKS_MAX_RNICS 524288
/* maximum number of pairs of ToRs and classes of one rack */
#define RACKS_MAX_FLOWS 256
#define RACKS_AGGREGATORS 2

struct racks;

struct racks_options {
	int64_t forget_ns; /* a day */
};

/* probes of the rack's RNICs, inside the rack or to other racks */
struct rack_figures {
	uint64_t sent, lost;
	/* RTTs of the last rows; 0: there were no split replies */
	uint64_t rtt_p50_ns, rtt_p99_ns;
};

struct rack {
	char region[RM_NAME_BYTES], tor[RM_NAME_BYTES];
	char aggregators[RACKS_AGGREGATORS]
			[RM_NAME_BYTES]; /* the aggregator that reported last is the
					    first */
	rm_mono_t last_seen;
	rm_wall_t last_seen_wall; /* the newest end of a summary */
	bool has_state;
	struct wire_rack_state state;
};

struct rm_sight;

struct rack_rnic {
	struct rm_rnic_id id;
	char region[RM_NAME_BYTES], tor[RM_NAME_BYTES], aggregator[RM_NAME_BYTES];
	char host[RM_NAME_BYTES], device[RM_NAME_BYTES];
	rm_mono_t last_seen;
};

struct racks_counts {
	uint64_t racks, rnics;
	uint64_t refused; /* rows and summaries that were invalid, or beyond a limit */
};

int racks_new(const struct racks_options *options, struct racks **ret);
void racks_free(struct racks *racks);

/* Call it when an aggregator of the rack has connected. */
void racks_served(struct racks *racks, const char *region, const char *tor,
    const char *aggregator, rm_mono_t now);
/* Adds a summary. row_interval_ns: time between two summaries of the aggregator; it
 * decides how long figures are used. */
void racks_summary(struct racks *racks, const struct wire_summary_view *view,
    int64_t row_interval_ns, rm_mono_t now);
/* Call it several times a minute. */
void racks_expire(struct racks *racks, rm_mono_t now);

/* Returns rack number i; the order is not defined. NULL: there are no more. Pointers
 * are valid until the next summary. */
const struct rack *racks_get(const struct racks *racks, size_t i);
const struct rack *racks_find(
    const struct racks *racks, const char *region, const char *tor);
/* As rack_quiet_since. */
rm_wall_t racks_quiet(const struct racks *racks, const char *region,
    const char *aggregator, const char *tor, rm_wall_t changed);
void racks_figures(const struct rack *rack, const struct racks *racks, rm_mono_t now,
    struct rack_figures *inside, struct rack_figures *outgoing);
/* Finds an RNIC by its id or by "host/device", in the regions that sight shows (NULL:
 * all). NULL: no such RNIC was reported. *other: an RNIC of the same name in another
 * region, or NULL. */
const struct rack_rnic *racks_rnic(const struct racks *racks, const char *text,
    const struct rm_sight *sight, const struct rack_rnic **other);

const struct racks_counts *racks_counts(const struct racks *racks);

#endif
