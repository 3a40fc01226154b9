/*
 * rnic_metrics - the measured values of each RNIC and each rack, as metrics.
 *
 * The values are those of /v1/rnics and of the summaries; nothing is measured for them.
 * At most RNIC_METRICS_MAX RNICs are shown; the number left out is a metric, too. An
 * OpenTelemetry collector gets the same values.
 */
#ifndef TOR_AGGREGATOR_API_RNIC_METRICS_H
#define TOR_AGGREGATOR_API_RNIC_METRICS_H

#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"

struct evbuffer;
struct otlp_resource;
struct rm_metrics;
struct tor_rack;

#define RNIC_METRICS_MAX 2048

struct rnic_metrics { /* borrowed for as long as the registry lives */
	struct tor_rack *const *racks;
	size_t rack_count;
	rm_mono_t (*now)(void);
	rm_wall_t since; /* when the racks' counters began at 0 */
	/* Private: state of the last export. */
	rm_wall_t exported;
	uint64_t renumbered;
};

int rnic_metrics_register(const struct rnic_metrics *shown, struct rm_metrics *metrics);

/* Writes all values as a message of OTLP: see otlp_body.h. -ENOMEM. */
int rnic_metrics_export(struct rnic_metrics *shown,
    const struct otlp_resource *resource, rm_wall_t now, struct evbuffer *out);

#endif
