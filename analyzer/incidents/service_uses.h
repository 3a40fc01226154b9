/*
 * service_uses - which services use which links, switches and paths of a region, as its
 * racks report it. It gives the impact of faults between racks. Pure. A row of a report
 * is one use: one service, one destination rack, and one path of its packets to there.
 *
 * P0: the path of a service crosses the part, and probes along this path were lost in
 * the last seconds. P1: the path of a service crosses the part. P2: no known path of a
 * service crosses the part, and all racks that could have such a path report all their
 * flows. Otherwise the impact is unknown.
 *
 * Both ends of a connection report it, each with the path of its own packets: a rack
 * reports all connections that begin or end there, but not the paths of packets to it.
 * The newest report of an aggregator replaces the one before. A report that is older
 * than SERVICE_USES_KEEP_NS does not count. Ages are measured with the monotonic clocks
 * of the aggregator and of this daemon, never with wall clocks (see sender_clock). A
 * report is used only if the age of the sender's summaries is steady, at the earliest a
 * second after its first summary.
 *
 * One or two aggregators report a rack: both do if neither knows that the other one is
 * active. If both report it, the uses of both count, and it is enough if one of them
 * knows all flows of the rack. If another aggregator begins to report the rack, the
 * report of the aggregator before is not used any more, unless both go on to send
 * summaries. Summaries that arrive late, because they waited in a spool, do not count
 * as a sign that their aggregator reports the rack now. A restart of an aggregator or
 * of its machine deletes what it reported before.
 */
#ifndef ANALYZER_INCIDENTS_SERVICE_USES_H
#define ANALYZER_INCIDENTS_SERVICE_USES_H

#include "rackmesh/core/clock.h"

struct rm_verdict;
struct service_uses;
struct wire_summary_view;

/* A report is used for this time. If summary.interval_s is longer, there is no valid
 * report most of the time. */
#define SERVICE_USES_KEEP_NS (180 * RM_NS_PER_S)
/* A rack without a summary for this time does not belong to the region any more. */
#define SERVICE_USES_FORGET_NS (86400 * RM_NS_PER_S)
/* The most rows of a region. If the rows of a rack do not all fit, its report counts as
 * incomplete. */
#define SERVICE_USES_MAX 262144

struct service_uses *service_uses_new(void);               /* NULL: out of memory */
void service_uses_free(struct service_uses *service_uses); /* NULL is fine */

/* The age of the summary is not known yet. Neither is the age of another aggregator's
 * last report on the rack. So either of them may be a backlog. */
#define SERVICE_USES_AGE_IN_DOUBT (-1)

/* Returns the age of the summary, as far as it is known. INT64_MAX: the age is not
 * known yet, but the age of another aggregator's summaries on the rack is known. 0 is
 * also returned if nothing is known about the only sender yet, if the summary has no
 * valid end time, or if its rack cannot be added, because there are too many or memory
 * ran out. */
int64_t service_uses_summary(struct service_uses *service_uses,
    const struct wire_summary_view *view, rm_mono_t now);

/* Sets impact and services in the evidence of a verdict on a ToR, link, switch or path;
 * for "A or B" the services that use either. The impact of a daemon of Rackmesh is
 * P2, because it forwards no packets of services. Verdicts on other parts are
 * unchanged. The answer for a part is kept for a second. */
void service_uses_fill(
    struct service_uses *service_uses, struct rm_verdict *verdict, rm_mono_t now);

#endif
