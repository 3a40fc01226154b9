/* A device whose name has several addresses, through the real getaddrinfo: see
 * tests/support/resolver.h. Needs root. */
#include "tor-aggregator/collector/collector.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rackmesh/core/address.h"
#include "rackmesh/core/endpoint.h"
#include "rackmesh/core/log.h"
#include "rackmesh/loop/loop.h"
#include "tests/support/resolver.h"

#define INTERVAL_NS (2 * RM_NS_PER_S)

struct world {
	struct rm_loop *loop;
	struct collector *collector;
	char dialed[4][RM_ADDRESS_TEXT];
	size_t count;
	bool refuses; /* the connection to the first address fails */
};

static int
begin(int64_t limit_ns, struct rm_error *error, void *arg)
{
	struct world *w = arg;

	if (w->count > 0) { /* the earlier reading was abandoned too early */
		rm_loop_stop(w->loop);
		return -ECANCELED;
	}
	return collector_dial(w->collector);
}

static int
dial(const struct rm_address *address, struct rm_error *error, void *arg)
{
	struct world *w = arg;

	rm_address_format(address, w->dialed[w->count]);
	if (++w->count == 2)
		rm_loop_stop(w->loop);
	return w->refuses && w->count == 1 ? -ECONNREFUSED : 0;
}

static bool
is_connected(const void *arg)
{
	return false;
}

static void
hang_up(void *arg)
{
}

static const char *
stage(const void *arg)
{
	return "no connection";
}

static void
on_line(enum rm_log_level level, const char *line, void *arg)
{
}

static void
run(struct world *w)
{
	struct rm_endpoint endpoint;
	struct collector_options options = {
		.kind = "switch of",
		.name = "tor1",
		.address = "sw:6379",
		.endpoint = &endpoint,
		.values = "ports",
		.interval_ns = INTERVAL_NS,
		.limit_ns = INTERVAL_NS,
		.callbacks = { begin, dial, is_connected, hang_up, stage, w },
	};

	resolver_hosts("127.0.0.2 sw\n127.0.0.3 sw\n");
	rm_log_set_sink(on_line, w);
	assert_int_equal(rm_endpoint_parse("sw:6379", &endpoint), 0);
	assert_int_equal(rm_loop_new(&w->loop), 0);
	options.loop = w->loop;
	assert_int_equal(collector_new(&options, &w->collector), 0);
	rm_loop_run(w->loop);
	assert_int_equal(w->count, 2);
	assert_string_equal(w->dialed[0], "127.0.0.2:6379");
	assert_string_equal(w->dialed[1], "127.0.0.3:6379");
	assert_int_equal(collector_counts(w->collector)->reads, 1);
	collector_free(w->collector);
	rm_loop_free(w->loop);
	rm_log_set_sink(NULL, NULL);
}

static void
an_address_that_drops_all_packets_leaves_time_for_the_next(void **state)
{
	struct world w = { 0 };

	run(&w);
}

static void
an_address_that_cannot_be_dialed_is_passed_over(void **state)
{
	struct world w = { .refuses = true };

	run(&w);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    an_address_that_drops_all_packets_leaves_time_for_the_next),
		cmocka_unit_test(an_address_that_cannot_be_dialed_is_passed_over),
	};

	if (!resolver_own())
		return 77;
	return cmocka_run_group_tests_name("collector_addresses", tests, NULL, NULL);
}
