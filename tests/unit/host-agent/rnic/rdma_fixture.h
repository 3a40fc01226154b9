/*
 * rdma_fixture - a folder with files like those of RDMA ports in sysfs.
 *
 * Include it after cmocka.h. Every failure fails the test.
 */
#ifndef TESTS_UNIT_HOST_AGENT_RDMA_FIXTURE_H
#define TESTS_UNIT_HOST_AGENT_RDMA_FIXTURE_H

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define RDMA_V4 "0000:0000:0000:0000:0000:ffff:0a09:0001" /* 10.9.0.1 */
#define RDMA_V4_OTHER "0000:0000:0000:0000:0000:ffff:0a09:0002"
#define RDMA_V6 "fd00:0009:0000:0000:0000:0000:0000:0001"
#define RDMA_NONE "0000:0000:0000:0000:0000:0000:0000:0000"
#define RDMA_LINK_LOCAL "fe80:0000:0000:0000:0a00:27ff:fe00:0001"
#define RDMA_GUID "0200:00ff:fe00:0007"
#define RDMA_GUID_VALUE UINT64_C(0x020000fffe000007)

struct rdma_fixture {
	char root[64]; /* used instead of /sys */
};

static inline void
rdma_fixture_make(struct rdma_fixture *fixture)
{
	/* In /dev/shm: a host with hundreds of devices has thousands of files. */
	snprintf(fixture->root, sizeof(fixture->root), "%s/rdma_fixture.XXXXXX",
	    access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
	assert_non_null(mkdtemp(fixture->root));
}

static inline void
rdma_fixture_run(const struct rdma_fixture *fixture, const char *command)
{
	char line[512];
	int n = snprintf(line, sizeof(line), "cd %s && %s", fixture->root, command);

	assert_in_range(n, 1, sizeof(line) - 1);
	assert_int_equal(system(line), 0);
}

static inline void
rdma_fixture_free(const struct rdma_fixture *fixture)
{
	rdma_fixture_run(fixture, "rm -r \"$PWD\"");
}

static inline void __attribute__((format(printf, 3, 4))) rdma_fixture_put(
    const struct rdma_fixture *fixture, const char *text, const char *format, ...)
{
	char path[512];
	va_list arguments;
	FILE *file;
	int n = snprintf(path, sizeof(path), "%s/", fixture->root);

	va_start(arguments, format);
	vsnprintf(path + n, sizeof(path) - (size_t)n, format, arguments);
	va_end(arguments);
	for (char *at = path + n; *at != '\0'; at++) {
		if (*at != '/')
			continue;
		*at = '\0';
		assert_true(mkdir(path, 0755) == 0 || errno == EEXIST);
		*at = '/';
	}
	file = fopen(path, "w");
	assert_non_null(file);
	fprintf(file, "%s\n", text);
	assert_int_equal(fclose(file), 0);
}

/* type: "IB/RoCE v1" or "RoCE v2". */
static inline void
rdma_fixture_gid(const struct rdma_fixture *fixture, unsigned index, const char *gid,
    const char *type, const char *netdev)
{
	const char *port = "class/infiniband/rxe0/ports/1";

	rdma_fixture_put(fixture, gid, "%s/gids/%u", port, index);
	rdma_fixture_put(fixture, type, "%s/gid_attrs/types/%u", port, index);
	rdma_fixture_put(fixture, netdev, "%s/gid_attrs/ndevs/%u", port, index);
}

/* Port 1 of rxe0 on eth1, without a GID. */
static inline void
rdma_fixture_port(const struct rdma_fixture *fixture)
{
	const char *port = "class/infiniband/rxe0/ports/1";

	rdma_fixture_put(fixture, RDMA_GUID, "class/infiniband/rxe0/node_guid");
	rdma_fixture_put(fixture, "eth1", "class/infiniband/rxe0/parent");
	rdma_fixture_put(fixture, "4: ACTIVE", "%s/state", port);
	rdma_fixture_put(fixture, "Ethernet", "%s/link_layer", port);
	rdma_fixture_put(fixture, "0x0", "%s/lid", port);
	rdma_fixture_put(fixture, "0x0", "%s/sm_lid", port);
	rdma_fixture_put(fixture, "7", "class/net/eth1/ifindex");
	rdma_fixture_put(fixture, "4200", "class/net/eth1/mtu");
}

#endif
