/*
 * notify - reports the daemon's state to the service manager: ready, reloading,
 * stopping, and still working (watchdog).
 *
 * Without NOTIFY_SOCKET it does nothing. The loop reports the first three. Call
 * rm_notify_worked from the callback that does the daemon's work, never from a timer
 * that fires even if that work is stuck.
 */
#ifndef RACKMESH_LOOP_NOTIFY_H
#define RACKMESH_LOOP_NOTIFY_H

#include <stdbool.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"

struct rm_notify;
struct rm_worker;

/* A job of the worker that has run or waited for longer than this is stuck. That is
 * longer than a name look-up without a server (30 s), and so long that a slow disk does
 * not end the daemon. */
#define RM_NOTIFY_STUCK_NS (60 * RM_NS_PER_S)

/* Reads NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID. -EINVAL, -ENAMETOOLONG:
 * NOTIFY_SOCKET is neither a path nor an abstract name. */
int rm_notify_new(struct rm_notify **ret);
void rm_notify_free(
    struct rm_notify *notify); /* NULL is allowed, in this function and the next ones */

void rm_notify_ready(struct rm_notify *notify);
/* rm_notify_ready must follow */
void rm_notify_reloading(struct rm_notify *notify, rm_mono_t now);
void rm_notify_stopping(struct rm_notify *notify);

/*
 * Reports that one round of the daemon's work is done. It feeds the watchdog, at most
 * four times per interval, unless the worker is stuck. worker NULL: there is none.
 */
void rm_notify_worked(
    struct rm_notify *notify, const struct rm_worker *worker, rm_mono_t now);

struct rm_notify_counts {
	uint64_t fed;
	/* rounds that did not feed the watchdog, because the worker was stuck */
	uint64_t withheld;
	uint64_t failed; /* messages that could not be sent to the service manager */
};

const struct rm_notify_counts *rm_notify_counts(const struct rm_notify *notify);

#endif
