#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "rackmesh/loop/loop.h"
#include "rackmesh/loop/notify.h"
#include "rackmesh/loop/worker.h"

#define WATCHDOG_S 4

struct manager { /* takes the place of systemd */
	int fd;
	char path[64];
	char message[256];
	struct rm_notify *notify;
	struct rm_loop *loop;
	struct rm_worker *worker;
	struct rm_timer *timer;
	pthread_mutex_t gate;
	unsigned fired;
	bool answered;
};

static int
setup(void **state)
{
	struct manager *m = calloc(1, sizeof(*m));
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	if (m == NULL)
		return -1;
	pthread_mutex_init(&m->gate, NULL);
	snprintf(m->path, sizeof(m->path), "/tmp/test_notify.%d", (int)getpid());
	unlink(m->path);
	strcpy(address.sun_path, m->path);
	m->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (m->fd < 0 || bind(m->fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		return -1;
	setenv("NOTIFY_SOCKET", m->path, 1);
	setenv("WATCHDOG_USEC", "4000000", 1);
	unsetenv("WATCHDOG_PID");
	*state = m;
	return 0;
}

static int
teardown(void **state)
{
	struct manager *m = *state;

	rm_worker_free(m->worker);
	rm_timer_free(m->timer);
	rm_loop_free(m->loop);
	rm_notify_free(m->notify);
	close(m->fd);
	unlink(m->path);
	pthread_mutex_destroy(&m->gate);
	unsetenv("NOTIFY_SOCKET");
	unsetenv("WATCHDOG_USEC");
	unsetenv("WATCHDOG_PID");
	free(m);
	return 0;
}

/* Returns the next message; "" if there is none. */
static const char *
receives(struct manager *m)
{
	ssize_t n = recv(m->fd, m->message, sizeof(m->message) - 1, MSG_DONTWAIT);

	m->message[n < 0 ? 0 : n] = '\0';
	return m->message;
}

static rm_mono_t
at(double s)
{
	return (rm_mono_t){ (int64_t)(s * 1e9) };
}

static void
each_state_arrives_as_one_message(void **state)
{
	struct manager *m = *state;

	assert_int_equal(rm_notify_new(&m->notify), 0);
	assert_string_equal(receives(m), "");
	rm_notify_ready(m->notify);
	rm_notify_reloading(m->notify, at(7.5));
	rm_notify_stopping(m->notify);
	assert_string_equal(receives(m), "READY=1");
	assert_string_equal(receives(m), "RELOADING=1\nMONOTONIC_USEC=7500000");
	assert_string_equal(receives(m), "STOPPING=1");
	assert_string_equal(receives(m), "");
}

static void
a_notify_socket_may_have_an_abstract_name(void **state)
{
	struct manager *m = *state;
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	char name[64];
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0), own = m->fd;
	int len = snprintf(name, sizeof(name), "@test_notify.%d", (int)getpid());

	memcpy(address.sun_path + 1, name + 1, (size_t)len - 1);
	assert_int_equal(
	    bind(fd, (struct sockaddr *)&address,
		(socklen_t)(offsetof(struct sockaddr_un, sun_path) + (size_t)len)),
	    0);
	setenv("NOTIFY_SOCKET", name, 1);
	assert_int_equal(rm_notify_new(&m->notify), 0);
	rm_notify_ready(m->notify);
	m->fd = fd;
	assert_string_equal(receives(m), "READY=1");
	m->fd = own;
	close(fd);
}

static void
the_watchdog_is_fed_four_times_an_interval(void **state)
{
	struct manager *m = *state;
	unsigned fed = 0;

	assert_int_equal(rm_notify_new(&m->notify), 0);
	for (int i = 0; i <= 4000; i++) {
		rm_notify_worked(m->notify, NULL, at(i * 0.025));
		while (receives(m)[0] != '\0') {
			assert_string_equal(m->message, "WATCHDOG=1");
			fed++;
		}
	}
	assert_int_equal(fed, 1 + 100 * 4 / WATCHDOG_S);
	assert_int_equal(rm_notify_counts(m->notify)->fed, fed);
	/* Without a turn of the loop there is no message. */
	assert_string_equal(receives(m), "");
}

static void
without_a_watchdog_none_is_fed(void **state)
{
	static const char *const not_asked[] = { "", "0", "-1", "4000000x", "x",
		"99999999999999999999", "9999999999999" };
	struct manager *m = *state;

	for (size_t i = 0; i < sizeof(not_asked) / sizeof(not_asked[0]); i++) {
		setenv("WATCHDOG_USEC", not_asked[i], 1);
		assert_int_equal(rm_notify_new(&m->notify), 0);
		rm_notify_worked(m->notify, NULL, at(1));
		assert_string_equal(receives(m), "");
		rm_notify_free(m->notify);
		m->notify = NULL;
	}
	setenv("WATCHDOG_USEC", "4000000", 1);
	setenv("WATCHDOG_PID", "1", 1); /* another process's notification */
	assert_int_equal(rm_notify_new(&m->notify), 0);
	rm_notify_worked(m->notify, NULL, at(1));
	assert_string_equal(receives(m), "");
	rm_notify_ready(m->notify);
	assert_string_equal(receives(m), "READY=1");
	rm_notify_free(m->notify);
	m->notify = NULL;
	unsetenv("NOTIFY_SOCKET");
	assert_int_equal(rm_notify_new(&m->notify), 0);
	rm_notify_ready(m->notify);
	rm_notify_worked(m->notify, NULL, at(1));
	assert_string_equal(receives(m), "");
	assert_int_equal(rm_notify_counts(m->notify)->failed, 0);
}

static void
an_invalid_notify_socket_is_refused(void **state)
{
	struct manager *m = *state;
	char far[200];

	setenv("NOTIFY_SOCKET", "run/notify", 1);
	assert_int_equal(rm_notify_new(&m->notify), -EINVAL);
	setenv("NOTIFY_SOCKET", "@", 1);
	assert_int_equal(rm_notify_new(&m->notify), -EINVAL);
	memset(far, 'a', sizeof(far));
	far[0] = '/';
	far[sizeof(far) - 1] = '\0';
	setenv("NOTIFY_SOCKET", far, 1);
	assert_int_equal(rm_notify_new(&m->notify), -ENAMETOOLONG);
	assert_null(m->notify);
}

static void
messages_that_are_not_taken_are_counted_and_tried_again(void **state)
{
	struct manager *m = *state;

	assert_int_equal(rm_notify_new(&m->notify), 0);
	close(m->fd);
	unlink(m->path);
	m->fd = -1;
	rm_notify_worked(m->notify, NULL, at(1));
	rm_notify_worked(m->notify, NULL, at(1.1));
	assert_int_equal(rm_notify_counts(m->notify)->failed, 2);
	assert_int_equal(rm_notify_counts(m->notify)->fed, 0);
}

static int
run_behind_gate(void *arg)
{
	struct manager *m = arg;

	pthread_mutex_lock(&m->gate);
	pthread_mutex_unlock(&m->gate);
	return 0;
}

static void
on_answer(void *arg, int r)
{
	struct manager *m = arg;

	m->answered = true;
	rm_loop_stop(m->loop);
}

static void
a_hanging_worker_stops_the_watchdog_messages(void **state)
{
	struct manager *m = *state;
	rm_mono_t now = rm_mono_now();

	assert_int_equal(rm_loop_new(&m->loop), 0);
	assert_int_equal(rm_worker_new(m->loop, 4, &m->worker), 0);
	assert_int_equal(rm_notify_new(&m->notify), 0);
	/* An idle worker counts as alive, however long it is idle. */
	rm_notify_worked(m->notify, m->worker, rm_mono_add(now, 300 * RM_NS_PER_S));
	assert_string_equal(receives(m), "WATCHDOG=1");
	rm_notify_free(m->notify);
	assert_int_equal(rm_notify_new(&m->notify), 0);

	pthread_mutex_lock(&m->gate);
	assert_int_equal(rm_worker_submit(m->worker, run_behind_gate, on_answer, m), 0);
	now = rm_mono_now();
	rm_notify_worked(m->notify, m->worker, rm_mono_add(now, 30 * RM_NS_PER_S));
	assert_string_equal(receives(m), "WATCHDOG=1"); /* a slow disk */
	for (int s = 61; s < 120; s++)
		rm_notify_worked(
		    m->notify, m->worker, rm_mono_add(now, s * RM_NS_PER_S));
	assert_string_equal(receives(m), "");
	assert_int_equal(rm_notify_counts(m->notify)->withheld, 120 - 61);

	pthread_mutex_unlock(&m->gate);
	assert_int_equal(rm_loop_run(m->loop), 0);
	assert_true(m->answered);
	/* Sent by the loop's own notifier. */
	assert_string_equal(receives(m), "READY=1");
	assert_string_equal(receives(m), "STOPPING=1");
	rm_notify_worked(m->notify, m->worker, rm_mono_add(now, 121 * RM_NS_PER_S));
	assert_string_equal(receives(m), "WATCHDOG=1");
}

/* ---- with the loop -------------------------------------------------------------- */

static void
on_timer(void *arg)
{
	struct manager *m = arg;

	if (m->fired++ == 0)
		raise(SIGHUP);
	else
		raise(SIGTERM);
	rm_timer_after(m->timer, 10 * RM_NS_PER_MS);
}

static void
on_reload(void *arg)
{
	struct manager *m = arg;

	assert_string_equal(receives(m), "READY=1");
	assert_int_equal(strncmp(receives(m), "RELOADING=1\nMONOTONIC_USEC=", 26), 0);
	assert_string_equal(receives(m), "");
	m->answered = true;
}

static void
a_loop_is_ready_reloads_and_stops(void **state)
{
	struct manager *m = *state;

	assert_int_equal(rm_loop_new(&m->loop), 0);
	assert_non_null(rm_loop_notify(m->loop));
	assert_int_equal(rm_timer_new(m->loop, on_timer, m, &m->timer), 0);
	rm_loop_on_reload(m->loop, on_reload, m);
	rm_timer_after(m->timer, 0);
	assert_string_equal(receives(m), "");
	assert_int_equal(rm_loop_run(m->loop), 0);
	assert_true(m->answered);
	assert_string_equal(receives(m), "READY=1");
	assert_string_equal(receives(m), "STOPPING=1");
	assert_string_equal(receives(m), "");
}

static void
without_a_service_manager_nothing_is_sent_and_counts_are_zero(void **state)
{
	const struct rm_notify_counts *counts = rm_notify_counts(NULL);

	(void)state;
	rm_notify_ready(NULL);
	rm_notify_worked(NULL, NULL, at(1));
	assert_int_equal(counts->fed + counts->withheld + counts->failed, 0);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(each_state_arrives_as_one_message),
		TEST(a_notify_socket_may_have_an_abstract_name),
		TEST(the_watchdog_is_fed_four_times_an_interval),
		TEST(without_a_watchdog_none_is_fed),
		TEST(an_invalid_notify_socket_is_refused),
		TEST(messages_that_are_not_taken_are_counted_and_tried_again),
		TEST(a_hanging_worker_stops_the_watchdog_messages),
		TEST(a_loop_is_ready_reloads_and_stops),
		cmocka_unit_test(
		    without_a_service_manager_nothing_is_sent_and_counts_are_zero),
	};

	return cmocka_run_group_tests_name("notify", tests, NULL, NULL);
}
