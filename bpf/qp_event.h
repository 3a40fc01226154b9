/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * qp_event - the events that the BPF programs send to the agent.
 *
 * Shared by BPF and C: fixed size, the host's byte order, GIDs in network order.
 */
#ifndef BPF_QP_EVENT_H
#define BPF_QP_EVENT_H

#include <linux/types.h>

#define QP_EVENT_DEVICE 64 /* IB_DEVICE_NAME_MAX, with the 0 byte */
#define QP_EVENT_COMM 16   /* TASK_COMM_LEN, with the 0 byte */

enum qp_event_kind {
	QP_EVENT_CONNECTED = 1, /* a QP has reached the state RTR, so it has a peer */
	QP_EVENT_DESTROYED,     /* only device, qpn and the process are filled in */
};

enum qp_event_type { /* the kernel's enum ib_qp_type */
	QP_EVENT_RC = 2,
	QP_EVENT_UC = 3,
	QP_EVENT_XRC_INI = 9,
	QP_EVENT_XRC_TGT = 10,
};

enum qp_event_address { /* the kernel's enum rdma_ah_attr_type */
	QP_EVENT_ADDRESS_UNDEFINED = 0,
	QP_EVENT_ADDRESS_IB,
	QP_EVENT_ADDRESS_ROCE,
	QP_EVENT_ADDRESS_OPA,
};

struct qp_event {
	__u64 ktime_ns;  /* CLOCK_MONOTONIC */
	__u64 cgroup_id; /* number of the cgroup in the cgroup v2 hierarchy; 0: none */
	__u32 kind;      /* enum qp_event_kind */
	/* numbers of the thread and of the process in the initial pid namespace */
	__u32 pid, tgid;
	__u32 qp_type; /* enum qp_event_type */
	__u32 qpn, dest_qpn;
	__u32 port;         /* RDMA port, from 1 */
	__u32 address_type; /* enum qp_event_address */
	__u32 flow_label;
	__u32 lid; /* LID of the destination; only on InfiniBand */
	__u8 sgid[16], dgid[16];
	__u8 sgid_index, hop_limit, traffic_class, sl;
	/* 0: sgid is all zeros, because the kernel has no source GID for the QP */
	__u8 has_sgid;
	__u8 reserved[3];
	char device[QP_EVENT_DEVICE];
	char comm[QP_EVENT_COMM];
};

#define QP_EVENT_BYTES 176

_Static_assert(
    sizeof(struct qp_event) == QP_EVENT_BYTES, "size is the same in BPF and C");

#endif
