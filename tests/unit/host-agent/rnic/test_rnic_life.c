/*
 * A real RNIC over a fake RDMA device, which is removed, broken and returned
 * repeatedly. The RNIC probes itself.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <dirent.h>
#include <event2/buffer.h>
#include <string.h>

#include "host-agent/api/agent_metrics.h"
#include "host-agent/pinglist/pinglist.h"
#include "host-agent/rnic/rnic.h"
#include "host-agent/verbs/priority_pool.h"
#include "rackmesh/loop/worker.h"
#include "rackmesh/metrics/metrics.h"
#include "rdma_fixture.h"
#include "tests/support/fake_verbs.h"
#include "tests/support/loopback.h"

#define CYCLES 100

struct fixture {
	struct rdma_fixture sysfs;
	struct rm_loop *loop;
	struct rm_worker *worker;
	struct priority_pool *pool;
	struct fake_device *device;
	struct rnic *rnic;
	unsigned ups, changes, waits;
	uint64_t outcomes[WIRE_OUTCOMES];
};

static struct fixture fixture;

static void
on_result(
    struct rnic *rnic, const struct wire_result *result, rm_mono_t sent, void *arg)
{
	if (result->outcome != WIRE_OVERDUE) /* WIRE_OVERDUE occurs on a slow machine */
		((struct fixture *)arg)->outcomes[result->outcome]++;
}

static void
on_event(struct rnic *rnic, enum rnic_event event, int reason, void *arg)
{
	struct fixture *f = arg;

	f->ups += event == RNIC_UP;
	f->changes += event != RNIC_UP && event != RNIC_WAITS;
	f->waits += event == RNIC_WAITS;
}

static void
on_counters(struct rnic *rnic, bool there, void *arg)
{
}

static int
setup(void **state)
{
	static const struct rnic_callbacks callbacks = { on_result, on_event,
		on_counters };
	static const uint8_t gid[16] = { [10] = 0xff, 0xff, 10, 9, 0, 1 };
	struct fixture *f = &fixture;
	struct rnic_options options = {
		.place = { .transport = RNIC_ROCE,
		    .device = "rxe0",
		    .rdma_port = 1,
		    .gid_index = -1 },
		.tors = { "tor-a" },
		.tor_count = 1,
		.flow_qps = 4,
		.calls = &fake_verbs_calls,
		.prober = { .timeout_ns = 200 * RM_NS_PER_MS },
	};

	*f = (struct fixture){ 0 };
	*state = f;
	rdma_fixture_make(&f->sysfs);
	rdma_fixture_port(&f->sysfs);
	rdma_fixture_gid(&f->sysfs, 0, RDMA_V4, "RoCE v2", "eth1");
	f->device = fake_verbs_add("rxe0", 1);
	memcpy(f->device->gids[0], gid, sizeof(gid));
	if (rm_loop_new(&f->loop) < 0 || rm_worker_new(f->loop, 8, &f->worker) < 0 ||
	    priority_pool_new(f->loop, PRIORITY_POOL_MIN, &f->pool) < 0)
		return -1;
	options.pool = f->pool;
	options.place.sysfs = f->sysfs.root;
	return rnic_new(f->loop, f->worker, &options, &callbacks, f, &f->rnic);
}

static int
teardown(void **state)
{
	struct fixture *f = *state;
	const char *violation;

	rm_worker_free(f->worker);
	rnic_free(f->rnic);
	priority_pool_free(f->pool);
	rm_loop_free(f->loop);
	rdma_fixture_free(&f->sysfs);
	violation = fake_verbs_violation();
	if (violation != NULL)
		print_error("%s\n", violation);
	return fake_verbs_clear() == 0 && violation == NULL ? 0 : -1;
}

static size_t
open_fds(void)
{
	DIR *folder = opendir("/proc/self/fd");
	size_t count = 0;

	assert_non_null(folder);
	while (readdir(folder) != NULL)
		count++;
	closedir(folder);
	return count;
}

/* The fake wire delivers replies back to the same device. */
static void
check_probing(struct fixture *f)
{
	static const uint16_t flows[] = { 50000, 50001 }, sizes[] = { 64, 1024 };
	static const uint8_t dscps[] = { 26 };
	uint64_t fine = f->outcomes[WIRE_OK];
	struct wire_rnic own;
	struct wire_target target;
	struct wire_peer peer;

	assert_true(rnic_describe(f->rnic, &own));
	assert_int_equal(own.link, WIRE_LINK_UP);
	peer = (struct wire_peer){ own.id, own.addresses[0] };
	target = (struct wire_target){ .src = own.id,
		.dst = own.id,
		.kind = WIRE_TOR_MESH,
		.address = own.addresses[0],
		.dst_qpn = own.qpn,
		.dst_large_qpn = own.large_qpn,
		.interval_us = 1000,
		.flows = flows,
		.flow_count = 2,
		.dscps = dscps,
		.dscp_count = 1,
		.sizes = sizes,
		.size_count = 2 };
	assert_int_equal(rnic_plan(f->rnic, &(struct pinglist_sum){ .targets = &target,
						.target_count = 1,
						.peers = &peer,
						.peer_count = 1 }),
	    0);
	LOOPBACK_WAIT(f->loop, f->outcomes[WIRE_OK] > fine + 3);
}

