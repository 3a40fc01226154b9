/*
 * rdma_facts - the state of an RDMA device's port from sysfs, and the choice of the GID
 * to probe with.
 *
 * Reading opens up to three files per GID and may wait for a driver's locks: call it on
 * the worker. The choice is pure. The active MTU is missing here, because sysfs does
 * not have it (ibv_query_port has).
 */
#ifndef HOST_AGENT_RNIC_RDMA_FACTS_H
#define HOST_AGENT_RNIC_RDMA_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host-agent/packet/gid.h"

#define RDMA_SYSFS "/sys" /* the root outside of tests */

#define RDMA_DEVICE_BYTES 64 /* the kernel's limit for a device's name */
#define RDMA_NETDEV_BYTES 16
#define RDMA_DRIVER_BYTES 32
/* Entries of a port's table that are read; more are counted as unseen. */
#define RDMA_MAX_GIDS 256
#define RDMA_MAX_NETDEVS 8 /* the port's own, its bond, its VLANs */

enum rdma_link { RDMA_LINK_UNKNOWN, RDMA_LINK_ETHERNET, RDMA_LINK_INFINIBAND };

enum rdma_gid_type {
	RDMA_GID_IB = 1, /* of an InfiniBand port */
	RDMA_GID_ROCE_V1,
	RDMA_GID_ROCE_V2,
};

struct rdma_gid {
	uint8_t index;
	uint8_t type; /* enum rdma_gid_type */
	uint8_t bytes[GID_BYTES];
	char netdev[RDMA_NETDEV_BYTES]; /* "" when it has none */
};

struct rdma_facts {
	char device[RDMA_DEVICE_BYTES];
	uint8_t port;
	uint64_t node_guid; /* 0: none, as for a VF that was given none */
	enum rdma_link link;
	uint8_t state; /* as enum ibv_port_state: 1 down, 4 active; 0 unknown */
	uint16_t lid, sm_lid;
	/*
	 * The driver family as rdma-core names its providers: mlx5, mlx4, bnxt_re,
	 * irdma, hns, rxe, siw; for other devices the driver that sysfs names. "":
	 * unknown.
	 */
	char driver[RDMA_DRIVER_BYTES];
	/* Owners of the GIDs in the order of the table: the port's own netdev is the
	 * first. */
	char netdevs[RDMA_MAX_NETDEVS][RDMA_NETDEV_BYTES];
	size_t netdev_count;
	struct rdma_gid gids[RDMA_MAX_GIDS]; /* without empty entries */
	size_t gid_count;
	bool gids_unseen; /* the table has more entries than are read */
};

/* root: RDMA_SYSFS. port: from 1. -ENODEV: no such device. -ENOENT: it has no such
 * port. */
int rdma_facts_read(
    const char *root, const char *device, uint8_t port, struct rdma_facts *ret);

/* 0: it has none. */
uint64_t rdma_facts_guid(const char *root, const char *device);

struct rdma_gid_wish {
	uint8_t family;     /* 4 or 6; not used on InfiniBand */
	int index;          /* configured; -1: choose one */
	const char *netdev; /* whose GIDs are preferred; NULL: the port's own */
};

/*
 * The GID to probe from: RoCE v2, global; the lowest index of the preferred netdev,
 * else of any. On InfiniBand the first of the table. -EADDRNOTAVAIL: no GID of the
 * family. -EPROTONOSUPPORT: only RoCE v1 of the family, or at that index. -ENETUNREACH:
 * only link-local ones, or at that index. -ENXIO: no GID at that index. -EAFNOSUPPORT:
 * the GID at that index is of the other family. -EINVAL: no such family.
 */
int rdma_facts_pick_gid(const struct rdma_facts *facts,
    const struct rdma_gid_wish *wish, struct rdma_gid *ret);

/* Text on what is missing, for the errors of these functions and of rdma_index. */
const char *rdma_facts_error(int r);

#endif
