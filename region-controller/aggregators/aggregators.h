/*
 * aggregators - the sessions of this region's tor-aggregators: they dial us, say which
 * ToRs they serve and what plans they hold, tell of RNICs, ask whose an address is, and
 * take plans and the brake.
 *
 * An aggregator speaks for its own ToRs only. One that says hello again replaces its
 * older session. Who does not lead refuses every hello, and says who does. All get a
 * ping each 500 ms.
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
struct rm_pending_conns;
struct store_brake;

struct aggregators_drill {
	const char *tor;  /* whose aggregator is asked */
	const char *rnic; /* its id */
	uint32_t seconds, limit;
	/* Once, unless the session ends before: answer is borrowed. */
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

/* To all who are there, and to all who come; borrowed for the call. */
void aggregators_brake(
    struct aggregators *aggregators, const struct store_brake *brake);
/* We do not lead any more: all sessions are closed, at once. */
void aggregators_close(struct aggregators *aggregators);
/* -ENOTCONN: nobody serves that ToR. */
int aggregators_ask_drill(
    struct aggregators *aggregators, const struct aggregators_drill *drill);

/* For registry_expire. */
bool aggregators_is_alive(uint64_t session, void *aggregators);
/* How many sessions serve that ToR. */
size_t aggregators_serving(const struct aggregators *aggregators, const char *tor);

/* The i-th session, or NULL at the end; borrowed until the loop turns. */
const struct aggregators_session *aggregators_get(
    const struct aggregators *aggregators, size_t i);
const struct aggregators_counts *aggregators_counts(
    const struct aggregators *aggregators);
/* Who has not said yet who it is. */
const struct rm_pending_conns *aggregators_pending_conns(
    const struct aggregators *aggregators);
/* Of QPs that are older than their agents. */
const struct qp_joins_counts *aggregators_joins(const struct aggregators *aggregators);
size_t aggregators_joins_waiting(const struct aggregators *aggregators);

#endif
