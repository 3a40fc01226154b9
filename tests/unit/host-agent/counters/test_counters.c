/* The counters of all RNICs of a host, as the event loop and the API see them. */
#include "host-agent/counters/counters.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <dirent.h>
#include <event2/buffer.h>
#include <jansson.h>
#include <sched.h>
#include <semaphore.h>

#include "host-agent/api/agent_api_counters.h"
#include "host-agent/api/agent_metrics.h"
#include "host-agent/counters/counter_report.h"
#include "host-agent/services/process_name.h"
#include "rackmesh/metrics/metrics.h"
#include "tests/support/loopback.h"
#include "tests/unit/host-agent/counters/counters_fixture.h"
#include "tests/unit/host-agent/services/services_fixture.h"

static struct counters_fixture device;
static struct rm_loop *loop;
static struct counters *counters;
static sem_t held, released;

static int
setup(void **unused)
{
	counters_fixture_make(&device, "mlx5");
	sem_init(&held, 0, 0);
	sem_init(&released, 0, 0);
	return rm_loop_new(&loop) < 0 ? -1
				      : counters_new(loop, &device.kernel, &counters);
}

static int
teardown(void **unused)
{
	sem_post(&released); /* for a test that failed while it blocked a thread */
	counters_free(counters);
	rm_loop_free(loop);
	counters_fixture_free(&device);
	return 0;
}

static void
hold_eth1(struct counters_fixture *fixture, const char *netdev)
{
	if (strcmp(netdev, "eth1") != 0)
		return;
	sem_post(&held);
	sem_wait(&released);
}

static uint64_t
reads(void)
{
	return counters_counts(counters)->reads;
}

static void
read_some(const struct counter_port_place *places, size_t count, bool all)
{
	const uint64_t before = reads();

	counters_read(counters, places, count, all, rm_mono_now());
	LOOPBACK_WAIT(loop, reads() == before + count);
}

static void
read_once(const struct counter_port_place *places, size_t count)
{
	read_some(places, count, true);
}

static const struct counter_state *
state(size_t port, const char *name)
{
	return &counters_port(counters, port)->states[counters_fixture_value(name, 0)];
}

static void
a_device_that_hangs_does_not_hide_others(void **unused)
{
	struct counter_port_place places[2] = { device.place, device.place };

	strcpy(places[1].rdma_device, "rdma1");
	strcpy(places[1].netdev, "eth2");
	rdma_fixture_put(&device.files, "44",
	    "class/infiniband/rdma1/ports/1/hw_counters/np_cnp_sent");
	device.hook = hold_eth1;
	counters_read(counters, places, 2, true, rm_mono_now());
	sem_wait(&held);
	for (unsigned i = 1; i <= 3; i++) {
		LOOPBACK_WAIT(loop, reads() == i);
		assert_true(counters_port(counters, 0)->busy);
		assert_int_equal(state(1, "cnp_tx")->total, 44);
		counters_read(counters, places, 2, true, rm_mono_now());
	}
	assert_int_equal(counters_counts(counters)->overdue, 3);
	LOOPBACK_WAIT(loop, reads() == 4);
	device.hook = NULL;
	sem_post(&released);
	LOOPBACK_WAIT(loop, reads() == 5);
	assert_false(counters_port(counters, 0)->busy);
}

static json_t *
shown_value(const json_t *port, const char *name)
{
	json_t *value;
	size_t i;

	json_array_foreach (json_object_get(port, "counters"), i, value)
		if (strcmp(json_string_value(json_object_get(value, "name")), name) ==
		    0)
			return value;
	return NULL;
}

static void
values_read_seldom_have_their_own_interval(void **unused)
{
	const struct counters_port *port;
	json_t *shown, *seldom;

	counters_fixture_put(&device, 'h', "np_cnp_sent", "5");
	counters_fixture_put(&device, 'n', "statistics/rx_bytes", "100");
	read_once(&device.place, 1);
	for (int i = 1; i <= 2; i++) {
		counters_fixture_put(&device, 'h', "np_cnp_sent", i == 1 ? "6" : "7");
		counters_fixture_put(&device, 'n', "statistics/rx_bytes", "900");
		read_some(&device.place, 1, false);
		assert_int_equal(state(0, "cnp_tx")->delta, 1);
		assert_int_equal(state(0, "netdev_rx_bytes")->total, 100);
		assert_true(state(0, "netdev_rx_bytes")->there);
	}
	read_some(&device.place, 1, true);
	port = counters_port(counters, 0);
	assert_int_equal(state(0, "cnp_tx")->delta, 0);
	assert_int_equal(state(0, "netdev_rx_bytes")->delta, 800);
	assert_true(port->all_interval_ns > port->interval_ns);
	shown = agent_api_counters_port(port, rm_mono_now());
	seldom = shown_value(shown, "netdev_rx_bytes");
	assert_int_equal(json_integer_value(json_object_get(seldom, "interval_ms")),
	    port->all_interval_ns / RM_NS_PER_MS);
	assert_null(json_object_get(shown_value(shown, "cnp_tx"), "interval_ms"));
	json_decref(shown);
}

