#include "host-agent/counters/counter_port.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <dirent.h>

#include "host-agent/counters/dcb_pfc.h"
#include "host-agent/counters/netdev_stats.h"
#include "host-agent/counters/rdma_stats.h"
#include "host-agent/kernel/ethtool_netlink.h"
#include "tests/unit/host-agent/counters/counters_fixture.h"

static struct counters_fixture device;
static struct counter_port *port;
static struct counter_sample *samples;
static struct counter_reading reading;
static rm_mono_t now;

static int
setup(void **unused)
{
	counters_fixture_make(&device, "mlx5");
	now = rm_mono_now();
	samples = calloc(counter_values(), sizeof(*samples));
	return samples == NULL || counter_port_new(&device.kernel, &port) < 0 ? -1 : 0;
}

static int
teardown(void **unused)
{
	counter_port_free(port);
	free(samples);
	counters_fixture_free(&device);
	return 0;
}

static int
read_some(bool everything, int64_t seconds)
{
	now = rm_mono_add(now, seconds * RM_NS_PER_S);
	return counter_port_read(
	    port, &device.place, everything, now, samples, &reading);
}

static int
read_after(int64_t seconds)
{
	return read_some(true, seconds);
}

static const struct counter_sample *
sample(const char *name, unsigned index)
{
	return &samples[counters_fixture_value(name, index)];
}

static void
a_device_without_counters_is_an_error(void **unused)
{
	assert_int_equal(read_after(0), -ENODEV);
	assert_int_equal(reading.found, 0);
}

static void
a_changed_value_is_read_again(void **unused)
{
	counters_fixture_put(&device, 'h', "np_cnp_sent", "5");
	assert_int_equal(read_after(0), 0);
	assert_int_equal(sample("cnp_tx", 0)->value, 5);
	counters_fixture_put(&device, 'h', "np_cnp_sent", "123456");
	assert_int_equal(read_after(1), 0);
	assert_int_equal(sample("cnp_tx", 0)->value, 123456);
	assert_true(reading.same_device);
}

static void
a_counter_without_a_value_is_missing_and_not_zero(void **unused)
{
	counters_fixture_put(&device, 'h', "np_cnp_sent", "5");
	counters_fixture_put(&device, 'h', "rp_cnp_handled", "6");
	assert_int_equal(read_after(0), 0);
	counters_fixture_put(&device, 'h', "np_cnp_sent", "N/A (no PMA)");
	assert_int_equal(read_after(1), 0);
	assert_false(sample("cnp_tx", 0)->there);
	assert_true(sample("cnp_rx_handled", 0)->there);
}

static void
a_new_counter_is_found_within_a_minute(void **unused)
{
	counters_fixture_put(&device, 'h', "np_cnp_sent", "5");
	assert_int_equal(read_after(0), 0);
	counters_fixture_put(&device, 'h', "out_of_sequence", "9");
	assert_int_equal(read_after(1), 0);
	assert_false(sample("oos_rx", 0)->there);
	assert_int_equal(read_after(60), 0);
	assert_int_equal(sample("oos_rx", 0)->value, 9);
	assert_true(reading.same_device);
}

static void
moved_names_of_ethtool_are_looked_up_again(void **unused)
{
	counters_fixture_put(&device, 'e', "rx_prio3_pause", "41927");
	counters_fixture_put(&device, 'e', "rx_prio3_pause_duration", "8134");
	assert_int_equal(read_after(0), 0);
	assert_int_equal(sample("pfc_rx_frames", 3)->value, 41927);
	assert_int_equal(sample("pfc_rx_pause_us", 3)->value, 8134);
	assert_false(sample("pfc_rx_frames", 4)->there);

	/* Insert another name before them. */
	memmove(device.names[1], device.names[0], 2 * sizeof(device.names[0]));
	memmove(&device.values[1], &device.values[0], 2 * sizeof(device.values[0]));
	strcpy(device.names[0], "rx_prio0_pause");
	device.values[0] = 1;
	device.count = 3;
	(void)read_after(1);
	assert_false(sample("pfc_rx_frames", 3)->there);
	assert_int_equal(read_after(1), 0);
	assert_int_equal(sample("pfc_rx_frames", 3)->value, 41927);
	assert_int_equal(sample("pfc_rx_frames", 0)->value, 1);
}

static void
a_name_that_is_a_prefix_of_another_is_a_different_one(void **unused)
{
	counters_fixture_put(&device, 'e', "rx_prio3_pause_duration", "8134");
	assert_int_equal(read_after(0), 0);
	assert_false(sample("pfc_rx_frames", 3)->there);
}

