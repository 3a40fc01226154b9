/*
 * rnic_facts - identity, addresses and state of an RNIC, from its network device or
 * RDMA port.
 *
 * Reading asks the kernel and may wait for its locks: call it on the worker.
 */
#ifndef HOST_AGENT_RNIC_RNIC_FACTS_H
#define HOST_AGENT_RNIC_RNIC_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schemas/wire.h"

struct rdma_index;

#define RNIC_DRIVER_BYTES 32
#define RNIC_FAMILIES 2      /* a port has one address per family */
#define RNIC_NETDEV_BYTES 16 /* IFNAMSIZ */
#define RNIC_RDMA_NAME_BYTES 64

enum rnic_transport {
	RNIC_AUTO, /* RoCE if the device supports it, else UDP */
	RNIC_UDP,
	RNIC_ROCE,
};

struct rnic_facts {
	enum rnic_transport transport; /* never RNIC_AUTO */
	uint64_t netns_inode; /* inode of the namespace in which the device was found */
	/* index of netdev, which changes when the netdev is created again */
	unsigned ifindex;
	struct wire_rnic_id id;
	struct wire_address addresses[RNIC_FAMILIES]; /* port 0 */
	size_t address_count;
	/* length of the prefix of addresses[i]; 0: not known */
	uint8_t prefix_bits[RNIC_FAMILIES];
	uint32_t mtu_bytes;             /* of netdev */
	char driver[RNIC_DRIVER_BYTES]; /* "" when unknown */
	char netdev[RNIC_NETDEV_BYTES]; /* "": an InfiniBand port that has no netdev */

	/* RoCE only. */
	char rdma_device[RNIC_RDMA_NAME_BYTES];
	/* inode in sysfs, which changes when the device is created again */
	uint64_t rdma_inode;
	uint8_t gid_index[RNIC_FAMILIES]; /* of addresses[i] */
	uint8_t gids[RNIC_FAMILIES][16];
	uint16_t lid; /* InfiniBand */
};

/* How to find an RNIC. Strings are borrowed. */
struct rnic_place {
	enum rnic_transport transport;
	const char *device; /* name of a netdev or of an RDMA device */
	/* namespace of a netdev; NULL: the agent's own, which RoCE needs */
	const char *netns;
	/* address to use; NULL: the first global one of each family */
	const char *address;
	uint8_t rdma_port; /* port, if device is an RDMA device */
	int gid_index;     /* index of the GID to use; -1: chosen by address */
	const char *sysfs; /* NULL: "/sys" */
	/* An index of the same sysfs; NULL: each call searches sysfs itself. */
	struct rdma_index *index;
};

/* Copies a driver's text, which may lack its terminating 0, so that it can be the label
 * of a metric. */
void rnic_facts_driver(char ret[RNIC_DRIVER_BYTES], const char text[RNIC_DRIVER_BYTES]);

/*
 * Calls one of the two functions below, by place->transport. With RNIC_AUTO it calls
 * rnic_facts_read_roce if device is an RDMA device, or the netdev of an RDMA port that
 * has a RoCEv2 GID.
 */
int rnic_facts_find(const struct rnic_place *place, struct rnic_facts *ret);

/* -ENODEV: there is no such RDMA port, or the netdev has none; -ENOTSUP: the port has
 * no RoCEv2 GID at all; -EADDRNOTAVAIL: the port has no GID for the address, or no
 * global GID yet; -ENOTUNIQ: the port has neither a node GUID nor a MAC; -E2BIG,
 * -EAGAIN: as rdma_index_find. */
int rnic_facts_read_roce(const struct rnic_place *place, struct rnic_facts *ret);

/*
 * netns: as for rm_netns_open. address: the address to use, or NULL for the first
 * global one of each family. -ENOENT: no such namespace; -ENODEV: no such device;
 * -ENXIO: it has no MAC; -EADDRNOTAVAIL: no such, or no global, address yet.
 */
int rnic_facts_read(
    const char *netns, const char *device, const char *address, struct rnic_facts *ret);

/* Returns the identity to use for a device that shares its GUID or MAC with another
 * device of its host. It depends only on id and name, and no manufacturer assigns it.
 */
struct wire_rnic_id rnic_facts_id_apart(struct wire_rnic_id id, const char *name);

/* True: all facts to which sockets or QPs are bound, or which identify the RNIC, are
 * equal. */
bool rnic_facts_same_place(const struct rnic_facts *a, const struct rnic_facts *b);
bool rnic_facts_same(const struct rnic_facts *a, const struct rnic_facts *b);

#endif
