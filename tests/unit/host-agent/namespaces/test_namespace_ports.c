/* Namespaces are files in this test, and the kernel's answer in each is made up. The
 * test with the real kernel shows that a socket belongs to the entered namespace. */
#include "host-agent/namespaces/namespace_ports.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <errno.h>
#include <linux/ethtool.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/host-agent/counters/counters_fixture.h"

static struct rdma_fixture files;
static uint8_t mode;            /* RDMA's netns mode; 0: exclusive */
static unsigned devices, ports; /* devices in each namespace, ports of each device */
static const char *stem;        /* first part of the devices' names */
static int refused;             /* error to return instead of an answer */
static char entered[8][256];
static unsigned enters;

static size_t
begin_message(struct fixture_answer *answer)
{
	return fixture_begin(answer, NLMSG_HDRLEN);
}

static int
report(void *arg, int protocol, const struct nlmsghdr *question, uint8_t *bytes,
    size_t room)
{
	struct fixture_answer answer = { bytes, 0, room };
	const unsigned command = RDMA_NL_GET_OP(question->nlmsg_type);
	size_t at;

	assert_int_equal(protocol, NETLINK_RDMA);
	if (arg != NULL && refused < 0)
		return refused;
	if (command == RDMA_NLDEV_CMD_SYS_GET) {
		at = begin_message(&answer);
		fixture_attribute(&answer, RDMA_NLDEV_SYS_ATTR_NETNS_MODE, &mode, 1);
		fixture_end(&answer, at, question->nlmsg_type);
	} else if (command == RDMA_NLDEV_CMD_GET) {
		for (uint32_t i = 0; i < devices; i++) {
			char name[16];

			snprintf(name, sizeof(name), "%s%u", stem, i);
			at = begin_message(&answer);
			fixture_attribute(&answer, RDMA_NLDEV_ATTR_DEV_INDEX, &i, 4);
			fixture_attribute(
			    &answer, RDMA_NLDEV_ATTR_DEV_NAME, name, strlen(name) + 1);
			fixture_attribute(
			    &answer, RDMA_NLDEV_ATTR_PORT_INDEX, &ports, 4);
			fixture_end(&answer, at, question->nlmsg_type);
		}
	} else {
		assert_int_equal(command, RDMA_NLDEV_CMD_PORT_GET);
		at = begin_message(&answer);
		fixture_attribute(&answer, RDMA_NLDEV_ATTR_NDEV_NAME, "eth0", 5);
		fixture_end(&answer, at, question->nlmsg_type);
	}
	at = fixture_begin(&answer, NLMSG_HDRLEN + sizeof(struct nlmsgerr));
	fixture_end(
	    &answer, at, command == RDMA_NLDEV_CMD_GET ? NLMSG_DONE : NLMSG_ERROR);
	return (int)answer.len;
}

static int
report_ethtool(void *arg, const char *netdev, void *command)
{
	struct ethtool_drvinfo *info = command;

	assert_string_equal(netdev, "eth0");
	strcpy(info->driver, "mlx5_core");
	return 0;
}

static void
enter(const char *path, struct counter_kernel *ret)
{
	snprintf(entered[enters++ % 8], sizeof(entered[0]), "%s", path);
	*ret = (struct counter_kernel){
		.sysfs = "", .ethtool = report_ethtool, .netlink = report, .arg = &files
	};
}

static const struct counter_kernel own = { .sysfs = "", .netlink = report };

static void
hard_link(const char *from, const char *to)
{
	char a[512], b[512];

	snprintf(a, sizeof(a), "%s/%s", files.root, from);
	snprintf(b, sizeof(b), "%s/%s", files.root, to);
	unlink(b);
	assert_int_equal(link(a, b), 0);
}

static int
setup(void **state)
{
	(void)state;
	rdma_fixture_make(&files);
	mode = 0;
	devices = ports = 1;
	stem = "mlx5_";
	refused = 0;
	enters = 0;
	rdma_fixture_put(&files, "", "proc/self/ns/net");
	rdma_fixture_put(&files, "", "run/netns/ours");
	rdma_fixture_put(&files, "", "run/netns/cni-1");
	rdma_fixture_put(&files, "", "run/netns/a\"b");
	rdma_fixture_put(&files, "", "proc/42/ns/net");
	rdma_fixture_put(&files, "train\n", "proc/42/comm");
	rdma_fixture_put(&files,
	    "0::/kubepods.slice/kubepods-pod01234567_89ab_cdef_0123_456789abcdef.slice/"
	    "cri-containerd-"
	    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef.scope\n",
	    "proc/42/cgroup");
	hard_link("proc/self/ns/net", "run/netns/ours");
	hard_link("run/netns/cni-1", "proc/42/ns/net");
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	rdma_fixture_free(&files);
	return 0;
}

