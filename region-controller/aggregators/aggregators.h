/*
 * aggregators - the sessions of this region's tor-aggregators, which dial the
 * controller. Aggregators report their ToRs, the plans that they hold and their RNICs;
 * they ask for the RNIC of an address, and get plans and the brake. The reports of an
 * aggregator may be only about its own ToRs. A second hello of an aggregator replaces
 * its older session. A controller that does not lead refuses every hello, and names the
 * leader. All connected aggregators get a ping every 500 ms.
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
	const char *tor;  /* name of a ToR that the aggregator must serve */
	const char *rnic; /* id of the RNIC */
	uint32_t seconds, limit;
	/* Called once, unless the session ends first; answer is borrowed. */
	void (*done)(const struct wire_drill_answer *answer, uint64_t token, void *arg);
	uint64_t token; /* passed to done */
	void *arg;
};

int aggregators_new(struct rm_loop *loop, const struct aggregators_options *options,
    struct aggregators **ret);
void aggregators_free(struct aggregators *aggregators);

/* For rm_listener_new. */
int aggregators_accept(int fd, const struct rm_address *peer, void *aggregators);

/* Sends the plan of every ToR to each of its aggregators that does not hold the
 * plan. */
void aggregators_deliver(struct aggregators *aggregators);
/* Does the same in the next turn of the loop, so that many new plans cause one
 * delivery. */
void aggregators_deliver_soon(struct aggregators *aggregators);

/* Sends the brake, which is copied, to all sessions, and later to each new session. */
void aggregators_brake(
    struct aggregators *aggregators, const struct store_brake *brake);
/* Closes all sessions at once, because this controller does not lead any more. */
void aggregators_close(struct aggregators *aggregators);
/* Sends a query. -ENOTCONN: no session serves that ToR. */
int aggregators_ask_drill(
    struct aggregators *aggregators, const struct aggregators_drill *drill);

/* Returns the epoch of the keys that agents get. Call it only with probe keys. */
uint32_t aggregators_epoch(const struct aggregators *aggregators);

/* For registry_expire. */
bool aggregators_is_alive(uint64_t session, void *aggregators);
/* Returns the number of sessions that serve that ToR. */
size_t aggregators_serving(const struct aggregators *aggregators, const char *tor);

/* Returns the i-th session; NULL: there are no more. Borrowed until the next turn of
 * the loop. */
const struct aggregators_session *aggregators_get(
    const struct aggregators *aggregators, size_t i);
const struct aggregators_counts *aggregators_counts(
    const struct aggregators *aggregators);
/* Returns counts of all connections, also of those without a hello. */
const struct rm_server *aggregators_server(const struct aggregators *aggregators);
/* Returns counts of the requests for the other end of QPs that are older than their
 * agents. */
const struct qp_joins_counts *aggregators_joins(const struct aggregators *aggregators);
size_t aggregators_joins_waiting(const struct aggregators *aggregators);

#endif
