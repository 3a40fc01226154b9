#include "rackmesh/config/yaml_node.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "rackmesh/core/log.h"

const struct rm_yaml_node *
rm_yaml_root(const struct rm_yaml *yaml)
{
	return yaml->root;
}

enum rm_yaml_kind
rm_yaml_kind(const struct rm_yaml_node *node)
{
	return node->kind;
}

const char *
rm_yaml_text(const struct rm_yaml_node *scalar)
{
	return scalar->kind == RM_YAML_SCALAR ? scalar->text : "";
}

bool
rm_yaml_quoted(const struct rm_yaml_node *scalar)
{
	return scalar->quoted;
}

size_t
rm_yaml_count(const struct rm_yaml_node *node)
{
	return node->kind == RM_YAML_MAP ? node->count / 2 : node->count;
}

const struct rm_yaml_node *
rm_yaml_item(const struct rm_yaml_node *list, size_t i)
{
	return list->items[i];
}

const struct rm_yaml_node *
rm_yaml_key(const struct rm_yaml_node *map, size_t i)
{
	return map->items[2 * i];
}

const struct rm_yaml_node *
rm_yaml_value(const struct rm_yaml_node *map, size_t i)
{
	return map->items[2 * i + 1];
}

const struct rm_yaml_node *
rm_yaml_get(const struct rm_yaml_node *map, const char *key)
{
	if (map->kind != RM_YAML_MAP)
		return NULL;
	for (size_t i = 0; i + 1 < map->count; i += 2) {
		if (strcmp(map->items[i]->text, key) == 0)
			return map->items[i + 1];
	}
	return NULL;
}

int
rm_yaml_line(const struct rm_yaml_node *node)
{
	return node->line;
}

int
rm_yaml_why_at(const char *name, int line, int column, struct rm_why *why, int r,
    const char *format, va_list args)
{
	char text[sizeof(why->text)];

	vsnprintf(text, sizeof(text), format, args);
	return rm_why(why, r, "%s:%d:%d: %s", name, line, column, text);
}

int
rm_yaml_why(
    const struct rm_yaml_node *node, struct rm_why *why, int r, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	r = rm_yaml_why_at(
	    node->yaml->name, node->line, node->column, why, r, format, args);
	va_end(args);
	return r;
}

/* What stands there, for an error: quoted, escaped and cut. */
static const char *
node_show(const struct rm_yaml_node *node, char out[64])
{
	if (node->kind == RM_YAML_LIST)
		return "a list";
	if (node->kind == RM_YAML_MAP)
		return "a map";
	if (node->text[0] == 0)
		return "nothing";
	return rm_log_quote(out, 64, node->text, strlen(node->text));
}

bool
rm_yaml_number(const char *text, uint64_t *ret)
{
	uint64_t value = 0;

	if (text[0] == 0 || (text[0] == '0' && text[1] != 0))
		return false;
	for (const char *at = text; *at != 0; at++) {
		if (*at < '0' || *at > '9')
			return false;
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(*at - '0'), &value))
			return false;
	}
	*ret = value;
	return true;
}

int
rm_yaml_uint(const struct rm_yaml_node *scalar, uint64_t min, uint64_t max,
    uint64_t *ret, struct rm_why *why)
{
	bool valid = scalar->kind == RM_YAML_SCALAR && !scalar->quoted;
	uint64_t value = 0;
	char shown[64];

	if (valid)
		valid = rm_yaml_number(scalar->text, &value);
	if (!valid || value < min || value > max)
		return rm_yaml_why(scalar, why, -EINVAL,
		    "expected a whole number between %" PRIu64 " and %" PRIu64
		    "%s, found %s",
		    min, max, scalar->quoted ? " without quotes" : "",
		    node_show(scalar, shown));
	*ret = value;
	return 0;
}

int
rm_yaml_bool(const struct rm_yaml_node *scalar, bool *ret, struct rm_why *why)
{
	char shown[64];

	if (scalar->kind == RM_YAML_SCALAR && !scalar->quoted) {
		if (strcmp(scalar->text, "true") == 0) {
			*ret = true;
			return 0;
		}
		if (strcmp(scalar->text, "false") == 0) {
			*ret = false;
			return 0;
		}
	}
	return rm_yaml_why(scalar, why, -EINVAL, "expected true or false%s, found %s",
	    scalar->quoted ? " without quotes" : "", node_show(scalar, shown));
}
