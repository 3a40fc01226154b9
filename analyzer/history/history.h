/*
 * history - what was, kept: points of line protocol, to InfluxDB or into files.
 *
 * What comes in is a message of a lane, or an own point. Its points go into a spool
 * (rackmesh/spool/spool) and are durable when on_durable says so; from there they go in
 * order to InfluxDB, or into rotating files. Incidents have a spool of their own, so
 * that fresh ones pass a backlog of summaries. Points are deterministic: writing them
 * again writes nothing new.
 */
#ifndef ANALYZER_HISTORY_HISTORY_H
#define ANALYZER_HISTORY_HISTORY_H

#include <stddef.h>
#include <stdint.h>

#include "analyzer/history/history_counts.h"
#include "rackmesh/core/error.h"
#include "schemas/wire.h"

struct history;
struct influx_config;
struct rm_http_client;
struct rm_incident;
struct rm_loop;
struct rm_metrics;
struct rm_worker;
struct sla_minute;

struct history_options { /* what it points to lives longer than the history */
	struct rm_loop *loop;
	struct rm_worker *worker;
	struct rm_http_client *http;
	const char *analyzer;     /* our name, a tag of our own findings */
	const char *state_folder; /* for the spools; "": they are kept in memory */
	const char *files_folder; /* for points without a database; "": none */
	uint64_t files_max_bytes; /* of the newest files that are kept */
	const struct influx_config *influx; /* also sizes of spools and batches */
	int64_t config_wait_ns;             /* as of influx.h */
};

struct history_callbacks {
	/* All that history_take_* and the like have numbered up to and with this is
	 * safe.
	 */
	void (*on_durable)(enum wire_lane lane, uint64_t ticket, void *arg);
	void *arg;
};

int history_new(const struct history_options *options,
    const struct history_callbacks *callbacks, struct history **ret,
    struct rm_error *error);
void history_free(struct history *history); /* after the worker */

/* A summary or an incident as it came over the wire. *ticket: what on_durable will
 * name; later ones are larger. -EBADMSG: it makes no points and never will; -ENOBUFS,
 * -ENOMEM: not now. */
int history_take_summary(
    struct history *history, const struct wire_summary_view *view, uint64_t *ticket);
int history_take_incident(
    struct history *history, const struct wire_incident *incident, uint64_t *ticket);
/* Our own findings. */
int history_incident(struct history *history, const char *region,
    enum wire_incident_state state, const struct rm_incident *incident);
int history_sla(struct history *history, const struct sla_minute *minute);

/* "" while all is well; else what stands in the way, for /readyz and health. */
const char *history_trouble(const struct history *history);
uint64_t history_waiting(
    const struct history *history, enum wire_lane lane); /* records */
const struct history_counts *history_counts(const struct history *history);
int history_metrics(struct history *history, struct rm_metrics *metrics);

#endif
