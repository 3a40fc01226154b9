#include "host-agent/services/process_name.h"

#include <ctype.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rackmesh/core/file.h"

#define CGROUP_MAX_BYTES (64 << 10) /* v1: one line per controller */
#define HANDLE_OF_KERNFS 0xfe       /* FILEID_KERNFS */

/* Inode of the initial pid namespace: PROC_PID_INIT_INO in the kernel. */
#define INITIAL_PID_NAMESPACE 0xeffffffcu

bool
process_name_sees_events_pids(const char *root)
{
	/* Tries the namespace of the first process in /proc, which may not be readable,
	 * then the agent's own. */
	static const char *const processes[] = { "1", "self" };

	for (size_t i = 0; i < sizeof(processes) / sizeof(processes[0]); i++) {
		char path[PATH_MAX];
		struct stat namespace;

		snprintf(path, sizeof(path), "%s/proc/%s/ns/pid", root, processes[i]);
		if (stat(path, &namespace) == 0)
			return namespace.st_ino == INITIAL_PID_NAMESPACE;
	}
	return true; /* This kernel has no pid namespaces. */
}

/* Names the process by its files in /proc. */
static bool
name_by_process(const char *root, uint32_t pid, char ret[CGROUP_NAME_BYTES])
{
	char path[PATH_MAX];
	const char *cgroup;
	size_t len, cgroup_len;
	uint8_t *text;
	bool found;

	snprintf(path, sizeof(path), "%s/proc/%u/cgroup", root, pid);
	if (rm_file_read(path, CGROUP_MAX_BYTES, &text, &len) < 0)
		return false;
	found =
	    cgroup_name_cgroup_path((const char *)text, len, &cgroup, &cgroup_len) &&
	    cgroup_name_from_path(cgroup, cgroup_len, ret);
	free(text);
	return found;
}

/* Names the process by the number of its cgroup, which is a file handle in the v2
 * hierarchy. */
static bool
name_by_cgroup(const char *root, const char *mount, uint64_t cgroup_id,
    char ret[CGROUP_NAME_BYTES])
{
	union {
		struct file_handle handle;
		uint8_t bytes[sizeof(struct file_handle) + sizeof(cgroup_id)];
	} id = { .handle = { .handle_bytes = sizeof(cgroup_id),
		     .handle_type = HANDLE_OF_KERNFS } };
	char path[PATH_MAX], link[64];
	int mount_fd, fd;
	ssize_t len;

	snprintf(path, sizeof(path), "%s%s", root, mount);
	mount_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (mount_fd < 0)
		return false;
	memcpy(id.bytes + offsetof(struct file_handle, f_handle), &cgroup_id,
	    sizeof(cgroup_id));
	/* Needs CAP_DAC_READ_SEARCH. */
	fd = open_by_handle_at(mount_fd, &id.handle, O_PATH | O_CLOEXEC);
	close(mount_fd);
	if (fd < 0)
		return false;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	len = readlink(link, path, sizeof(path));
	close(fd);
	return len > 0 && cgroup_name_from_path(path, (size_t)len, ret);
}

void
process_name_clean(char comm[PROCESS_COMM_BYTES])
{
	comm[PROCESS_COMM_BYTES - 1] = 0;
	for (char *c = comm; *c != 0; c++)
		if (!isprint((unsigned char)*c))
			*c = '?';
}

static void
read_comm(const char *root, uint32_t pid, char comm[PROCESS_COMM_BYTES])
{
	char path[PATH_MAX];
	uint8_t *text;
	size_t len;

	snprintf(path, sizeof(path), "%s/proc/%u/comm", root, pid);
	if (rm_file_read(path, 2 * PROCESS_COMM_BYTES, &text, &len) < 0)
		return;
	len = strcspn((const char *)text, "\n");
	if (len > 0)
		snprintf(comm, PROCESS_COMM_BYTES, "%.*s", (int)len, (char *)text);
	free(text);
}

void
process_name_read(
    const char *root, uint32_t pid, uint64_t cgroup_id, struct process_name *name)
{
	if (pid != 0)
		read_comm(root, pid, name->comm);
	process_name_clean(name->comm);
	if (pid != 0 && name_by_process(root, pid, name->service))
		return;
	if (cgroup_id != 0 &&
	    (name_by_cgroup(root, "/sys/fs/cgroup", cgroup_id, name->service) ||
		name_by_cgroup(
		    root, "/sys/fs/cgroup/unified", cgroup_id, name->service)))
		return;
	snprintf(name->service, sizeof(name->service), "comm:%s",
	    name->comm[0] == 0 ? "?" : name->comm);
}
