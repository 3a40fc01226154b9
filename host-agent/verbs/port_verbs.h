/*
 * port_verbs - the transport over UD queue pairs of one RDMA port (RoCEv2; InfiniBand).
 *
 * Three kinds of QP. Probes arrive at the small or the large answering QP, whose
 * numbers are registered: the many receive buffers of the one hold
 * WIRE_ROCE_SMALL_BYTES, the few of the other the path MTU. Probes and replies leave
 * from flow QPs, and replies to our probes return there: one QP where the NIC derives
 * the UDP source port from the flow label, several where it derives it from the QPN.
 *
 * The completion channel wakes the loop: notify, drain, acknowledge all; nothing is
 * polled busily. Address handles come from a cache; missing ones are resolved on a
 * worker: a probe without a handle is not sent (-EAGAIN, it does not count as a probe),
 * a reply waits for its handle for a short time. If a neighbour cannot be resolved, its
 * probes fail with -EHOSTUNREACH at once.
 *
 * Stamps: raw cycles or wall clock of the NIC where the device has them, else
 * CLOCK_MONOTONIC read as near to the event as possible: T2 and T4 just before the send
 * is posted (posting itself takes Soft-RoCE longer than the path to the peer), T3 and
 * T5 when the completion is drained. Every arrival says which kind its stamp is.
 * Hardware stamps, source ports by label and LID addressing are tested against a fake
 * provider only.
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
	struct { /* own GIDs, at most one per family; family 0: none */
		struct wire_address address; /* port ignored */
		uint8_t index;               /* of the port's GID table */
		uint8_t gid[16];
	} gids[PORT_VERBS_GIDS];
	uint16_t lid; /* InfiniBand: as the owner knows it; on_renumbered reports
			 another one */
	/* "mlx5_core", "rdma_rxe", ...: decides how flows are made. */
	const char *driver;
	size_t flow_qps; /* number of flow QPs where the QPN makes the flow; 0: 8 */
	size_t small_receives; /* buffers of the small answering QP; 0: 1024 */
	size_t large_receives; /* buffers of the large one; 0: 128 */
	size_t max_handles;    /* address handles; 0: 4096 */
	bool software_stamps;  /* do not try to use better stamps */
	const struct verbs_calls *calls; /* NULL: libibverbs */
	/* The threads that make address handles. They outlive the port and are freed
	 * before the loop; freeing them ends what the port leaves behind. NULL: the
	 * port has its own threads, and freeing it may wait a second. */
	struct priority_pool *pool;
};

/* All are called from the loop, never from inside port_send. */
struct port_verbs_events {
	void (*on_link)(bool up, void *arg); /* state of the port, when it changes */
	/* QPs got new numbers, or a GID changed: register them again at once. */
	void (*on_renumbered)(void *arg);
	/* The device is gone or dead: free the port, then look for the device again. */
	void (*on_gone)(int reason, void *arg);
	void *arg;
};

/*
 * -ENODEV: no such device; -ENOENT: no such port; -EADDRNOTAVAIL: no GID; else the
 * error of the call that failed (-EPERM, -ENOMEM: often the limit on locked memory);
 * the cause is logged with the call's name. A port that is down is opened, too: on_link
 * reports when it is up.
 */
int port_verbs_new(struct rm_loop *loop, const struct port_verbs_options *options,
    const struct port_verbs_events *events, struct port **ret);

struct port_verbs_facts { /* what was learnt by opening the port */
	uint32_t qpn, large_qpn;
	uint32_t mtu_bytes; /* active path MTU */
	enum wire_stamp_source stamps;
	enum port_flows flows;
	size_t flow_count; /* flow QPs */
	bool link_up;
	uint32_t receives_lowest; /* lowest number so far of free receive buffers of the
				     small QP */
	size_t handles;           /* address handles held */
	/* Borrowed for the life of the port; clock_counts NULL: the NIC's clock is
	 * not used. */
	const struct verbs_ah_counts *handle_counts;
	const struct nic_clock_counts *clock_counts;
	int32_t clock_drift_ppb; /* 0: not known */
};

void port_verbs_facts(const struct port *port, struct port_verbs_facts *ret);

#endif
