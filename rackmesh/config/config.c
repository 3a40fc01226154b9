#include "rackmesh/config/config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rackmesh/config/yaml.h"
#include "rackmesh/core/log.h"

#define SHOWN_TEXT 64 /* bytes of a value that an error shows */

/* ---- one scalar option: reads a text into its field ---- */

/* The smallest length or value; a required text must not be empty. */
static uint64_t
rm_config_min(const struct rm_option *option)
{
	bool counts = option->kind == RM_STRING || option->kind == RM_LIST ||
		      option->kind == RM_TABLE;

	if (counts && (option->flags & RM_REQUIRED) && option->min == 0)
		return 1;
	return option->min;
}

/* The largest length, value or number; 0 in the table means no limit. */
static uint64_t
rm_config_max(const struct rm_option *option)
{
	return option->max != 0 ? option->max : UINT64_MAX;
}

/* The unit is the end of the name: "probe.interval_ms", "probe.max_rate_per_s". */
static const char *
value_unit(const char *name)
{
	static const struct {
		const char *suffix, *unit;
	} units[] = {
		{ "_per_s", "per second" },
		{ "_ns", "ns" },
		{ "_us", "us" },
		{ "_ms", "ms" },
		{ "_s", "s" },
		{ "_min", "min" },
		{ "_h", "h" },
		{ "_days", "days" },
		{ "_bytes", "bytes" },
		{ "_kib", "KiB" },
		{ "_mib", "MiB" },
		{ "_hz", "Hz" },
		{ "_percent", "percent" },
		{ "_permille", "permille" },
	};
	const size_t len = strlen(name);

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		const size_t end = strlen(units[i].suffix);

		if (len > end && strcmp(name + len - end, units[i].suffix) == 0)
			return units[i].unit;
	}
	return NULL;
}

static void
accepts_uint(const struct rm_option *option, char out[RM_CONFIG_ACCEPTS])
{
	const char *unit = value_unit(option->name);
	char range[64] = "";

	if (option->max != 0)
		snprintf(range, sizeof(range), " between %" PRIu64 " and %" PRIu64,
		    option->min, option->max);
	else if (option->min != 0)
		snprintf(range, sizeof(range), ", %" PRIu64 " or more", option->min);
	snprintf(out, RM_CONFIG_ACCEPTS, "a whole number%s%s%s%s", range,
	    unit != NULL ? " (" : "", unit != NULL ? unit : "",
	    unit != NULL ? ")" : "");
}

/* Writes what an option expects: "text of 1 to 15 characters", "a list of at most 8
 * texts". */
static void
accepts_count(const struct rm_option *option, const char *what, const char *unit,
    char out[RM_CONFIG_ACCEPTS])
{
	uint64_t min = rm_config_min(option);

	if (option->max == 0 && min <= 1)
		snprintf(out, RM_CONFIG_ACCEPTS, "%s", what);
	else if (option->max == 0)
		snprintf(out, RM_CONFIG_ACCEPTS, "%s of at least %" PRIu64 " %s", what,
		    min, unit);
	else if (min == 0)
		snprintf(out, RM_CONFIG_ACCEPTS, "%s of at most %" PRIu64 " %s", what,
		    option->max, unit);
	else
		snprintf(out, RM_CONFIG_ACCEPTS, "%s of %" PRIu64 " to %" PRIu64 " %s",
		    what, min, option->max, unit);
}

static void
accepts_names(const struct rm_option *option, char out[RM_CONFIG_ACCEPTS])
{
	size_t len = (size_t)snprintf(out, RM_CONFIG_ACCEPTS, "one of");

	for (const struct rm_enum_name *at = option->names; at->name != NULL; at++) {
		int more = snprintf(out + len, RM_CONFIG_ACCEPTS - len, "%s %s",
		    at == option->names ? "" : ",", at->name);

		if (more < 0 || (size_t)more >= RM_CONFIG_ACCEPTS - len)
			return; /* a table of very many names is truncated */
		len += (size_t)more;
	}
}

