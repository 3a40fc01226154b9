/*
 * qp_list - the connected QPs of this host, as RDMA netlink lists them, including those
 * that are older than the agent.
 *
 * The kernel returns both QPNs and the process, and for connections made by rdma_cm the
 * addresses too; but no GID, flow label or class. qp_list_read waits for the kernel,
 * which may ask the RNIC's firmware about each QP: call it on the worker, seldom.
 */
#ifndef HOST_AGENT_SERVICES_QP_LIST_H
#define HOST_AGENT_SERVICES_QP_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schemas/wire.h"

#define QP_LIST_DEVICE 64
#define QP_LIST_KERNEL 24 /* for the name of a kernel user, with the 0 byte */
#define QP_LIST_MAX_DEVICES 256
#define QP_LIST_MAX_ROWS 65536
/* Struct qp_list_row.state: the states from this one to SQE have a peer. */
#define QP_LIST_RTR 2
#define QP_LIST_SQE 5

struct qp_list_row {
	uint16_t device; /* index in the list of devices */
	uint8_t type;    /* enum qp_event_type */
	uint8_t state;   /* the kernel's enum ib_qp_state */
	uint32_t port;   /* 0: not reported */
	uint32_t qpn;
	uint32_t dst_qpn;            /* 0: not reported, or it has none */
	uint32_t pid;                /* 0: a QP of the kernel itself */
	char kernel[QP_LIST_KERNEL]; /* "" unless it is a QP of the kernel */
	/* From rdma_cm, with its port; family 0: not known. */
	struct wire_address src, dst;
};

struct qp_list_device {
	uint32_t index; /* the kernel's number */
	char name[QP_LIST_DEVICE];
};

struct qp_list {
	struct qp_list_device *devices;
	size_t device_count;
	struct qp_list_row *rows; /* RC, UC and XRC ones, by device */
	size_t row_count;
	bool cut; /* there are more than the limits allow: the rest is not listed, but
		     exists */
	uint64_t malformed; /* malformed entries */
	size_t hint;        /* where the search for the next connection's QP begins */
};

/* -EPROTONOSUPPORT: no RDMA in this kernel (yet). -ETIME: it took too long. */
int qp_list_read(struct qp_list *ret);
void qp_list_clear(struct qp_list *list); /* all zeros is allowed */

/* The request that a datagram answers. */
enum qp_list_ask { QP_LIST_DEVICES, QP_LIST_QPS, QP_LIST_CONNECTIONS };

/* Pure: adds the contents of one datagram of an answer. data: aligned to 4 bytes. seq:
 * of the request; other messages are ignored. 0: more follows; 1: that was the last;
 * -EBADMSG: damaged; -ENOMEM; or the error that the kernel returned. */
int qp_list_take(struct qp_list *list, enum qp_list_ask ask, uint32_t seq,
    const uint8_t *data, size_t len);

#endif
