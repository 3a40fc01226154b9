/*
 * process_name - the name of the process that owns a QP: its pod, container, job or
 * unit, else its command.
 *
 * It reads /proc and cgroupfs: call it on the worker. The cgroup of a process that has
 * ended may still exist; if it does not, the command in the event is used.
 */
#ifndef HOST_AGENT_SERVICES_PROCESS_NAME_H
#define HOST_AGENT_SERVICES_PROCESS_NAME_H

#include <stdbool.h>
#include <stdint.h>

#include "host-agent/services/cgroup_name.h"

#define PROCESS_COMM_BYTES 16

struct process_name {
	char comm[PROCESS_COMM_BYTES];
	char service[CGROUP_NAME_BYTES]; /* "pod:...", ..., "comm:..." */
};

/* True: /proc shows the initial pid namespace, to which the pids in events belong. In
 * any other namespace such a pid belongs to no process or to another one. root: put
 * before /proc ("" outside of tests). */
bool process_name_sees_events_pids(const char *root);

/* Replaces bytes that are not printable by '?': a process can choose any text as its
 * command. */
void process_name_clean(char comm[PROCESS_COMM_BYTES]);
/* Fills in name->service. root: put before /proc and /sys ("" outside of tests). pid: 0
 * if /proc does not show the process. cgroup_id: 0 if not known. name->comm: set by the
 * caller, and replaced if the process is found. */
void process_name_read(
    const char *root, uint32_t pid, uint64_t cgroup_id, struct process_name *name);

#endif
