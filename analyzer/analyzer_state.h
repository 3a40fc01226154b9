/*
 * analyzer_state - the analyzer's struct; private to the files of the daemon's root
 * folder, its API and its metrics.
 */
#ifndef ANALYZER_ANALYZER_STATE_H
#define ANALYZER_ANALYZER_STATE_H

#include <stddef.h>
#include <stdint.h>

#include "rackmesh/config/config_reload.h"
#include "rackmesh/core/clock.h"
#include "rackmesh/identity/http_places.h"

#define ANALYZER_MAX_REGIONS 64

struct region;
struct rm_http_server;
struct rm_metrics;

struct analyzer_counts {
	uint64_t stalls, stalled_ns;
	uint64_t judgements, failed_judgements, judging_ns;
	uint64_t unkept; /* the analyzer's own findings that history could not store */
	uint64_t refused_regions;
	/* windows that were ignored, because the rack's other aggregator reported that
	 * time */
	uint64_t overlaps;
};

struct analyzer {
	struct rm_loop *loop;
	struct analyzer_config *config; /* borrowed; a reload changes it */
	rm_wall_t started;
	struct rm_reload reload;
	struct rm_credentials *credentials;
	struct rm_worker *worker;
	struct rm_http_client *http;
	struct history *history;
	struct incident_table *table;
	struct racks *racks;
	struct sla *sla;
	struct sla_file *sla_file;
	struct rack_source *turns;
	struct tor_mesh *tor_mesh;
	struct region *regions[ANALYZER_MAX_REGIONS];
	size_t region_count;
	struct known *known;
	struct intake *intake;
	struct rm_listener *listener;
	struct rm_metrics *metrics;
	struct rm_http_server *server;
	struct rm_http_regions shown; /* counts for viewers of some regions */
	struct drills *drills;
	struct past *past;
	struct rm_timer *tick;
	rm_mono_t deadline; /* when the next tick is due */
	rm_mono_t
	    hold_until; /* after a stall of the daemon: no judgement before this time */
	unsigned ticks;
	struct analyzer_counts counts;
};

/* Returns NULL if no aggregator of that region has connected yet. */
struct region *analyzer_region(const struct analyzer *analyzer, const char *name);

int analyzer_metrics_register(
    const struct analyzer *analyzer, struct rm_metrics *metrics);
int analyzer_metrics_region(struct region *region, struct rm_metrics *metrics);
int analyzer_api_serve(struct analyzer *analyzer, struct rm_http_server *server);

#endif
