/*
 * qp_counters - the counters of the QPs of each process on an RDMA port, if the NIC
 * counts per process, which "rdma statistic qp set link DEVICE/PORT auto pid on"
 * switches on.
 *
 * The agent only reads. The kernel asks the firmware about each group of QPs: call it
 * in a thread.
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
		uint32_t pid; /* number of the process in the agent's pid namespace */
		/* Sums over all groups of the process, as the kernel returns them; a
		 * sum may restart at 0. */
		uint64_t values[QP_COUNTERS_NAMES];
	} processes[QP_COUNTERS_PROCESSES];
	/* groups that belong to no single process, or that are beyond a limit */
	uint64_t left_out;
};

/* reply: scratch memory of QP_COUNTERS_REPLY_BYTES. 0: *ret is filled; it is empty if
 * the NIC does not count per process. On failure *ret is empty. -ENODEV: no such
 * device; -EBADMSG: the answer is malformed; -EMSGSIZE: it is too long. */
int qp_counters_read(struct qp_counters *ret, const struct counter_kernel *kernel,
    const char *device, uint8_t port, uint8_t *reply);

#endif
