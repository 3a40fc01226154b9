/*
 * counter_kernel - how the kernel is asked for counters: a folder, ethtool, netlink. A
 * test puts recorded answers in its place.
 */
#ifndef HOST_AGENT_COUNTERS_COUNTER_KERNEL_H
#define HOST_AGENT_COUNTERS_COUNTER_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#define COUNTER_REPLY_BYTES (64 << 10)

struct nlmsghdr;

struct counter_kernel {
	const char *sysfs; /* the folder that is "/sys" */
	/* One command of ethtool's ioctl, answered in place. 0 or -errno. */
	int (*ethtool)(void *arg, const char *netdev, void *command);
	/* One question of a netlink protocol, and all datagrams of its answer, up to
	 * the message that ends it. How many bytes, or -errno. -EMSGSIZE: no room. */
	int (*netlink)(void *arg, int protocol, const struct nlmsghdr *question,
	    uint8_t *answer, size_t room);
	void *arg;
};

/* The kernel itself. For any thread. */
extern const struct counter_kernel counter_kernel;

/* The kernel as the network namespace of that file sees it ("/run/netns/x"), which
 * needs CAP_SYS_ADMIN; files of sysfs there are none. path: borrowed. For any thread.
 */
void counter_kernel_enter(const char *path, struct counter_kernel *ret);

#endif
