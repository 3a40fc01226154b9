#include "rackmesh/config/yaml.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "rackmesh/core/file.h"
#include "rackmesh/core/log.h"

struct rm_yaml_node {
	const struct rm_yaml *yaml;
	struct rm_yaml_node *next; /* all nodes of the document, for freeing them */
	enum rm_yaml_kind kind;
	bool quoted;
	int line, column;            /* line, from 1 */
	struct rm_yaml_node **items; /* for a map: key, value, key, value, ... */
	size_t count, allocated;     /* in items */
	char text[];                 /* of a scalar */
};

struct rm_yaml {
	char *name;
	struct rm_yaml_node *nodes;
	size_t node_count;
	struct rm_yaml_node *root;
};

static int rm_yaml_error_at(const char *name, int line, int column,
    struct rm_error *error, int r, const char *format, va_list args)
    __attribute__((format(printf, 6, 0)));

#define QUOTED_TEXT 64

struct builder {
	struct rm_yaml *yaml;
	/* the path from the document to the current node */
	struct rm_yaml_node *open[RM_YAML_MAX_DEPTH];
	unsigned depth;
	unsigned documents;
	struct rm_error *error;
};

static int build_fail(const struct builder *b, const yaml_mark_t *mark, int r,
    const char *format, ...) __attribute__((format(printf, 4, 5)));

static int
build_fail(
    const struct builder *b, const yaml_mark_t *mark, int r, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	r = rm_yaml_error_at(b->yaml->name, (int)mark->line + 1, (int)mark->column + 1,
	    b->error, r, format, args);
	va_end(args);
	return r;
}

static int
node_append(struct rm_yaml_node *parent, struct rm_yaml_node *child)
{
	if (parent->count == parent->allocated) {
		size_t allocated = parent->allocated ? 2 * parent->allocated : 4;
		struct rm_yaml_node **items = reallocarray(
		    parent->items, allocated, sizeof(struct rm_yaml_node *));

		if (items == NULL)
			return -ENOMEM;
		parent->items = items;
		parent->allocated = allocated;
	}
	parent->items[parent->count++] = child;
	return 0;
}

/* Makes a node and adds it to its parent; the document owns it. */
static int
build_node(struct builder *b, const yaml_event_t *event, enum rm_yaml_kind kind,
    const char *text, size_t len)
{
	struct rm_yaml_node *parent = b->depth > 0 ? b->open[b->depth - 1] : NULL;
	const yaml_mark_t *mark = &event->start_mark;
	struct rm_yaml_node *node;

	if (b->yaml->node_count == RM_YAML_MAX_NODES)
		return build_fail(b, mark, -EFBIG,
		    "more than %u values; split the file", RM_YAML_MAX_NODES);
	if (parent != NULL && parent->kind == RM_YAML_MAP && parent->count % 2 == 0 &&
	    kind != RM_YAML_SCALAR)
		return build_fail(
		    b, mark, -EINVAL, "a list or map in place of a key; write a name");
	if (kind != RM_YAML_SCALAR && b->depth == RM_YAML_MAX_DEPTH)
		return build_fail(b, mark, -EINVAL,
		    "nested deeper than %d levels; flatten it", RM_YAML_MAX_DEPTH);

	node = calloc(1, sizeof(*node) + len + 1);
	if (node == NULL)
		return -ENOMEM;
	node->yaml = b->yaml;
	node->kind = kind;
	node->line = (int)mark->line + 1;
	node->column = (int)mark->column + 1;
	if (len > 0)
		memcpy(node->text, text, len);
	node->next = b->yaml->nodes;
	b->yaml->nodes = node;
	b->yaml->node_count++;

	if (parent == NULL)
		b->yaml->root = node;
	else if (node_append(parent, node) < 0)
		return -ENOMEM;
	if (kind != RM_YAML_SCALAR)
		b->open[b->depth++] = node;
	return 0;
}

static int
build_scalar(struct builder *b, const yaml_event_t *event)
{
	const char *text = (const char *)event->data.scalar.value;
	size_t len = event->data.scalar.length;
	int r;

	if (memchr(text, 0, len) != NULL)
		return build_fail(b, &event->start_mark, -EINVAL,
		    "text with a zero byte in it; remove the \\0");
	/* "---" with nothing behind it is an empty document. */
	if (b->depth == 0 && len == 0 &&
	    event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE)
		return 0;
	r = build_node(b, event, RM_YAML_SCALAR, text, len);
	if (r == 0)
		b->yaml->nodes->quoted =
		    event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
	return r;
}

