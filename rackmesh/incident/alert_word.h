/*
 * alert_word - one piece of news on its way to several sinks, each of which holds it.
 *
 * It knows when it may leave: the news that an incident opened follows the incident to
 * the disk, else a restart in between would leave an alert that nobody remembers and
 * nobody ends. A disk that hangs or refuses delays no alert by more than
 * ALERT_WORD_PATIENCE_NS.
 */
#ifndef RACKMESH_INCIDENT_ALERT_WORD_H
#define RACKMESH_INCIDENT_ALERT_WORD_H

#include <stdbool.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"

#define ALERT_WORD_PATIENCE_NS (1 * RM_NS_PER_S)

struct alert_word;
struct rm_incident_file;

/* on_notified, which may be NULL, is called when the last holder lets go of it and all
 * have taken it. NULL when out of memory; held by the caller. */
struct alert_word *alert_word_new(uint64_t incident, bool resolved,
    void (*on_notified)(uint64_t incident, bool resolved, void *arg), void *arg);
/* It leaves when the next save of that file is on the disk, or cannot be. The file
 * outlives the loop's turns, not the word. */
void alert_word_follow(
    struct alert_word *word, const struct rm_incident_file *file, rm_mono_t now);

void alert_word_hold(struct alert_word *word);            /* NULL is fine */
void alert_word_put(struct alert_word *word, bool taken); /* NULL is fine */
void alert_word_lose(struct alert_word *word); /* one holder never had it; NULL too */

/* NULL: at any time. */
bool alert_word_may_leave(const struct alert_word *word, rm_mono_t now);
/* When it may leave at the latest; only of one that may not now. */
rm_mono_t alert_word_patience(const struct alert_word *word);
/* It leaves now. True, once: and it is not on the disk. */
bool alert_word_left_early(struct alert_word *word);

#endif
