/*
 * sla - calculates loss, RTT percentiles and availability of the cluster from
 * summaries. Pure.
 *
 * The figures are per region and class, inside racks and between racks, for each whole
 * minute of wall-clock time and for the last hour and day. Counts are summed up and
 * sketches are merged, so nothing is an average of averages. A rack is available in a
 * minute in which it sent probes and lost fewer than unavailable_permille of them. A
 * minute without results is unknown, and never counts as available. Services have
 * figures of their own, from the probes along their flows; only minutes with such
 * probes count.
 */
#ifndef ANALYZER_SLA_SLA_H
#define ANALYZER_SLA_SLA_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"
#include "schemas/wire.h"

#define SLA_MAX_SCOPES 1024 /* region x class x (inside, between) */
/* Most combinations of region, class and service. They are kept for a day, unless
 * another one needs the place. */
#define SLA_MAX_SERVICES 1024
#define SLA_SERVICE_BYTES 128
#define SLA_MAX_RACKS 65536 /* maximum number of racks of all scopes together */
/* maximum number of racks of all services together */
#define SLA_MAX_SERVICE_RACKS 65536
/* For this time after its end a minute is certainly kept; later it may be overwritten.
 */
#define SLA_MAX_WAIT_NS (120 * RM_NS_PER_S)

struct rm_sight;
struct sla;

struct sla_options {
	uint32_t unavailable_permille; /* 10 */
};

enum sla_state { SLA_UNKNOWN, SLA_AVAILABLE, SLA_UNAVAILABLE };

struct sla_rack_minute { /* the probes of one rack in a minute */
	const char *tor;
	enum sla_state state;
	uint64_t sent, lost;
};

struct sla_minute { /* one scope in one closed minute; borrowed */
	const char *region;
	uint8_t dscp;
	const char *scope;   /* "rack", "fabric" or "service" */
	const char *service; /* "": none */
	rm_wall_t start;
	uint64_t sent, lost, invalid, not_sent;
	uint64_t racks_available, racks_unavailable, racks_unknown;
	uint64_t rtt_ns[WIRE_QUANTILES];     /* 0: there were no split replies */
	const struct sla_rack_minute *racks; /* the racks that are counted above */
	size_t rack_count;
};

int sla_new(const struct sla_options *options, struct sla **ret);
void sla_free(struct sla *sla);
void sla_summary(struct sla *sla, const struct wire_summary_view *view);
/* Closes each minute that ended at least wait_ns ago; wait_ns is at most
 * SLA_MAX_WAIT_NS. on_minute is called once for each scope and minute. If it is more
 * than two minutes later than at the last call, the minutes between are not closed,
 * except those that were over before and have results. If the clock is set back, the
 * minutes from the present one on are closed, except those that were closed before; if
 * it soon returns to where it was, closing goes on as if it had not been set back. */
void sla_close(struct sla *sla, rm_wall_t now, int64_t wait_ns,
    void (*on_minute)(const struct sla_minute *minute, void *arg), void *arg);
/* The number of the last closed minute since the epoch; 0: none yet. */
int64_t sla_closed(const struct sla *sla);

struct sla_counts { /* totals */
	/* rows refused because the table of scopes, services or racks was full */
	uint64_t refused;
	/* rows refused because their minute was closed, or is in the future */
	uint64_t late;
	/* services removed to make room for another; the one without rows for the
	 * longest time is removed */
	uint64_t evicted;
};

const struct sla_counts *sla_counts(const struct sla *sla);

/* A scope of racks, since the start of the analyzer: sums over all closed minutes, and
 * the figures of the last closed minute with results. */
struct sla_total { /* borrowed */
	const char *region, *scope;
	uint8_t dscp;
	uint64_t sent, lost;
	uint64_t racks_available, racks_unavailable, racks_unknown;
	uint64_t last_sent, last_lost, last_rtt_ns[WIRE_QUANTILES];
};

/* Calls report for each region, class and scope. Services are left out, because there
 * may be many. */
void sla_each(const struct sla *sla,
    void (*report)(const struct sla_total *total, void *arg), void *arg);

/* The figures of the hour and of the day before the last closed minute's end, for each
 * scope and service of the regions that sight shows (NULL: all); the first minute that
 * the day has (null: none yet); and how many minutes since then are not counted,
 * because the analyzer did not run or was started, or its clock was set forward. The
 * caller owns the reference. */
json_t *sla_json(struct sla *sla, const struct rm_sight *sight);

#endif
