/*
 * alert_word - one message on an incident, shared by the queues of several receivers
 * (reference count).
 *
 * It also decides when the message may be sent: the opening of an incident is sent only
 * after the incident is on the disk. Otherwise a restart in between would leave an
 * alert that no daemon remembers and resolves. A disk that hangs or fails delays no
 * alert by more than ALERT_WORD_PATIENCE_NS.
 */
#ifndef RACKMESH_INCIDENT_ALERT_WORD_H
#define RACKMESH_INCIDENT_ALERT_WORD_H

#include <stdbool.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"

#define ALERT_WORD_PATIENCE_NS (1 * RM_NS_PER_S)

struct alert_word;
struct rm_incident_file;

/* on_notified (may be NULL) is called when the last reference is dropped and all
 * receivers have accepted the message. NULL when out of memory; the caller has one
 * reference. */
struct alert_word *alert_word_new(uint64_t incident, bool resolved,
    void (*on_notified)(uint64_t incident, bool resolved, void *arg), void *arg);
/* The message may be sent when the next save of that file is on the disk, or has
 * failed. */
void alert_word_follow(
    struct alert_word *word, const struct rm_incident_file *file, rm_mono_t now);

void alert_word_hold(struct alert_word *word);            /* NULL is fine */
void alert_word_put(struct alert_word *word, bool taken); /* NULL is fine */
void alert_word_lose(
    struct alert_word *word); /* a receiver did not accept it; word may be NULL */

/* NULL: at any time. */
bool alert_word_may_leave(const struct alert_word *word, rm_mono_t now);
/* When it may be sent at the latest; only for one that may not be sent now. */
rm_mono_t alert_word_patience(const struct alert_word *word);
/* It is sent now. True, only once: its incident is not on the disk. */
bool alert_word_left_early(struct alert_word *word);

#endif
