/* Against a server that answers each connection with bytes from the test. */
#include "tor-aggregator/switch/switch_collector.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/listener.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "rackmesh/core/log.h"
#include "rackmesh/loop/loop.h"
#include "tor-aggregator/switch/config/switch_config.h"

#define SHORT_NS (100 * RM_NS_PER_MS)
#define LONG_NS (60 * RM_NS_PER_S) /* longer than any switch here needs */

struct world {
	struct rm_loop *loop;
	struct evconnlistener *listener;
	struct bufferevent *peer; /* the last connection, while it is open */
	struct switch_collector *collector;
	struct switch_config config;
	struct rm_timer *look, *deadline;
	char address[64], log[4096];
	const char *answer; /* sent to each connection; "": nothing is sent */
	bool again;         /* the answer is sent again and again */
	bool drips;      /* sends a byte each time that the test looks, without end */
	bool vanishes;   /* closes the connection after the answer */
	unsigned wanted; /* number of failed readings to wait for */
	bool late;       /* the deadline has passed */
};

static void
send_again(struct bufferevent *peer, void *arg)
{
	struct world *w = arg;

	if (w->again)
		bufferevent_write(peer, w->answer, strlen(w->answer));
}

static void
on_peer_event(struct bufferevent *peer, short events, void *arg)
{
	struct world *w = arg;

	if (w->peer == peer)
		w->peer = NULL;
	bufferevent_free(peer);
}

static void
on_accept(struct evconnlistener *listener, evutil_socket_t fd, struct sockaddr *address,
    int len, void *arg)
{
	struct world *w = arg;
	struct bufferevent *peer;

	if (w->vanishes) {
		assert_true(write(fd, w->answer, strlen(w->answer)) ==
			    (ssize_t)strlen(w->answer));
		close(fd);
		return;
	}
	peer = bufferevent_socket_new(rm_loop_base(w->loop), fd, BEV_OPT_CLOSE_ON_FREE);
	w->peer = peer;
	bufferevent_setcb(peer, NULL, send_again, on_peer_event, w);
	bufferevent_enable(peer, EV_READ | EV_WRITE);
	bufferevent_write(peer, w->answer, strlen(w->answer));
}

static void
on_look(void *arg)
{
	struct world *w = arg;

	if (w->drips && w->peer != NULL)
		bufferevent_write(w->peer, "x", 1);
	if (collector_counts(switch_collector_reading(w->collector, 0))->failed >=
	    w->wanted)
		rm_loop_stop(w->loop);
	rm_timer_after(w->look, RM_NS_PER_MS);
}

static void
on_late(void *arg)
{
	struct world *w = arg;

	w->late = true;
	rm_loop_stop(w->loop);
}

static void
on_line(enum rm_log_level level, const char *line, void *arg)
{
	struct world *w = arg;
	const size_t used = strlen(w->log);

	snprintf(w->log + used, sizeof(w->log) - used, "%s\n", line);
}

/* Runs until one reading has failed; if the switch sends nothing, three. Returns the
 * error. */
static const char *
run(struct world *w, const char *answer, bool again)
{
	const struct switch_collector_options options = { .loop = w->loop,
		.of = "switch of",
		.name = "tor1",
		.config = &w->config,
		.interval_ns = answer[0] == '\0' || w->drips ? SHORT_NS : LONG_NS };

	w->answer = answer;
	w->again = again;
	w->wanted = answer[0] == '\0' ? 3 : 1;
	assert_int_equal(switch_collector_new(&options, &w->collector), 0);
	rm_timer_after(w->look, RM_NS_PER_MS);
	rm_timer_after(w->deadline, 60 * RM_NS_PER_S);
	rm_loop_run(w->loop);
	assert_false(w->late);
	assert_false(switch_collector_shown(w->collector).reading.up);
	return switch_collector_shown(w->collector).reading.error;
}

