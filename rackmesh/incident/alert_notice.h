/*
 * alert_notice - one message on an incident, shared by the queues of several receivers
 * (reference count).
 *
 * It also decides when the message may be sent: the opening of an incident is sent only
 * after the incident is on the disk. Otherwise a restart in between would leave an
 * alert that no daemon remembers and resolves. A disk that hangs or fails delays no
 * alert by more than ALERT_NOTICE_PATIENCE_NS.
 */
#ifndef RACKMESH_INCIDENT_ALERT_NOTICE_H
#define RACKMESH_INCIDENT_ALERT_NOTICE_H

#include <stdbool.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"

#define ALERT_NOTICE_PATIENCE_NS (1 * RM_NS_PER_S)

struct alert_notice;
struct rm_incident_file;

/* on_notified (may be NULL) is called when the last reference is dropped and all
 * receivers have accepted the message. NULL when out of memory; the caller has one
 * reference. */
struct alert_notice *alert_notice_new(uint64_t incident, bool resolved,
    void (*on_notified)(uint64_t incident, bool resolved, void *arg), void *arg);
/* The message may be sent when the next save of that file is on the disk, or has
 * failed. */
void alert_notice_follow(
    struct alert_notice *notice, const struct rm_incident_file *file, rm_mono_t now);

void alert_notice_hold(struct alert_notice *notice);            /* NULL is fine */
void alert_notice_put(struct alert_notice *notice, bool taken); /* NULL is fine */
void alert_notice_lose(
    struct alert_notice *notice); /* a receiver did not accept it; word may be NULL */

/* NULL: at any time. */
bool alert_notice_may_leave(const struct alert_notice *notice, rm_mono_t now);
/* When it may be sent at the latest; only for one that may not be sent now. */
rm_mono_t alert_notice_patience(const struct alert_notice *notice);
/* It is sent now. True, only once: its incident is not on the disk. */
bool alert_notice_left_early(struct alert_notice *notice);

#endif
