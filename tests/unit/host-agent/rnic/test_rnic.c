/*
 * An RNIC that is an RDMA port, from its files in a fake sysfs to the events that it
 * reports. This file replaces port_verbs by a fake.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "host-agent/pinglist/pinglist.h"
#include "host-agent/rnic/rnic.h"
#include "rackmesh/loop/worker.h"
#include "rdma_fixture.h"
#include "tests/support/fake_port.h"
#include "tests/support/loopback.h"
#include "tests/support/pinglist_fixture.h"

#define V2 "RoCE v2"
#define INTERVAL_US 2000
#define NEVER_NS (100 * RM_NS_PER_MS)

struct fixture {
	struct rdma_fixture sysfs;
	struct rm_loop *loop;
	struct rm_worker *worker;
	struct rnic *rnic;
	unsigned ups, changes, waits;
	int reason; /* reason of the last wait */
	bool counters;
	enum rnic_event last;

	/* the fake port_verbs */
	struct fake_port port;
	struct port_verbs_options options;
	struct port_verbs_events events;
	struct port_verbs_facts facts;
	unsigned opened;
	int error; /* result of opening a port */
	enum rnic_identity identity;
};

static struct fixture fixture;

int
port_verbs_new(struct rm_loop *loop, const struct port_verbs_options *options,
    const struct port_verbs_events *events, struct port **ret)
{
	struct fixture *f = &fixture;

	if (f->error != 0)
		return f->error;
	fake_port_init_roce(&f->port, PORT_FLOWS_QP);
	f->options = *options;
	assert_string_equal(options->device, "rxe0");
	assert_string_equal(options->driver, "rxe");
	f->events = *events;
	f->facts.qpn = 0x100 + f->opened;
	f->facts.large_qpn = 0x200 + f->opened;
	f->facts.mtu_bytes = 4096;
	f->opened++;
	*ret = &f->port.port;
	return 0;
}

void
port_verbs_facts(const struct port *port, struct port_verbs_facts *ret)
{
	assert_ptr_equal(port, &fixture.port.port);
	*ret = fixture.facts;
}

static void
on_result(
    struct rnic *rnic, const struct wire_result *result, rm_mono_t sent, void *arg)
{
}

static void
on_event(struct rnic *rnic, enum rnic_event event, int reason, void *arg)
{
	struct fixture *f = arg;

	f->ups += event == RNIC_UP;
	f->changes += event != RNIC_UP && event != RNIC_WAITS;
	f->waits += event == RNIC_WAITS;
	f->reason = reason;
	f->last = event;
}

static void
on_counters(struct rnic *rnic, bool there, void *arg)
{
	((struct fixture *)arg)->counters = there;
}

static enum rnic_identity
identity(const struct rnic *rnic, const struct rnic_facts *facts, void *arg)
{
	return ((struct fixture *)arg)->identity;
}

static int
setup(void **state)
{
	struct fixture *f = &fixture;

	*f = (struct fixture){ .facts.link_up = true };
	*state = f;
	rdma_fixture_make(&f->sysfs);
	rdma_fixture_port(&f->sysfs);
	rdma_fixture_gid(&f->sysfs, 0, RDMA_LINK_LOCAL, V2, "eth1");
	rdma_fixture_gid(&f->sysfs, 1, RDMA_V4, V2, "eth1");
	return rm_loop_new(&f->loop) < 0 || rm_worker_new(f->loop, 8, &f->worker) < 0
		   ? -1
		   : 0;
}

static int
teardown(void **state)
{
	struct fixture *f = *state;

	rm_worker_free(f->worker);
	rnic_free(f->rnic);
	rm_loop_free(f->loop);
	rdma_fixture_free(&f->sysfs);
	return 0;
}

static void
start(struct fixture *f, const char *device, uint8_t port)
{
	static const struct rnic_callbacks callbacks = { on_result, on_event,
		on_counters, identity };
	struct rnic_options options = {
		.place = { .transport = RNIC_AUTO,
		    .device = device,
		    .rdma_port = port,
		    .gid_index = -1,
		    .sysfs = f->sysfs.root },
		.tors = { "tor-a" },
		.tor_count = 1,
		.udp_port = 862,
		.flow_qps = 4,
		.software_stamps = true,
		.prober = { .timeout_ns = 500 * RM_NS_PER_MS },
	};

	assert_int_equal(
	    rnic_new(f->loop, f->worker, &options, &callbacks, f, &f->rnic), 0);
	rnic_look(f->rnic);
}

