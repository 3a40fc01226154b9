/*
 * cgroup_name - names the owner of a process by the path of its cgroup, which container
 * runtimes and systemd create. Pure. The names are for display and grouping:
 * "pod:<uid>", "job:<id>", "container:<id>", "unit:<name>", else nothing.
 */
#ifndef HOST_AGENT_SERVICES_CGROUP_NAME_H
#define HOST_AGENT_SERVICES_CGROUP_NAME_H

#include <stdbool.h>
#include <stddef.h>

#define CGROUP_NAME_BYTES 128 /* with the 0 byte */

/*
 * The cgroup path of a process, from the text of /proc/PID/cgroup: the path in the
 * hierarchy that names a pod, job or container, which on v1 not all do; else that of v2
 * if it names anything, else that of the most specific v1 controller. *ret points into
 * text. False: there is none.
 */
bool cgroup_name_cgroup_path(
    const char *text, size_t text_len, const char **ret, size_t *len);

/* False: the path names no owner, such as "/" or a user's session. */
bool cgroup_name_from_path(const char *path, size_t len, char ret[CGROUP_NAME_BYTES]);

/* The UID in "pod:<uid>"; NULL: the name is not that of a pod. */
const char *cgroup_name_uid(const char *service);

#endif
