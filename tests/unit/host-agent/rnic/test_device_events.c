/* Runs in a new network namespace. Needs root; skipped (exit 77) without it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host-agent/rnic/device_events.h"
#include "rackmesh/loop/loop.h"
#include "tests/support/loopback.h"

static unsigned changes;

static void
on_change(void *arg)
{
	(*(unsigned *)arg)++;
}

static void
changes_of_links_and_addresses_are_reported(void **state)
{
	struct device_events *events;
	struct rm_loop *loop;

	assert_int_equal(rm_loop_new(&loop), 0);
	assert_int_equal(
	    device_events_new(loop, NULL, on_change, &changes, &events), 0);
	assert_int_equal(system("ip link add a1 type veth peer name a2"), 0);
	LOOPBACK_WAIT(loop, changes > 0);
	changes = 0;
	assert_int_equal(system("ip address add 10.1.0.1/24 dev a1"), 0);
	LOOPBACK_WAIT(loop, changes > 0);
	changes = 0;
	assert_int_equal(system("ip link set a1 mtu 1400"), 0);
	LOOPBACK_WAIT(loop, changes > 0);
	changes = 0;
	assert_int_equal(system("ip link delete a1"), 0);
	LOOPBACK_WAIT(loop, changes > 0);
	assert_true(*device_events_count(events) >= 4);
	device_events_free(events);
	rm_loop_free(loop);
}

static void
kernel_messages_about_rdma_devices_are_reported(void **state)
{
	static const char rdma[] = "add@/devices/pci0/infiniband/mlx5_0\0ACTION=add\0"
				   "SUBSYSTEM=infiniband\0NAME=mlx5_0";
	static const char verbs[] = "add@/devices/x\0SUBSYSTEM=infiniband_verbs";
	static const char block[] = "add@/devices/infiniband\0SUBSYSTEM=block";

	assert_true(device_events_is_rdma(rdma, sizeof(rdma)));
	assert_true(device_events_is_rdma(verbs, sizeof(verbs)));
	assert_false(device_events_is_rdma(block, sizeof(block)));
	/* A message may be cut anywhere: nothing is read beyond its end. */
	for (size_t len = 0; len < sizeof(rdma); len++) {
		char *exact = malloc(len + (len == 0));

		assert_non_null(exact);
		memcpy(exact, rdma, len);
		(void)device_events_is_rdma(exact, len);
		free(exact);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(changes_of_links_and_addresses_are_reported),
		cmocka_unit_test(kernel_messages_about_rdma_devices_are_reported),
	};

	if (geteuid() != 0 || unshare(CLONE_NEWNET) < 0)
		return 77;
	return cmocka_run_group_tests_name("device_events", tests, NULL, NULL);
}
