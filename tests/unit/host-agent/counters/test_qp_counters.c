#include "host-agent/counters/qp_counters.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/unit/host-agent/counters/counters_fixture.h"

static struct counters_fixture device;
static struct qp_counters all;
static uint8_t reply[QP_COUNTERS_REPLY_BYTES];

static int
setup(void **unused)
{
	counters_fixture_make(&device, "mlx5");
	device.rdma_netlink = true;
	return 0;
}

static int
teardown(void **unused)
{
	counters_fixture_free(&device);
	return 0;
}

static void
put(uint32_t port, uint32_t pid, const char *name, uint64_t value)
{
	device.groups[device.group_count++] =
	    (struct fixture_group){ port, pid, name, value };
}

static int
read_device(void)
{
	return qp_counters_read(&all, &device.kernel, "rdma0", 1, reply);
}

static uint64_t
value(uint32_t pid, const char *name)
{
	for (size_t i = 0; i < all.process_count; i++)
		for (size_t k = 0; k < all.name_count; k++)
			if (all.processes[i].pid == pid &&
			    strcmp(all.names[k], name) == 0)
				return all.processes[i].values[k];
	fail_msg("no %s of %u", name, pid);
	return 0;
}

static void
the_groups_of_a_process_are_summed(void **unused)
{
	put(1, 17, "packet_seq_err", 3);
	put(1, 18, "packet_seq_err", 5);
	/* A group of another QP type. */
	put(1, 17, "packet_seq_err", UINT64_C(1) << 32);
	put(1, 17, "rx_write_requests", 9);
	put(2, 17, "packet_seq_err", 1000); /* another port */
	assert_int_equal(read_device(), 0);
	assert_int_equal(all.process_count, 2);
	assert_int_equal(all.name_count, 3);
	assert_int_equal(value(17, "packet_seq_err"), 3 + (UINT64_C(1) << 32));
	assert_int_equal(value(17, "rx_write_requests"), 9);
	assert_int_equal(value(18, "packet_seq_err"), 5);
	assert_int_equal(value(18, "rx_write_requests"), 0);
	assert_int_equal(value(17, "out_of_buffer"), 0);
	assert_int_equal(all.left_out, 0);
}

static void
a_group_without_a_process_is_left_out(void **unused)
{
	put(1, 0, "packet_seq_err", 3);
	put(1, 18, "packet_seq_err", 5);
	put(2, 0, "packet_seq_err", 3);
	assert_int_equal(read_device(), 0);
	assert_int_equal(all.process_count, 1);
	assert_int_equal(all.left_out, 1);
}

static void
without_counting_per_process_there_are_no_groups(void **unused)
{
	assert_int_equal(read_device(), 0);
	assert_int_equal(all.process_count, 0);
	assert_int_equal(
	    qp_counters_read(&all, &device.kernel, "rdma7", 1, reply), -ENODEV);
	device.rdma_netlink = false;
	assert_int_equal(read_device(), -EPROTONOSUPPORT);
	device.kernel.netlink = NULL;
	assert_int_equal(read_device(), -EOPNOTSUPP);
}

static void
processes_beyond_the_limit_are_counted(void **unused)
{
	for (uint32_t i = 0; i < QP_COUNTERS_PROCESSES + 3; i++)
		put(1, 100 + i, "packet_seq_err", i);
	assert_int_equal(read_device(), 0);
	assert_int_equal(all.process_count, QP_COUNTERS_PROCESSES);
	assert_int_equal(all.left_out, 3);
	assert_int_equal(value(100 + QP_COUNTERS_PROCESSES - 1, "packet_seq_err"),
	    QP_COUNTERS_PROCESSES - 1);
}

static void
an_invalid_name_is_ignored(void **unused)
{
	put(1, 17, "a\"} 1", 3);
	put(1, 17, "", 3);
	put(1, 17, "packet_seq_err", 3);
	assert_int_equal(read_device(), 0);
	assert_int_equal(all.name_count, 2);
	assert_int_equal(value(17, "packet_seq_err"), 3);
}

static int
cut(void *arg, int protocol, const struct nlmsghdr *question, uint8_t *bytes,
    size_t room)
{
	int r = counters_fixture_netlink(arg, protocol, question, bytes, room);

	/* Damages the length of the second attribute. */
	if (RDMA_NL_GET_OP(question->nlmsg_type) == RDMA_NLDEV_CMD_STAT_GET)
		bytes[NLMSG_HDRLEN + 8] = 0xff;
	return r;
}

static void
a_damaged_answer_is_refused(void **unused)
{
	put(1, 17, "packet_seq_err", 3);
	device.kernel.netlink = cut;
	assert_int_equal(read_device(), -EBADMSG);
	assert_int_equal(all.process_count, 0);
	assert_int_equal(all.name_count, 0);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_groups_of_a_process_are_summed),
		TEST(a_group_without_a_process_is_left_out),
		TEST(without_counting_per_process_there_are_no_groups),
		TEST(processes_beyond_the_limit_are_counted),
		TEST(an_invalid_name_is_ignored),
		TEST(a_damaged_answer_is_refused),
	};

	return cmocka_run_group_tests_name("qp_counters", tests, NULL, NULL);
}