static struct namespace_ports found;

static int
look(void)
{
	return namespace_ports_find(&found, files.root, &own, enter);
}

static void
ports_of_a_pods_namespace_are_found_with_its_name(void **state)
{
	(void)state;
	devices = 2;
	assert_int_equal(look(), 0);
	/* The agent's own namespace and the invalid name are not entered. */
	assert_int_equal(enters, 1);
	assert_non_null(strstr(entered[0], "/run/netns/cni-1"));
	assert_int_equal(found.count, 2);
	assert_string_equal(found.ports[0].place.netns, "cni-1");
	assert_string_equal(found.ports[0].place.rdma_device, "mlx5_0");
	assert_string_equal(found.ports[1].place.rdma_device, "mlx5_1");
	assert_int_equal(found.ports[0].place.port, 1);
	assert_string_equal(found.ports[0].place.netdev, "eth0");
	assert_string_equal(found.ports[0].place.driver, "mlx5_core");
	assert_string_equal(
	    found.ports[0].service, "pod:01234567-89ab-cdef-0123-456789abcdef");
	assert_int_equal(found.left_out, 0);
}

static void
shared_devices_are_counted_once(void **state)
{
	(void)state;
	mode = 1;
	assert_int_equal(look(), -EOPNOTSUPP);
	assert_int_equal(enters, 0);
	assert_int_equal(found.count, 0);
}

static void
a_namespace_that_cannot_be_entered_is_counted_and_hides_no_other(void **state)
{
	(void)state;
	refused = -EPERM;
	assert_int_equal(look(), 0);
	assert_int_equal(found.count, 0);
	assert_int_equal(found.refused, 1);
	refused = 0;
	assert_int_equal(look(), 0);
	assert_int_equal(found.count, 1);
	assert_int_equal(found.refused, 0);
}

static void
limits_are_kept_and_counted(void **state)
{
	(void)state;
	devices = 40;
	ports = 5;
	assert_int_equal(look(), 0);
	assert_int_equal(found.count, NAMESPACE_PORTS_MAX);
	assert_int_equal(found.left_out, 8 + 32 * 5 - NAMESPACE_PORTS_MAX);
}

/* Pods may rename their devices; a device's name is a label of the agent's metrics. */
static void
devices_with_invalid_names_are_left_out(void **state)
{
	(void)state;
	stem = "a\"\nb ";
	devices = 2;
	assert_int_equal(look(), 0);
	assert_int_equal(found.count, 0);
	assert_int_equal(found.left_out, 2);
}

/* Only the child's namespace contains a device with this name. */
static void
a_socket_belongs_to_the_namespace_that_was_entered(void **state)
{
	struct ethtool_drvinfo info = { .cmd = ETHTOOL_GDRVINFO };
	struct counter_kernel there;
	char path[64], byte = 0;
	int pipes[2];
	pid_t child;

	(void)state;
	assert_int_equal(pipe(pipes), 0);
	child = fork();
	if (child == 0) {
		const char made =
		    unshare(CLONE_NEWNET) == 0 &&
		    system("ip link add only-there type veth peer name its-peer "
			   "2>/dev/null") == 0;

		if (write(pipes[1], &made, 1) == 1)
			pause();
		_exit(0);
	}
	assert_int_equal(read(pipes[0], &byte, 1), 1);
	snprintf(path, sizeof(path), "/proc/%d/ns/net", (int)child);
	counter_kernel_enter(path, &there);
	if (byte != 0) {
		assert_int_equal(there.ethtool(there.arg, "only-there", &info), 0);
		assert_string_equal(info.driver, "veth");
		assert_int_equal(
		    counter_kernel.ethtool(NULL, "only-there", &info), -ENODEV);
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	close(pipes[0]);
	close(pipes[1]);
	if (byte == 0)
		skip(); /* not root, or veth is not available */
	counter_kernel_enter("/run/netns/none-of-that-name", &there);
	assert_int_equal(there.ethtool(there.arg, "lo", &info), -ENOENT);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(ports_of_a_pods_namespace_are_found_with_its_name),
		TEST(shared_devices_are_counted_once),
		TEST(a_namespace_that_cannot_be_entered_is_counted_and_hides_no_other),
		TEST(limits_are_kept_and_counted),
		TEST(devices_with_invalid_names_are_left_out),
		TEST(a_socket_belongs_to_the_namespace_that_was_entered),
	};

	return cmocka_run_group_tests_name("namespace_ports", tests, NULL, NULL);
}
