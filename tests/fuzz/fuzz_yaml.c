/*
 * Any bytes: a tree that can be walked completely, or one error. Then again with one
 * allocation that fails, and for some inputs as a file.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "rackmesh/config/yaml.h"
#include "tests/support/failing_malloc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* Recursion is safe: the parser limits the depth to RM_YAML_MAX_DEPTH. */
static void
walk(const struct rm_yaml_node *node, unsigned depth)
{
	struct rm_error error;
	uint64_t number;
	bool truth;

	if (depth > RM_YAML_MAX_DEPTH + 1 || rm_yaml_line(node) < 1)
		abort();
	switch (rm_yaml_kind(node)) {
	case RM_YAML_SCALAR:
		rm_yaml_uint(node, 1, 1000, &number, &error);
		rm_yaml_bool(node, &truth, &error);
		break;
	case RM_YAML_LIST:
		for (size_t i = 0; i < rm_yaml_count(node); i++)
			walk(rm_yaml_item(node, i), depth + 1);
		break;
	case RM_YAML_MAP:
		for (size_t i = 0; i < rm_yaml_count(node); i++) {
			const char *key = rm_yaml_text(rm_yaml_key(node, i));

			/* No duplicate keys: each key finds its own value. */
			if (rm_yaml_get(node, key) != rm_yaml_value(node, i))
				abort();
			walk(rm_yaml_value(node, i), depth + 1);
		}
		break;
	}
}

/* Either an error and no tree, or a tree. */
static int
look(int r, struct rm_yaml *yaml, const struct rm_error *error, const char *name)
{
	if (r < 0) {
		if (yaml != NULL || strncmp(error->text, name, strlen(name)) != 0)
			abort();
		return r;
	}
	if (rm_yaml_root(yaml) != NULL)
		walk(rm_yaml_root(yaml), 1);
	rm_yaml_free(yaml);
	return 0;
}

static void
from_file(const uint8_t *data, size_t len, int wanted)
{
	struct rm_yaml *yaml = NULL;
	struct rm_error error = { 0 };
	char path[32];
	int fd = memfd_create("yaml", MFD_CLOEXEC), r;

	if (fd < 0 || write(fd, data, len) != (ssize_t)len)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	r = rm_yaml_load(path, &yaml, &error);
	if (look(r, yaml, &error, path) != wanted)
		abort();
	close(fd);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct rm_yaml *yaml = NULL;
	struct rm_error error = { 0 };
	int r, again;
	bool spared;

	r = rm_yaml_parse("f", (const char *)data, len, &yaml, &error);
	r = look(r, yaml, &error, "f:");
	if (len % 16 == 0)
		from_file(data, len, r);
	yaml = NULL;
	failing_malloc_arm((unsigned)(1 + len % 61));
	again = rm_yaml_parse("f", (const char *)data, len, &yaml, &error);
	spared = failing_malloc_disarm();
	if ((again < 0 && yaml != NULL) || (again != r && (spared || again != -ENOMEM)))
		abort();
	rm_yaml_free(yaml);
	rm_yaml_free(NULL);
	return 0;
}
