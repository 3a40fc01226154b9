/*
 * sonic - the requests to the Redis of a switch with SONiC, and the parser of its
 * answers. Pure.
 *
 * One reading requests the maps of ports, queues and priority groups (their ids change
 * when the switch restarts, so each time), then the values of each object, then the
 * state of each port, and from time to time its neighbour (LLDP) and its optical
 * module: without these, the last ones stay. Nothing is ever written to it. Answers
 * come in the order of the requests; a batch of requests is sent when all of the last
 * one are answered.
 */
#ifndef TOR_AGGREGATOR_SWITCH_SONIC_H
#define TOR_AGGREGATOR_SWITCH_SONIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/error.h"

struct evbuffer;
struct redisReply;
struct sonic;
struct switch_counts;
struct switch_list;

#define SONIC_BATCH 128 /* unanswered requests */

/* Requested besides counters and states. */
#define SONIC_NEIGHBORS 1u
#define SONIC_OPTICS 2u

/* also: bits of SONIC_*. password: "" for none; borrowed. before: the last reading, or
 * NULL; borrowed. counts: added to. */
int sonic_new(const char *password, unsigned also, const struct switch_list *before,
    struct switch_counts *counts, struct sonic **ret);
void sonic_free(struct sonic *sonic); /* NULL is allowed */

/* Adds the next batch of requests to out. */
int sonic_ask(struct sonic *sonic, struct evbuffer *out);
/* Takes the answer to the oldest request, which the caller owns. -EACCES: the
 * password; -EPROTO: it cannot be an answer, or there is no port; see error. */
int sonic_answer(
    struct sonic *sonic, const struct redisReply *answer, struct rm_error *error);

/* All requests of the batch were answered. */
bool sonic_is_answered(const struct sonic *sonic);
bool sonic_is_done(const struct sonic *sonic); /* the reading is complete */
/* Bits of SONIC_*: requested besides counters, and not answered with an error. */
unsigned sonic_answered_also(const struct sonic *sonic);
/* The list, once the reading is done; the caller frees it. Its resets are counted by
 * this call. */
struct switch_list *sonic_take_list(struct sonic *sonic);

#endif
