/*
 * class_marks - finds where a region's network rewrites the class (DSCP) of packets.
 * Pure. Responders report the DSCP with which probes arrived; rows of summaries count
 * them by pair of ToRs and class. The classes in which a pair's probes of the last
 * minute arrived are compared with those of other pairs: the place that all rewritten
 * pairs share, and no other pair, is named; a pair that shares no place is named
 * itself. Rewritten packets are not lost, but RoCE in the wrong class is not lossless
 * any more.
 */
#ifndef ANALYZER_MARKS_CLASS_MARKS_H
#define ANALYZER_MARKS_CLASS_MARKS_H

#include <stddef.h>
#include <stdint.h>

#include "rackmesh/incident/incident.h"
#include "rackmesh/judge/verdict.h"
#include "schemas/wire.h"

/* maximum number of pairs of ToRs, each in one class */
#define CLASS_MARKS_MAX_PAIRS 131072
#define CLASS_MARKS_MAX_VERDICTS 64

struct class_marks;

int class_marks_new(struct class_marks **ret);
void class_marks_free(struct class_marks *marks); /* NULL is fine */

void class_marks_summary(
    struct class_marks *marks, const struct wire_summary_view *view, rm_mono_t now);

/* Call it every second; results are computed again every five seconds. Returns their
 * number; *ret is valid until the next call. */
int class_marks_judge(struct class_marks *marks, rm_mono_t now, rm_wall_t wall,
    const struct rm_verdict **ret);
/* Returns the health of the verdict's part. If it has no verdict now, it is good once
 * enough probes of its class have arrived. */
enum rm_health class_marks_health(
    const struct class_marks *marks, const struct rm_verdict *verdict);

/* Returns how many rows so far were refused, because there were CLASS_MARKS_MAX_PAIRS
 * pairs already. */
const uint64_t *class_marks_refused(const struct class_marks *marks);

#endif
