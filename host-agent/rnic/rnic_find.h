/*
 * rnic_find - finds the RNICs of this host and the switches that LLDP names for them.
 *
 * It is for configs that do not name every device. It reads the GIDs of every port, and
 * the network devices related to it: call it on the worker, seldom.
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
	/* RNIC_ROCE: the entry is an RDMA port; otherwise it is a netdev */
	enum rnic_transport transport;
	char device[RNIC_RDMA_NAME_BYTES];
	uint8_t port;                   /* port of the RDMA device */
	char netdev[RNIC_NETDEV_BYTES]; /* "" when it is not known */
	char driver[RNIC_DRIVER_BYTES];
	/* 0: the device has an address to probe from; else the reason why not */
	int error;
	bool taken; /* for use by the caller */
	/* The switches at the other ends of its cables, by LLDP, borrowed from the
	 * find; a bond may have two. */
	const char *switches[WIRE_MAX_ATTACHMENTS];
	size_t switch_count;
};

/* A search and its results. */
struct rnic_find {
	/* Set by the caller; borrowed. */
	struct rdma_index *index; /* of sysfs */
	const char *sysfs;        /* NULL: "/sys" */
	const char *netns; /* namespace of the network devices; NULL: the agent's own */
	bool rdma;         /* look for RDMA ports even if LLDP has no neighbours */
	/* True: examine this network device. Called on the worker. */
	bool (*wants)(const char *netdev, const void *arg);
	const void *arg;
	const char *lldp_file; /* "": none */

	struct rnic_found *list; /* RDMA ports first, each kind sorted by name */
	size_t count;
	int error;      /* error of the search: the list may be incomplete */
	int lldp_error; /* error of lldp_read: no switch is known */
	struct lldp lldp;
	int64_t cpu_ns; /* CPU time of the search, without that of the index */
};

void rnic_find_run(struct rnic_find *find);
void rnic_find_clear(struct rnic_find *find); /* frees the results */

#endif
