/* The text of /proc/PID/cgroup: any program that creates containers chooses the
 * names of their cgroups. */
#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "host-agent/services/cgroup_name.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	char *copy = malloc(len + 1);
	char name[CGROUP_NAME_BYTES];
	const char *path;
	size_t path_len;

	if (copy == NULL)
		return 0;
	memcpy(copy + 1, data, len); /* the copy has no NUL byte at its end */
	if (cgroup_name_cgroup_path(copy + 1, len, &path, &path_len)) {
		if (path < copy + 1 || path + path_len > copy + 1 + len)
			abort();
		if (cgroup_name_from_path(path, path_len, name)) {
			if (memchr(name, 0, sizeof(name)) == NULL)
				abort();
			for (const char *c = name; *c != 0; c++)
				if (!isprint((unsigned char)*c))
					abort();
		}
	}
	free(copy);
	return 0;
}