static void
a_name_without_an_end_is_read_by_its_32_bytes(void **unused)
{
	counters_fixture_put(&device, 'e', "rx_vport_rdma_multicast_packets", "3");
	/* A name of 32 bytes without a terminating 0 must not disturb the names
	 * after it. */
	memset(device.names[1], 'x', ETH_GSTRING_LEN);
	device.count = 2;
	assert_int_equal(read_after(0), 0);
	assert_int_equal(sample("rdma_rx_pkts", 0)->value, 3);
}

static void
settings_are_read_and_missing_ones_are_unknown(void **unused)
{
	counters_fixture_put(&device, 'h', "np_cnp_sent", "5");
	assert_int_equal(read_after(0), 0);
	assert_string_equal(reading.firmware, "1.0");
	assert_int_equal(reading.traffic_class, -1);
	assert_int_equal(reading.trusts_dscp, -1);

	rdma_fixture_put(&device.files, "28.39.1002", "class/infiniband/rdma0/fw_ver");
	rdma_fixture_put(&device.files, "Global tclass=106",
	    "class/infiniband/rdma0/tc/1/traffic_class");
	counters_fixture_put(&device, 'd', "pfc_enabled_3", "1");
	assert_int_equal(read_after(60), 0);
	assert_string_equal(reading.firmware, "28.39.1002");
	assert_int_equal(reading.traffic_class, 106);
	assert_int_equal(reading.trusts_dscp, 0);

	rdma_fixture_put(
	    &device.files, "", "class/infiniband/rdma0/tc/1/traffic_class");
	assert_int_equal(reading.fec, 0);
	device.active_fec = ETHTOOL_FEC_RS;
	device.dscp_rules = 2;
	assert_int_equal(read_after(60), 0);
	assert_int_equal(reading.traffic_class, COUNTER_NO_CLASS);
	assert_int_equal(reading.trusts_dscp, 1);
	assert_int_equal(reading.dscps[24], 3);
	assert_int_equal(reading.dscps[25], 3);
	assert_int_equal(reading.dscps[26], DCB_NO_PRIORITY);
	assert_int_equal(reading.fec, ETHTOOL_FEC_RS);
	rdma_fixture_put(&device.files, "Global tclass=300",
	    "class/infiniband/rdma0/tc/1/traffic_class");
	assert_int_equal(read_after(60), 0);
	assert_int_equal(reading.traffic_class, -1);
}

static void
types_of_gids_are_read_past_empty_entries(void **unused)
{
	const char *types = "class/infiniband/rdma0/ports/1/gid_attrs/types";

	counters_fixture_put(&device, 'h', "np_cnp_sent", "5");
	assert_int_equal(read_after(0), 0);
	assert_int_equal(reading.gid_types, 0);
	rdma_fixture_put(&device.files, "IB/RoCE v1", "%s/0", types);
	rdma_fixture_put(&device.files, "", "%s/1/cannot_be_read", types);
	assert_int_equal(read_after(60), 0);
	assert_int_equal(reading.gid_types, COUNTER_GID_ROCE_V1);
	rdma_fixture_put(&device.files, "RoCE v2", "%s/2", types);
	assert_int_equal(read_after(60), 0);
	assert_int_equal(reading.gid_types, COUNTER_GID_ROCE_V1 | COUNTER_GID_ROCE_V2);
}

static void
the_lanes_of_a_virtual_function_are_not_known(void **unused)
{
	counters_fixture_put(&device, 'h', "np_cnp_sent", "5");
	counters_fixture_put(&device, 'n', "device/current_link_width", "0");
	counters_fixture_put(&device, 'n', "device/max_link_width", "255");
	assert_int_equal(read_after(0), 0);
	assert_false(sample("pci_link_lanes", 0)->there);
	assert_false(sample("pci_link_lanes_max", 0)->there);
	counters_fixture_put(&device, 'n', "device/current_link_width", "8");
	counters_fixture_put(&device, 'n', "device/max_link_width", "16");
	assert_int_equal(read_after(60), 0);
	assert_int_equal(sample("pci_link_lanes", 0)->value, 8);
	assert_int_equal(sample("pci_link_lanes_max", 0)->value, 16);
}

