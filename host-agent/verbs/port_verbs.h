/*
 * port_verbs - the transport over UD queue pairs of one RDMA port (RoCEv2; InfiniBand).
 *
 * Three kinds of QP. Probes arrive at the small or the large answering QP, whose
 * numbers are registered: the many receive buffers of the one hold
 * WIRE_ROCE_SMALL_BYTES, the few of the other the path MTU. Probes and replies leave
 * from flow QPs, and replies to our probes come back there: one QP where the NIC makes
 * the UDP source port of the flow label, several where it makes it of the QPN.
 *
 * The loop is woken by the completion channel: notify, drain, acknowledge all; nothing
 * is ever polled busily. Address handles come from a cache whose misses are resolved on
 * a worker: a probe that has none yet is not sent (-EAGAIN, no probe at all), a reply
 * waits for it for at most a moment. A neighbour that nobody can resolve makes a probe
 * fail with -EHOSTUNREACH, without any wait.
 *
 * Stamps: raw cycles or wall clock of the NIC where the device gives them, else
 * CLOCK_MONOTONIC read as near to the event as can be: T2 and T4 just before the send
 * is posted (posting itself takes Soft-RoCE longer than the way to the peer), T3 and T5
 * when the completion is drained. Which of them is said with every arrival. Hardware
 * stamps, label-made source ports and LID addressing are tested against a fake provider
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
	struct { /* ours, at most one per family; family 0: none */
		struct wire_address address; /* port ignored */
		uint8_t index;               /* of the port's GID table */
		uint8_t gid[16];
	} gids[PORT_VERBS_GIDS];
	uint16_t lid;          /* InfiniBand: as the owner knows it; another is told */
	const char *driver;    /* "mlx5_core", "rdma_rxe", ...: how it treats flows */
	size_t flow_qps;       /* where QPs make the flows; 0: 8 */
	size_t small_receives; /* of the small answering QP; 0: 1024 */
	size_t large_receives; /* of the large one; 0: 128 */
	size_t max_handles;    /* address handles; 0: 4096 */
	bool software_stamps;  /* do not even try for better ones */
	const struct verbs_calls *calls; /* NULL: libibverbs */
	/* Where address handles are made. They outlive the port, and are freed before
	 * the loop: what the port leaves behind ends with them. NULL: lanes of its own,
	 * for which freeing the port may wait a second. */
	struct priority_pool *pool;
};

/* All from the loop, never from inside port_send. */
struct port_verbs_events {
	void (*on_link)(bool up, void *arg); /* of the port, when it changes */
	/* QPs got new numbers, or a GID changed: to be registered again, at once. */
	void (*on_renumbered)(void *arg);
	/* The device is gone or dead: free the port, look for the device again. */
	void (*on_gone)(int reason, void *arg);
	void *arg;
};

/*
 * -ENODEV: no such device; -ENOENT: no such port; -EADDRNOTAVAIL: no GID; else what the
 * call that failed said (-EPERM, -ENOMEM: often the limit on locked memory); why that
 * is goes to the log, with the call's name. A port that is down is opened: on_link
 * comes.
 */
int port_verbs_new(struct rm_loop *loop, const struct port_verbs_options *options,
    const struct port_verbs_events *events, struct port **ret);

struct port_verbs_facts { /* what opening it has shown */
	uint32_t qpn, large_qpn;
	uint32_t mtu_bytes; /* active path MTU */
	enum wire_stamp_source stamps;
	enum port_flows flows;
	size_t flow_count; /* flow QPs */
	bool link_up;
	uint32_t receives_lowest; /* free receive buffers of the small QP, at worst */
	size_t handles;           /* address handles held */
	/* Borrowed for as long as the port; clock_counts NULL: no clock of the NIC. */
	const struct verbs_ah_counts *handle_counts;
	const struct nic_clock_counts *clock_counts;
	int32_t clock_drift_ppb; /* 0: not known */
};

void port_verbs_facts(const struct port *port, struct port_verbs_facts *ret);

#endif