/* Values that become due while the device hangs are read with the next reading. */
static void
values_read_seldom_are_kept(void **unused)
{
	counters_fixture_put(&device, 'e', "rx_prio3_pause", "1");
	counters_fixture_put(&device, 'n', "statistics/rx_bytes", "100");
	read_once(&device.place, 1);
	device.hook = hold_eth1;
	counters_read(counters, &device.place, 1, false, rm_mono_now());
	sem_wait(&held);
	counters_read(counters, &device.place, 1, true, rm_mono_now());
	counters_fixture_put(&device, 'n', "statistics/rx_bytes", "900");
	device.hook = NULL;
	sem_post(&released);
	LOOPBACK_WAIT(loop, reads() == 2);
	assert_int_equal(state(0, "netdev_rx_bytes")->total, 100);
	read_some(&device.place, 1, false);
	assert_int_equal(state(0, "netdev_rx_bytes")->total, 900);
}

static void
a_wrap_a_reset_and_a_gap_make_the_right_totals(void **unused)
{
	counters_fixture_put(&device, 'h', "rx_write_requests", "4294967290");
	counters_fixture_put(&device, 'h', "np_cnp_sent", "4294967290");
	read_once(&device.place, 1);
	counters_fixture_put(&device, 'h', "rx_write_requests", "10");
	counters_fixture_put(&device, 'h', "np_cnp_sent", "10");
	read_once(&device.place, 1);
	assert_int_equal(state(0, "rx_write_req")->delta, 16);
	assert_int_equal(state(0, "cnp_tx")->delta, 10);
	assert_int_equal(counters_counts(counters)->wraps, 1);
	assert_int_equal(counters_counts(counters)->resets, 1);
	counters_fixture_put(&device, 'h', "np_cnp_sent", "N/A");
	read_once(&device.place, 1);
	assert_false(state(0, "cnp_tx")->there);
	counters_fixture_put(&device, 'h', "np_cnp_sent", "12");
	read_once(&device.place, 1);
	assert_int_equal(state(0, "cnp_tx")->delta, 2);
	assert_int_equal(state(0, "cnp_tx")->total, UINT64_C(4294967290) + 12);
}

static void
one_device_is_read_once(void **unused)
{
	const struct counter_port_place places[2] = { device.place, device.place };

	counters_fixture_put(&device, 'h', "np_cnp_sent", "5");
	counters_read(counters, places, 2, true, rm_mono_now());
	LOOPBACK_WAIT(loop, reads() == 1);
	assert_int_equal(counters_ports(counters), 1);
}

static bool
is_shown(const char *netdev)
{
	for (size_t i = 0; i < counters_ports(counters); i++) {
		const struct counters_port *port = counters_port(counters, i);

		if (strcmp(port->place.netdev, netdev) == 0 && port->at.ns != 0)
			return port->wanted;
	}
	return false;
}

static void
the_ports_of_a_bond_are_read_too(void **unused)
{
	struct counter_port_place bond = device.place;

	strcpy(bond.netdev, "bond0");
	rdma_fixture_put(&device.files, "", "class/net/bond0/bonding/mode");
	rdma_fixture_put(&device.files, "", "class/net/bond0/lower_eth1");
	rdma_fixture_put(&device.files, "", "class/net/bond0/lower_eth2");
	counters_fixture_put(&device, 'h', "np_cnp_sent", "5");
	counters_fixture_put(&device, 'e', "rx_prio3_pause", "7");
	read_once(&bond, 1);
	assert_false(is_shown("eth1"));
	counters_read(counters, &bond, 1, true, rm_mono_now());
	LOOPBACK_WAIT(loop, reads() == 4);
	assert_true(is_shown("bond0") && is_shown("eth1") && is_shown("eth2"));

	/* Another RNIC replaces the bond. */
	read_once(&device.place, 1);
	assert_false(is_shown("bond0") || is_shown("eth2"));
}

