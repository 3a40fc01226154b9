/*
 * cgroup_name - names the owner of a process by the path of its cgroup, as container
 * runtimes and systemd make it. Pure. Names are for people and for grouping:
 * "pod:<uid>", "job:<id>", "container:<id>", "unit:<name>", else nothing.
 */
#ifndef HOST_AGENT_SERVICES_CGROUP_NAME_H
#define HOST_AGENT_SERVICES_CGROUP_NAME_H

#include <stdbool.h>
#include <stddef.h>

#define CGROUP_NAME_BYTES 128 /* with the 0 byte */

/*
 * The cgroup path of a process, from the text of /proc/PID/cgroup: of the hierarchy
 * that names a pod, job or container, which on v1 not all do; else of v2 if it says
 * anything, else of the v1 controller that says most. *ret points into text. False:
 * none.
 */
bool cgroup_name_cgroup_path(
    const char *text, size_t text_len, const char **ret, size_t *len);

/* False: the path names no owner, such as "/" or a user's session. */
bool cgroup_name_from_path(const char *path, size_t len, char ret[CGROUP_NAME_BYTES]);

/* The UID in "pod:<uid>"; NULL: the name is no pod's. */
const char *cgroup_name_uid(const char *service);

#endif
