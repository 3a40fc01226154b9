/*
 * kernel_support - checks whether this kernel, with the agent's rights, can report QPs,
 * and what is missing.
 *
 * It reads a few files of /proc and /sys, which may block: call it on the worker. root
 * is put before their paths ("" outside of tests).
 */
#ifndef HOST_AGENT_SERVICES_KERNEL_SUPPORT_H
#define HOST_AGENT_SERVICES_KERNEL_SUPPORT_H

#include <stddef.h>

#define KERNEL_SUPPORT_TEXT 256

enum kernel_support {
	KERNEL_SUPPORT_FULL = 0,
	/* the module is loaded when RDMA is first used: check again later */
	KERNEL_SUPPORT_NO_MODULE,
	/* from here on: only a restart of the agent can help */
	KERNEL_SUPPORT_NO_PRIVILEGES,
	KERNEL_SUPPORT_NONE,
};

/* missing: gets a text with everything that is missing; "": nothing is missing. */
enum kernel_support kernel_support_look(
    const char *root, char missing[KERNEL_SUPPORT_TEXT]);

#endif