/* Sets one target, which is probed every INTERVAL_US. */
static void
plan(struct fixture *f)
{
	static const uint16_t flows[] = { 50000 }, sizes[] = { 64 };
	static const uint8_t dscps[] = { 26 };
	struct wire_target target = { .src = rnic_facts(f->rnic)->id,
		.dst = rnic_number(2),
		.kind = WIRE_TOR_MESH,
		.address = address_number(2, WIRE_ROCE_PORT),
		.dst_qpn = 77,
		.dst_large_qpn = 78,
		.interval_us = INTERVAL_US,
		.flows = flows,
		.flow_count = 1,
		.dscps = dscps,
		.dscp_count = 1,
		.sizes = sizes,
		.size_count = 1 };
	struct pinglist_sum sum = { .targets = &target, .target_count = 1 };

	assert_int_equal(rnic_plan(f->rnic, &sum), 0);
}

static void
check_probing(struct fixture *f)
{
	size_t sent = f->port.sent_count;

	LOOPBACK_WAIT(f->loop, f->port.sent_count > sent + 3);
}

static void
check_quiet(struct fixture *f)
{
	size_t sent;

	/* Sends the probes that were already due. */
	loopback_run(f->loop, NEVER_NS / 5);
	sent = f->port.sent_count;
	loopback_run(f->loop, NEVER_NS);
	assert_int_equal(f->port.sent_count, sent);
}

static struct fixture *
probing(void **state)
{
	struct fixture *f = *state;

	start(f, "eth1", 1);
	LOOPBACK_WAIT(f->loop, f->ups == 1);
	plan(f);
	check_probing(f);
	return f;
}

static void
report_link(struct fixture *f, bool up)
{
	f->facts.link_up = up;
	f->events.on_link(up, f->events.arg);
}

static void
check_registered(struct fixture *f, enum wire_link link, uint32_t qpn)
{
	struct wire_rnic seen;

	assert_true(rnic_describe(f->rnic, &seen));
	assert_true(seen.id.guid == RDMA_GUID_VALUE);
	assert_int_equal(seen.id.port, 1);
	assert_string_equal(seen.driver, "rxe");
	assert_int_equal(seen.address_count, 1);
	assert_int_equal(seen.addresses[0].port, WIRE_ROCE_PORT);
	assert_int_equal(seen.addresses[0].bytes[3], 1);
	assert_int_equal(seen.mtu_bytes, 4096);
	assert_int_equal(seen.qpn, qpn);
	assert_int_equal(seen.large_qpn, qpn + 0x100);
	assert_int_equal(seen.link, link);
}

static void
an_rnic_is_opened_with_its_gids_and_registered_with_its_qps(void **state)
{
	struct fixture *f = probing(state);
	struct port_verbs_facts verbs;

	assert_int_equal(f->options.port_num, 1);
	assert_int_equal(f->options.gids[0].index, 1);
	assert_int_equal(f->options.gids[0].address.family, 4);
	assert_memory_equal(f->options.gids[0].gid + 10, "\xff\xff\x0a\x09\x00\x01", 6);
	assert_int_equal(f->options.gids[1].address.family, 0);
	assert_int_equal(f->options.flow_qps, 4);
	assert_true(f->options.software_stamps);
	assert_string_equal(rnic_device(f->rnic), "eth1");
	assert_string_equal(rnic_facts(f->rnic)->netdev, "eth1");
	assert_true(rnic_verbs(f->rnic, &verbs));
	assert_int_equal(verbs.qpn, 0x100);
	assert_int_equal(f->port.sent[0].qpn, 77);
	check_registered(f, WIRE_LINK_UP, 0x100);
}