const char *
rm_config_accepts(const struct rm_option *option, char out[RM_CONFIG_ACCEPTS])
{
	switch (option->kind) {
	case RM_UINT:
		accepts_uint(option, out);
		break;
	case RM_BOOL:
		snprintf(out, RM_CONFIG_ACCEPTS, "true or false");
		break;
	case RM_STRING:
		accepts_count(option, "text", "characters", out);
		break;
	case RM_ENUM:
		accepts_names(option, out);
		break;
	case RM_LIST:
		accepts_count(option, "a list", "texts", out);
		break;
	case RM_TABLE:
		accepts_count(option, "a list", "maps", out);
		if (option->names != NULL)
			snprintf(out + strlen(out), RM_CONFIG_ACCEPTS - strlen(out),
			    ", or the name %s", option->names->name);
		break;
	}
	return out;
}

static bool
value_string(const struct rm_option *option, const char *text, char **field, int *r)
{
	size_t len = strlen(text);
	char *copy;

	/* For a list, min and max are numbers of items. */
	if (option->kind == RM_STRING &&
	    (len < rm_config_min(option) || len > rm_config_max(option)))
		return false;
	copy = strdup(text);
	if (copy == NULL)
		*r = -ENOMEM;
	else
		*field = copy;
	return true;
}

static bool
value_of_name(const struct rm_option *option, const char *text, int *field)
{
	for (const struct rm_enum_name *at = option->names; at->name != NULL; at++) {
		if (strcmp(at->name, text) == 0) {
			*field = at->value;
			return true;
		}
	}
	return false;
}

/*
 * Reads text into the field of a RM_UINT, RM_BOOL, RM_STRING or RM_ENUM option (or one
 * text of a RM_LIST into a char *). quoted: the text was in quotes. On failure
 * what->text has the expected form.
 */
static int
rm_config_value(const struct rm_option *option, const char *text, bool quoted,
    void *field, struct rm_error *what)
{
	char accepts[RM_CONFIG_ACCEPTS];
	bool valid = false, plain = false;
	uint64_t number;
	int r = 0;

	switch (option->kind) {
	case RM_UINT:
		plain = true;
		valid = !quoted && rm_yaml_number(text, &number) &&
			number >= option->min && number <= rm_config_max(option);
		if (valid)
			*(uint64_t *)field = number;
		break;
	case RM_BOOL:
		plain = true;
		valid = !quoted &&
			(strcmp(text, "true") == 0 || strcmp(text, "false") == 0);
		if (valid)
			*(bool *)field = text[0] == 't';
		break;
	case RM_STRING:
	case RM_LIST:
		valid = value_string(option, text, field, &r);
		break;
	case RM_ENUM:
		valid = value_of_name(option, text, field);
		break;
	case RM_TABLE:
		break;
	}
	if (r < 0)
		return rm_error_set(what, r, "out of memory");
	if (!valid)
		return rm_error_set(what, -EINVAL, "expected %s%s",
		    rm_config_accepts(option, accepts),
		    quoted && plain ? ", without quotes" : "");
	return 0;
}

/* ---- freeing the contents of a config, and comparing two configs ---- */

static size_t
item_size(const struct rm_option *option)
{
	return option->kind == RM_LIST ? sizeof(char *) : option->item_bytes;
}

static void
clear_list(const struct rm_option *option, struct rm_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		char *item = (char *)list->items + i * item_size(option);

		if (option->kind == RM_LIST)
			free(*(char **)item);
		else
			rm_config_clear(option->options, item);
	}
	free(list->items);
	*list = (struct rm_list){ 0 };
}

void
rm_config_clear(const struct rm_option *options, void *config)
{
	for (const struct rm_option *option = options; option->name != NULL; option++) {
		void *field = (char *)config + option->offset;

		switch (option->kind) {
		case RM_UINT:
			*(uint64_t *)field = 0;
			break;
		case RM_BOOL:
			*(bool *)field = false;
			break;
		case RM_STRING:
			free(*(char **)field);
			*(char **)field = NULL;
			break;
		case RM_ENUM:
			*(int *)field = 0;
			break;
		case RM_LIST:
		case RM_TABLE:
			clear_list(option, field);
			break;
		}
	}
}

