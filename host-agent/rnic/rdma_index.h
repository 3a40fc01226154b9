/*
 * rdma_index - finds the RDMA port of a network device, for all devices of a host.
 *
 * A search reads every GID entry of every port, which takes a tenth of a second for a
 * hundred devices. So one search serves all RNICs, and all searches together cost at
 * most a quarter percent of a core, however many RNICs are missing. A result may be out
 * of date: the caller has to check it. A device that was not found is searched for
 * again after a change (rdma_index_expire), and from time to time.
 *
 * Only for the worker's thread; rdma_index_expire and the counts for any thread.
 */
#ifndef HOST_AGENT_RNIC_RDMA_INDEX_H
#define HOST_AGENT_RNIC_RDMA_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host-agent/rnic/rdma_facts.h"
#include "rackmesh/core/clock.h"

#define RDMA_MAX_DEVICES 4096 /* of a host */
#define RDMA_MAX_PORTS 16     /* of a device */

struct rdma_index;

struct rdma_port {
	char device[RDMA_DEVICE_BYTES];
	uint8_t port;
	/* the device has hardware; false: it is a soft device on top of a netdev */
	bool hard;
	uint64_t node_guid;
	char parent[RDMA_NETDEV_BYTES]; /* network device below a soft device; "" for
					   other devices */
};

/* root: RDMA_SYSFS; borrowed. Nothing is read yet. */
int rdma_index_new(const char *root, struct rdma_index **ret);
void rdma_index_free(struct rdma_index *index);

/* Reports that devices or owners of GIDs may have changed. Any thread may call it. */
void rdma_index_expire(struct rdma_index *index);

/*
 * Finds the RDMA device and port of a network device. It is the port whose GIDs the
 * network device owns, which may also be a bond or a VLAN; else, for a device that is
 * down, the port of the same hardware. Of several such ports the one with hardware
 * comes first, then the first one by name. -ENODEV: none. -ENOENT: there are no RDMA
 * devices at all. -E2BIG: there are more than RDMA_MAX_DEVICES. -EAGAIN: something has
 * changed, but the budget does not allow a search yet: ask again later.
 */
int rdma_index_find(struct rdma_index *index, const char *netdev,
    char device[RDMA_DEVICE_BYTES], uint8_t *port);
/* Does the same by a search of its own, without an index. */
int rdma_index_find_now(const char *root, const char *netdev,
    char device[RDMA_DEVICE_BYTES], uint8_t *port);

/* Returns all ports, sorted by device and port, borrowed until the next call of any
 * function. Errors as above, except -ENODEV. */
int rdma_index_ports(
    struct rdma_index *index, const struct rdma_port **ret, size_t *count);

/* index NULL: 0. */
uint64_t rdma_index_searches(const struct rdma_index *index);
/* CPU time of all searches. */
int64_t rdma_index_cpu_ns(const struct rdma_index *index);

/* The CPU time that searches may take. Pure; all times are in ns of CPU time. */
struct rdma_budget {
	rm_mono_t at; /* 0: not used yet */
	int64_t left_ns, most_ns;
};

/* awaited: a change has been reported. Without a change, half of the budget is kept for
 * the next change. */
bool rdma_budget_allows(struct rdma_budget *budget, bool awaited, rm_mono_t now);
void rdma_budget_spend(struct rdma_budget *budget, int64_t cpu_ns);

#endif
