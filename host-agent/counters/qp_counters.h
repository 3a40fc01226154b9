/*
 * qp_counters - the counters of the QPs of each process on an RDMA port, if the NIC
 * counts per process: "rdma statistic qp set link DEVICE/PORT auto pid on" makes it do
 * so.
 *
 * It only reads. Each group of QPs is a request to the firmware: call it in a thread.
 */
#ifndef HOST_AGENT_COUNTERS_QP_COUNTERS_H
#define HOST_AGENT_COUNTERS_QP_COUNTERS_H

#include <stddef.h>
#include <stdint.h>

#define QP_COUNTERS_PROCESSES 128 /* of one port */
#define QP_COUNTERS_NAMES 64
#define QP_COUNTERS_NAME 48
#define QP_COUNTERS_REPLY_BYTES (256 << 10)

struct counter_kernel;

struct qp_counters {
	size_t name_count;
	char names[QP_COUNTERS_NAMES][QP_COUNTERS_NAME]; /* letters, digits and '_' */
	size_t process_count;
	struct qp_counters_process {
		uint32_t pid; /* in the agent's pid namespace */
		/* Sums over all its groups, from the kernel: they may restart at 0. */
		uint64_t values[QP_COUNTERS_NAMES];
	} processes[QP_COUNTERS_PROCESSES];
	uint64_t left_out; /* groups without a process, or beyond the limit */
};

/* reply: QP_COUNTERS_REPLY_BYTES of scratch. 0, also where nothing counts apart; else
 * *ret is empty. -ENODEV: no such device; -EBADMSG, -EMSGSIZE. */
int qp_counters_read(struct qp_counters *ret, const struct counter_kernel *kernel,
    const char *device, uint8_t port, uint8_t *reply);

#endif