static void
read_all(const struct counter_port_place *bond, const char *changes, uint64_t expected)
{
	rdma_fixture_put(&device.files, changes, "class/net/eth1/carrier_changes");
	rdma_fixture_put(&device.files, changes, "class/net/eth2/carrier_changes");
	counters_read(counters, bond, 1, true, rm_mono_now());
	LOOPBACK_WAIT(loop, reads() == expected);
}

/* UINT64_MAX: the report does not contain carrier_changes. */
static uint64_t
changes_reported(const struct counter_port_place *bond)
{
	static struct wire_counter_value values[COUNTER_REPORT_VALUES];
	struct wire_rnic_counters report;

	assert_non_null(counter_report_of(counters, bond, values, &report));
	for (size_t i = 0; i < report.value_count; i++)
		if (values[i].counter == WIRE_COUNTER_CARRIER_CHANGES)
			return values[i].value;
	return UINT64_MAX;
}

static void
a_bond_reports_nothing_of_an_earlier_reading(void **unused)
{
	struct counter_port_place bond = device.place;

	strcpy(bond.netdev, "bond0");
	rdma_fixture_put(&device.files, "", "class/net/bond0/bonding/mode");
	rdma_fixture_put(&device.files, "", "class/net/bond0/lower_eth1");
	rdma_fixture_put(&device.files, "", "class/net/bond0/lower_eth2");
	rdma_fixture_put(&device.files, "2", "class/net/bond0/carrier_changes");
	counters_fixture_put(&device, 'h', "np_cnp_sent", "5");
	counters_fixture_put(&device, 'e', "rx_prio3_pause", "7");
	read_all(&bond, "1", 1);
	read_all(&bond, "1", 1 + 3);
	read_all(&bond, "4", 1 + 2 * 3);
	assert_int_equal(changes_reported(&bond), 2 * 3);
	device.hook = hold_eth1;
	read_all(&bond, "5", 1 + 2 * 3 + 2);
	assert_int_equal(changes_reported(&bond), UINT64_MAX);
	device.hook = NULL;
	sem_post(&released);
	LOOPBACK_WAIT(loop, reads() == 1 + 3 * 3);
	assert_int_equal(changes_reported(&bond), 2);
}

static void
the_metrics_have_types_labels_and_totals(void **unused)
{
	struct agent_counter_metrics *shown;
	struct rm_metrics *metrics;
	struct evbuffer *text = evbuffer_new();
	char *all;

	counters_fixture_put(&device, 'h', "np_cnp_sent", "5");
	counters_fixture_put(&device, 'e', "rx_prio3_pause", "41927");
	counters_fixture_put(&device, 'e', "outbound_pci_stalled_wr", "31");
	counters_fixture_put(&device, 'p', "rate", "100 Gb/sec (4X EDR)");
	rdma_fixture_put(&device.files, "Global tclass=106\n",
	    "class/infiniband/rdma0/tc/1/traffic_class");
	read_once(&device.place, 1);
	assert_int_equal(rm_metrics_new(&metrics), 0);
	assert_int_equal(agent_counter_metrics_new(metrics, "h1", counters, &shown), 0);
	assert_int_equal(rm_metrics_render(metrics, text), 0);
	evbuffer_add(text, "", 1);
	all = (char *)evbuffer_pullup(text, -1);
	assert_non_null(strstr(all, "# TYPE rdma_np_cnp_sent_total counter\n"
				    "rdma_np_cnp_sent_total{host=\"h1\",device="
				    "\"rdma0\",port=\"1\"} 5\n"));
	assert_non_null(strstr(all, "# TYPE rdma_rx_priority_pause_total counter\n"
				    "rdma_rx_priority_pause_total{host=\"h1\",device="
				    "\"rdma0\",port=\"1\",priority=\"3\"} 41927\n"));
	assert_non_null(strstr(all, "# TYPE rdma_pci_stalled_write_percent gauge\n"
				    "rdma_pci_stalled_write_percent{host=\"h1\","
				    "device=\"rdma0\",port=\"1\"} 31\n"));
	/* The names of Spiderpool's exporter. What it exports as a gauge is a gauge
	 * here. */
	assert_non_null(strstr(all, "# TYPE rdma_rx_pause_total counter\n"
				    "rdma_rx_pause_total{host=\"h1\",device="
				    "\"rdma0\",port=\"1\",priority=\"3\"} 41927\n"));
	assert_non_null(strstr(all, "# TYPE rdma_vport_speed_mbps gauge\n"
				    "rdma_vport_speed_mbps{host=\"h1\",device="
				    "\"rdma0\",port=\"1\"} 100000\n"));
	assert_non_null(strstr(all, "# TYPE rdma_device_tos gauge\n"
				    "rdma_device_tos{host=\"h1\",device="
				    "\"rdma0\",port=\"1\"} 106\n"));
	assert_non_null(strstr(all, "rackmesh_agent_counters_reads_total 1\n"));
	assert_null(strstr(all, "rdma_np_ecn_marked_roce_packets_total{"));
	rm_metrics_free(metrics);
	agent_counter_metrics_free(shown);
	evbuffer_free(text);
}

