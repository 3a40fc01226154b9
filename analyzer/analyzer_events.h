/*
 * analyzer_events - what happens: hellos, summaries, incidents, ticks. Only for the
 * wiring.
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
/* Made if there is none. -ENOBUFS, -ENOMEM; it has been said. */
int analyzer_region_get(
    struct analyzer *analyzer, const char *name, struct region **ret);
int analyzer_start_ticking(struct analyzer *analyzer);

#endif
