/*
 * rdma_facts - the state of an RDMA device's port from sysfs, and the choice of the GID
 * to probe with.
 *
 * Reading opens up to three files per GID and may wait for a driver's locks: call it on
 * the worker. The choice is pure. sysfs does not show the active MTU: ibv_query_port
 * returns it.
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
/* Most entries of a port's table that are read. gids_unseen is true if the table has
 * more. */
#define RDMA_MAX_GIDS 256
#define RDMA_MAX_NETDEVS 8 /* the port's own network device, its bond, its VLANs */

enum rdma_link { RDMA_LINK_UNKNOWN, RDMA_LINK_ETHERNET, RDMA_LINK_INFINIBAND };

enum rdma_gid_type {
	RDMA_GID_IB = 1, /* GID of an InfiniBand port */
	RDMA_GID_ROCE_V1,
	RDMA_GID_ROCE_V2,
};

struct rdma_gid {
	uint8_t index;
	uint8_t type; /* enum rdma_gid_type */
	uint8_t bytes[GID_BYTES];
	char netdev[RDMA_NETDEV_BYTES]; /* "": the GID has no network device */
};

struct rdma_facts {
	char device[RDMA_DEVICE_BYTES];
	uint8_t port;
	uint64_t node_guid; /* 0: the device has none, as may be the case for a VF */
	enum rdma_link link;
	uint8_t state; /* as enum ibv_port_state: 1 down, 4 active; 0 unknown */
	uint16_t lid, sm_lid;
	/*
	 * The driver's name as in rdma-core: mlx5, mlx4, bnxt_re, irdma, hns, rxe, siw;
	 * for other devices, the name in sysfs. "": unknown.
	 */
	char driver[RDMA_DRIVER_BYTES];
	/* Network devices that own GIDs, in the order of the table; the first one is
	 * the port's own. */
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

/* Returns the GUID; 0: the device has none. */
uint64_t rdma_facts_guid(const char *root, const char *device);

struct rdma_gid_wish {
	uint8_t family; /* 4 or 6; not used on InfiniBand */
	int index;      /* index from the config; -1: choose one */
	/* network device whose GIDs are preferred; NULL: the port's own */
	const char *netdev;
};

/*
 * Chooses the GID to probe from: a global GID of RoCE v2, with the lowest index among
 * those of the preferred netdev, or else among all. On InfiniBand it is the first GID.
 * -EADDRNOTAVAIL: there is no GID of the family. -EPROTONOSUPPORT: the family has RoCE
 * v1 only, or the GID at that index is of RoCE v1. -ENETUNREACH: the same for
 * link-local GIDs. -ENXIO: no GID at that index. -EAFNOSUPPORT: the GID at that index
 * is of the other family. -EINVAL: there is no such family.
 */
int rdma_facts_pick_gid(const struct rdma_facts *facts,
    const struct rdma_gid_wish *wish, struct rdma_gid *ret);

/* Returns a text on what is missing, for the errors of these functions and of
 * rdma_index. */
const char *rdma_facts_error(int r);

#endif