static void
a_recreated_device_is_another_one(void **unused)
{
	counters_fixture_put(&device, 'h', "np_cnp_sent", "5");
	assert_int_equal(read_after(0), 0);
	rdma_fixture_put(&device.files, "2.0", "class/infiniband/rdma0/fw_ver");
	assert_int_equal(read_after(60), 0);
	assert_false(reading.same_device);
	assert_int_equal(read_after(1), 0);
	assert_true(reading.same_device);
}

static void
another_port_is_looked_up_at_once(void **unused)
{
	counters_fixture_put(&device, 'h', "np_cnp_sent", "5");
	rdma_fixture_put(&device.files, "77",
	    "class/infiniband/rdma0/ports/2/hw_counters/np_cnp_sent");
	assert_int_equal(read_after(0), 0);
	assert_int_equal(sample("cnp_tx", 0)->value, 5);
	device.place.port = 2;
	assert_int_equal(read_after(1), 0);
	assert_int_equal(sample("cnp_tx", 0)->value, 77);
	assert_false(reading.same_device);
}

static void
netlink_comes_before_files(void **unused)
{
	device.rdma_netlink = true;
	counters_fixture_put(&device, 'h', "np_cnp_sent", "5");
	device.stats.values[0] = 6;
	assert_int_equal(read_after(0), 0);
	assert_int_equal(sample("cnp_tx", 0)->value, 6);
}

static void
one_reading_is_one_request_to_each_source(void **unused)
{
	unsigned questions, calls;

	device.rdma_netlink = true;
	counters_fixture_put(&device, 'h', "np_cnp_sent", "5");
	counters_fixture_put(&device, 'r', "qp", "12");
	counters_fixture_put(&device, 'd', "pfc_rx_3", "99");
	counters_fixture_put(&device, 'e', "rx_prio3_pause_duration", "8134");
	assert_int_equal(read_after(0), 0);
	questions = device.questions;
	calls = device.calls;
	assert_int_equal(read_after(1), 0);
	assert_int_equal(device.questions, questions + 3);
	assert_int_equal(device.calls, calls + 1);
	assert_int_equal(sample("active_qp", 0)->value, 12);
	assert_int_equal(sample("pfc_rx_frames", 3)->value, 99);
	assert_true(sample("pfc_rx_frames", 4)->there);
}

static bool
is_seldom(const char *name)
{
	return counter_port_is_seldom(port, counters_fixture_value(name, 0));
}

static void
sources_without_judged_counters_are_read_seldom(void **unused)
{
	unsigned questions, calls;
	char name[32];
	size_t found;

	device.rdma_netlink = true;
	counters_fixture_put(&device, 'h', "np_cnp_sent", "5");
	counters_fixture_put(&device, 'r', "qp", "12");
	for (int i = 0; i < 8; i++) {
		snprintf(name, sizeof(name), "rx_prio%d_pause", i);
		counters_fixture_put(&device, 'e', name, "1");
		snprintf(name, sizeof(name), "tx_prio%d_pause", i);
		counters_fixture_put(&device, 'e', name, "1");
	}
	counters_fixture_put(&device, 'e', "rx_prio3_bytes", "7");
	counters_fixture_put(&device, 'd', "pfc_enabled_3", "1");
	counters_fixture_put(&device, 'n', "carrier_changes", "2");
	counters_fixture_put(&device, 'n', "statistics/rx_bytes", "100");
	assert_int_equal(read_some(false, 0), 0);
	assert_true(reading.all); /* all sources were searched */
	assert_int_equal(sample("active_qp", 0)->value, 12);
	assert_true(is_seldom("active_qp") && is_seldom("pfc_enabled") &&
		    is_seldom("netdev_rx_bytes"));
	assert_false(is_seldom("cnp_tx") || is_seldom("carrier_changes") ||
		     is_seldom("prio_rx_bytes"));
	questions = device.questions;
	calls = device.calls;
	found = reading.found;

	counters_fixture_put(&device, 'n', "carrier_changes", "4");
	counters_fixture_put(&device, 'n', "statistics/rx_bytes", "900");
	assert_int_equal(read_some(false, 1), 0);
	assert_false(reading.all);
	assert_int_equal(reading.found, found);
	assert_int_equal(device.questions, questions + 1);
	assert_int_equal(device.calls, calls + 1);
	assert_int_equal(sample("cnp_tx", 0)->value, 5);
	assert_int_equal(sample("carrier_changes", 0)->value, 4);
	/* The value of the last full reading. */
	assert_int_equal(reading.trusts_dscp, 0);

	assert_int_equal(read_some(true, 1), 0);
	assert_int_equal(device.questions, questions + 4);
	assert_int_equal(sample("netdev_rx_bytes", 0)->value, 900);
}