/* Sums without the label are right: a bond has counted what its ports have counted. */
static void
metrics_of_the_ports_of_a_bond_name_the_bond(void **unused)
{
	struct counter_port_place bond = device.place;
	struct agent_counter_metrics *shown;
	struct rm_metrics *metrics;
	struct evbuffer *text = evbuffer_new();
	char *all;

	strcpy(bond.netdev, "bond0");
	rdma_fixture_put(&device.files, "", "class/net/bond0/bonding/mode");
	rdma_fixture_put(&device.files, "", "class/net/bond0/lower_eth1");
	rdma_fixture_put(&device.files, "9", "class/net/bond0/statistics/rx_bytes");
	rdma_fixture_put(&device.files, "9", "class/net/eth1/statistics/rx_bytes");
	read_once(&bond, 1);
	counters_read(counters, &bond, 1, true, rm_mono_now());
	LOOPBACK_WAIT(loop, reads() == 3);
	assert_int_equal(rm_metrics_new(&metrics), 0);
	assert_int_equal(agent_counter_metrics_new(metrics, "h1", counters, &shown), 0);
	assert_int_equal(rm_metrics_render(metrics, text), 0);
	evbuffer_add(text, "", 1);
	all = (char *)evbuffer_pullup(text, -1);
	assert_non_null(strstr(all, "rdma_netdev_rx_bytes_total{host=\"h1\",device="
				    "\"rdma0\",port=\"1\"} 9\n"));
	assert_non_null(strstr(all, "rdma_netdev_rx_bytes_total{host=\"h1\",device="
				    "\"eth1\",port=\"0\",bond=\"rdma0\"} 9\n"));
	rm_metrics_free(metrics);
	agent_counter_metrics_free(shown);
	evbuffer_free(text);
}

static void
the_api_shows_only_existing_values(void **unused)
{
	json_t *port,
	    *expected = json_pack(
		"[{s:s,s:s,s:I,s:I,s:I},{s:s,s:s,s:I,s:I},{s:s,s:i,s:s,s:I,s:"
		"I},{s:s,s:s,s:I}]",
		"name", "rx_write_req", "unit", "requests", "total",
		(json_int_t)4294967306, "delta", (json_int_t)16, "wraps", (json_int_t)1,
		"name", "cnp_tx", "unit", "packets", "total", (json_int_t)5, "delta",
		(json_int_t)0, "name", "pfc_rx_frames", "priority", 3, "unit", "frames",
		"total", (json_int_t)7, "delta", (json_int_t)0, "name",
		"pci_stall_wr_pct", "unit", "percent", "value", (json_int_t)31);

	device.rdma_netlink = true; /* all in one answer */
	counters_fixture_put(&device, 'h', "rx_write_requests", "4294967290");
	counters_fixture_put(&device, 'h', "np_cnp_sent", "5");
	counters_fixture_put(&device, 'e', "rx_prio3_pause", "7");
	counters_fixture_put(&device, 'e', "outbound_pci_stalled_wr", "31");
	read_once(&device.place, 1);
	counters_fixture_put(&device, 'h', "rx_write_requests", "10");
	read_once(&device.place, 1);
	port = agent_api_counters_port(counters_port(counters, 0), rm_mono_now());
	assert_string_equal(
	    json_string_value(json_object_get(port, "device")), "rdma0");
	assert_true(json_is_null(json_object_get(port, "error")));
	assert_true(json_equal(json_object_get(port, "counters"), expected));
	json_decref(port);
	json_decref(expected);
}

