/*
 * service_uses - which services use which links, switches and paths of a region, as its
 * racks report it. It gives the impact of faults between racks. Pure.
 *
 * P0: a service's path crosses the part, and probes of it are lost. P1: a service's
 * path crosses the part. P2: no service's path does, and every rack that could know of
 * one traces its services. Otherwise the impact is unknown.
 *
 * Both ends of a connection report it, each with the path of its own packets: a rack
 * reports all connections that begin or end there, but not the paths of packets to it.
 * The newest report of an aggregator replaces the one before. A report that is older
 * than SERVICE_USES_KEEP_NS does not count. Ages are measured with the monotonic clocks
 * of the aggregator and of this daemon, never with wall clocks (see sender_clock):
 * reports count from a second after the first summary on.
 *
 * One or two aggregators report a rack: both do if neither knows that the other one is
 * active. The uses that either reports count, and one that knows all flows of the rack
 * suffices. The first summary of another aggregator replaces the former's report,
 * unless the two take turns. Summaries of the former that arrive late, because they
 * waited in its spool, are left out. A restart of an aggregator or of its machine
 * deletes what it reported before.
 */
#ifndef ANALYZER_INCIDENTS_SERVICE_USES_H
#define ANALYZER_INCIDENTS_SERVICE_USES_H

#include "rackmesh/core/clock.h"

struct rm_verdict;
struct service_uses;
struct wire_summary_view;

/* With a longer summary.interval_s reports are too old most of the time. */
#define SERVICE_USES_KEEP_NS (180 * RM_NS_PER_S)
/* A rack without a summary for this long is no rack of the region any more. */
#define SERVICE_USES_FORGET_NS (86400 * RM_NS_PER_S)
/* Rows of a region. If a rack's rows do not all fit, no part is known to be unused by
 * its services. */
#define SERVICE_USES_MAX 262144

struct service_uses *service_uses_new(void);               /* NULL: out of memory */
void service_uses_free(struct service_uses *service_uses); /* NULL is fine */

/* Returns how old the summary is, as far as known: 0 for a sender of which nothing is
 * known yet. */
int64_t service_uses_summary(struct service_uses *service_uses,
    const struct wire_summary_view *view, rm_mono_t now);

/* Sets impact and services in the evidence of a verdict on a ToR, link, switch or path;
 * for "A or B" the services that use either. A daemon of Rackmesh carries no packets of
 * services: P2. Verdicts on other parts are unchanged. The answer for a part is kept
 * for a second. */
void service_uses_fill(
    struct service_uses *service_uses, struct rm_verdict *verdict, rm_mono_t now);

#endif
