/*
 * influx - batches of points to InfluxDB, or what speaks its line protocol, by HTTP.
 *
 * One batch per lane at a time. It is disposed of when every point of it was taken or
 * refused by the database itself; until then it is tried again, for ever, with capped
 * full-jitter back-off. A part that is refused whole is halved, so that one bad point
 * takes no other with it. When one lane gets through, the other does not wait any more.
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
	struct history_counts *counts;      /* counted here */
	/* The batch of this lane is disposed of. Never from inside influx_send. */
	void (*on_done)(enum wire_lane lane, void *arg);
	void *arg;
	int64_t retry_base_ns;  /* 0: 200 ms */
	int64_t config_wait_ns; /* after a fault that a person has to mend; 0: 30 s */
};

int influx_new(
    const struct influx_options *options, struct influx **ret, struct rm_error *error);
void influx_free(struct influx *influx); /* after the worker */

/* text: whole lines, borrowed until on_done. Only while the lane has no batch. */
void influx_send(
    struct influx *influx, enum wire_lane lane, const char *text, size_t len);

/* "" while batches get through; else what the database, or the way to it, says. */
const char *influx_trouble(const struct influx *influx, enum wire_lane lane);

#endif
