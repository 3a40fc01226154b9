/*
 * counter_kernel - how the kernel is asked for counters: a folder, ethtool, netlink. A
 * test puts recorded answers in its place.
 */
#ifndef HOST_AGENT_COUNTERS_COUNTER_KERNEL_H
#define HOST_AGENT_COUNTERS_COUNTER_KERNEL_H

#include <stddef.h>
#include <stdint.h>

struct counter_kernel {
	const char *sysfs; /* the folder that is "/sys" */
	/* One command of ethtool's ioctl, answered in place. 0 or -errno. */
	int (*ethtool)(void *arg, const char *netdev, void *command);
	void *arg;
};

/* The kernel itself. For any thread. */
extern const struct counter_kernel counter_kernel;

#endif
