/*
 * intake - the sessions of all aggregators. An aggregator dials the analyzer, names its
 * ToRs, and sends summaries and incidents, each until it is acknowledged.
 *
 * A message is acknowledged when its ticket is durable (intake_durable): from then on
 * the analyzer is responsible for it. A repeated message is acknowledged again, and not
 * applied twice. Missing messages are counted; the intake does not wait for them. A new
 * incarnation of an aggregator may have lost its message numbers, so the numbers stored
 * here are deleted: messages that it repeats are then taken again, and a summary is
 * marked as repeated if its time shows that. If a message cannot be stored, the session
 * is not read until it can be: no message is dropped. An aggregator may send messages
 * on its own ToRs only.
 */
#ifndef ANALYZER_INTAKE_INTAKE_H
#define ANALYZER_INTAKE_INTAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/intake/intake_info.h"
#include "rackmesh/core/address.h"
#include "rackmesh/core/clock.h"
#include "rackmesh/judge/part.h"
#include "schemas/wire.h"

struct intake;
struct rm_loop;
struct rm_server;

int intake_new(struct rm_loop *loop, const struct intake_options *options,
    const struct intake_callbacks *callbacks, struct intake **ret);
void intake_free(struct intake *intake);

int intake_accept(int fd, const struct rm_address *peer, void *intake);
void intake_durable(struct intake *intake, enum wire_lane lane, uint64_t ticket);
/* Call it if this daemon did not read its sockets for some time: the time until now
 * does not count as silence of a peer. The intake notices by itself that a tick of its
 * own comes late. */
void intake_stalled(struct intake *intake, rm_mono_t now);
/* Sends a request to the session with this id. -ENOTCONN: the session has ended; else
 * an error of rm_link_send. */
int intake_drill(
    struct intake *intake, uint64_t session, const struct wire_drill *drill);

/* Returns session number i; NULL: there are no more. Borrowed until the next turn of
 * the loop. */
const struct intake_info *intake_get(const struct intake *intake, size_t i);
/* Returns the session of this aggregator, after its welcome; NULL: there is none. */
const struct intake_info *intake_find(
    const struct intake *intake, const char *region, const char *name);
const struct intake_counts *intake_counts(const struct intake *intake);
/* Returns counts of all connections, including those without a hello. */
const struct rm_server *intake_server(const struct intake *intake);

#endif
