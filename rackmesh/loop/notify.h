/*
 * notify - tells the service manager how the daemon is: ready, reloading, stopping, and
 * that it still does its work.
 *
 * Where nobody asked (no NOTIFY_SOCKET), nothing is said. The loop says the first
 * three; rm_notify_worked is for the turn that does the daemon's work, never for a
 * timer that would go on firing while the rest is stuck.
 */
#ifndef RACKMESH_LOOP_NOTIFY_H
#define RACKMESH_LOOP_NOTIFY_H

#include <stdbool.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"

struct rm_notify;
struct rm_worker;

/* A job of the worker that runs, or waits to, for longer than this is stuck: a name
 * look-up without servers takes 30 s, and a slow disk is no reason to die. */
#define RM_NOTIFY_STUCK_NS (60 * RM_NS_PER_S)

/* Reads NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID. -EINVAL, -ENAMETOOLONG: a
 * NOTIFY_SOCKET that is no path and no abstract name. */
int rm_notify_new(struct rm_notify **ret);
void rm_notify_free(struct rm_notify *notify); /* NULL is fine, also below */

void rm_notify_ready(struct rm_notify *notify);
void rm_notify_reloading(struct rm_notify *notify, rm_mono_t now); /* then: ready */
void rm_notify_stopping(struct rm_notify *notify);

/*
 * A turn of the daemon's work is done. Feeds the watchdog, four times an interval at
 * most, unless worker (NULL: there is none) is stuck.
 */
void rm_notify_worked(
    struct rm_notify *notify, const struct rm_worker *worker, rm_mono_t now);

struct rm_notify_counts {
	uint64_t fed;
	uint64_t withheld; /* turns with a stuck worker */
	uint64_t failed;   /* words that nobody took */
};

const struct rm_notify_counts *rm_notify_counts(const struct rm_notify *notify);

#endif
