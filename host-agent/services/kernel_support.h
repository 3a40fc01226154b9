/*
 * kernel_support - checks whether this kernel, with the agent's rights, can report QPs,
 * and what is missing.
 *
 * Reads a few files of /proc and /sys; root is put before their paths ("" outside of
 * tests). It reads sysfs: call it on the worker.
 */
#ifndef HOST_AGENT_SERVICES_KERNEL_SUPPORT_H
#define HOST_AGENT_SERVICES_KERNEL_SUPPORT_H

#include <stddef.h>

#define KERNEL_SUPPORT_TEXT 256

enum kernel_support {
	KERNEL_SUPPORT_FULL = 0,
	KERNEL_SUPPORT_NO_MODULE, /* the kernel loads it when RDMA is used: look again
				     later */
	KERNEL_SUPPORT_NO_PRIVILEGES, /* this and all that follow need a restart of the
					 agent */
	KERNEL_SUPPORT_NONE,
};

/* missing: "" or a text with everything that is missing. */
enum kernel_support kernel_support_look(
    const char *root, char missing[KERNEL_SUPPORT_TEXT]);

#endif
