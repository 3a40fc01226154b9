/*
 * aggregator_show - racks, RNICs, hosts and results as JSON. New references.
 */
#ifndef TOR_AGGREGATOR_API_AGGREGATOR_SHOW_H
#define TOR_AGGREGATOR_API_AGGREGATOR_SHOW_H

#include <jansson.h>

#include "rackmesh/core/clock.h"
#include "schemas/wire.h"

struct path_flow;
struct ring_result;
struct roster;
struct tor_aggregator;
struct tor_rack;

struct show_now { /* one moment on both clocks */
	rm_mono_t mono;
	rm_wall_t wall;
};

json_t *show_id(struct wire_rnic_id id);
json_t *show_rack(const struct tor_aggregator *aggregator, const struct tor_rack *rack,
    const struct show_now *now);
json_t *show_rnic(const struct tor_rack *rack, size_t member);
json_t *show_host(const struct tor_aggregator *aggregator, const struct tor_rack *rack,
    size_t host, const struct show_now *now);
json_t *show_result(const struct roster *roster, const struct ring_result *result,
    const struct show_now *now);
json_t *show_path(const struct tor_rack *rack, const struct path_flow *flow,
    const struct show_now *now);
json_t *show_target(const struct roster *roster, const struct wire_target *target);

#endif