static int
key_compare(const void *left, const void *right)
{
	const struct rm_yaml_node *a = *(struct rm_yaml_node *const *)left;
	const struct rm_yaml_node *b = *(struct rm_yaml_node *const *)right;
	int order = strcmp(a->text, b->text);

	if (order != 0)
		return order;
	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	return a->column - b->column;
}

/* Finds duplicate keys by sorting: a map of a million keys must not take quadratic
 * time, even if an attacker wrote it. */
static int
build_check_keys(const struct builder *b, const struct rm_yaml_node *map)
{
	size_t pairs = map->count / 2;
	struct rm_yaml_node **keys;
	char quoted[QUOTED_TEXT];
	int r = 0;

	if (pairs < 2)
		return 0;
	keys = reallocarray(NULL, pairs, sizeof(struct rm_yaml_node *));
	if (keys == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < pairs; i++)
		keys[i] = map->items[2 * i];
	qsort(keys, pairs, sizeof(struct rm_yaml_node *), key_compare);
	for (size_t i = 1; i < pairs && r == 0; i++) {
		const char *text = keys[i]->text;

		if (strcmp(keys[i - 1]->text, text) == 0)
			r = rm_yaml_error(keys[i], b->error, -EINVAL,
			    "%s occurs twice, first in line %d; remove one of them",
			    rm_log_quote(quoted, sizeof(quoted), text, strlen(text)),
			    keys[i - 1]->line);
	}
	free(keys);
	return r;
}

/* Refuses aliases and tags: with them a few bytes of the file may mean a value that is
 * not written at that place. */
static int
build_refuse_magic(const struct builder *b, const yaml_event_t *event)
{
	const yaml_char_t *anchor = NULL, *tag = NULL;

	switch (event->type) {
	case YAML_ALIAS_EVENT:
		return build_fail(b, &event->start_mark, -EINVAL,
		    "aliases (*name) are not supported; write the value out, or put "
		    "text that begins with * in quotes");
	case YAML_SCALAR_EVENT:
		anchor = event->data.scalar.anchor;
		tag = event->data.scalar.tag;
		break;
	case YAML_SEQUENCE_START_EVENT:
		anchor = event->data.sequence_start.anchor;
		tag = event->data.sequence_start.tag;
		break;
	case YAML_MAPPING_START_EVENT:
		anchor = event->data.mapping_start.anchor;
		tag = event->data.mapping_start.tag;
		break;
	default:
		break;
	}
	if (anchor != NULL)
		return build_fail(b, &event->start_mark, -EINVAL,
		    "anchors (&name) are not supported; remove it, or put text that "
		    "begins with & in quotes");
	if (tag != NULL)
		return build_fail(b, &event->start_mark, -EINVAL,
		    "tags (!name) are not supported; remove it, or put text that "
		    "begins with ! in quotes");
	return 0;
}

static int
build_event(struct builder *b, const yaml_event_t *event)
{
	int r = build_refuse_magic(b, event);

	if (r < 0)
		return r;
	switch (event->type) {
	case YAML_DOCUMENT_START_EVENT:
		if (b->documents++ > 0)
			return build_fail(b, &event->start_mark, -EINVAL,
			    "a second document begins; keep one per file");
		return 0;
	case YAML_SCALAR_EVENT:
		return build_scalar(b, event);
	case YAML_SEQUENCE_START_EVENT:
		return build_node(b, event, RM_YAML_LIST, NULL, 0);
	case YAML_MAPPING_START_EVENT:
		return build_node(b, event, RM_YAML_MAP, NULL, 0);
	case YAML_MAPPING_END_EVENT:
		return build_check_keys(b, b->open[--b->depth]);
	case YAML_SEQUENCE_END_EVENT:
		b->depth--;
		return 0;
	default:
		return 0;
	}
}

/* The error of libyaml, with its place and the usual cause. */
static int
build_syntax(const struct builder *b, const yaml_parser_t *parser, const char *text)
{
	const char *problem = parser->problem != NULL ? parser->problem : "not YAML";
	yaml_mark_t mark = parser->problem_mark;

	if (parser->error == YAML_MEMORY_ERROR)
		return -ENOMEM;
	if (parser->error == YAML_READER_ERROR) {
		/* libyaml gives only the offset in bytes here. */
		mark.line = mark.column = 0;
		for (size_t i = 0; i < parser->problem_offset; i++) {
			mark.column++;
			if (text[i] == '\n') {
				mark.line++;
				mark.column = 0;
			}
		}
		return build_fail(b, &mark, -EINVAL,
		    "%s; save the file as plain UTF-8 text", problem);
	}
	if (strstr(problem, "cannot start any token") != NULL)
		return build_fail(b, &mark, -EINVAL,
		    "%s; indent with spaces, not tabs, and put text that begins with "
		    "a special character in quotes",
		    problem);
	if (parser->context != NULL)
		return build_fail(b, &mark, -EINVAL,
		    "%s, %s that begins in line %d; check indentation and quotes",
		    problem, parser->context, (int)parser->context_mark.line + 1);
	return build_fail(
	    b, &mark, -EINVAL, "%s; check indentation and quotes", problem);
}

