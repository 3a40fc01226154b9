/* Any bytes: a tree that can be walked in full, or one sentence. */
#include <stdlib.h>
#include <string.h>

#include "rackmesh/base/yaml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* Recursion is fine: the parser has promised RM_YAML_MAX_DEPTH. */
static void
walk(const struct rm_yaml_node *node, unsigned depth)
{
	struct rm_why why;
	uint64_t number;
	bool truth;

	if (depth > RM_YAML_MAX_DEPTH + 1 || rm_yaml_line(node) < 1)
		abort();
	switch (rm_yaml_kind(node)) {
	case RM_YAML_SCALAR:
		rm_yaml_uint(node, 1, 1000, &number, &why);
		rm_yaml_bool(node, &truth, &why);
		break;
	case RM_YAML_LIST:
		for (size_t i = 0; i < rm_yaml_count(node); i++)
			walk(rm_yaml_item(node, i), depth + 1);
		break;
	case RM_YAML_MAP:
		for (size_t i = 0; i < rm_yaml_count(node); i++) {
			const char *key = rm_yaml_text(rm_yaml_key(node, i));

			/* No duplicates: each key finds its own value. */
			if (rm_yaml_get(node, key) != rm_yaml_value(node, i))
				abort();
			walk(rm_yaml_value(node, i), depth + 1);
		}
		break;
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct rm_yaml *yaml = NULL;
	struct rm_why why = { 0 };

	if (rm_yaml_parse("f", (const char *)data, len, &yaml, &why) < 0) {
		if (yaml != NULL || strncmp(why.text, "f:", 2) != 0)
			abort();
		return 0;
	}
	if (rm_yaml_root(yaml) != NULL)
		walk(rm_yaml_root(yaml), 1);
	rm_yaml_free(yaml);
	return 0;
}
