/*
 * cgroup_name - names the owner of a process by the path of its cgroup, which container
 * runtimes and systemd create. Pure. A name is for display and grouping only:
 * "pod:<uid>", "job:<id>", "container:<id>", "unit:<name>", else nothing.
 */
#ifndef HOST_AGENT_SERVICES_CGROUP_NAME_H
#define HOST_AGENT_SERVICES_CGROUP_NAME_H

#include <stdbool.h>
#include <stddef.h>

#define CGROUP_NAME_BYTES 128 /* with the 0 byte */

/*
 * Finds the cgroup path of a process in the text of /proc/PID/cgroup. On v1 a process
 * has a path in each hierarchy, and not all name its owner: the path that names a pod,
 * job or container is used; else the path of v2, if it names anything; else the path of
 * the most specific v1 controller. *ret points into text, and has *len bytes. False:
 * there is no path.
 */
bool cgroup_name_cgroup_path(
    const char *text, size_t text_len, const char **ret, size_t *len);

/* False: the path names no owner, such as "/" or a user's session. */
bool cgroup_name_from_path(const char *path, size_t len, char ret[CGROUP_NAME_BYTES]);

/* The UID in "pod:<uid>"; NULL: the name is not that of a pod. */
const char *cgroup_name_uid(const char *service);

#endif
