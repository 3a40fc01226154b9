/*
 * analyzer_events - handles hellos, summaries, incidents and ticks. Only analyzer.c
 * includes it.
 */
#ifndef ANALYZER_ANALYZER_EVENTS_H
#define ANALYZER_ANALYZER_EVENTS_H

struct analyzer;
struct history_callbacks;
struct intake_callbacks;
struct region;

void analyzer_intake_callbacks(struct analyzer *analyzer, struct intake_callbacks *ret);
void analyzer_history_callbacks(
    struct analyzer *analyzer, struct history_callbacks *ret);
/* Finds or creates a region. -ENOBUFS: there are ANALYZER_MAX_REGIONS regions, which is
 * counted. Another negative errno is logged. */
int analyzer_region_get(
    struct analyzer *analyzer, const char *name, struct region **ret);
int analyzer_start_ticking(struct analyzer *analyzer);

#endif