/* If the NIC's clock becomes unreliable during use, software stamps replace its own. */
static void
the_present_source_of_stamps_is_reported(void **state)
{
	struct fixture *f = *state;

	f->facts.stamps = WIRE_STAMP_NIC;
	start(f, "eth1", 1);
	LOOPBACK_WAIT(f->loop, f->ups == 1);
	assert_int_equal(rnic_stamps(f->rnic), WIRE_STAMP_NIC);
	f->facts.stamps = WIRE_STAMP_USER;
	assert_int_equal(rnic_stamps(f->rnic), WIRE_STAMP_USER);
}

static void
while_its_link_is_down_no_probe_is_tried(void **state)
{
	struct fixture *f = probing(state);

	report_link(f, false);
	LOOPBACK_WAIT(f->loop, f->changes == 1);
	assert_int_equal(f->last, RNIC_LINK_DOWN);
	check_registered(f, WIRE_LINK_DOWN, 0x100);
	check_quiet(f);
	report_link(f, true);
	LOOPBACK_WAIT(f->loop, f->changes == 2);
	assert_int_equal(f->last, RNIC_LINK_UP);
	check_registered(f, WIRE_LINK_UP, 0x100);
	check_probing(f);
	assert_int_equal(f->ups, 1);
	assert_int_equal(f->opened, 1);
}

static void
a_flapping_link_is_followed_but_reported_once_a_second(void **state)
{
	struct fixture *f = probing(state);
	const rm_mono_t begun = rm_mono_now();

	for (unsigned i = 0; i < 20; i++) {
		report_link(f, i % 2 != 0);
		loopback_run(f->loop, 5 * RM_NS_PER_MS);
		assert_int_equal(
		    rnic_link(f->rnic), i % 2 != 0 ? WIRE_LINK_UP : WIRE_LINK_DOWN);
	}
	if (rm_mono_since(rm_mono_now(), begun) < RM_NS_PER_S)
		assert_int_equal(f->changes, 2);
	assert_int_equal(f->last, RNIC_LINK_UP);
	report_link(f, false);
	/* The final state is reported. */
	LOOPBACK_WAIT(f->loop, f->last == RNIC_LINK_DOWN);
	assert_in_range(rm_mono_since(rm_mono_now(), begun), RM_NS_PER_S, INT64_MAX);
	report_link(f, true);
	LOOPBACK_WAIT(f->loop, f->last == RNIC_LINK_UP);
	check_probing(f);
}

static void
an_rnic_that_starts_down_waits_for_its_link(void **state)
{
	struct fixture *f = *state;

	f->facts.link_up = false;
	start(f, "rxe0", 1);
	LOOPBACK_WAIT(f->loop, f->ups == 1);
	plan(f);
	check_registered(f, WIRE_LINK_DOWN, 0x100);
	check_quiet(f);
	report_link(f, true);
	check_probing(f);
}

static void
a_link_that_comes_back_ends_no_pause_and_no_brake(void **state)
{
	struct fixture *f = probing(state);

	rnic_pause(f->rnic, true);
	report_link(f, false);
	LOOPBACK_WAIT(f->loop, f->changes == 1);
	report_link(f, true);
	LOOPBACK_WAIT(f->loop, f->changes == 2);
	check_quiet(f);
	rnic_brake(f->rnic, 0);
	rnic_pause(f->rnic, false);
	check_quiet(f);
	report_link(f, false);
	LOOPBACK_WAIT(f->loop, f->changes == 3);
	rnic_brake(f->rnic, 1000);
	check_quiet(f);
	report_link(f, true);
	check_probing(f);
}

static void
new_numbers_ask_for_a_new_registration_and_targets(void **state)
{
	struct fixture *f = probing(state);

	f->facts.qpn = 0x123;
	f->facts.large_qpn = 0x223;
	f->events.on_renumbered(f->events.arg);
	assert_int_equal(f->ups, 1); /* not called from inside the port */
	LOOPBACK_WAIT(f->loop, f->ups == 2);
	check_registered(f, WIRE_LINK_UP, 0x123);
	assert_int_equal(f->opened, 1);
}

