/*
 * process_name - the name of the process that owns a QP: its pod, container, job or
 * unit, else its command.
 *
 * It reads /proc and cgroupfs: call it on the worker. If the process has ended already,
 * its cgroup may still exist; else the command in the event is used.
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

/* Does /proc show the initial pid namespace, which the pids in events belong to? In
 * another namespace such a pid means nothing, or another process. root: before /proc
 * ("" outside of tests). */
bool process_name_sees_events_pids(const char *root);

/* A process chooses the text of its command: bytes that do not print become '?'. */
void process_name_clean(char comm[PROCESS_COMM_BYTES]);
/* root: put before /proc and /sys ("" outside of tests). pid: 0 when /proc does not
 * show the process. cgroup_id: 0 for unknown. name: the caller fills comm, and a name
 * that is found replaces it. */
void process_name_read(
    const char *root, uint32_t pid, uint64_t cgroup_id, struct process_name *name);

#endif
