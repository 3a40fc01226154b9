/*
 * namespace_ports - the ports of RDMA devices that are in other network namespaces, and
 * whose pods' these are.
 *
 * Where RDMA devices belong to one namespace each (`rdma system set netns exclusive`),
 * those of pods are seen in theirs alone. Namespaces are those that have a name in
 * /run/netns, as container runtimes give them one. In shared mode there is none: all
 * are seen from everywhere, and counted once. Call it in a thread: it reads /proc.
 */
#ifndef HOST_AGENT_NAMESPACES_NAMESPACE_PORTS_H
#define HOST_AGENT_NAMESPACES_NAMESPACE_PORTS_H

#include <stddef.h>

#include "host-agent/counters/counter_port.h"
#include "host-agent/services/cgroup_name.h"

struct counter_kernel;

#define NAMESPACE_PORTS_MAX 128 /* of all of them */
#define NAMESPACES_MAX 512      /* that are looked into */

struct namespace_port {
	struct counter_port_place place;
	char service[CGROUP_NAME_BYTES]; /* "pod:...": whose it is; "": unknown */
};

struct namespace_ports {
	struct namespace_port ports[NAMESPACE_PORTS_MAX];
	size_t count;
	size_t left_out; /* ports and namespaces beyond the limits */
	size_t refused;  /* namespaces that could not be entered: CAP_SYS_ADMIN */
};

/* kernel: of our own namespace. root: before /run and /proc ("" but in tests).
 * enter: the kernel of the namespace of that file; counter_kernel_enter but in tests.
 * -EOPNOTSUPP: devices are shared, or the kernel does not say; or what netlink says. */
typedef void namespace_enter_fn(const char *path, struct counter_kernel *ret);
int namespace_ports_find(struct namespace_ports *ret, const char *root,
    const struct counter_kernel *kernel, namespace_enter_fn *enter);

#endif