static void
a_device_that_is_gone_stays_registered_and_is_found_again(void **state)
{
	struct fixture *f = probing(state);
	struct port_verbs_facts verbs;

	rdma_fixture_run(&f->sysfs, "mv class/infiniband/rxe0 rxe0");
	f->events.on_gone(-EIO, f->events.arg);
	LOOPBACK_WAIT(f->loop, f->waits == 2); /* sysfs does not show it either */
	assert_int_equal(f->reason, -ENODEV);
	assert_int_equal(f->changes, 1);
	assert_false(rnic_up(f->rnic));
	assert_false(f->counters);
	assert_false(rnic_verbs(f->rnic, &verbs));
	check_registered(f, WIRE_LINK_DOWN, 0x100);

	f->error = -ENODEV; /* sysfs shows only a part of the device */
	rdma_fixture_run(&f->sysfs, "mv rxe0 class/infiniband/rxe0");
	rnic_look(f->rnic);
	loopback_run(f->loop, NEVER_NS);
	assert_false(rnic_up(f->rnic));
	f->error = 0;
	rnic_look(f->rnic);
	LOOPBACK_WAIT(f->loop, f->ups == 2);
	check_registered(f, WIRE_LINK_UP, 0x101);
	plan(f);
	check_probing(f);
}

static void
a_device_with_the_guid_of_another_is_distinguished_and_probed(void **state)
{
	struct fixture *f = *state;
	struct wire_rnic rnic;

	f->identity = RNIC_ID_SHARED;
	start(f, "eth1", 1);
	LOOPBACK_WAIT(f->loop, f->ups == 1);
	assert_true(rnic_describe(f->rnic, &rnic));
	assert_true(rnic.id.guid != RDMA_GUID_VALUE && rnic.id.guid != 0);
	assert_int_equal(rnic.id.port, 1);
	assert_true(rnic_facts(f->rnic)->id.guid == rnic.id.guid);
	plan(f);
	check_probing(f);
	/* The id stays for good, even if the other owner of the GUID disappears. */
	f->identity = RNIC_ID_FREE;
	rnic_look(f->rnic);
	loopback_run(f->loop, NEVER_NS);
	assert_int_equal(f->opened, 1);
	assert_true(rnic_facts(f->rnic)->id.guid == rnic.id.guid);
}

static void
a_device_listed_twice_is_probed_once_and_the_duplicate_is_reported(void **state)
{
	struct fixture *f = *state;

	f->identity = RNIC_ID_TWICE;
	start(f, "eth1", 1);
	LOOPBACK_WAIT(f->loop, f->waits == 1);
	assert_int_equal(f->reason, -EEXIST);
	assert_false(rnic_up(f->rnic));
	assert_int_equal(f->opened, 0);
	assert_non_null(
	    strstr(rnic_waits_error(f->rnic), "twice, under different names"));
}

static void
the_reason_of_a_failed_open_is_reported_as_text(void **state)
{
	static const struct {
		int error;
		const char *expected;
	} cases[] = { { -ENOENT, "/dev/infiniband" }, { -ENODEV, "ib_uverbs" },
		{ -EACCES, "DeviceAllow=" }, { -ENOMEM, "LimitMEMLOCK=" } };
	struct fixture *f = *state;

	f->error = cases[0].error;
	start(f, "eth1", 1); /* with transport auto */
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		f->error = cases[i].error;
		rnic_look(f->rnic);
		LOOPBACK_WAIT(f->loop, f->reason == cases[i].error);
		assert_non_null(strstr(rnic_waits_error(f->rnic), cases[i].expected));
	}
}

static void
a_changed_mtu_reopens_the_rnic_without_an_error(void **state)
{
	struct fixture *f = probing(state);

	f->events.on_gone(-ESTALE, f->events.arg);
	LOOPBACK_WAIT(f->loop, f->ups == 2);
	assert_int_equal(f->opened, 2);
	assert_int_equal(f->changes, 0);
	assert_int_equal(f->waits, 0);
	/* Unless opening fails. */
	f->error = -ENOMEM;
	f->events.on_gone(-ESTALE, f->events.arg);
	LOOPBACK_WAIT(f->loop, f->waits == 1);
	assert_int_equal(f->reason, -ENOMEM);
	assert_int_equal(f->changes, 1);
	check_registered(f, WIRE_LINK_DOWN, 0x101);
}

