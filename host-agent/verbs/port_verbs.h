/*
 * port_verbs - the transport over UD queue pairs of one RDMA port (RoCEv2; InfiniBand).
 *
 * Three kinds of QP. Probes arrive at two answering QPs, whose numbers are registered:
 * the small one has many receive buffers of WIRE_ROCE_SMALL_BYTES, the large one has
 * few buffers of the path MTU. Probes and replies are sent from flow QPs, to which the
 * replies to this host's probes return. There is one flow QP if the NIC derives the UDP
 * source port from the flow label, and several if it derives the port from the QPN.
 *
 * The completion channel wakes the loop, which arms the queues, drains them and
 * acknowledges all events; nothing polls in a busy loop. Address handles are in a
 * cache, and threads make missing ones. A probe whose handle is missing is not sent
 * (-EAGAIN) and does not count as a probe; a reply waits for its handle for a short
 * time. If a neighbour does not resolve, probes to it fail with -EHOSTUNREACH at once.
 *
 * Stamps: raw cycles or wall clock of the NIC where the device has them, else
 * CLOCK_MONOTONIC read as near to the event as possible: T2 and T4 just before the send
 * is posted (posting itself takes Soft-RoCE longer than the path to the peer), T3 and
 * T5 when the completion is drained. Every arrival has the kind of its stamp. Hardware
 * stamps, source ports by label and LID addressing are tested against a fake provider
 * only.
 */
#ifndef HOST_AGENT_VERBS_PORT_VERBS_H
#define HOST_AGENT_VERBS_PORT_VERBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host-agent/probe/port.h"
#include "schemas/wire.h"

struct priority_pool;
struct rm_loop;
struct verbs_calls;

#define PORT_VERBS_GIDS 2 /* one per family */

struct port_verbs_options { /* strings are borrowed during port_verbs_new only */
	const char *device;
	uint8_t port_num;
	/* the GIDs of the port, at most one per family; address.family 0: none */
	struct {
		struct wire_address address; /* its port is ignored */
		uint8_t index;               /* index in the port's GID table */
		uint8_t gid[16];
	} gids[PORT_VERBS_GIDS];
	/* InfiniBand: the LID that the owner knows; on_renumbered reports a change */
	uint16_t lid;
	/* "mlx5_core", "rdma_rxe", ...: decides how a packet gets its source port. */
	const char *driver;
	/* number of flow QPs, if the QPN decides the source port; 0: 8 */
	size_t flow_qps;
	size_t small_receives; /* receive buffers of the small QP; 0: 1024 */
	size_t large_receives; /* receive buffers of the large QP; 0: 128 */
	size_t max_handles;    /* maximum number of address handles; 0: 4096 */
	/* use CLOCK_MONOTONIC, even if the device has better stamps */
	bool software_stamps;
	const struct verbs_calls *calls; /* NULL: libibverbs */
	/* Threads that make address handles. The pool must live longer than the port,
	 * and be freed before the loop; that ends the jobs that the port has left in
	 * it. NULL: the port has a pool of its own, and port_free may wait a second for
	 * it. */
	struct priority_pool *pool;
};

/* All of these are called from the loop, never from inside port_send. */
struct port_verbs_events {
	void (*on_link)(bool up, void *arg); /* The state of the port has changed. */
	/* QPs have new numbers, or a GID has changed: register the RNIC again at
	 * once. */
	void (*on_renumbered)(void *arg);
	/* The device has disappeared, or does not work any more: free the port, then
	 * search for the device again. reason: a negative errno. */
	void (*on_gone)(int reason, void *arg);
	void *arg;
};

/*
 * -ENODEV: no such device; -ENOENT: it has no such port; -EADDRNOTAVAIL: the options
 * have no GID; else the error of the call that failed, which is logged with the name of
 * the call (-EPERM, -ENOMEM: often the limit on locked memory). A port that is down is
 * opened, too, and on_link reports when it is up.
 */
int port_verbs_new(struct rm_loop *loop, const struct port_verbs_options *options,
    const struct port_verbs_events *events, struct port **ret);

struct port_verbs_facts { /* facts that are known once the port is open */
	uint32_t qpn, large_qpn;
	uint32_t mtu_bytes; /* active MTU of the port */
	enum wire_stamp_source stamps;
	enum port_flows flows;
	size_t flow_count; /* flow QPs */
	bool link_up;
	/* the smallest number of free receive buffers that the small QP has had */
	uint32_t receives_lowest;
	size_t handles; /* address handles in the cache */
	/* Both pointers are borrowed for the life of the port. clock_counts NULL: the
	 * NIC's clock is not used. */
	const struct verbs_ah_counts *handle_counts;
	const struct nic_clock_counts *clock_counts;
	int32_t clock_drift_ppb; /* 0: not known */
};

void port_verbs_facts(const struct port *port, struct port_verbs_facts *ret);

#endif
