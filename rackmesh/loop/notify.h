/*
 * notify - reports the daemon's state to the service manager: ready, reloading,
 * stopping, and still working (watchdog).
 *
 * Without NOTIFY_SOCKET it does nothing. The loop reports the first three; call
 * rm_notify_worked from the callback that does the daemon's work, never from a timer
 * that would go on firing while the rest is stuck.
 */
#ifndef RACKMESH_LOOP_NOTIFY_H
#define RACKMESH_LOOP_NOTIFY_H

#include <stdbool.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"

struct rm_notify;
struct rm_worker;

/* A job of the worker that runs or waits for longer than this is stuck. It is longer
 * than a name look-up without servers (30 s), and a slow disk must not end the
 * daemon. */
#define RM_NOTIFY_STUCK_NS (60 * RM_NS_PER_S)

/* Reads NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID. -EINVAL, -ENAMETOOLONG: a
 * NOTIFY_SOCKET that is no path and no abstract name. */
int rm_notify_new(struct rm_notify **ret);
void rm_notify_free(struct rm_notify *notify); /* NULL is fine, also below */

void rm_notify_ready(struct rm_notify *notify);
void rm_notify_reloading(struct rm_notify *notify, rm_mono_t now); /* then: ready */
void rm_notify_stopping(struct rm_notify *notify);

/*
 * Reports that a round of the daemon's work is done. Feeds the watchdog, at most four
 * times per interval, unless worker (NULL: there is none) is stuck.
 */
void rm_notify_worked(
    struct rm_notify *notify, const struct rm_worker *worker, rm_mono_t now);

struct rm_notify_counts {
	uint64_t fed;
	uint64_t withheld; /* turns with a stuck worker */
	uint64_t failed;   /* messages that were not taken */
};

const struct rm_notify_counts *rm_notify_counts(const struct rm_notify *notify);

#endif
