/*
 * aggregator_show - racks, RNICs, hosts and results as JSON. Functions return new
 * references.
 */
#ifndef TOR_AGGREGATOR_API_AGGREGATOR_SHOW_H
#define TOR_AGGREGATOR_API_AGGREGATOR_SHOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "rackmesh/core/clock.h"
#include "schemas/wire.h"

struct path_flow;
struct ring_result;
struct roster;
struct tor_aggregator;
struct tor_rack;

struct show_now { /* the same moment by both clocks */
	rm_mono_t mono;
	rm_wall_t wall;
};

/* Sums of counters for display. If several columns have the same key, the first one
 * that is known is used; if none is known, the value is null, not 0. */
struct show_sum {
	const char *key;
	/* names of counters; the counters that exist are added up */
	const char *counters[2];
};
/* Adds the delta of a counter's last reading. False: the counter is missing. */
typedef bool (*show_add)(const void *of, const char *counter, uint64_t *sum);
void show_sums(json_t *object, const struct show_sum *sums, size_t count, show_add add,
    const void *of);

json_t *show_id(struct wire_rnic_id id);
json_t *show_rack(const struct tor_aggregator *aggregator, const struct tor_rack *rack,
    const struct show_now *now);
json_t *show_rnic(const struct tor_rack *rack, size_t member);
json_t *show_host(const struct tor_aggregator *aggregator, const struct tor_rack *rack,
    size_t host, const struct show_now *now);
/* Shows the services that a fault in this rack affects, which are those whose flows use
 * its RNICs, and the number of hosts on which services are traced. */
json_t *show_services(
    const struct tor_aggregator *aggregator, const struct tor_rack *rack);
json_t *show_result(const struct roster *roster, const struct ring_result *result,
    const struct show_now *now);
json_t *show_path(const struct tor_rack *rack, const struct path_flow *flow,
    const struct show_now *now);
json_t *show_target(const struct roster *roster, const struct wire_target *target);

#endif