static int
setup(void **state)
{
	static struct world w;
	struct sockaddr_in address = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(address);

	w = (struct world){ .config = { .kind = SWITCH_SONIC,
				.address = w.address,
				.password_file = (char *)"",
				.interval_s = 1 } };
	rm_log_set_sink(on_line, &w);
	assert_int_equal(rm_loop_new(&w.loop), 0);
	assert_int_equal(rm_timer_new(w.loop, on_look, &w, &w.look), 0);
	assert_int_equal(rm_timer_new(w.loop, on_late, &w, &w.deadline), 0);
	w.listener = evconnlistener_new_bind(rm_loop_base(w.loop), on_accept, &w,
	    LEV_OPT_CLOSE_ON_FREE, 16, (struct sockaddr *)&address, sizeof(address));
	assert_non_null(w.listener);
	getsockname(
	    evconnlistener_get_fd(w.listener), (struct sockaddr *)&address, &len);
	snprintf(w.address, sizeof(w.address), "127.0.0.1:%u", ntohs(address.sin_port));
	*state = &w;
	return 0;
}

static int
teardown(void **state)
{
	struct world *w = *state;

	switch_collector_free(w->collector);
	if (w->peer != NULL)
		bufferevent_free(w->peer);
	evconnlistener_free(w->listener);
	rm_timer_free(w->look);
	rm_timer_free(w->deadline);
	rm_loop_free(w->loop);
	rm_log_set_sink(NULL, NULL);
	return 0;
}

static void
a_reading_of_a_silent_switch_is_abandoned(void **state)
{
	struct world *w = *state;

	assert_non_null(strstr(run(w, "", false), "not all answers came in time"));
	assert_non_null(strstr(w->log, "switch of tor1: cannot read its counters"));
}

/* The switch answers so slowly that the reading would never end. */
static void
a_reading_of_a_slow_switch_is_abandoned(void **state)
{
	struct world *w = *state;

	w->drips = true;
	assert_non_null(strstr(run(w, "+", false), "not all answers came in time"));
}

static void
a_switch_that_disconnects_is_reported(void **state)
{
	struct world *w = *state;

	w->vanishes = true;
	assert_non_null(strstr(
	    run(w, "+OK\r\n*2\r\n$9\r\nEth", false), "it closed the connection"));
}

/* One of two switches hangs, the other is read again and again. */
static void
no_switch_waits_for_another_one(void **state)
{
	struct world *w = *state;
	struct switch_config gone = w->config;
	const struct switch_collector_options options = { .loop = w->loop,
		.of = "switch of",
		.name = "tor2",
		.config = &w->config,
		.interval_ns = LONG_NS };
	struct switch_collector *hangs;

	w->answer = ""; /* accepts the connection, and sends nothing for a minute */
	assert_int_equal(switch_collector_new(&options, &hangs), 0);
	gone.address = (char *)"127.0.0.1:1";
	w->config = gone;
	assert_non_null(strstr(run(w, "", false), "refused"));
	assert_int_equal(
	    collector_counts(switch_collector_reading(hangs, 0))->failed, 0);
	switch_collector_free(hangs);
}

static void
a_value_without_end_is_refused(void **state)
{
	static char endless[65536 + 1] = "$9999999999\r\n";

	memset(endless + strlen(endless), 'x', sizeof(endless) - 1 - strlen(endless));
	assert_non_null(strstr(run(*state, endless, true), "impossibly large"));
}

static void
more_answers_than_requests_are_refused(void **state)
{
	assert_non_null(
	    strstr(run(*state,
		       "+OK\r\n*2\r\n$9\r\nEthernet0\r\n$5\r\noid:1\r\n*0\r\n"
		       "*0\r\n+OK\r\n",
		       false),
		"more answers than it got"));
}

static void
another_kind_of_server_is_reported(void **state)
{
	assert_non_null(
	    strstr(run(*state, "SSH-2.0-OpenSSH_9.2\r\n", false), "as Redis does"));
}

static void
a_host_without_a_server_is_reported(void **state)
{
	struct world *w = *state;

	evconnlistener_disable(w->listener);
	snprintf(w->address, sizeof(w->address), "127.0.0.1:1");
	assert_non_null(strstr(run(w, "", false), "refused"));
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_reading_of_a_silent_switch_is_abandoned),
		TEST(a_reading_of_a_slow_switch_is_abandoned),
		TEST(a_switch_that_disconnects_is_reported),
		TEST(no_switch_waits_for_another_one),
		TEST(a_value_without_end_is_refused),
		TEST(more_answers_than_requests_are_refused),
		TEST(another_kind_of_server_is_reported),
		TEST(a_host_without_a_server_is_reported),
	};

	return cmocka_run_group_tests_name("switch_collector", tests, NULL, NULL);
}
