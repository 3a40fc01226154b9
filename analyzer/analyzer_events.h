/*
 * analyzer_events - handlers of hellos, summaries, incidents and ticks. Only for the
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
/* Makes it if there is none. -ENOBUFS, -ENOMEM, which were logged. */
int analyzer_region_get(
    struct analyzer *analyzer, const char *name, struct region **ret);
int analyzer_start_ticking(struct analyzer *analyzer);

#endif
