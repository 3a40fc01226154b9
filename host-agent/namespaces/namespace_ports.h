/*
 * namespace_ports - the ports of RDMA devices in other network namespaces, and the pods
 * that own them.
 *
 * In the kernel's exclusive mode (`rdma system set netns exclusive`) each RDMA device
 * belongs to one namespace, and the devices of pods are visible only in the namespaces
 * of the pods. The search covers the namespaces that have a name in /run/netns, where
 * container runtimes put them. In shared mode the list stays empty, as the agent's own
 * namespace shows all devices. Call it in a thread: it reads /proc.
 */
#ifndef HOST_AGENT_NAMESPACES_NAMESPACE_PORTS_H
#define HOST_AGENT_NAMESPACES_NAMESPACE_PORTS_H

#include <stddef.h>

#include "host-agent/counters/counter_port.h"
#include "host-agent/services/cgroup_name.h"

struct counter_kernel;

/* maximum number of ports of all namespaces together */
#define NAMESPACE_PORTS_MAX 128
#define NAMESPACES_MAX 512 /* number of namespaces that are searched */

struct namespace_port {
	struct counter_port_place place;
	char service[CGROUP_NAME_BYTES]; /* the owner: "pod:..."; "": unknown */
};

struct namespace_ports {
	struct namespace_port ports[NAMESPACE_PORTS_MAX];
	size_t count;
	size_t left_out; /* ports and namespaces left out because of the limits */
	/* namespaces that could not be entered, which needs CAP_SYS_ADMIN */
	size_t refused;
};

/* kernel: the kernel of the agent's own namespace. root: prefix of /run and /proc (""
 * outside of tests). enter: opens the kernel as seen from the namespace in that file;
 * counter_kernel_enter outside of tests. -EOPNOTSUPP: the mode is shared, or the kernel
 * does not report the mode; or the error of netlink. */
typedef void namespace_enter_fn(const char *path, struct counter_kernel *ret);
int namespace_ports_find(struct namespace_ports *ret, const char *root,
    const struct counter_kernel *kernel, namespace_enter_fn *enter);

#endif
