/*
 * aggregators - the sessions of this region's tor-aggregators: they dial the
 * controller, report their ToRs, the plans that they hold and their RNICs, ask for the
 * RNIC of an address, and receive plans and the brake.
 *
 * An aggregator reports only for its own ToRs. A second hello of an aggregator replaces
 * its older session. A controller that does not lead refuses every hello, and names the
 * leader. All get a ping every 500 ms.
 */
#ifndef REGION_CONTROLLER_AGGREGATORS_AGGREGATORS_H
#define REGION_CONTROLLER_AGGREGATORS_AGGREGATORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/address.h"
#include "rackmesh/core/clock.h"
#include "rackmesh/judge/part.h"
#include "region-controller/aggregators/aggregators_info.h"
#include "schemas/wire.h"

struct aggregators;
struct qp_joins_counts;
struct rm_loop;
struct rm_server;
struct store_brake;

struct aggregators_drill {
	const char *tor;  /* whose aggregator is asked */
	const char *rnic; /* its id */
	uint32_t seconds, limit;
	/* Called once, unless the session ends before: answer is borrowed. */
	void (*done)(const struct wire_drill_answer *answer, uint64_t token, void *arg);
	uint64_t token; /* the caller's */
	void *arg;
};

int aggregators_new(struct rm_loop *loop, const struct aggregators_options *options,
    struct aggregators **ret);
void aggregators_free(struct aggregators *aggregators);

/* For rm_listener_new. */
int aggregators_accept(int fd, const struct rm_address *peer, void *aggregators);

/* Sends every ToR's plan to those of its aggregators that do not hold it. */
void aggregators_deliver(struct aggregators *aggregators);
/* The same, in the next turn of the loop: for many new plans one after the other. */
void aggregators_deliver_soon(struct aggregators *aggregators);

/* Sends it to all sessions, and to each new one; borrowed for the call. */
void aggregators_brake(
    struct aggregators *aggregators, const struct store_brake *brake);
/* This controller lost leadership: closes all sessions at once. */
void aggregators_close(struct aggregators *aggregators);
/* -ENOTCONN: no session serves that ToR. */
int aggregators_ask_drill(
    struct aggregators *aggregators, const struct aggregators_drill *drill);

/* The epoch of the probe keys that agents are sent. With keys only. */
uint32_t aggregators_epoch(const struct aggregators *aggregators);

/* For registry_expire. */
bool aggregators_is_alive(uint64_t session, void *aggregators);
/* How many sessions serve that ToR. */
size_t aggregators_serving(const struct aggregators *aggregators, const char *tor);

/* The i-th session, or NULL at the end; borrowed until the loop turns. */
const struct aggregators_session *aggregators_get(
    const struct aggregators *aggregators, size_t i);
const struct aggregators_counts *aggregators_counts(
    const struct aggregators *aggregators);
/* Its counts of connections, also of those without a hello. */
const struct rm_server *aggregators_server(const struct aggregators *aggregators);
/* Requests for the other ends of QPs that are older than their agents. */
const struct qp_joins_counts *aggregators_joins(const struct aggregators *aggregators);
size_t aggregators_joins_waiting(const struct aggregators *aggregators);

#endif