static void
a_device_removed_without_an_event_is_noticed_at_the_next_examination(void **state)
{
	struct fixture *f = probing(state);

	rdma_fixture_run(&f->sysfs, "mv class/infiniband/rxe0 rxe0");
	rnic_look(f->rnic);
	LOOPBACK_WAIT(f->loop, f->waits == 1);
	assert_int_equal(f->changes, 1);
	/* The RNIC does not change into another one over UDP. */
	rnic_look(f->rnic);
	loopback_run(f->loop, NEVER_NS);
	assert_false(rnic_up(f->rnic));
	check_registered(f, WIRE_LINK_DOWN, 0x100);
}

static void
an_address_that_is_gone_while_the_link_is_down_is_waited_for(void **state)
{
	struct fixture *f = probing(state);

	rdma_fixture_gid(&f->sysfs, 1, RDMA_NONE, "", "");
	report_link(f, false);
	LOOPBACK_WAIT(f->loop, f->waits == 1);
	assert_true(rnic_up(f->rnic));
	rdma_fixture_gid(&f->sysfs, 1, RDMA_V4, V2, "eth1");
	report_link(f, true);
	check_probing(f);
	assert_int_equal(f->opened, 1);
	assert_int_equal(f->ups, 1);
}

static void
a_device_without_any_gid_is_closed(void **state)
{
	struct fixture *f = probing(state);

	rdma_fixture_gid(&f->sysfs, 0, RDMA_NONE, "", "");
	rdma_fixture_gid(&f->sysfs, 1, RDMA_NONE, "", "");
	rnic_look(f->rnic);
	LOOPBACK_WAIT(f->loop, f->waits == 1);
	assert_false(rnic_up(f->rnic));
	check_registered(f, WIRE_LINK_DOWN, 0x100);
}

static void
a_gid_that_moves_in_the_table_reopens_the_rnic(void **state)
{
	struct fixture *f = probing(state);

	rdma_fixture_gid(&f->sysfs, 1, RDMA_V4, "IB/RoCE v1", "eth1");
	rdma_fixture_gid(&f->sysfs, 2, RDMA_V4, V2, "eth1");
	/* The event is handled before any new examination. */
	f->events.on_renumbered(f->events.arg);
	LOOPBACK_WAIT(f->loop, f->opened == 2);
	assert_int_equal(f->options.gids[0].index, 2);
	check_registered(f, WIRE_LINK_UP, 0x101);
}

static void
another_port_than_the_first_has_a_name_of_its_own(void **state)
{
	struct fixture *f = *state;

	start(f, "rxe0", 2);
	assert_string_equal(rnic_device(f->rnic), "rxe0:2");
	LOOPBACK_WAIT(f->loop, f->waits == 1);
	assert_int_equal(f->reason, -ENOENT);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_rnic_is_opened_with_its_gids_and_registered_with_its_qps),
		TEST(the_present_source_of_stamps_is_reported),
		TEST(while_its_link_is_down_no_probe_is_tried),
		TEST(a_flapping_link_is_followed_but_reported_once_a_second),
		TEST(an_rnic_that_starts_down_waits_for_its_link),
		TEST(a_link_that_comes_back_ends_no_pause_and_no_brake),
		TEST(new_numbers_ask_for_a_new_registration_and_targets),
		TEST(a_device_that_is_gone_stays_registered_and_is_found_again),
		TEST(a_device_with_the_guid_of_another_is_distinguished_and_probed),
		TEST(
		    a_device_listed_twice_is_probed_once_and_the_duplicate_is_reported),
		TEST(the_reason_of_a_failed_open_is_reported_as_text),
		TEST(a_changed_mtu_reopens_the_rnic_without_an_error),
		TEST(
		    a_device_removed_without_an_event_is_noticed_at_the_next_examination),
		TEST(an_address_that_is_gone_while_the_link_is_down_is_waited_for),
		TEST(a_device_without_any_gid_is_closed),
		TEST(a_gid_that_moves_in_the_table_reopens_the_rnic),
		TEST(another_port_than_the_first_has_a_name_of_its_own),
	};

	return cmocka_run_group_tests_name("rnic", tests, NULL, NULL);
}
