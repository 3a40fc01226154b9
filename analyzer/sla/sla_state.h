/*
 * sla_state - the inside of a struct sla, for sla.c and sla_kept.c.
 */
#ifndef ANALYZER_SLA_SLA_STATE_H
#define ANALYZER_SLA_SLA_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "analyzer/sla/sla.h"
#include "rackmesh/judge/part.h"
#include "rackmesh/metrics/sketch.h"

#define SLA_MINUTE_NS (60 * RM_NS_PER_S)
#define SLA_OPEN_MINUTES 4
#define SLA_MINUTES 60
#define SLA_HOURS 25 /* the current hour, and the day before it */
#define SLA_KEY_BYTES (RM_NAME_BYTES + SLA_SERVICE_BYTES + 16)

enum sla_kind { SLA_RACK, SLA_FABRIC, SLA_SERVICE };

struct sla_figures {
	uint64_t sent, lost, invalid, not_sent;
	uint64_t available, unavailable, unknown; /* sums over racks and minutes */
};

struct sla_open {
	int64_t minute; /* number of the minute since the epoch; 0: none */
	struct sla_figures figures;
	struct rm_sketch *rtt;
};

struct sla_past {       /* a closed minute or hour */
	int64_t number; /* number since the epoch; 0: none */
	struct sla_figures figures;
	uint8_t *rtt; /* encoded; NULL: none */
	size_t rtt_len;
};

struct sla_sum { /* the sums of the last hour or day */
	struct sla_figures figures;
	uint64_t rtt_ns[WIRE_QUANTILES];
};

struct sla_slice {
	int64_t minute;
	uint64_t sent, lost;
};

struct sla_rack { /* a rack in one scope */
	char tor[RM_NAME_BYTES];
	struct sla_slice slices[SLA_OPEN_MINUTES];
	int64_t last; /* minute */
	UT_hash_handle hh;
};

struct sla_scope {
	char key[SLA_KEY_BYTES]; /* region, DSCP, kind, service */
	char region[RM_NAME_BYTES];
	char service[SLA_SERVICE_BYTES]; /* "": none */
	uint8_t dscp;
	enum sla_kind kind;
	int64_t last;   /* number of the last minute with a row */
	uint64_t saved; /* number of the save that has the scope */
	struct sla_open open[SLA_OPEN_MINUTES]; /* by minute */
	struct sla_past minutes[SLA_MINUTES];   /* by minute */
	struct sla_past hours[SLA_HOURS];       /* by hour */
	/* the sums include all minutes up to this one; 0: never summed up */
	int64_t summed;
	struct sla_sum hour, day;
	struct sla_figures total; /* figures of all closed minutes */
	struct sla_sum newest;    /* figures of the last closed minute with results */
	struct sla_rack *racks;
	UT_hash_handle hh;
};

struct sla_counted {
	int64_t hour;     /* number since the epoch; 0: none */
	uint64_t minutes; /* a bit per minute of the hour */
};

struct sla {
	struct sla_options options;
	struct sla_scope *scopes;
	size_t services; /* of scopes */
	struct sla_counts counts;
	/* racks: racks of all scopes; service_racks: racks of all services */
	size_t racks, service_racks;
	/* the racks of the minute that is being closed */
	struct sla_rack_minute *reported;
	size_t closed_room;
	struct rm_sketch *scratch, *sum;
	uint8_t encoded[RM_SKETCH_MAX_BYTES];
	bool closed_any, now_known;
	/* closed: the last closed minute; before the first sla_close, that of the
	 * former process, or 0 */
	int64_t closed, now_minute;
	int64_t reached; /* now_minute before the clock was set back last; 0: never */
	/* the minutes that were counted, also if no rack had results */
	struct sla_counted counted[SLA_HOURS]; /* by hour */
	int64_t busy;   /* the closed minute in which no service could be evicted */
	uint64_t saves; /* number of the last save that was begun */
};

/* Finds or adds a scope, or a rack in it. NULL: there is no room, or no memory. */
struct sla_scope *sla_scope_get(struct sla *sla, const char *region, uint8_t dscp,
    enum sla_kind kind, const char *service);
struct sla_rack *sla_rack_get(
    struct sla *sla, struct sla_scope *scope, const char *tor);
/* Deletes all scopes. */
void sla_clear(struct sla *sla);

/* A rack without results for this time (a day) counts as removed. */
#define FORGET_MINUTES 1440

#endif
