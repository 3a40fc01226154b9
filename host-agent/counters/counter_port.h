/*
 * counter_port - all counters of one RNIC, read from the sources that its driver has.
 *
 * Values that aggregators diagnose by are read each time, and all that come with them:
 * a driver returns hundreds at once. Values that need a further request are read
 * seldom.
 *
 * Sources are searched at the first reading, after a change of the device, and from
 * time to time; other readings open nothing and allocate nothing. A reading waits for
 * the driver and its firmware: call it in a thread.
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
	char netns[COUNTER_NETNS_BYTES]; /* in /run/netns; "": the agent's own */
	char rdma_device[64];            /* "": only a network device */
	uint8_t port;                    /* of it */
	char netdev[16];                 /* "": it has none */
	char driver[32];
};

#define COUNTER_MAX_LOWERS 4 /* ports of a bond that are followed */
#define COUNTER_FIRMWARE_BYTES 32
#define COUNTER_NO_CLASS 256 /* each program sets its own */

enum counter_gid_type { COUNTER_GID_ROCE_V1 = 1, COUNTER_GID_ROCE_V2 = 2 };

struct counter_reading {
	bool same_device; /* the same as in the last reading */
	bool all;         /* it includes what is read seldom */
	size_t found;     /* number of values found */
	size_t parts;     /* single numbers that were read */
	int64_t took_ns, cpu_ns;
	/* Network devices of a bond's ports: the counters of cables are theirs. */
	char lowers[COUNTER_MAX_LOWERS][16];
	size_t lower_count;
	/* Settings, read at the last search for counters. */
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

/* now: time of the reading. all: also read what is read seldom, as a search does.
 * samples: counter_values() of them, in the order of the table; those that are read
 * seldom are valid only if ret->all. -ENODEV: no counter at all was found. */
int counter_port_read(struct counter_port *port, const struct counter_port_place *place,
    bool all, rm_mono_t now, struct counter_sample *samples,
    struct counter_reading *ret);
/* True: the value with this index among the samples is read seldom, by the last
 * reading. */
bool counter_port_is_seldom(const struct counter_port *port, size_t value);

#endif