/* A driver without counters of its own for PFC: only DCB counts PFC frames. */
static void
sources_with_judged_counters_are_read_each_time(void **unused)
{
	counters_fixture_put(&device, 'd', "pfc_rx_3", "5");
	assert_int_equal(read_after(0), 0);
	assert_false(is_seldom("pfc_rx_frames") || is_seldom("pfc_enabled"));
	counters_fixture_put(&device, 'd', "pfc_rx_3", "9");
	assert_int_equal(read_some(false, 1), 0);
	assert_int_equal(sample("pfc_rx_frames", 3)->value, 9);
}

/* With PFC on and global pause off, mlx5 has no counter of global pauses. Its counter
 * of all pauses is not one, and neither is the standard statistic, which has the same
 * value. */
static void
pfc_of_mlx5_is_not_taken_for_global_pause(void **unused)
{
	counters_fixture_put(&device, 'd', "pfc_enabled_3", "1");
	counters_fixture_put(&device, 'e', "rx_prio3_pause", "41927");
	counters_fixture_put(&device, 'e', "rx_pause_ctrl_phy", "41927");
	counters_fixture_put(&device, 's', "pause_rx", "41927");
	assert_int_equal(read_after(0), 0);
	assert_false(sample("gpause_rx_frames", 0)->there);
	assert_int_equal(sample("pause_ctrl_rx_frames", 0)->value, 41927);
	assert_int_equal(sample("pfc_rx_frames", 3)->value, 41927);
}

/* The driver's own counter is used before the standard one of ethtool. */
static void
only_the_standard_statistics_that_are_needed_are_asked_for(void **unused)
{
	counters_fixture_put(&device, 's', "pause_rx", "3");
	counters_fixture_put(&device, 's', "fcs_errors", "4");
	counters_fixture_put(&device, 's', "fec_corrected", "5");
	counters_fixture_put(&device, 'e', "rx_global_pause", "6");
	assert_int_equal(read_after(0), 0);
	assert_int_equal(sample("gpause_rx_frames", 0)->value, 6);
	assert_int_equal(sample("crc_err", 0)->value, 4);
	assert_int_equal(sample("fec_corrected_blocks", 0)->value, 5);
	assert_false(sample("fec_uncorr", 0)->there);
	for (int i = 1; i <= 3; i++) {
		device.link[LINK_FCS_ERRORS] = 10 + (uint64_t)i;
		assert_int_equal(read_some(false, 1), 0);
		assert_int_equal(sample("crc_err", 0)->value, 10 + i);
	}
	/* The first reading queries every group; later ones only the groups in use. */
	assert_int_equal(device.link_questions[LINK_PAUSE], 1);
	assert_int_equal(device.link_questions[LINK_STANDARD], 5);
	assert_int_equal(device.link_questions[LINK_FEC], 5);
}

static void
standard_statistics_that_vanish_are_missing(void **unused)
{
	counters_fixture_put(&device, 'h', "np_cnp_sent", "5");
	counters_fixture_put(&device, 's', "fec_corrected_bits", "100");
	for (char lane[] = "fec_lane_0"; lane[9] < '8'; lane[9]++)
		counters_fixture_put(&device, 's', lane, "7");
	device.link[LINK_FEC_LANE + 2] = 51;
	assert_int_equal(read_after(0), 0);
	assert_int_equal(sample("fec_corrected_bits", 0)->value, 100);
	assert_int_equal(sample("fec_lane_err", 2)->value, 51);
	assert_int_equal(sample("fec_lane_err", 7)->value, 7);
	device.link_there[LINK_FEC_LANE] = false;
	assert_int_equal(read_after(1), 0);
	assert_int_equal(sample("fec_corrected_bits", 0)->value, 100);
	assert_false(sample("fec_lane_err", 2)->there);
	device.link_there[LINK_FEC_BITS] = false;
	assert_int_equal(read_after(1), 0);
	assert_false(sample("fec_corrected_bits", 0)->there);
}

static void
new_optional_counters_do_not_move_others(void **unused)
{
	device.rdma_netlink = true;
	counters_fixture_put(&device, 'h', "np_cnp_sent", "5");
	assert_int_equal(read_after(0), 0);
	strcpy(device.stats.names[0], "out_of_buffer");
	device.stats.values[0] = 77;
	counters_fixture_put(&device, 'h', "np_cnp_sent", "6");
	assert_int_equal(device.stats.count, 2);
	(void)read_after(1);
	assert_false(sample("cnp_tx", 0)->there);
	assert_int_equal(read_after(1), 0);
	assert_int_equal(sample("cnp_tx", 0)->value, 6);
	assert_int_equal(sample("rx_out_of_buffer", 0)->value, 77);
}

