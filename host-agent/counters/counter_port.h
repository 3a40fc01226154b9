/*
 * counter_port - all counters of one RNIC, read from wherever its driver has them.
 *
 * What aggregators diagnose by is read each time, and all that comes with it: a driver
 * tells hundreds at once. What would have to be asked for besides is read seldom.
 *
 * What is there is looked for at the first reading, when the device has changed, and
 * now and then; between that a reading opens nothing and allocates nothing. It waits
 * for the driver and its firmware: call it in a thread.
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
	char netns[COUNTER_NETNS_BYTES]; /* in /run/netns; "": our own */
	char rdma_device[64];            /* "": a network device alone */
	uint8_t port;                    /* of it */
	char netdev[16];                 /* "": it has none */
	char driver[32];
};

#define COUNTER_MAX_LOWERS 4 /* ports of a bond that are followed */
#define COUNTER_FIRMWARE_BYTES 32
#define COUNTER_NO_CLASS 256 /* each program sets its own */

enum counter_gid_type { COUNTER_GID_ROCE_V1 = 1, COUNTER_GID_ROCE_V2 = 2 };

struct counter_reading {
	bool same_device; /* as in the last one */
	bool all;         /* of what is read seldom, too */
	size_t found;     /* values that are there */
	size_t parts;     /* single numbers that were read */
	int64_t took_ns, cpu_ns;
	/* Network devices of a bond's ports: counters of cables are theirs. */
	char lowers[COUNTER_MAX_LOWERS][16];
	size_t lower_count;
	/* Settings, as of the last search for counters. */
	char firmware[COUNTER_FIRMWARE_BYTES]; /* its version, printable; "": unknown */
	int traffic_class;  /* of all RoCE packets, or COUNTER_NO_CLASS; -1: unknown */
	unsigned fec;       /* ETHTOOL_FEC_*, the active one; 0: unknown */
	unsigned gid_types; /* bits of COUNTER_GID_*, of its GIDs; 0: unknown */
	int trusts_dscp;    /* 0: the VLAN tag; -1: unknown. As last read */
	uint8_t dscps[DCB_DSCPS]; /* unless that is unknown: see dcb_pfc.h */
};

/* kernel: borrowed. */
int counter_port_new(const struct counter_kernel *kernel, struct counter_port **ret);
void counter_port_free(struct counter_port *port);

/* now: since when. all: what is read seldom, too; so it is when it was looked for.
 * samples: counter_values() of them, in the order of the table; of those that are read
 * seldom they say nothing unless ret->all. -ENODEV: nothing at all is there. */
int counter_port_read(struct counter_port *port, const struct counter_port_place *place,
    bool all, rm_mono_t now, struct counter_sample *samples,
    struct counter_reading *ret);
/* Of a value, by its place among the samples: as of the last reading. */
bool counter_port_is_seldom(const struct counter_port *port, size_t value);

#endif