static bool
text_equal(const char *a, const char *b)
{
	return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

/* The result of comparing two configs: the number of options that differ, and their
 * names. */
struct waiting {
	size_t count;
	struct rm_error *error;
};

/* above: "", or the item of a table that contains the option, "rnics[2]." */
static void
note_waiting(struct waiting *waiting, const char *above, const struct rm_option *option)
{
	rm_error_set(waiting->error, 0, "%s%s%s%s", waiting->error->text,
	    waiting->count > 0 ? ", " : "", above, option->name);
	waiting->count++;
}

static bool
lists_equal(const struct rm_list *old, const struct rm_list *fresh)
{
	char *const *a = old->items, *const *b = fresh->items;

	for (size_t i = 0; i < old->count && old->count == fresh->count; i++)
		if (!text_equal(a[i], b[i]))
			return false;
	return old->count == fresh->count;
}

static bool
fields_equal(const struct rm_option *option, const void *old, const void *fresh)
{
	switch (option->kind) {
	case RM_UINT:
		return *(const uint64_t *)old == *(const uint64_t *)fresh;
	case RM_BOOL:
		return *(const bool *)old == *(const bool *)fresh;
	case RM_STRING:
		return text_equal(*(char *const *)old, *(char *const *)fresh);
	case RM_ENUM:
		return *(const int *)old == *(const int *)fresh;
	case RM_LIST:
		return lists_equal(old, fresh);
	case RM_TABLE:
		break;
	}
	return true;
}

/* The i-th item of a table in the old or the new config. */
static void *
table_item(const struct rm_option *option, const void *list, size_t i)
{
	return (char *)((const struct rm_list *)list)->items + i * option->item_bytes;
}

static void find_waiting(const struct rm_option *options, const char *above,
    const void *old, const void *fresh, struct waiting *waiting);

static void
find_waiting_items(const struct rm_option *option, const char *above,
    const struct rm_list *old, const struct rm_list *fresh, struct waiting *waiting)
{
	char item[RM_CONFIG_NAME];

	if (old->count != fresh->count) {
		note_waiting(waiting, above, option);
		return;
	}
	for (size_t i = 0; i < old->count; i++) {
		snprintf(item, sizeof(item), "%s%s[%zu].", above, option->name, i);
		find_waiting(option->options, item, table_item(option, old, i),
		    table_item(option, fresh, i), waiting);
	}
}

static void
find_waiting(const struct rm_option *options, const char *above, const void *old,
    const void *fresh, struct waiting *waiting)
{
	for (const struct rm_option *option = options; option->name != NULL; option++) {
		const void *a = (const char *)old + option->offset;
		const void *b = (const char *)fresh + option->offset;

		if (option->flags & RM_RELOAD)
			continue;
		if (option->kind == RM_TABLE)
			find_waiting_items(option, above, a, b, waiting);
		else if (!fields_equal(option, a, b))
			note_waiting(waiting, above, option);
	}
}

size_t
rm_config_waiting(const struct rm_option *options, const void *old, const void *fresh,
    struct rm_error *error)
{
	struct waiting waiting = { .error = error };

	error->text[0] = '\0';
	find_waiting(options, "", old, fresh, &waiting);
	return waiting.count;
}

static size_t
field_size(const struct rm_option *option)
{
	switch (option->kind) {
	case RM_UINT:
		return sizeof(uint64_t);
	case RM_BOOL:
		return sizeof(bool);
	case RM_STRING:
		return sizeof(char *);
	case RM_ENUM:
		return sizeof(int);
	case RM_LIST:
	case RM_TABLE:
		break;
	}
	return sizeof(struct rm_list);
}

void
rm_config_exchange(const struct rm_option *options, void *config, void *fresh)
{
	for (const struct rm_option *option = options; option->name != NULL; option++) {
		void *a = (char *)config + option->offset;
		void *b = (char *)fresh + option->offset;
		char kept[sizeof(struct rm_list)];

		if (option->flags & RM_RELOAD) {
			memcpy(kept, a, field_size(option));
			memcpy(a, b, field_size(option));
			memcpy(b, kept, field_size(option));
			continue;
		}
		/* The lists differ in length, so the options of their items are not
		 * exchanged. */
		if (option->kind != RM_TABLE ||
		    ((struct rm_list *)a)->count != ((struct rm_list *)b)->count)
			continue;
		for (size_t i = 0; i < ((struct rm_list *)a)->count; i++)
			rm_config_exchange(option->options, table_item(option, a, i),
			    table_item(option, b, i));
	}
}

/* ---- filling one ---- */

/* A table of options that is being filled from the file. It is the top table, or one
 * item of a nested table. */
struct scope {
	const struct rm_option *options;
	/* the map in the file; NULL: the file has no such map */
	const struct rm_yaml_node *map;
	const char *file;
	char path[RM_CONFIG_NAME]; /* "", or "rnics[2]." */
	char *base;
	struct rm_error *error;
};

static int scope_fill(const struct scope *scope);
static int set_list(const struct scope *scope, const struct rm_option *option,
    const struct rm_yaml_node *node, struct rm_list *list);

/* "key:" without a value, as when all keys below it are commented out. */
static bool
node_is_nothing(const struct rm_yaml_node *node)
{
	return rm_yaml_kind(node) == RM_YAML_SCALAR && !rm_yaml_quoted(node) &&
	       rm_yaml_text(node)[0] == 0;
}

/* Shows the value that was found, for an error; never a secret. */
static const char *
node_show(const struct rm_yaml_node *node, unsigned flags, char out[SHOWN_TEXT])
{
	const char *text = rm_yaml_text(node);

	if (rm_yaml_kind(node) == RM_YAML_LIST)
		return "a list";
	if (rm_yaml_kind(node) == RM_YAML_MAP)
		return "a map";
	if (node_is_nothing(node))
		return "nothing";
	if (flags & RM_SECRET)
		return "something else";
	return rm_log_quote(out, SHOWN_TEXT, text, strlen(text));
}

static const struct rm_option *
option_named(const struct rm_option *options, const char *name)
{
	for (; options->name != NULL; options++) {
		if (strcmp(options->name, name) == 0)
			return options;
	}
	return NULL;
}

/* True: the name of some option begins with this map. */
static bool
option_below(const struct rm_option *options, const char *name)
{
	size_t len = strlen(name);

	for (; options->name != NULL; options++) {
		if (strncmp(options->name, name, len) == 0 && options->name[len] == '.')
			return true;
	}
	return false;
}

static int
scope_unknown(
    const struct scope *scope, const struct rm_yaml_node *key, const char *name)
{
	char full[2 * RM_CONFIG_NAME], quoted[RM_CONFIG_NAME], near[RM_CONFIG_NAME];

	snprintf(full, sizeof(full), "%s%s", scope->path, name);
	rm_log_quote(quoted, sizeof(quoted), full, strlen(full));
	if (strchr(rm_yaml_text(key), '.') != NULL)
		return rm_yaml_error(key, scope->error, -EINVAL,
		    "unknown option %s; a dot stands for a map inside a map: put what "
		    "follows the dot on a line of its own, indented",
		    quoted);
	if (rm_config_near(scope->options, name, near))
		return rm_yaml_error(key, scope->error, -EINVAL,
		    "unknown option %s; did you mean \"%s%s\"?", quoted, scope->path,
		    near);
	return rm_yaml_error(key, scope->error, -EINVAL,
	    "unknown option %s; remove it, --help-config lists all", quoted);
}

/* above: the path from the top of the table to this map, "probe."; "" at the top. */
static int
scope_check_keys(
    const struct scope *scope, const struct rm_yaml_node *map, const char *above)
{
	int r = 0;

	for (size_t i = 0; i < rm_yaml_count(map) && r == 0; i++) {
		const struct rm_yaml_node *key = rm_yaml_key(map, i);
		const struct rm_yaml_node *value = rm_yaml_value(map, i);
		const char *last = rm_yaml_text(key);
		char name[RM_CONFIG_NAME], below[RM_CONFIG_NAME + 1];

		/* A name that is truncated here is longer than any option's. */
		snprintf(name, sizeof(name), "%s%s", above, last);
		if (strchr(last, '.') == NULL && option_named(scope->options, name))
			continue;
		if (strchr(last, '.') != NULL || !option_below(scope->options, name))
			return scope_unknown(scope, key, name);
		if (node_is_nothing(value))
			continue;
		if (rm_yaml_kind(value) != RM_YAML_MAP)
			return rm_yaml_error(value, scope->error, -EINVAL,
			    "%s%s: expected a map, \"name: value\" lines indented "
			    "below it",
			    scope->path, name);
		snprintf(below, sizeof(below), "%s.", name);
		r = scope_check_keys(scope, value, below);
	}
	return r;
}

static const struct rm_yaml_node *
scope_find(const struct scope *scope, const char *name)
{
	const struct rm_yaml_node *node = scope->map;

	while (node != NULL) {
		size_t len = strcspn(name, ".");
		char key[RM_CONFIG_NAME];

		snprintf(key, sizeof(key), "%.*s", (int)len, name);
		node = rm_yaml_get(node, key);
		if (name[len] == 0)
			return node;
		name += len + 1;
	}
	return NULL;
}

static int
set_scalar(const struct scope *scope, const struct rm_option *option,
    const struct rm_yaml_node *node, const char *place, void *field)
{
	char shown[SHOWN_TEXT], accepts[RM_CONFIG_ACCEPTS];
	struct rm_error what = { 0 };
	int r = -EINVAL;

	if (rm_yaml_kind(node) != RM_YAML_SCALAR || node_is_nothing(node))
		rm_error_set(&what, r, "expected %s",
		    option->kind == RM_LIST ? "text"
					    : rm_config_accepts(option, accepts));
	else
		r = rm_config_value(
		    option, rm_yaml_text(node), rm_yaml_quoted(node), field, &what);
	if (r < 0)
		return rm_yaml_error(node, scope->error, r, "%s%s: %s, found %s",
		    scope->path, place, what.text,
		    node_show(node, option->flags, shown));
	return 0;
}

static int
set_list_item(const struct scope *scope, const struct rm_option *option,
    const struct rm_yaml_node *node, size_t i, struct rm_list *list)
{
	struct scope inner = {
		.options = option->options,
		.map = node,
		.file = scope->file,
		.error = scope->error,
	};
	char place[RM_CONFIG_NAME];
	int len;

	snprintf(place, sizeof(place), "%s[%zu]", option->name, i);
	if (option->kind == RM_LIST)
		return set_scalar(scope, option, node, place, (char **)list->items + i);
	if (rm_yaml_kind(node) != RM_YAML_MAP)
		return rm_yaml_error(node, scope->error, -EINVAL,
		    "%s%s: expected a map, \"- name: value\"", scope->path, place);
	len = snprintf(inner.path, sizeof(inner.path), "%s%s.", scope->path, place);
	if (len < 0 || (size_t)len >= sizeof(inner.path))
		return rm_yaml_error(node, scope->error, -ENAMETOOLONG,
		    "%s: tables nested too deep", place);
	inner.base = (char *)list->items + i * option->item_bytes;
	return scope_fill(&inner);
}

static bool
node_is_name(const struct rm_option *option, const struct rm_yaml_node *node)
{
	int value;

	return option->kind == RM_TABLE && option->names != NULL &&
	       rm_yaml_kind(node) == RM_YAML_SCALAR &&
	       value_of_name(option, rm_yaml_text(node), &value);
}

/* A name in place of a list is read as a list with one item, whose first option is the
 * name. */
static int
set_by_name(const struct scope *scope, const struct rm_option *option,
    const struct rm_yaml_node *node, struct rm_list *list)
{
	char text[2 * RM_CONFIG_NAME];
	struct rm_yaml *yaml = NULL;
	int r;

	snprintf(text, sizeof(text), "[{%s: %s}]", option->options->name,
	    rm_yaml_text(node));
	r = rm_yaml_parse(scope->file, text, strlen(text), &yaml, scope->error);
	if (r == 0)
		r = set_list(scope, option, rm_yaml_root(yaml), list);
	rm_yaml_free(yaml);
	return r;
}

static int
set_list(const struct scope *scope, const struct rm_option *option,
    const struct rm_yaml_node *node, struct rm_list *list)
{
	size_t size = option->kind == RM_LIST ? sizeof(char *) : option->item_bytes;
	bool nothing = node_is_nothing(node);
	char accepts[RM_CONFIG_ACCEPTS], shown[SHOWN_TEXT];
	size_t count;
	int r = 0;

	if (node_is_name(option, node))
		return set_by_name(scope, option, node, list);
	if (!nothing && rm_yaml_kind(node) != RM_YAML_LIST)
		return rm_yaml_error(node, scope->error, -EINVAL,
		    "%s%s: expected %s, found %s; write \"- \" before each item",
		    scope->path, option->name, rm_config_accepts(option, accepts),
		    node_show(node, option->flags, shown));
	count = nothing ? 0 : rm_yaml_count(node);
	if (count < rm_config_min(option) || count > rm_config_max(option))
		return rm_yaml_error(node, scope->error, -EINVAL,
		    "%s%s: expected %s, found %zu", scope->path, option->name,
		    rm_config_accepts(option, accepts), count);
	if (count == 0)
		return 0;
	list->items = calloc(count, size);
	if (list->items == NULL)
		return rm_error_set(
		    scope->error, -ENOMEM, "%s: out of memory", scope->file);
	/* The count is set first: items of zeros are valid, so a failure can clear all
	 * of them. */
	list->count = count;
	for (size_t i = 0; i < count && r == 0; i++)
		r = set_list_item(scope, option, rm_yaml_item(node, i), i, list);
	return r;
}

static int
set_fallback(const struct scope *scope, const struct rm_option *option, void *field)
{
	struct rm_yaml *yaml = NULL;
	struct rm_error what = { 0 };
	int r;

	if (option->kind != RM_LIST) {
		r = rm_config_value(option, option->fallback, false, field, &what);
	} else {
		r = rm_yaml_parse(option->name, option->fallback,
		    strlen(option->fallback), &yaml, &what);
		if (r == 0 && rm_yaml_root(yaml) != NULL)
			r = set_list(scope, option, rm_yaml_root(yaml), field);
		rm_yaml_free(yaml);
	}
	if (r < 0 && what.text[0] != 0)
		return rm_error_set(scope->error, r, "%s: built-in default of %s%s: %s",
		    scope->file, scope->path, option->name, what.text);
	return r;
}

static int
scope_missing(const struct scope *scope, const struct rm_option *option)
{
	if (scope->map == NULL || scope->path[0] == 0)
		return rm_error_set(scope->error, -EINVAL,
		    "%s: required option \"%s\" is missing; add it (%s)", scope->file,
		    option->name, option->help);
	return rm_yaml_error(scope->map, scope->error, -EINVAL,
	    "required option \"%s%s\" is missing; add it (%s)", scope->path,
	    option->name, option->help);
}

static int
scope_given(const struct scope *scope, const struct rm_option *option)
{
	const struct rm_yaml_node *node = scope_find(scope, option->name);
	void *field = scope->base + option->offset;

	if (node == NULL)
		return 0;
	if (option->kind == RM_LIST || option->kind == RM_TABLE)
		return set_list(scope, option, node, field);
	return set_scalar(scope, option, node, option->name, field);
}

static int
scope_not_given(const struct scope *scope, const struct rm_option *option)
{
	if (scope_find(scope, option->name) != NULL)
		return 0;
	if (option->fallback != NULL)
		return set_fallback(scope, option, scope->base + option->offset);
	return option->flags & RM_REQUIRED ? scope_missing(scope, option) : 0;
}

/* Wrong keys are reported before missing options: if a key is mistyped, its option is
 * missing. */
static int
scope_fill(const struct scope *scope)
{
	const struct rm_option *option;
	int r = 0;

	if (scope->map != NULL)
		r = scope_check_keys(scope, scope->map, "");
	for (option = scope->options; r == 0 && option->name != NULL; option++)
		r = scope_given(scope, option);
	for (option = scope->options; r == 0 && option->name != NULL; option++)
		r = scope_not_given(scope, option);
	return r;
}

static int
config_fill(const struct rm_option *options, const char *file,
    const struct rm_yaml_node *root, void *config, struct rm_error *error)
{
	struct scope scope = {
		.options = options,
		.map = root,
		.file = file,
		.base = config,
		.error = error,
	};
	int r;

	if (root != NULL && rm_yaml_kind(root) != RM_YAML_MAP)
		return rm_yaml_error(
		    root, error, -EINVAL, "expected options, \"name: value\" lines");
	r = scope_fill(&scope);
	if (r < 0)
		rm_config_clear(options, config);
	return r;
}

int
rm_config_load(const struct rm_option *options, const char *path, void *config,
    struct rm_error *error)
{
	struct rm_yaml *yaml = NULL;
	int r;

	if (path == NULL)
		return config_fill(options, "no config file", NULL, config, error);
	r = rm_yaml_load(path, &yaml, error);
	if (r == 0)
		r = config_fill(options, path, rm_yaml_root(yaml), config, error);
	rm_yaml_free(yaml);
	return r;
}

int
rm_config_parse(const struct rm_option *options, const char *name, const char *text,
    size_t len, void *config, struct rm_error *error)
{
	struct rm_yaml *yaml = NULL;
	int r;

	r = rm_yaml_parse(name, text, len, &yaml, error);
	if (r == 0)
		r = config_fill(options, name, rm_yaml_root(yaml), config, error);
	rm_yaml_free(yaml);
	return r;
}

/* ---- errors that a daemon finds, with their place in the file ---- */

/* Follows one step of *place, "key" or "[n]", and moves *place behind it. NULL: the
 * file has no such node. */
static const struct rm_yaml_node *
step(const struct rm_yaml_node *node, const char **place)
{
	const char *at = *place;
	char key[64];
	size_t len;

	if (*at == '[') {
		size_t i = strtoul(at + 1, (char **)place, 10);

		*place += **place == ']';
		*place += **place == '.';
		return rm_yaml_kind(node) == RM_YAML_LIST && i < rm_yaml_count(node)
			   ? rm_yaml_item(node, i)
			   : NULL;
	}
	len = strcspn(at, ".[");
	*place = at + len + (at[len] == '.');
	if (rm_yaml_kind(node) != RM_YAML_MAP || len >= sizeof(key))
		return NULL;
	memcpy(key, at, len);
	key[len] = '\0';
	return rm_yaml_get(node, key);
}

/* Returns the node of this place. If the file has no such node, returns the nearest
 * node above: an option that is missing in the file has the place of its map. */
static const struct rm_yaml_node *
nearest(const struct rm_yaml *yaml, const char *place)
{
	const struct rm_yaml_node *node = rm_yaml_root(yaml), *next;

	while (node != NULL && *place != '\0') {
		next = step(node, &place);
		if (next == NULL)
			break;
		node = next;
	}
	return node;
}

int
rm_config_refuse(
    const char *path, struct rm_error *error, const char *text, const char *format, ...)
{
	const struct rm_yaml_node *node = NULL;
	struct rm_yaml *yaml = NULL;
	char place[128];
	va_list args;

	va_start(args, format);
	vsnprintf(place, sizeof(place), format, args);
	va_end(args);
	if (path != NULL && rm_yaml_load(path, &yaml, NULL) == 0)
		node = nearest(yaml, place);
	if (node != NULL)
		rm_yaml_error(node, error, -EINVAL, "%s: %s", place, text);
	else
		rm_error_set(error, -EINVAL, "%s: %s: %s",
		    path == NULL ? "no config file" : path, place, text);
	rm_yaml_free(yaml);
	return -EINVAL;
}

int
rm_config_refuse_value(const char *path, struct rm_error *error, const char *text,
    const char *value, const char *format, ...)
{
	char place[128], shown[SHOWN_TEXT], whole[sizeof(error->text)];
	va_list args;

	va_start(args, format);
	vsnprintf(place, sizeof(place), format, args);
	va_end(args);
	snprintf(whole, sizeof(whole), "%s, found %s", text,
	    rm_log_quote(shown, sizeof(shown), value, strlen(value)));
	return rm_config_refuse(path, error, whole, "%s", place);
}

int
rm_config_locate(const char *path, struct rm_error *error, int r)
{
	struct rm_error found = *error;
	char *reason = strstr(found.text, ": ");

	if (reason == NULL)
		return r;
	*reason = '\0';
	(void)rm_config_refuse(path, error, reason + 2, "%s", found.text);
	return r;
}

int
rm_config_host_name(char **name, const char *option, struct rm_error *error)
{
	char system[256] = "";

	if (*name != NULL)
		return 0;
	if (gethostname(system, sizeof(system) - 1) < 0)
		return rm_error_set(error, -errno,
		    "%s: not given, and the system has no host name", option);
	*name = strdup(system);
	return *name == NULL ? rm_error_set(error, -ENOMEM, "out of memory") : 0;
}
