/*
 * history - writes the history, as points of line protocol, to InfluxDB or to files.
 *
 * The input are messages of aggregators, and the analyzer's own findings. Their points
 * are put into a spool (rackmesh/spool/spool), and are durable when on_durable is
 * called. From the spool they are written in order to InfluxDB, or to rotating files.
 * Incidents have a spool of their own, so that a new incident does not wait for many
 * summaries. The same message always gives the same points, so writing it twice has no
 * effect.
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

struct history_options { /* All pointers are borrowed for the life of the history. */
	struct rm_loop *loop;
	struct rm_worker *worker;
	struct rm_http_client *http;
	const char *analyzer;     /* name of this analyzer, a tag of its own findings */
	const char *state_folder; /* folder of the spools; "": spools in memory */
	const char *files_folder; /* folder for points without a database; "": none */
	uint64_t files_max_bytes; /* limit on all files together */
	/* also has the sizes of spools and batches */
	const struct influx_config *influx;
	int64_t config_wait_ns; /* as in influx.h */
};

struct history_callbacks {
	/* All points with tickets up to this one are durable. */
	void (*on_durable)(enum wire_lane lane, uint64_t ticket, void *arg);
	void *arg;
};

int history_new(const struct history_options *options,
    const struct history_callbacks *callbacks, struct history **ret,
    struct rm_error *error);
void history_free(struct history *history); /* free the worker first */

/* Stores a summary or an incident that an aggregator has sent. *ticket: on_durable is
 * called with this ticket or a later one; tickets only grow. -EBADMSG: no point can be
 * made of the message; -ENOBUFS, -ENOMEM: try again later. */
int history_take_summary(
    struct history *history, const struct wire_summary_view *view, uint64_t *ticket);
int history_take_incident(
    struct history *history, const struct wire_incident *incident, uint64_t *ticket);
/* Stores the analyzer's own findings. */
int history_incident(struct history *history, const char *region,
    enum wire_incident_state state, const struct rm_incident *incident);
int history_sla(struct history *history, const struct sla_minute *minute);

/* Returns why points cannot be written, for /readyz and the health; "": they are
 * written. */
const char *history_trouble(const struct history *history);
uint64_t history_waiting(const struct history *history,
    enum wire_lane lane); /* number of records that wait in the spool */
const struct history_counts *history_counts(const struct history *history);
int history_metrics(struct history *history, struct rm_metrics *metrics);

#endif
