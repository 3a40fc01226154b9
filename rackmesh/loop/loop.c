#include "rackmesh/loop/loop.h"

#include <errno.h>
#include <event2/event.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>

#include "rackmesh/loop/notify.h"
#include "rackmesh/loop/turn.h"

/* Priority 0 is the most urgent. libevent gives every event the middle one by default;
 * the last one is for work that can wait. */
#define LOOP_PRIORITIES 3

struct rm_loop {
	struct event_base *base;
	struct event *term, *interrupt, *hangup;
	void (*reload)(void *arg);
	void *reload_arg;
	struct rm_notify *notify;
	struct rm_turns *turns;
	/* libevent ignores a break that was requested before the loop runs */
	bool stopped, again;
};

struct rm_timer {
	struct event *event;
	rm_mono_t deadline;
	void (*fn)(void *arg);
	void *arg;
};

static void
loop_on_stop_signal(evutil_socket_t sig, short what, void *arg)
{
	rm_loop_stop(arg);
}

static void
loop_on_hangup(evutil_socket_t sig, short what, void *arg)
{
	struct rm_loop *loop = arg;

	rm_notify_reloading(loop->notify, rm_mono_now());
	if (loop->reload != NULL)
		loop->reload(loop->reload_arg);
	rm_notify_ready(loop->notify);
}

static int
loop_add_signal(struct rm_loop *loop, int sig, event_callback_fn fn, struct event **ret)
{
	*ret = evsignal_new(loop->base, sig, fn, loop);
	if (*ret == NULL)
		return -ENOMEM;
	return event_add(*ret, NULL) < 0 ? -EIO : 0;
}

/* Timers are precise and use no cached time: libevent's default timers may be wrong by
 * a millisecond. */
static struct event_base *
loop_new_base(void)
{
	struct event_config *config = event_config_new();
	struct event_base *base;

	if (config == NULL)
		return NULL;
	event_config_set_flag(config, EVENT_BASE_FLAG_PRECISE_TIMER |
					  EVENT_BASE_FLAG_NO_CACHE_TIME |
					  EVENT_BASE_FLAG_NOLOCK);
	base = event_base_new_with_config(config);
	event_config_free(config);
	if (base != NULL && event_base_priority_init(base, LOOP_PRIORITIES) < 0) {
		event_base_free(base);
		return NULL;
	}
	return base;
}

int
rm_loop_new(struct rm_loop **ret)
{
	struct rm_loop *loop = calloc(1, sizeof(*loop));
	int r = -ENOMEM;

	if (loop == NULL)
		return -ENOMEM;
	loop->base = loop_new_base();
	if (loop->base == NULL)
		goto out;

	r = rm_notify_new(&loop->notify);
	if (r < 0)
		goto out;
	r = rm_turns_new(loop->base, LOOP_PRIORITIES - 1, &loop->turns);
	if (r < 0)
		goto out;
	/* a write to a closed connection is an error and must not end the process */
	signal(SIGPIPE, SIG_IGN);
	r = loop_add_signal(loop, SIGTERM, loop_on_stop_signal, &loop->term);
	if (r < 0)
		goto out;
	r = loop_add_signal(loop, SIGINT, loop_on_stop_signal, &loop->interrupt);
	if (r < 0)
		goto out;
	r = loop_add_signal(loop, SIGHUP, loop_on_hangup, &loop->hangup);
	if (r < 0)
		goto out;
	*ret = loop;
	return 0;
out:
	rm_loop_free(loop);
	return r;
}

void
rm_loop_free(struct rm_loop *loop)
{
	if (loop == NULL)
		return;
	if (loop->term != NULL)
		event_free(loop->term);
	if (loop->interrupt != NULL)
		event_free(loop->interrupt);
	if (loop->hangup != NULL)
		event_free(loop->hangup);
	rm_turns_free(loop->turns);
	if (loop->base != NULL)
		event_base_free(loop->base);
	rm_notify_free(loop->notify);
	free(loop);
}

int
rm_loop_run(struct rm_loop *loop)
{
	int r = 0;

	rm_notify_ready(loop->notify);
	if (!loop->stopped)
		r = event_base_loop(loop->base, EVLOOP_NO_EXIT_ON_EMPTY);
	if (loop->again)
		rm_notify_reloading(loop->notify, rm_mono_now());
	else
		rm_notify_stopping(loop->notify);
	loop->stopped = false;
	return r < 0 ? -EIO : 0;
}

void
rm_loop_stop(struct rm_loop *loop)
{
	loop->stopped = true;
	loop->again = false;
	event_base_loopbreak(loop->base);
}

void
rm_loop_again(struct rm_loop *loop)
{
	if (loop->stopped)
		return;
	rm_loop_stop(loop);
	loop->again = true;
}

bool
rm_loop_wants_again(const struct rm_loop *loop)
{
	return loop->again;
}

void
rm_loop_on_reload(struct rm_loop *loop, void (*fn)(void *arg), void *arg)
{
	loop->reload = fn;
	loop->reload_arg = arg;
}

struct rm_notify *
rm_loop_notify(struct rm_loop *loop)
{
	return loop->notify;
}

struct event_base *
rm_loop_base(struct rm_loop *loop)
{
	return loop->base;
}

struct rm_turns *
rm_loop_turns(struct rm_loop *loop)
{
	return loop->turns;
}

/* libevent takes a time from now, in microseconds: it is rounded up, so that no timer
 * fires early. */
static void
timer_arm(struct rm_timer *timer, rm_mono_t now)
{
	int64_t ns = rm_mono_since(timer->deadline, now);
	int64_t us = ns <= 0 ? 0 : ns / RM_NS_PER_US + (ns % RM_NS_PER_US != 0);
	struct timeval wait = { .tv_sec = us / 1000000, .tv_usec = us % 1000000 };

	event_add(timer->event, &wait);
}

static void
timer_on_timeout(evutil_socket_t fd, short what, void *arg)
{
	struct rm_timer *timer = arg;
	rm_mono_t now = rm_mono_now();

	if (rm_mono_since(timer->deadline, now) > 0) {
		/* libevent has rounded down, so it is too early */
		timer_arm(timer, now);
		return;
	}
	timer->fn(timer->arg); /* last use of timer: fn may free it */
}

int
rm_timer_new(
    struct rm_loop *loop, void (*fn)(void *arg), void *arg, struct rm_timer **ret)
{
	struct rm_timer *timer = calloc(1, sizeof(*timer));

	if (timer == NULL)
		return -ENOMEM;
	timer->fn = fn;
	timer->arg = arg;
	timer->event = evtimer_new(loop->base, timer_on_timeout, timer);
	if (timer->event == NULL) {
		free(timer);
		return -ENOMEM;
	}
	*ret = timer;
	return 0;
}

void
rm_timer_free(struct rm_timer *timer)
{
	if (timer == NULL)
		return;
	event_free(timer->event);
	free(timer);
}

void
rm_timer_at(struct rm_timer *timer, rm_mono_t deadline)
{
	timer->deadline = deadline;
	timer_arm(timer, rm_mono_now());
}

void
rm_timer_after(struct rm_timer *timer, int64_t ns)
{
	rm_mono_t now = rm_mono_now();

	timer->deadline = rm_mono_add(now, ns);
	timer_arm(timer, now);
}

void
rm_timer_stop(struct rm_timer *timer)
{
	event_del(timer->event);
}
