/*
 * sla - loss, RTT percentiles and availability of the cluster, from summaries. Pure.
 *
 * Per region and class, inside racks and between them, for every whole minute of wall
 * time and over the last hour and day. Sums of counts and merged sketches: nothing is
 * averaged. A minute of a rack is available when it sent probes and fewer than
 * unavailable_permille of them were lost; minutes without results are unknown, and
 * count as such, never as available. Services, by what the probes that follow them met,
 * have figures of their own: of them only minutes count in which there were any.
 */
#ifndef ANALYZER_SLA_SLA_H
#define ANALYZER_SLA_SLA_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"
#include "schemas/wire.h"

#define SLA_MAX_SCOPES 1024 /* region x class x (inside, between) */
#define SLA_MAX_SERVICES \
	1024 /* region x class x service; for a day, unless another needs the place */
#define SLA_SERVICE_BYTES 128
#define SLA_MAX_RACKS 65536         /* of all scopes together */
#define SLA_MAX_SERVICE_RACKS 65536 /* of all services together */
#define SLA_MAX_WAIT_NS \
	(120 * RM_NS_PER_S) /* a minute that is older may be overwritten */

struct rm_sight;
struct sla;

struct sla_options {
	uint32_t unavailable_permille; /* 10 */
};

enum sla_state { SLA_UNKNOWN, SLA_AVAILABLE, SLA_UNAVAILABLE };

struct sla_rack_minute { /* probes of one rack in it */
	const char *tor;
	enum sla_state state;
	uint64_t sent, lost;
};

struct sla_minute { /* one scope, one minute that is over; borrowed */
	const char *region;
	uint8_t dscp;
	const char *scope;   /* "rack", "fabric" or "service" */
	const char *service; /* "": none */
	rm_wall_t start;
	uint64_t sent, lost, invalid, not_sent;
	uint64_t racks_available, racks_unavailable, racks_unknown;
	uint64_t rtt_ns[WIRE_QUANTILES];     /* 0: no split replies */
	const struct sla_rack_minute *racks; /* those that are counted above */
	size_t rack_count;
};

int sla_new(const struct sla_options *options, struct sla **ret);
void sla_free(struct sla *sla);
void sla_summary(struct sla *sla, const struct wire_summary_view *view);
/* Closes minutes that ended wait_ns or more ago, at most SLA_MAX_WAIT_NS; each once. */
void sla_close(struct sla *sla, rm_wall_t now, int64_t wait_ns,
    void (*on_minute)(const struct sla_minute *minute, void *arg), void *arg);
struct sla_counts {       /* rows that count nowhere, and services, so far */
	uint64_t refused; /* the table of scopes, services or racks is full */
	uint64_t late;    /* of a minute that is closed, or lies ahead */
	uint64_t evicted; /* services, not rows: the longest silent one, for another */
};

const struct sla_counts *sla_counts(const struct sla *sla);

/* A scope of racks since we run: all minutes that were closed, and the last of them
 * that had results. */
struct sla_total { /* borrowed */
	const char *region, *scope;
	uint8_t dscp;
	uint64_t sent, lost;
	uint64_t racks_available, racks_unavailable, racks_unknown;
	uint64_t last_sent, last_lost, last_rtt_ns[WIRE_QUANTILES];
};

/* Of every region, class and scope; services are left out: there may be many. */
void sla_each(const struct sla *sla,
    void (*report)(const struct sla_total *total, void *arg), void *arg);

/* The hour and the day up to the last closed minute, of every scope and service in
 * sight (NULL: all). New reference. */
json_t *sla_json(struct sla *sla, const struct rm_sight *sight);

#endif
