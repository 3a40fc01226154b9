/*
 * counter_kernel - the kernel's interfaces for counters: a folder, ethtool, netlink.
 * Tests replace it by recorded answers.
 */
#ifndef HOST_AGENT_KERNEL_COUNTER_KERNEL_H
#define HOST_AGENT_KERNEL_COUNTER_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#define COUNTER_REPLY_BYTES (64 << 10)

struct nlmsghdr;

struct counter_kernel {
	const char *sysfs; /* the folder used as "/sys" */
	/* Runs one command of the ethtool ioctl; the kernel writes the result into
	 * command. Returns 0 or -errno. */
	int (*ethtool)(void *arg, const char *netdev, void *command);
	/* Sends one netlink request and writes all datagrams of the answer into answer,
	 * which has room bytes. Returns the number of bytes, or -errno. -EMSGSIZE: room
	 * is too small. */
	int (*netlink)(void *arg, int protocol, const struct nlmsghdr *question,
	    uint8_t *answer, size_t room);
	void *arg;
};

/* The real kernel, as seen from the agent's network namespace. Any thread may use it.
 */
extern const struct counter_kernel counter_kernel;

/* The kernel as seen from the network namespace in the file path ("/run/netns/x").
 * Entering it needs CAP_SYS_ADMIN; sysfs is not available there. path: borrowed. Any
 * thread may use it. */
void counter_kernel_enter(const char *path, struct counter_kernel *ret);

#endif