/* ---- optical modules ---- */

static void
make_module(void)
{
	uint8_t *lower = device.module.lower;

	lower[0] = 0x11;
	for (unsigned i = 0; i < 4; i++)
		lower[34 + 2 * i] = (uint8_t)(0x20 + i);
}

static void
read_optics(void)
{
	const uint64_t before = counters_counts(counters)->optics_reads;

	counters_read_optics(counters);
	LOOPBACK_WAIT(loop, counters_counts(counters)->optics_reads == before + 1);
}

static void
hold_the_module(struct counters_fixture *fixture, const char *netdev)
{
	if (strcmp(netdev, "module") != 0)
		return;
	sem_post(&held);
	sem_wait(&released);
}

static void
hold_all(struct counters_fixture *fixture, const char *netdev)
{
	sem_post(&held);
	sem_wait(&released);
}

static void
wait_for_threads(unsigned count)
{
	const int64_t give_up = rm_mono_now().ns + 60 * RM_NS_PER_S;
	unsigned seen = 0;

	while (seen != count && rm_mono_now().ns < give_up) {
		DIR *threads = opendir("/proc/self/task");

		assert_non_null(threads);
		for (seen = 0; readdir(threads) != NULL;)
			seen++;
		seen -= 2; /* two of the entries are "." and ".." */
		closedir(threads);
		sched_yield();
	}
	assert_int_equal(seen, count);
}

static void
no_counter_waits_for_a_slow_module(void **unused)
{
	make_module();
	counters_fixture_put(&device, 'h', "np_cnp_sent", "5");
	read_once(&device.place, 1);
	device.hook = hold_the_module;
	counters_read_optics(counters);
	sem_wait(&held);
	/* A reading is in progress: no second one starts. */
	counters_read_optics(counters);
	counters_fixture_put(&device, 'h', "np_cnp_sent", "7");
	read_once(&device.place, 1);
	assert_int_equal(state(0, "cnp_tx")->delta, 2);
	assert_int_equal(counters_port(counters, 0)->optics_at.ns, 0);
	device.hook = NULL;
	sem_post(&released);
	LOOPBACK_WAIT(loop, counters_counts(counters)->optics_reads == 1);
	assert_int_equal(state(0, "optics_rx_lowest_nw")->total, 0x2000 * 100);
	/* A reading of the counters keeps the light values. */
	read_once(&device.place, 1);
	assert_true(state(0, "optics_rx_lowest_nw")->there);
}

/* Returns the reported light of the first lane. UINT64_MAX: none is reported. */
static uint64_t
light_reported(void)
{
	static struct wire_counter_value values[COUNTER_REPORT_VALUES];
	struct wire_rnic_counters reported;

	assert_non_null(counter_report_of(counters, &device.place, values, &reported));
	for (size_t i = 0; i < reported.value_count; i++)
		if (values[i].counter == WIRE_COUNTER_OPTICS_RX_NW &&
		    values[i].index == 0)
			return values[i].value;
	return UINT64_MAX;
}

static void
the_light_of_a_module_that_hangs_is_dropped(void **unused)
{
	make_module();
	counters_fixture_put(&device, 'h', "np_cnp_sent", "5");
	read_once(&device.place, 1);
	read_once(&device.place, 1);
	read_optics();
	read_optics();
	assert_int_equal(light_reported(), 0x2000 * 100);
	device.hook = hold_the_module;
	counters_read_optics(counters);
	sem_wait(&held); /* the reading hangs */
	for (unsigned i = 0; i < 3; i++)
		counters_read_optics(counters);
	device.hook = NULL;
	assert_int_equal(light_reported(), UINT64_MAX);
	assert_int_equal(counters_port(counters, 0)->optics_at.ns, 0);
	sem_post(&released);
	LOOPBACK_WAIT(loop, counters_counts(counters)->optics_reads == 3);
	assert_true(state(0, "optics_rx_lowest_nw")->there);
	assert_int_equal(light_reported(), UINT64_MAX); /* after one reading only */
}

static void
a_lane_is_dark_after_two_dark_readings(void **unused)
{
	make_module();
	counters_fixture_put(&device, 'h', "np_cnp_sent", "5");
	read_once(&device.place, 1);
	read_once(&device.place, 1);
	read_optics();
	assert_int_equal(light_reported(), UINT64_MAX);
	device.module.lower[34] = 0;
	read_optics();
	assert_int_equal(light_reported(), 0x2000 * 100);
	read_optics();
	assert_int_equal(light_reported(), 0);
}