static int
build(struct builder *b, const char *text, size_t len)
{
	yaml_parser_t parser;
	bool ended = false;
	int r = 0;

	if (!yaml_parser_initialize(&parser))
		return -ENOMEM;
	yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, len);
	while (r == 0 && !ended) {
		yaml_event_t event;

		if (!yaml_parser_parse(&parser, &event)) {
			r = build_syntax(b, &parser, text);
			break;
		}
		ended = event.type == YAML_STREAM_END_EVENT;
		r = build_event(b, &event);
		yaml_event_delete(&event);
	}
	yaml_parser_delete(&parser);
	return r;
}

int
rm_yaml_parse(const char *name, const char *text, size_t len, struct rm_yaml **ret,
    struct rm_error *error)
{
	struct builder b = { .error = error };
	int r;

	if (len > RM_YAML_MAX_BYTES)
		return rm_error_set(error, -EFBIG,
		    "%s:1:1: larger than %u MiB; split the file", name,
		    RM_YAML_MAX_BYTES >> 20);
	b.yaml = calloc(1, sizeof(*b.yaml));
	if (b.yaml != NULL)
		b.yaml->name = strdup(name);
	if (b.yaml == NULL || b.yaml->name == NULL)
		r = -ENOMEM;
	else
		r = build(&b, text, len);
	if (r < 0) {
		rm_yaml_free(b.yaml);
		return r == -ENOMEM ? rm_error_set(error, r, "%s: out of memory", name)
				    : r;
	}
	*ret = b.yaml;
	return 0;
}

int
rm_yaml_load(const char *path, struct rm_yaml **ret, struct rm_error *error)
{
	uint8_t *data = NULL;
	size_t len = 0;
	int r;

	r = rm_file_read(path, RM_YAML_MAX_BYTES, &data, &len);
	if (r == -EFBIG)
		return rm_error_set(error, r,
		    "%s:1:1: larger than %u MiB; split the file", path,
		    RM_YAML_MAX_BYTES >> 20);
	if (r < 0)
		return rm_error_set(
		    error, r, "%s: cannot read: %s", path, strerror(-r));
	r = rm_yaml_parse(path, (const char *)data, len, ret, error);
	free(data);
	return r;
}

void
rm_yaml_free(struct rm_yaml *yaml)
{
	if (yaml == NULL)
		return;
	while (yaml->nodes != NULL) {
		struct rm_yaml_node *node = yaml->nodes;

		yaml->nodes = node->next;
		free(node->items);
		free(node);
	}
	free(yaml->name);
	free(yaml);
}

/* ---- reading ---- */

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

/* Fills error with "name:line:column: ..."; returns r. */
static int
rm_yaml_error_at(const char *name, int line, int column, struct rm_error *error, int r,
    const char *format, va_list args)
{
	char text[sizeof(error->text)];

	vsnprintf(text, sizeof(text), format, args);
	return rm_error_set(error, r, "%s:%d:%d: %s", name, line, column, text);
}

int
rm_yaml_error(const struct rm_yaml_node *node, struct rm_error *error, int r,
    const char *format, ...)
{
	va_list args;

	va_start(args, format);
	r = rm_yaml_error_at(
	    node->yaml->name, node->line, node->column, error, r, format, args);
	va_end(args);
	return r;
}

/* The value at that place, for an error: quoted, escaped and truncated. */
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
    uint64_t *ret, struct rm_error *error)
{
	bool valid = scalar->kind == RM_YAML_SCALAR && !scalar->quoted;
	uint64_t value = 0;
	char shown[64];

	if (valid)
		valid = rm_yaml_number(scalar->text, &value);
	if (!valid || value < min || value > max)
		return rm_yaml_error(scalar, error, -EINVAL,
		    "expected a whole number between %" PRIu64 " and %" PRIu64
		    "%s, found %s",
		    min, max, scalar->quoted ? " without quotes" : "",
		    node_show(scalar, shown));
	*ret = value;
	return 0;
}

int
rm_yaml_bool(const struct rm_yaml_node *scalar, bool *ret, struct rm_error *error)
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
	return rm_yaml_error(scalar, error, -EINVAL,
	    "expected true or false%s, found %s",
	    scalar->quoted ? " without quotes" : "", node_show(scalar, shown));
}
