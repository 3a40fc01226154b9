/*
 * loop - the one event loop of a daemon, and its timers.
 *
 * A callback never blocks and does a bounded share of work. TERM and INT end the loop,
 * HUP calls the reload hook. The loop notifies the service manager when it begins to
 * run (ready), at reloads, and at its end.
 */
#ifndef RACKMESH_LOOP_LOOP_H
#define RACKMESH_LOOP_LOOP_H

#include <stdbool.h>

#include "rackmesh/core/clock.h"

struct event_base;
struct rm_loop;
struct rm_notify;
struct rm_timer;
struct rm_turns;

int rm_loop_new(struct rm_loop **ret);
/* free the modules that use the loop first; NULL is allowed */
void rm_loop_free(struct rm_loop *loop);

int rm_loop_run(struct rm_loop *loop); /* runs until a signal or rm_loop_stop */
void rm_loop_stop(struct rm_loop *loop);
/* As rm_loop_stop, but the owner will start another loop at once: the service manager
 * is notified of a reload, not of the end. If a signal has asked the process to end,
 * the process ends instead. */
void rm_loop_again(struct rm_loop *loop);
bool rm_loop_wants_again(const struct rm_loop *loop); /* after rm_loop_run */

void rm_loop_on_reload(struct rm_loop *loop, void (*fn)(void *arg), void *arg);

/* For rm_notify_worked: call that in the callback that does the daemon's work. */
struct rm_notify *rm_loop_notify(struct rm_loop *loop);

/* For modules that put their own fds on the loop (libevent's event_new). */
struct event_base *rm_loop_base(struct rm_loop *loop);
/* For turn.c. */
struct rm_turns *rm_loop_turns(struct rm_loop *loop);

/*
 * Timers fire once, at an absolute time, with a resolution of microseconds. A periodic
 * user arms the timer again relative to the previous *deadline*, not to now, so that it
 * never drifts. Arming an armed timer moves it. A deadline in the past fires in the
 * next turn of the loop.
 */
int rm_timer_new(
    struct rm_loop *loop, void (*fn)(void *arg), void *arg, struct rm_timer **ret);
/* may be called from inside fn; NULL is allowed */
void rm_timer_free(struct rm_timer *timer);
void rm_timer_at(struct rm_timer *timer, rm_mono_t deadline);
void rm_timer_after(struct rm_timer *timer, int64_t ns);
void rm_timer_stop(struct rm_timer *timer);

#endif
