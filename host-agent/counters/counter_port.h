/*
 * counter_port - all counters of one RNIC, read from the sources that its driver has.
 *
 * Values that aggregators judge are read each time, and so are the other values of the
 * same request, as a driver returns hundreds at once. Values that need a request of
 * their own are read seldom.
 *
 * The first reading, a reading after a change of the device, and a reading now and then
 * search for the sources of all values; other readings open no files and allocate no
 * memory. A reading waits for the driver and its firmware: call it in a thread.
 */
#ifndef HOST_AGENT_COUNTERS_COUNTER_PORT_H
#define HOST_AGENT_COUNTERS_COUNTER_PORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host-agent/counters/counter_table.h"
#include "host-agent/counters/dcb_pfc.h"
#include "rackmesh/core/clock.h"
#include "rackmesh/metrics/counter_delta.h"

struct counter_kernel;
struct counter_port;

#define COUNTER_NETNS_BYTES 64

struct counter_port_place {
	/* name of a namespace in /run/netns; "": the agent's own namespace */
	char netns[COUNTER_NETNS_BYTES];
	char rdma_device[64]; /* "": the RNIC is only a network device */
	uint8_t port;         /* number of the RDMA device's port, from 1 */
	char netdev[16];      /* "": the RNIC has none */
	char driver[32];
};

#define COUNTER_MAX_LOWERS 4 /* network devices of one bond that are read */
#define COUNTER_FIRMWARE_BYTES 32
#define COUNTER_NO_CLASS 256 /* no fixed class: each program sets its own */

enum counter_gid_type { COUNTER_GID_ROCE_V1 = 1, COUNTER_GID_ROCE_V2 = 2 };

struct counter_reading {
	bool same_device; /* the device is the same as in the last reading */
	bool all;         /* the values that are read seldom were read, too */
	size_t found;     /* number of values that were found */
	size_t parts;     /* single numbers that were read */
	int64_t took_ns, cpu_ns;
	/* The network devices of which a bond consists: they have the counters of the
	 * cables. */
	char lowers[COUNTER_MAX_LOWERS][16];
	size_t lower_count;
	/* The following settings were read at the last search for counters. */
	/* version of the firmware, printable; "": unknown */
	char firmware[COUNTER_FIRMWARE_BYTES];
	/* traffic class of all RoCE packets, or COUNTER_NO_CLASS; -1: unknown */
	int traffic_class;
	unsigned fec; /* the active FEC, as ETHTOOL_FEC_*; 0: unknown */
	/* types of the port's GIDs, as bits of COUNTER_GID_*; 0: unknown */
	unsigned gid_types;
	/* 1: priorities follow the DSCP; 0: they follow the VLAN tag; -1: unknown. It
	 * comes from the last reading. */
	int trusts_dscp;
	/* priority of each DSCP, if trusts_dscp is known: see dcb_pfc.h */
	uint8_t dscps[DCB_DSCPS];
};

/* kernel: borrowed. */
int counter_port_new(const struct counter_kernel *kernel, struct counter_port **ret);
void counter_port_free(struct counter_port *port);

/* place: how to find the RNIC. now: time of the reading. all: includes the values that
 * are read seldom, as every search for counters does. samples: has room for
 * counter_values() entries, in the order of the table; entries of values that are read
 * seldom are valid only if ret->all. -ENODEV: no counter at all was found. */
int counter_port_read(struct counter_port *port, const struct counter_port_place *place,
    bool all, rm_mono_t now, struct counter_sample *samples,
    struct counter_reading *ret);
/* True: the value with this index in samples is one of those that are read seldom, as
 * of the last reading. */
bool counter_port_is_seldom(const struct counter_port *port, size_t value);

#endif
