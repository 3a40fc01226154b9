/*
 * influx - sends batches of points over HTTP to InfluxDB, or to another database that
 * accepts its line protocol.
 *
 * There is at most one batch per lane. A batch is done when the database has accepted
 * or refused each of its points. Until then it is sent again, without limit, with
 * full-jitter back-off up to a maximum. If the database refuses a part as a whole, the
 * part is halved, so that one bad point does not prevent other points from being
 * written. When a batch of one lane is accepted, the other lane tries again at once.
 */
#ifndef ANALYZER_HISTORY_INFLUX_H
#define ANALYZER_HISTORY_INFLUX_H

#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/error.h"
#include "schemas/wire.h"

struct influx_config;
struct history_counts;
struct influx;
struct rm_http_client;
struct rm_loop;
struct rm_worker;

struct influx_options {
	struct rm_loop *loop;
	struct rm_worker *worker;
	struct rm_http_client *http;
	const struct influx_config *config; /* borrowed */
	struct history_counts *counts;      /* borrowed; incremented */
	/* The batch of this lane is done. It is never called during influx_send. */
	void (*on_done)(enum wire_lane lane, void *arg);
	void *arg;
	int64_t retry_base_ns; /* 0: 200 ms */
	/* pause after an error that an operator must correct; 0: 30 s */
	int64_t config_wait_ns;
};

int influx_new(
    const struct influx_options *options, struct influx **ret, struct rm_error *error);
void influx_free(struct influx *influx); /* free the worker first */

/* Sends a batch. text: whole lines, borrowed until on_done. The lane must have no other
 * batch. */
void influx_send(
    struct influx *influx, enum wire_lane lane, const char *text, size_t len);

/* The error of the database, or of the connection to it; "": batches are accepted. */
const char *influx_trouble(const struct influx *influx, enum wire_lane lane);

#endif
