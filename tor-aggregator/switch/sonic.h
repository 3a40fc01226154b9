/*
 * sonic - reads a switch with SONiC out of its Redis: what to ask, and what the answers
 * mean. Pure.
 *
 * One reading asks for the maps of ports, queues and priority groups (their ids change
 * when the switch restarts, so each time), then for the values of each object, then for
 * the state of each port, and now and then for its neighbour (LLDP) and its optical
 * module: without that they stay what they were. Nothing is ever written. Answers come
 * in the order of the questions; a batch of questions is sent when all of the last one
 * are answered.
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

#define SONIC_BATCH 128 /* questions under way */

/* What a reading asks for besides counters and states. */
#define SONIC_NEIGHBORS 1u
#define SONIC_OPTICS 2u

/* also: bits of SONIC_*. password: "" for none; borrowed. before: the last reading, or
 * NULL; borrowed. counts: added to. */
int sonic_new(const char *password, unsigned also, const struct switch_list *before,
    struct switch_counts *counts, struct sonic **ret);
void sonic_free(struct sonic *sonic); /* NULL is fine */

/* Adds the next batch of questions to out. */
int sonic_ask(struct sonic *sonic, struct evbuffer *out);
/* Takes the answer to the oldest question, which stays the caller's. -EACCES: the
 * password; -EPROTO: it cannot be one, or there is no port; error says it. */
int sonic_answer(
    struct sonic *sonic, const struct redisReply *answer, struct rm_error *error);

bool sonic_is_answered(const struct sonic *sonic); /* the whole batch */
bool sonic_is_done(const struct sonic *sonic);     /* the whole reading */
/* Bits of SONIC_*: what was asked for besides, and was not answered with an error. */
unsigned sonic_answered_also(const struct sonic *sonic);
/* What was read, once it is done; the caller frees it. Its resets are counted now. */
struct switch_list *sonic_take_list(struct sonic *sonic);

#endif