static void
counters_above_the_limit_do_not_hide_the_first_ones(void **unused)
{
	char name[32];

	device.rdma_netlink = true;
	counters_fixture_put(&device, 'h', "np_cnp_sent", "5");
	for (int i = 0; i < RDMA_STATS_MAX + 20; i++) {
		snprintf(name, sizeof(name), "other_%d", i);
		counters_fixture_put(&device, 'h', name, "1");
	}
	device.stats.values[0] = 6;
	for (int i = 0; i < 3; i++) {
		assert_int_equal(read_after(1), 0);
		assert_int_equal(sample("cnp_tx", 0)->value, 6);
	}
}

static void
the_kernel_itself_answers_in_time(void **unused)
{
	struct netdev_stats ethtool = { 0 };
	struct rdma_stats stats = { 0 };
	struct ethtool_question question;
	struct netlink_reader body;
	uint8_t reply[1024];
	struct dcb_pfc pfc;
	uint16_t family;
	int r;

	/* lo supports none of these; "not supported" is a valid answer. */
	r = dcb_pfc_read(&pfc, &counter_kernel, "lo");
	assert_true(r < 0 && r != -ETIME && r != -EBADMSG);
	r = rdma_stats_look(&stats, RDMA_STATS_COUNTERS, &counter_kernel, "none0", 1);
	assert_true(r == -ENODEV || r == -EPROTONOSUPPORT);
	r = netdev_stats_look(&ethtool, &counter_kernel, "none0");
	assert_int_equal(r, -ENODEV);
	netdev_stats_clear(&ethtool);
	assert_int_equal(ethtool_family(&counter_kernel, &family), 0);
	ethtool_begin(&question, ETHTOOL_MSG_PAUSE_GET, ETHTOOL_A_PAUSE_HEADER, "none0",
	    ETHTOOL_FLAG_STATS);
	r = ethtool_ask(
	    &counter_kernel, &question, family, reply, sizeof(reply), &body);
	assert_int_equal(r, -ENODEV);
}

static size_t
open_files(void)
{
	DIR *dir = opendir("/proc/self/fd");
	size_t count = 0;

	assert_non_null(dir);
	while (readdir(dir) != NULL)
		count++;
	closedir(dir);
	return count;
}

static void
files_are_opened_once(void **unused)
{
	const size_t before = open_files();
	size_t open;

	counters_fixture_put(&device, 'h', "np_cnp_sent", "5");
	counters_fixture_put(&device, 'c', "port_rcv_data", "5");
	assert_int_equal(read_after(0), 0);
	open = open_files();
	assert_int_equal(open, before + 2);
	for (int i = 0; i < 10; i++)
		assert_int_equal(read_after(50), 0);
	assert_int_equal(open_files(), open);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_device_without_counters_is_an_error),
		TEST(a_changed_value_is_read_again),
		TEST(a_counter_without_a_value_is_missing_and_not_zero),
		TEST(a_new_counter_is_found_within_a_minute),
		TEST(moved_names_of_ethtool_are_looked_up_again),
		TEST(a_name_that_is_a_prefix_of_another_is_a_different_one),
		TEST(a_name_without_an_end_is_read_by_its_32_bytes),
		TEST(settings_are_read_and_missing_ones_are_unknown),
		TEST(types_of_gids_are_read_past_empty_entries),
		TEST(the_lanes_of_a_virtual_function_are_not_known),
		TEST(a_recreated_device_is_another_one),
		TEST(another_port_is_looked_up_at_once),
		TEST(netlink_comes_before_files),
		TEST(one_reading_is_one_request_to_each_source),
		TEST(sources_without_judged_counters_are_read_seldom),
		TEST(sources_with_judged_counters_are_read_each_time),
		TEST(only_the_standard_statistics_that_are_needed_are_asked_for),
		TEST(pfc_of_mlx5_is_not_taken_for_global_pause),
		TEST(standard_statistics_that_vanish_are_missing),
		TEST(new_optional_counters_do_not_move_others),
		TEST(counters_above_the_limit_do_not_hide_the_first_ones),
		TEST(the_kernel_itself_answers_in_time),
		TEST(files_are_opened_once),
	};

	return cmocka_run_group_tests_name("counter_port", tests, NULL, NULL);
}
