/*
 * rdma_stats - the counters of an RDMA port from RDMA netlink: all counters of
 * hw_counters and the optional ones, in one request; and the number of QPs.
 */
#ifndef HOST_AGENT_COUNTERS_RDMA_STATS_H
#define HOST_AGENT_COUNTERS_RDMA_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RDMA_STATS_MAX 160
#define RDMA_STATS_NAME 48

struct counter_kernel;

struct rdma_stats {      /* all zeros: none */
	uint32_t device; /* the kernel's index of the device */
	uint8_t port;
	size_t count;
	char names[RDMA_STATS_MAX][RDMA_STATS_NAME];
	uint64_t values[RDMA_STATS_MAX];
	bool there; /* the last reading was complete */
};

enum rdma_stats_table {
	RDMA_STATS_COUNTERS,  /* of the port */
	RDMA_STATS_RESOURCES, /* of the device: "qp", "cq", ... */
};

/* Finds the kernel's index of a device. -ENODEV: there is none. */
int rdma_stats_device(
    const struct counter_kernel *kernel, const char *device, uint32_t *ret);

/* Reads the names. -ENODEV: no such device; -EOPNOTSUPP, -EINVAL: the device has no
 * such counters. */
int rdma_stats_look(struct rdma_stats *stats, enum rdma_stats_table table,
    const struct counter_kernel *kernel, const char *device, uint8_t port);
int rdma_stats_find(const struct rdma_stats *stats, const char *name);
/* Reads all values. -ESTALE: the device, or its names, have changed: call
 * rdma_stats_look. */
int rdma_stats_read(struct rdma_stats *stats, enum rdma_stats_table table,
    const struct counter_kernel *kernel);

#endif
