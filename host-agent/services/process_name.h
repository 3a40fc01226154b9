/*
 * process_name - the name of the process that owns a QP: its pod, container, job or
 * unit, else its command.
 *
 * Reads /proc and cgroupfs: call it on the worker. If the process has ended already,
 * its cgroup may still exist; else the command of the event is used.
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

/* Is /proc of the initial pid namespace, of which the events' pids are? In another the
 * number is nobody's, or somebody else's. root: before /proc ("" but in tests). */
bool process_name_sees_events_pids(const char *root);

/* A process chooses its command's text: bytes that do not print become '?'. */
void process_name_clean(char comm[PROCESS_COMM_BYTES]);
/* root: before /proc and /sys ("" but in tests). pid: 0 when /proc cannot say anything
 * of it. cgroup_id: 0 for unknown. name: comm is filled in with what is known, and
 * replaced by what is found. */
void process_name_read(
    const char *root, uint32_t pid, uint64_t cgroup_id, struct process_name *name);

#endif
