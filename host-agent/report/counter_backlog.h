/*
 * counter_backlog - the counter reports that one aggregator has missed, summed up into
 * one report. Pure.
 *
 * While an aggregator has no session, counters still increase. Their increases are
 * added, so the next report that it gets covers the whole time since its last one. A
 * counter that some of the reports lack has the increases of the others, and a state
 * (see wire_counter_is_gauge) is the newest one. After COUNTER_BACKLOG_NS the sum
 * begins anew: a longer interval would hide the present state. An RNIC without a report
 * for that time is left out.
 */
#ifndef HOST_AGENT_REPORT_COUNTER_BACKLOG_H
#define HOST_AGENT_REPORT_COUNTER_BACKLOG_H

#include <stdbool.h>

#include "rackmesh/core/clock.h"
#include "schemas/wire.h"

#define COUNTER_BACKLOG_NS (60 * RM_NS_PER_S)

struct counter_backlog;

struct counter_backlog *counter_backlog_new(void); /* NULL when out of memory */
void counter_backlog_free(struct counter_backlog *backlog); /* NULL is allowed */

bool counter_backlog_is_empty(const struct counter_backlog *backlog);
/* Adds a report; copied. Without memory for an RNIC, its report is lost. */
void counter_backlog_add(struct counter_backlog *backlog,
    const struct wire_counter_report *report, rm_mono_t now);
/* Returns the sum; its RNICs are written to rnics, and their values are borrowed until
 * the next call. */
struct wire_counter_report counter_backlog_report(const struct counter_backlog *backlog,
    struct wire_rnic_counters rnics[WIRE_MAX_HOST_RNICS]);
void counter_backlog_clear(struct counter_backlog *backlog);

#endif
