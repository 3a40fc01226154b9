/*
 * alert_notice - one message on an incident, shared by the queues of several receivers
 * (reference count).
 *
 * The notice also decides when its message may be sent. An opening is sent only after
 * the incident is on the disk: otherwise a restart in between would leave an alert that
 * no daemon knows and resolves. A disk that hangs or fails delays no alert by more than
 * ALERT_NOTICE_PATIENCE_NS.
 */
#ifndef RACKMESH_INCIDENT_ALERT_NOTICE_H
#define RACKMESH_INCIDENT_ALERT_NOTICE_H

#include <stdbool.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"

#define ALERT_NOTICE_PATIENCE_NS (1 * RM_NS_PER_S)

struct alert_notice;
struct rm_incident_file;

/* on_notified (may be NULL) is called when the last reference is put, if all receivers
 * have accepted the message. NULL: no memory. The caller has one reference. */
struct alert_notice *alert_notice_new(uint64_t incident, bool resolved,
    void (*on_notified)(uint64_t incident, bool resolved, void *arg), void *arg);
/* The message may be sent once the next save of that file is on the disk, or has
 * failed. */
void alert_notice_follow(
    struct alert_notice *notice, const struct rm_incident_file *file, rm_mono_t now);

/* adds a reference; NULL is allowed */
void alert_notice_hold(struct alert_notice *notice);
/* puts a reference; taken: the receiver has accepted the message; NULL is allowed */
void alert_notice_put(struct alert_notice *notice, bool taken);
/* a receiver will not get the message; notice NULL is allowed */
void alert_notice_lose(struct alert_notice *notice);

/* True: the message may be sent now. notice NULL: true. */
bool alert_notice_may_leave(const struct alert_notice *notice, rm_mono_t now);
/* The time at which the message may be sent without the save. Only for a message that
 * may not be sent now. */
rm_mono_t alert_notice_patience(const struct alert_notice *notice);
/* Marks the message as sent. Returns true, at the first call only, if its incident is
 * not on the disk yet. */
bool alert_notice_left_early(struct alert_notice *notice);

#endif
