/* Devices whose name server does not answer, through the real getaddrinfo: see
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
#include "rackmesh/net/lookup.h"
#include "tests/support/loopback.h"
#include "tests/support/resolver.h"

#define INTERVAL_NS (100 * RM_NS_PER_MS)
#define OTHERS (RM_LOOKUPS_MAX + 4)

struct device {
	struct rm_endpoint endpoint;
	struct collector *collector;
	unsigned dialed;
};

static unsigned warnings;

static int
begin(int64_t limit_ns, struct rm_error *error, void *arg)
{
	struct device *device = arg;

	return collector_dial(device->collector);
}

static int
dial(const struct rm_address *address, struct rm_error *error, void *arg)
{
	struct device *device = arg;

	device->dialed++;
	return 0;
}

static bool
is_connected(const void *arg)
{
	return true;
}

static void
hang_up(void *arg)
{
}

static const char *
stage(const void *arg)
{
	return "no answer";
}

static void
on_line(enum rm_log_level level, const char *line, void *arg)
{
	warnings++;
}

static void
start(struct rm_loop *loop, const char *address, bool own, struct device *device)
{
	const struct collector_options options = {
		.loop = loop,
		.kind = "switch",
		.name = address,
		.address = address,
		.own = own,
		.endpoint = &device->endpoint,
		.values = "ports",
		.interval_ns = INTERVAL_NS,
		.limit_ns = INTERVAL_NS,
		.callbacks = { begin, dial, is_connected, hang_up, stage, device },
	};

	assert_int_equal(rm_endpoint_parse(address, &device->endpoint), 0);
	assert_int_equal(collector_new(&options, &device->collector), 0);
}

static bool
have_failed(const struct device *devices, uint64_t times)
{
	for (size_t i = 0; i < OTHERS; i++)
		if (collector_counts(devices[i].collector)->failed < times)
			return false;
	return true;
}

/* The number of devices whose last reading has this error. */
static unsigned
report(const struct device *devices, const char *error)
{
	unsigned count = 0;

	for (size_t i = 0; i < OTHERS; i++)
		count +=
		    strcmp(collector_shown(devices[i].collector).error, error) == 0;
	return count;
}

#define IN_TIME "its name could not be resolved in time"
#define BUSY "too many names are being looked up: the name server does not answer"

/* However many devices there are, each waits for its own look-up, and all together
 * leave some look-ups for the rack's own switch. */
static void
unanswered_names_leave_lookups_for_the_own_tor(void **state)
{
	static struct device others[OTHERS], own;
	const unsigned may = RM_LOOKUPS_MAX / 2;
	unsigned questions = 0; /* a look-up asks for A and AAAA */
	struct rm_loop *loop;
	int server;

	resolver_hosts("127.0.0.2 tor1\n");
	rm_log_set_sink(on_line, NULL);
	assert_int_equal(rm_loop_new(&loop), 0);
	/* No answer and a refusal are the same reason. */
	start(loop, "slow.invalid:6379", false, &others[0]);
	LOOPBACK_WAIT(loop, collector_counts(others[0].collector)->failed > 0);
	server = resolver_silent();
	LOOPBACK_WAIT(
	    loop, strcmp(collector_shown(others[0].collector).error, IN_TIME) == 0);
	assert_int_equal(warnings, 1);

	for (size_t i = 1; i < OTHERS; i++)
		start(loop, "slow.invalid:6379", false, &others[i]);
	LOOPBACK_WAIT(loop, have_failed(others, 4));
	LOOPBACK_WAIT(loop, (questions += resolver_asked(server)) >= 2 * may);
	assert_int_equal(report(others, IN_TIME), may);
	assert_int_equal(report(others, BUSY), OTHERS - may);

	start(loop, "tor1:6379", true, &own);
	LOOPBACK_WAIT(loop, own.dialed > 0);
	assert_false(resolver_asked(server));

	collector_free(own.collector);
	for (size_t i = 0; i < OTHERS; i++)
		collector_free(others[i].collector);
	rm_loop_free(loop);
	rm_log_set_sink(NULL, NULL);
	close(server);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unanswered_names_leave_lookups_for_the_own_tor),
	};

	if (!resolver_own())
		return 77;
	return cmocka_run_group_tests_name("collector_names", tests, NULL, NULL);
}
