/*
 * qp_list - the connected QPs of this host, as RDMA netlink lists them, including QPs
 * that are older than the agent.
 *
 * For each QP the kernel shows both QPNs and the process; for connections of rdma_cm
 * also the addresses. It shows no GID, flow label or class. qp_list_read waits for the
 * kernel, which may ask the RNIC's firmware about each QP: call it on the worker,
 * seldom.
 */
#ifndef HOST_AGENT_SERVICES_QP_LIST_H
#define HOST_AGENT_SERVICES_QP_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schemas/wire.h"

#define QP_LIST_DEVICE 64
/* bytes of the name of a user in the kernel, with the 0 byte */
#define QP_LIST_KERNEL 24
#define QP_LIST_MAX_DEVICES 256
#define QP_LIST_MAX_ROWS 65536
/* States of a QP in qp_list_row.state: from RTR to SQE a QP has a peer. */
#define QP_LIST_RTR 2
#define QP_LIST_SQE 5

struct qp_list_row {
	uint16_t device; /* index in the list of devices */
	uint8_t type;    /* enum qp_event_type */
	uint8_t state;   /* the kernel's enum ib_qp_state */
	uint32_t port;   /* RDMA port; 0: the kernel does not show it */
	uint32_t qpn;
	uint32_t dst_qpn; /* QPN of the peer; 0: not shown, or there is no peer */
	uint32_t pid;     /* 0: a QP of the kernel itself */
	/* name of the user in the kernel; "": the QP belongs to a process */
	char kernel[QP_LIST_KERNEL];
	/* Addresses and ports from rdma_cm; family 0: not known. */
	struct wire_address src, dst;
};

struct qp_list_device {
	uint32_t index; /* the kernel's number */
	char name[QP_LIST_DEVICE];
};

struct qp_list {
	struct qp_list_device *devices;
	size_t device_count;
	/* QPs of the types RC, UC and XRC, sorted by device */
	struct qp_list_row *rows;
	size_t row_count;
	/* the host has more QPs than the limits allow: rows lacks some that exist */
	bool cut;
	uint64_t malformed; /* entries that could not be read */
	/* index at which the search for the QP of the next connection begins */
	size_t hint;
};

/* all zeros is allowed */
int qp_list_read(struct qp_list *ret);
void qp_list_clear(struct qp_list *list); /* all zeros is allowed */

/* The request that a datagram answers. */
enum qp_list_ask { QP_LIST_DEVICES, QP_LIST_QPS, QP_LIST_CONNECTIONS };

/* Reads one datagram of an answer into list. Pure. data: aligned to 4 bytes. seq:
 * number of the request; messages with another number are ignored. Returns 0: more
 * datagrams follow; 1: it was the last one; -EBADMSG: malformed; -ENOMEM; or the error
 * in the kernel's answer. */
int qp_list_take(struct qp_list *list, enum qp_list_ask ask, uint32_t seq,
    const uint8_t *data, size_t len);

#endif