static void
start(struct fixture *f)
{
	rnic_look(f->rnic);
	LOOPBACK_WAIT(f->loop, f->ups == 1);
	check_probing(f);
}

static void
what_its_rdma_port_counts_shows_in_the_metrics(void **state)
{
	struct fixture *f = *state;
	struct evbuffer *out = evbuffer_new();
	struct rm_metrics *metrics = NULL;
	const char *text;

	start(f);
	assert_int_equal(rm_metrics_new(&metrics), 0);
	assert_int_equal(agent_metrics_rnic(metrics, f->rnic), 0);
	assert_int_equal(rm_metrics_render(metrics, out), 0);
	evbuffer_add(out, "", 1);
	text = (const char *)evbuffer_pullup(out, -1);
	assert_non_null(strstr(
	    text, "\nrackmesh_agent_verbs_handles_created_total{device=\"rxe0\"} 1\n"));
	assert_non_null(strstr(
	    text, "\nrackmesh_agent_verbs_handles_failed_total{device=\"rxe0\"} 0\n"));
	assert_non_null(strstr(text,
	    "\nrackmesh_agent_verbs_handles_denied_total{device=\"rxe0\",reason="
	    "\"full\"} 0\n"));
	assert_non_null(strstr(
	    text, "\nrackmesh_agent_verbs_refills_refused_total{device=\"rxe0\"} 0\n"));
	assert_non_null(
	    strstr(text, "\nrackmesh_agent_targets_keyed{device=\"rxe0\"} 0\n"));
	rm_metrics_free(metrics);
	evbuffer_free(out);
}

static void
a_device_may_disappear_and_return_any_number_of_times(void **state)
{
	struct fixture *f = *state;
	size_t objects, fds;

	start(f);
	objects = fake_verbs_objects();
	fds = open_fds();
	for (unsigned i = 1; i <= CYCLES; i++) {
		fake_verbs_remove(f->device);
		/* Sysfs still shows the device. */
		LOOPBACK_WAIT(f->loop, f->ups == 1 + i);
		if (i % 10 == 0)
			check_probing(f);
	}
	assert_int_equal(f->changes, CYCLES);
	check_probing(f);
	/* Objects that are in use by threads are freed a little later. */
	LOOPBACK_WAIT(f->loop, fake_verbs_objects() == objects);
	assert_int_equal(open_fds(), fds);
}

static void
a_link_may_go_down_and_up_any_number_of_times(void **state)
{
	struct fixture *f = *state;
	struct wire_rnic before, after;

	start(f);
	assert_true(rnic_describe(f->rnic, &before));
	for (unsigned i = 0; i < CYCLES; i++) {
		if (i % 3 == 0)
			fake_verbs_break(f->device, before.qpn);
		fake_verbs_link(f->device, false);
		LOOPBACK_WAIT(f->loop, rnic_link(f->rnic) == WIRE_LINK_DOWN);
		fake_verbs_link(f->device, true);
		LOOPBACK_WAIT(f->loop, rnic_link(f->rnic) == WIRE_LINK_UP);
	}
	check_probing(f);
	assert_true(rnic_describe(f->rnic, &after));
	assert_int_equal(before.qpn, after.qpn);
	assert_int_equal(f->ups, 1);
}

static void
qps_that_cannot_be_reset_are_registered_with_their_new_numbers(void **state)
{
	struct fixture *f = *state;
	struct wire_rnic before, after;

	start(f);
	assert_true(rnic_describe(f->rnic, &before));
	f->device->fail_reset = -EINVAL;
	fake_verbs_break(f->device, before.qpn);
	fake_verbs_qp_event(f->device, IBV_EVENT_QP_FATAL, before.qpn);
	LOOPBACK_WAIT(f->loop, f->ups == 2);
	assert_true(rnic_describe(f->rnic, &after));
	assert_int_not_equal(before.qpn, after.qpn);
	check_probing(f);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_its_rdma_port_counts_shows_in_the_metrics),
		TEST(a_device_may_disappear_and_return_any_number_of_times),
		TEST(a_link_may_go_down_and_up_any_number_of_times),
		TEST(qps_that_cannot_be_reset_are_registered_with_their_new_numbers),
	};

	return cmocka_run_group_tests_name("rnic_life", tests, NULL, NULL);
}
