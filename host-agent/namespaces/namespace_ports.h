/*
 * namespace_ports - the ports of RDMA devices in other network namespaces, and the pods
 * that own them.
 *
 * Where each RDMA device belongs to one namespace (`rdma system set netns exclusive`),
 * the devices of pods are visible only in the pods' namespaces. It searches the
 * namespaces that have a name in /run/netns, where container runtimes put them. In
 * shared mode the list is empty: all devices are visible from everywhere, and counted
 * once. Call it in a thread: it reads /proc.
 */
#ifndef HOST_AGENT_NAMESPACES_NAMESPACE_PORTS_H
#define HOST_AGENT_NAMESPACES_NAMESPACE_PORTS_H

#include <stddef.h>

#include "host-agent/counters/counter_port.h"
#include "host-agent/services/cgroup_name.h"

struct counter_kernel;

#define NAMESPACE_PORTS_MAX 128 /* of all namespaces together */
#define NAMESPACES_MAX 512      /* number of namespaces that are searched */

struct namespace_port {
	struct counter_port_place place;
	char service[CGROUP_NAME_BYTES]; /* "pod:...": its owner; "": unknown */
};

struct namespace_ports {
	struct namespace_port ports[NAMESPACE_PORTS_MAX];
	size_t count;
	size_t left_out; /* ports and namespaces left out because of the limits */
	size_t refused;  /* namespaces that could not be entered: this needs
			    CAP_SYS_ADMIN */
};

/* kernel: of the agent's own namespace. root: before /run and /proc ("" outside of
 * tests). enter: opens the kernel of the namespace in that file;
 * counter_kernel_enter outside of tests. -EOPNOTSUPP: devices are shared, or the
 * kernel does not report it; or the error of netlink. */
typedef void namespace_enter_fn(const char *path, struct counter_kernel *ret);
int namespace_ports_find(struct namespace_ports *ret, const char *root,
    const struct counter_kernel *kernel, namespace_enter_fn *enter);

#endif
