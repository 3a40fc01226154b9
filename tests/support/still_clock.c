/*
 * still_clock - the clock of unit tests, which stops while the machine does not run the
 * test.
 *
 * It counts the time of waits, and a limited time between them. If the machine takes
 * longer than that (another process had the CPU, the machine was stopped), the rest
 * does not count for any deadline, neither of the product nor of the test. Linking it
 * replaces the clocks of the whole program, including those of libevent, curl and
 * OpenSSL. The wall clock follows the monotonic one from the start of the program. The
 * kernel's stamps and other processes are not affected.
 */
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S 1000000000
#define FOR_EVER INT64_MAX
/* The most that counts between two readings, besides waits: more than any turn of a
 * test takes on an idle machine. */
#define STEP_NS (2 * (int64_t)1000000)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int64_t real_ns;  /* real time at the last reading */
static int64_t still_ns; /* our time at the last reading */
static int64_t waits_ns; /* remainder of the wait in progress */
static int64_t wall_ns;  /* difference to our time */

static int64_t
look_locked(void)
{
	struct timespec ts = { 0 };
	int64_t now, passed, counts;

	syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &ts);
	now = (int64_t)ts.tv_sec * NS_PER_S + ts.tv_nsec;
	if (real_ns == 0) {
		real_ns = still_ns = now;
		syscall(SYS_clock_gettime, CLOCK_REALTIME, &ts);
		wall_ns = (int64_t)ts.tv_sec * NS_PER_S + ts.tv_nsec - now;
	}
	passed = now - real_ns;
	counts = waits_ns > FOR_EVER - STEP_NS ? FOR_EVER : waits_ns + STEP_NS;
	if (counts > passed)
		counts = passed;
	if (waits_ns != FOR_EVER)
		waits_ns = waits_ns > passed ? waits_ns - passed : 0;
	real_ns = now;
	still_ns += counts;
	return still_ns;
}

/* Begins a wait of this length, and returns our time. */
static int64_t
look(int64_t wait_ns)
{
	int64_t now;

	pthread_mutex_lock(&lock);
	now = look_locked();
	waits_ns = wait_ns;
	pthread_mutex_unlock(&lock);
	return now;
}

static int64_t
report(bool wall)
{
	int64_t now;

	pthread_mutex_lock(&lock);
	now = look_locked() + (wall ? wall_ns : 0);
	pthread_mutex_unlock(&lock);
	return now;
}

int
clock_gettime(clockid_t clock, struct timespec *ts)
{
	int64_t now;

	if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)
		now = report(true);
	else if (clock == CLOCK_MONOTONIC || clock == CLOCK_MONOTONIC_COARSE ||
		 clock == CLOCK_MONOTONIC_RAW || clock == CLOCK_BOOTTIME)
		now = report(false);
	else
		return (int)syscall(SYS_clock_gettime, clock, ts);
	ts->tv_sec = now / NS_PER_S;
	ts->tv_nsec = now % NS_PER_S;
	return 0;
}

time_t
time(time_t *ret)
{
	const time_t s = report(true) / NS_PER_S;

	if (ret != NULL)
		*ret = s;
	return s;
}

int
gettimeofday(struct timeval *restrict tv, void *restrict zone)
{
	const int64_t now = report(true);

	tv->tv_sec = now / NS_PER_S;
	tv->tv_usec = now % NS_PER_S / 1000;
	return 0;
}

static int64_t
ns_of(const struct timespec *ts)
{
	return (int64_t)ts->tv_sec * NS_PER_S + ts->tv_nsec;
}

/* For precise timers libevent waits for a timerfd instead of a time-out. */
static __thread int64_t timer_ns = FOR_EVER;

int
timerfd_settime(
    int fd, int flags, const struct itimerspec *value, struct itimerspec *old)
{
	const int64_t ns = ns_of(&value->it_value);

	timer_ns = ns > 0 && (flags & TFD_TIMER_ABSTIME) == 0 ? ns : FOR_EVER;
	return (int)syscall(SYS_timerfd_settime, fd, flags, value, old);
}

int
epoll_wait(int fd, struct epoll_event *events, int max, int timeout_ms)
{
	const int64_t ns = timeout_ms < 0 ? FOR_EVER : timeout_ms * (int64_t)1000000;
	int n;

	look(ns < timer_ns ? ns : timer_ns);
	n = (int)syscall(SYS_epoll_pwait, fd, events, max, timeout_ms, NULL, 8);
	look(0);
	return n;
}

int
poll(struct pollfd *fds, nfds_t count, int timeout_ms)
{
	struct timespec ts = { .tv_sec = timeout_ms / 1000,
		.tv_nsec = timeout_ms % 1000 * 1000000L };
	int n;

	look(timeout_ms < 0 ? FOR_EVER : ns_of(&ts));
	n = (int)syscall(SYS_ppoll, fds, count, timeout_ms < 0 ? NULL : &ts, NULL, 8);
	look(0);
	return n;
}

int
nanosleep(const struct timespec *wait, struct timespec *left)
{
	int r;

	look(ns_of(wait));
	r = (int)syscall(SYS_nanosleep, wait, left);
	look(0);
	return r;
}

int
usleep(useconds_t us)
{
	const struct timespec wait = { .tv_sec = us / 1000000,
		.tv_nsec = us % 1000000 * 1000L };

	return nanosleep(&wait, NULL);
}
