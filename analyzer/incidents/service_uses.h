/*
 * service_uses - which services use which links, switches and paths of a region, as its
 * racks report it; for the impact of faults between racks. Pure.
 *
 * P0: probes of a service whose path crosses the part are lost. P1: a service's path
 * crosses it. P2: none does, and every rack that could know of one traces its services.
 * Else the impact is unknown. Both ends of a connection report it, each with the path
 * of what it sends: a rack knows all that begins or ends there, but not on which paths
 * others send to it. The newest report of a rack replaces the one before; one that is
 * older than SERVICE_USES_KEEP_NS says nothing. Ages are by the monotonic clocks of the
 * aggregator and of ours, see sender_clock: reports count as soon as these are known,
 * a second after the first summary, and nothing depends on wall clocks.
 *
 * A rack has one aggregator at a time. The first summary of another one, or of another
 * life of it, ends what was reported before; a backlog of the former one is left out.
 */
#ifndef ANALYZER_INCIDENTS_SERVICE_USES_H
#define ANALYZER_INCIDENTS_SERVICE_USES_H

#include "rackmesh/core/clock.h"

struct rm_verdict;
struct service_uses;
struct wire_summary_view;

/* Rows that come more seldom (summary.interval_s) say nothing most of the time. */
#define SERVICE_USES_KEEP_NS (180 * RM_NS_PER_S)
/* A rack that was not heard of for so long is not one of the region any more. */
#define SERVICE_USES_FORGET_NS (86400 * RM_NS_PER_S)
/* Rows of a region. Of a rack with more it is not known who uses it. */
#define SERVICE_USES_MAX 262144

struct service_uses *service_uses_new(void);               /* NULL: out of memory */
void service_uses_free(struct service_uses *service_uses); /* NULL is fine */

void service_uses_summary(struct service_uses *service_uses,
    const struct wire_summary_view *view, rm_mono_t now);

/* Of a verdict on ToRs, links, switches or paths, of "A or B" those that use either:
 * impact and services of the evidence. Nothing passes a daemon of Rackmesh: P2. Others
 * are left as they are. What is asked again within a second gets the same answer. */
void service_uses_fill(
    struct service_uses *service_uses, struct rm_verdict *verdict, rm_mono_t now);

#endif
