/*
 * qp_needs - checks whether this kernel, with the agent's rights, can report QPs, and
 * what is missing.
 *
 * Looks at a few files of /proc and /sys; root is put before their paths ("" but in
 * tests). Reads sysfs: call it on the worker.
 */
#ifndef HOST_AGENT_SERVICES_QP_NEEDS_H
#define HOST_AGENT_SERVICES_QP_NEEDS_H

#include <stddef.h>

#define QP_NEEDS_TEXT 256

enum qp_needs {
	QP_NEEDS_NOTHING = 0,
	QP_NEEDS_MODULE,     /* comes by itself when RDMA is used: look again later */
	QP_NEEDS_PRIVILEGES, /* and all that follow: not without a new start */
	QP_NEEDS_KERNEL,
};

/* missing: "" or a text with everything that is missing. */
enum qp_needs qp_needs_look(const char *root, char missing[QP_NEEDS_TEXT]);

#endif
