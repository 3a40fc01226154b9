/*
 * intake - the sessions of all aggregators: they dial the analyzer, name their racks,
 * and send summaries and incidents until these are acknowledged.
 *
 * A message is acknowledged when its ticket is durable (intake_durable); from then on
 * the analyzer is responsible for it. A repeated message is acknowledged again and not
 * applied twice; missing ones are counted, and not waited for. A new life of an
 * aggregator may have lost numbers, and so ours of it are forgotten: what it sends
 * again is then taken again, a summary marked as repeated if its time says so. When it
 * cannot be taken, the session is not read until it can: nothing is dropped. An
 * aggregator speaks for its own ToRs only.
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
/* This daemon was stopped until now: no peer was silent meanwhile. */
void intake_stalled(struct intake *intake, rm_mono_t now);
/* Sends to the session with that id. -ENOTCONN: it has ended; else as rm_link_send. */
int intake_drill(
    struct intake *intake, uint64_t session, const struct wire_drill *drill);

/* The i-th session, NULL past the end; borrowed until the loop turns. */
const struct intake_info *intake_get(const struct intake *intake, size_t i);
/* The session with a welcome of that name, or NULL. */
const struct intake_info *intake_find(
    const struct intake *intake, const char *region, const char *name);
const struct intake_counts *intake_counts(const struct intake *intake);
/* Its counts of connections, also of those without a hello. */
const struct rm_server *intake_server(const struct intake *intake);

#endif
