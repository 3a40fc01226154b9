/*
 * rnic_find - finds the RNICs of this host and the switches that LLDP names for them.
 *
 * For configs that do not name every device. Reads the GIDs of every port and the
 * network devices around it: call it on the worker, seldom.
 */
#ifndef HOST_AGENT_RNIC_RNIC_FIND_H
#define HOST_AGENT_RNIC_RNIC_FIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host-agent/rnic/lldp.h"
#include "host-agent/rnic/rnic_facts.h"

struct rdma_index;

struct rnic_found {
	enum rnic_transport transport; /* RNIC_ROCE: an RDMA port; else a netdev */
	char device[RNIC_RDMA_NAME_BYTES];
	uint8_t port;                   /* of an RDMA device */
	char netdev[RNIC_NETDEV_BYTES]; /* "" when it is not known */
	char driver[RNIC_DRIVER_BYTES];
	int error;  /* 0: it has an address to probe from; else the error */
	bool taken; /* for use by the owner of the find */
	/* The switches of its cables, by LLDP: two for a bond. Borrowed from the
	 * find. */
	const char *switches[WIRE_MAX_ATTACHMENTS];
	size_t switch_count;
};

/* A search and its results. */
struct rnic_find {
	/* Given; borrowed. */
	struct rdma_index *index; /* of sysfs */
	const char *sysfs;        /* NULL: "/sys" */
	const char *netns;        /* of network devices; NULL: our own */
	bool rdma; /* look for RDMA ports, also where LLDP has no neighbours */
	/* True: this network device is examined; called on the worker. */
	bool (*wants)(const char *netdev, const void *arg);
	const void *arg;
	const char *lldp_file; /* "": none */

	struct rnic_found *list; /* RDMA ports first, each kind sorted by name */
	size_t count;
	int error;      /* of the search: then some devices are missing from the list */
	int lldp_error; /* as of lldp_read; then there are no switches */
	struct lldp lldp;
	int64_t cpu_ns; /* without the CPU time of the index */
};

void rnic_find_run(struct rnic_find *find);
void rnic_find_clear(struct rnic_find *find); /* frees the results */

#endif