/* A hanging module occupies one thread; the second module needs another thread. */
static void
no_module_waits_for_another_that_hangs(void **unused)
{
	struct counter_port_place places[2] = { device.place, device.place };

	make_module();
	strcpy(places[1].rdma_device, "rdma1");
	counters_fixture_put(&device, 'h', "np_cnp_sent", "5");
	read_once(places, 1);
	device.hook = hold_the_module;
	counters_read_optics(counters);
	sem_wait(&held);
	device.hook = NULL;
	read_once(places, 2);
	counters_read_optics(counters);
	LOOPBACK_WAIT(loop, counters_counts(counters)->optics_reads == 1);
	assert_int_equal(counters_port(counters, 0)->optics_at.ns, 0);
	assert_int_not_equal(counters_port(counters, 1)->optics_at.ns, 0);
	sem_post(&released);
	LOOPBACK_WAIT(loop, counters_counts(counters)->optics_reads == 2);
}

/* The module hangs in its driver, and so does a counter that needs the same lock. */
static void
the_end_does_not_wait_for_hanging_readings(void **unused)
{
	static struct counters *behind; /* the hanging threads use it: never freed */
	rm_mono_t begun;

	make_module();
	counters_fixture_put(&device, 'h', "np_cnp_sent", "5");
	counters_fixture_put(&device, 'e', "rx_prio3_pause", "7");
	read_once(&device.place, 1);
	device.hook = hold_all;
	counters_read_optics(counters);
	sem_wait(&held);
	counters_read_optics(counters);
	assert_int_equal(counters_counts(counters)->optics_overdue, 1);
	counters_read(counters, &device.place, 1, true, rm_mono_now());
	sem_wait(&held);
	behind = counters;
	counters = NULL;
	begun = rm_mono_now();
	assert_int_equal(counters_free(behind), 2);
	assert_true(rm_mono_since(rm_mono_now(), begun) < 60 * RM_NS_PER_S);
	device.hook = NULL;
	for (unsigned i = 0; i < 2; i++)
		sem_post(&released);
	/* The threads of this process must end before the fixture is freed. */
	wait_for_threads(1);
}

static void
a_modules_values_are_shown_until_it_stops_answering(void **unused)
{
	struct agent_counter_metrics *shown;
	struct rm_metrics *metrics;
	struct evbuffer *text = evbuffer_new();
	json_t *port;

	make_module();
	counters_fixture_put(&device, 'h', "np_cnp_sent", "5");
	read_once(&device.place, 1);
	read_optics();
	port = agent_api_counters_port(counters_port(counters, 0), rm_mono_now());
	assert_true(json_is_integer(json_object_get(port, "optics_age_ms")));
	json_decref(port);
	assert_int_equal(rm_metrics_new(&metrics), 0);
	assert_int_equal(agent_counter_metrics_new(metrics, "h1", counters, &shown), 0);
	assert_int_equal(rm_metrics_render(metrics, text), 0);
	evbuffer_add(text, "", 1);
	assert_non_null(strstr((char *)evbuffer_pullup(text, -1),
	    "rdma_optics_rx_power_watts{host=\"h1\",device=\"rdma0\",port=\"1\","
	    "lane=\"1\"} 0.0008448\n"));
	evbuffer_free(text);
	rm_metrics_free(metrics);
	agent_counter_metrics_free(shown);

	device.module.error = -EIO;
	read_optics();
	assert_false(state(0, "optics_rx_lowest_nw")->there);
	device.module.error = -EPERM;
	read_optics();
	device.module.error = -EOPNOTSUPP;
	read_optics();
	assert_int_equal(counters_counts(counters)->optics_failed, 1);
	assert_int_equal(counters_counts(counters)->optics_refused, 1);
	assert_int_equal(counters_counts(counters)->optics_none, 1);
}

/* ---- counters per process ---- */

static void
follow(struct services *services, uint32_t qpn, uint32_t pid, const char *service)
{
	struct qp_event event = services_qp(0, qpn, 2, (uint16_t)(0xc000 + qpn), pid);
	struct process_name name = { .comm = "python3" };

	snprintf(name.service, sizeof(name.service), "%s", service);
	assert_int_equal(services_event(services, &event, services_at(0)), 0);
	services_named(services, pid, false, &name);
}

