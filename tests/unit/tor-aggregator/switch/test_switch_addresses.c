/* A switch whose name has several addresses, through the real getaddrinfo: see
 * tests/support/resolver.h. Needs root. */
#include "tor-aggregator/switch/switch_collector.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rackmesh/core/log.h"
#include "rackmesh/loop/loop.h"
#include "tests/support/resolver.h"
#include "tor-aggregator/switch/switch_config.h"

#define PORT 6379
#define INTERVAL_NS (2 * RM_NS_PER_S)
#define PATIENCE_NS (20 * RM_NS_PER_S) /* of ten readings, of which one is enough */

struct world {
	struct rm_loop *loop;
	struct rm_timer *look, *deadline;
	struct switch_collector *collector;
	int listener, accepted; /* at the second address */
	bool late;
};

static void
on_look(void *arg)
{
	struct world *w = arg;

	w->accepted = accept(w->listener, NULL, NULL);
	if (w->accepted >= 0)
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
}

static int
open_at(uint32_t address, bool listens)
{
	const struct sockaddr_in in = { .sin_family = AF_INET,
		.sin_port = htons(PORT),
		.sin_addr.s_addr = htonl(address) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	assert_true(fd >= 0);
	if (listens) {
		assert_int_equal(bind(fd, (const struct sockaddr *)&in, sizeof(in)), 0);
		assert_int_equal(listen(fd, 0), 0);
	} else {
		connect(fd, (const struct sockaddr *)&in, sizeof(in));
	}
	return fd;
}

/* The first address swallows what is sent to it: its queue is full for good. */
static void
an_address_that_swallows_all_leaves_time_for_the_next(void **state)
{
	struct world w = { 0 };
	struct switch_config config = { SWITCH_SONIC, (char *)"sw:6379", (char *)"",
		1 };
	struct switch_collector_options options = {
		.tor = "tor1", .config = &config, .interval_ns = INTERVAL_NS
	};
	int full[3];

	resolver_hosts("127.0.0.2 sw\n127.0.0.3 sw\n");
	for (int i = 0; i < 3; i++)
		full[i] = open_at(0x7f000002, i == 0);
	w.listener = open_at(0x7f000003, true);
	rm_log_set_sink(on_line, &w);
	assert_int_equal(rm_loop_new(&w.loop), 0);
	assert_int_equal(rm_timer_new(w.loop, on_look, &w, &w.look), 0);
	assert_int_equal(rm_timer_new(w.loop, on_late, &w, &w.deadline), 0);
	options.loop = w.loop;
	assert_int_equal(switch_collector_new(&options, &w.collector), 0);
	rm_timer_after(w.look, RM_NS_PER_MS);
	rm_timer_after(w.deadline, PATIENCE_NS);
	rm_loop_run(w.loop);

	assert_false(w.late);
	close(w.accepted);
	close(w.listener);
	for (int i = 0; i < 3; i++)
		close(full[i]);
	switch_collector_free(w.collector);
	rm_timer_free(w.look);
	/* libevent frees a connection that has just come about in its next turn. */
	rm_timer_after(w.deadline, RM_NS_PER_MS);
	rm_loop_run(w.loop);
	rm_timer_free(w.deadline);
	rm_loop_free(w.loop);
	rm_log_set_sink(NULL, NULL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_address_that_swallows_all_leaves_time_for_the_next),
	};

	if (!resolver_own())
		return 77;
	return cmocka_run_group_tests_name("switch_addresses", tests, NULL, NULL);
}
