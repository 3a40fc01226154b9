/*
 * counter_backlog - the counter reports that one aggregator has missed, summed up into
 * one report, and those that were sent and may not have arrived. Pure.
 *
 * While an aggregator has no session, counters still increase. Their increases are
 * added, so the next report that it gets covers the whole time since its last one. A
 * counter that some of the reports lack has the increases of the others, and a state
 * (see wire_counter_is_gauge) is the newest one. After COUNTER_BACKLOG_NS the sum
 * begins anew: a longer interval would hide the present state. An RNIC without a report
 * for that time is left out.
 *
 * Reports of counters have no acknowledgement of their own. A report that was sent is
 * kept until the peer has counted a batch that was sent after it (messages of a session
 * are handled in their order), or until the peer's kernel has all bytes of the session.
 * If the session ends before, the report is in the next one again.
 * - Counted twice: a report that the peer has handled, if the session ends before this
 *   host learns that from an acknowledged batch or from the kernel. Its interval is
 *   counted twice, too, so rates stay right.
 * - Lost: increases that are older than COUNTER_BACKLOG_NS, and a report that the
 *   peer's kernel has acknowledged and the peer never reads, as it crashes or closes
 *   the session before.
 *
 * Memory for the values of an RNIC is kept for the next report: a report that adds no
 * RNIC and no counter allocates nothing.
 */
#ifndef HOST_AGENT_REPORT_COUNTER_BACKLOG_H
#define HOST_AGENT_REPORT_COUNTER_BACKLOG_H

#include <stdbool.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"
#include "schemas/wire.h"

#define COUNTER_BACKLOG_NS (60 * RM_NS_PER_S)

struct counter_backlog;

struct counter_backlog *counter_backlog_new(void); /* NULL when out of memory */
void counter_backlog_free(struct counter_backlog *backlog); /* NULL is allowed */

/* True: nothing was missed, so a report can be sent as it is. */
bool counter_backlog_is_empty(const struct counter_backlog *backlog);
/* Adds a report that cannot be sent now; copied. Without memory for its values, they
 * are lost. */
void counter_backlog_add(struct counter_backlog *backlog,
    const struct wire_counter_report *report, rm_mono_t now);
/* Returns the sum of the missed reports; its RNICs are written to rnics, and their
 * values are borrowed until the next call. */
struct wire_counter_report counter_backlog_report(const struct counter_backlog *backlog,
    struct wire_rnic_counters rnics[WIRE_MAX_HOST_RNICS]);

/* A report, which contains all missed ones, was given to the link; copied. next_seq:
 * the number of the next batch that is made. */
void counter_backlog_sent(struct counter_backlog *backlog,
    const struct wire_counter_report *report, uint64_t next_seq, rm_mono_t now);
/* The peer has counted the batches up to seq. */
void counter_backlog_counted(struct counter_backlog *backlog, uint64_t seq);
/* The peer's kernel has acknowledged all bytes of this session. */
void counter_backlog_delivered(struct counter_backlog *backlog);
/* A new session begins; the peer has counted the batches up to counted_seq. What may
 * not have arrived in the last session is missed from now on. */
void counter_backlog_begin(
    struct counter_backlog *backlog, uint64_t counted_seq, rm_mono_t now);

#endif