static void
assert_shown(const struct rm_metrics *metrics, const char *line, bool shown)
{
	struct evbuffer *text = evbuffer_new();
	const char *all;

	assert_int_equal(rm_metrics_render(metrics, text), 0);
	evbuffer_add(text, "", 1);
	all = (const char *)evbuffer_pullup(text, -1);
	if ((strstr(all, line) != NULL) != shown)
		fail_msg("%s %s in:\n%s", line, shown ? "not" : "is", all);
	evbuffer_free(text);
}

static void
counters_of_a_process_have_its_name(void **unused)
{
	static const struct services_options options = { .max_probed = 16,
		.interval_us = 500000,
		.turn_ns = 10 * RM_NS_PER_S,
		.random_seed = 7 };
	struct agent_users users = { .counters = counters };
	struct services *services;
	struct rm_metrics *metrics;

	assert_int_equal(services_new(&options, &services), 0);
	assert_int_equal(rm_metrics_new(&metrics), 0);
	services_own(services, 0, NULL, 0);
	users.services = services;
	assert_int_equal(agent_metrics_counted(metrics, &users), 0);
	follow(services, 17, 5, "pod:0b4f7a3e");
	follow(services, 18, 6, "pod:0b4f7a3e");
	follow(services, 19, 7, "unit:a.service");
	device.rdma_netlink = true;
	device.groups[0] = (struct fixture_group){ 1, 5, "packet_seq_err", 3 };
	device.groups[1] = (struct fixture_group){ 1, 6, "packet_seq_err", 4 };
	device.groups[2] = (struct fixture_group){ 1, 7, "rnr_nak_retry_err", 9 };
	device.groups[3] = (struct fixture_group){ 1, 99, "packet_seq_err", 1 };
	device.groups[4] = (struct fixture_group){ 1, 0, "packet_seq_err", 1 };
	device.group_count = 5;

	read_once(&device.place, 1); /* counters by process are off */
	assert_shown(metrics, "rackmesh_agent_user_counter_total{", false);
	assert_shown(metrics, "rackmesh_agent_user_counters_left_out 0\n", true);

	counters_read_by_process(counters, true);
	read_once(&device.place, 1);
	assert_shown(metrics,
	    "rackmesh_agent_user_counter_total{device=\"rdma0\",port=\"1\","
	    "service=\"pod:0b4f7a3e\",pod_uid=\"0b4f7a3e\",process=\"python3\","
	    "counter=\"packet_seq_err\"} 7\n",
	    true);
	assert_shown(
	    metrics, "process=\"python3\",counter=\"rnr_nak_retry_err\"} 9\n", true);
	assert_shown(metrics, "out_of_buffer", false); /* its value is 0 */
	assert_shown(metrics, "rackmesh_agent_user_counters_left_out 2\n", true);

	device.group_count = 0; /* the groups are gone */
	read_once(&device.place, 1);
	assert_shown(metrics, "rackmesh_agent_user_counter_total{", false);
	device.group_count = 5;
	read_once(&device.place, 1);
	assert_shown(metrics, "rackmesh_agent_user_counter_total{", true);
	counters_read_by_process(counters, false);
	read_once(&device.place, 1);
	assert_shown(metrics, "rackmesh_agent_user_counter_total{", false);
	rm_metrics_free(metrics);
	services_free(services);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_device_that_hangs_does_not_hide_others),
		TEST(values_read_seldom_have_their_own_interval),
		TEST(values_read_seldom_are_kept),
		TEST(a_wrap_a_reset_and_a_gap_make_the_right_totals),
		TEST(one_device_is_read_once),
		TEST(the_ports_of_a_bond_are_read_too),
		TEST(a_bond_reports_nothing_of_an_earlier_reading),
		TEST(the_metrics_have_types_labels_and_totals),
		TEST(metrics_of_the_ports_of_a_bond_name_the_bond),
		TEST(the_api_shows_only_existing_values),
		TEST(no_counter_waits_for_a_slow_module),
		TEST(the_light_of_a_module_that_hangs_is_dropped),
		TEST(a_lane_is_dark_after_two_dark_readings),
		TEST(no_module_waits_for_another_that_hangs),
		TEST(a_modules_values_are_shown_until_it_stops_answering),
		TEST(the_end_does_not_wait_for_hanging_readings),
		TEST(counters_of_a_process_have_its_name),
	};

	return cmocka_run_group_tests_name("counters", tests, NULL, NULL);
}
