/*
 * sla_state - what sla is made of. Private to sla*.c.
 *
 * A minute is open until it is closed, whatever comes late for it; the last hour is
 * kept by minutes, the last day by hours, of one sketch each.
 */
#ifndef ANALYZER_SLA_SLA_STATE_H
#define ANALYZER_SLA_SLA_STATE_H

#include <uthash.h>

#include "analyzer/sla/sla.h"
#include "rackmesh/judge/part.h"
#include "rackmesh/metrics/sketch.h"

#define SLA_MINUTE_NS (60 * RM_NS_PER_S)
#define SLA_OPEN_MINUTES 4
#define SLA_MINUTES 60
#define SLA_HOURS 25 /* the hour that runs, and a day before it */
#define SLA_KEY_BYTES (RM_NAME_BYTES + 16)
#define SLA_RACK_KEY_BYTES (SLA_KEY_BYTES + RM_NAME_BYTES)

struct sla_figures {
	uint64_t sent, lost, invalid, not_sent;
	uint64_t available, unavailable, unknown; /* minutes of racks */
};

struct sla_open {
	int64_t minute; /* since the epoch; 0: none */
	struct sla_figures figures;
	struct rm_sketch *rtt;
};

struct sla_past {       /* a minute or an hour that was closed */
	int64_t number; /* since the epoch; 0: none */
	struct sla_figures figures;
	struct rm_sketch *rtt;
};

struct sla_scope {
	char key[SLA_KEY_BYTES]; /* region, DSCP, "rack" or "fabric" */
	char region[RM_NAME_BYTES];
	uint8_t dscp;
	bool between;
	struct sla_open open[SLA_OPEN_MINUTES]; /* by minute */
	struct sla_past minutes[SLA_MINUTES];   /* by minute */
	struct sla_past hours[SLA_HOURS];       /* by hour */
	UT_hash_handle hh;
};

struct sla_slice {
	int64_t minute;
	uint64_t sent, lost;
};

struct sla_rack {                     /* of one scope */
	char key[SLA_RACK_KEY_BYTES]; /* the scope's key, a blank, the ToR */
	struct sla_slice slices[SLA_OPEN_MINUTES];
	int64_t last; /* minute */
	UT_hash_handle hh;
};

struct sla {
	struct sla_options options;
	struct sla_scope *scopes;
	struct sla_rack *racks;
	struct rm_sketch *scratch;
	bool closed_any, now_known;
	int64_t closed, now_minute;
};

#endif
