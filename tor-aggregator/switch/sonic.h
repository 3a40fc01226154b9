/*
 * sonic - builds the requests to the Redis server of a SONiC switch, and parses the
 * answers. Pure.
 *
 * A reading requests the maps of ports, queues and priority groups, which must be read
 * each time because ids change when the switch restarts; then the values of each
 * object; then the state of each port; and less often the neighbour (LLDP), the optical
 * module and the settings of each port. A reading without these keeps the last values.
 * Nothing is ever written to the switch. Answers arrive in the order of the requests.
 * The next batch of requests is sent when all requests of the batch before are
 * answered.
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

#define SONIC_BATCH 128 /* requests in a batch */

/* What a reading may request beside counters and states. */
#define SONIC_NEIGHBORS 1u
#define SONIC_OPTICS 2u
#define SONIC_SETTINGS 4u

/* Begins a reading. password: borrowed; "": none. also: bits of SONIC_*. before: list
 * of the last reading; borrowed; NULL: none. counts: borrowed; the counts of this
 * reading are added. */
int sonic_new(const char *password, unsigned also, const struct switch_list *before,
    struct switch_counts *counts, struct sonic **ret);
void sonic_free(struct sonic *sonic); /* NULL is allowed */

/* Adds the next batch of requests to out. */
int sonic_ask(struct sonic *sonic, struct evbuffer *out);
/* Handles the answer to the oldest request; the caller frees the answer. -EACCES: wrong
 * password; -EPROTO: it is no answer to the request, or the switch has no port; see
 * *error. */
int sonic_answer(
    struct sonic *sonic, const struct redisReply *answer, struct rm_error *error);

/* True: all requests of the batch were answered. */
bool sonic_is_answered(const struct sonic *sonic);
bool sonic_is_done(const struct sonic *sonic); /* true: the reading is complete */
/* The bits of SONIC_* that were requested, and not answered with an error. */
unsigned sonic_answered_also(const struct sonic *sonic);
/* The list of a reading that is done; the caller frees it. This call adds the reading's
 * resets to the counts. */
struct switch_list *sonic_take_list(struct sonic *sonic);

#endif
