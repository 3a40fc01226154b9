#include "analyzer/paths/localise_part.h"

#include <stdio.h>
#include <string.h>

static bool
is_node(const struct rm_part *part)
{
	return part->type == RM_PART_TOR || part->type == RM_PART_SWITCH;
}

bool
localise_part_is_link(const struct rm_part *part, const struct localise_element *e)
{
	char name[2 * RM_NAME_BYTES + 2];
	const bool swap = strcmp(e->a, e->b) > 0;

	if (strstr(part->name, e->a) == NULL || strstr(part->name, e->b) == NULL)
		return false; /* the most frequent case is decided cheaply */
	snprintf(name, sizeof name, "%s--%s", swap ? e->b : e->a, swap ? e->a : e->b);
	return rm_part_names(part, name);
}

bool
localise_part_on(const struct rm_part *part, const struct localise_path *path)
{
	char name[2 * RM_NAME_BYTES + 2];

	if (part->type == RM_PART_PATH) {
		if (strstr(part->name, path->elements[0]->a) == NULL)
			return false;
		snprintf(name, sizeof name, "%s->%s", path->elements[0]->a,
		    localise_path_dst(path));
		return rm_part_names(part, name);
	}
	for (uint8_t i = 0; i < path->element_count; i++) {
		const struct localise_element *e = path->elements[i];

		if (e->b[0] == '\0'
			? is_node(part) && rm_part_names(part, e->a)
			: part->type == RM_PART_LINK && localise_part_is_link(part, e))
			return true;
	}
	return false;
}

bool
localise_part_same(const struct rm_part *a, const struct rm_part *b)
{
	return strcmp(a->name, b->name) == 0 &&
	       (a->type == b->type || (is_node(a) && is_node(b)));
}

typedef void on_node(struct localise_element *node, void *arg);

static void
visit_node(const struct localise_map *map, const char *name, on_node *on, void *arg)
{
	struct localise_element *node;

	HASH_FIND_STR(map->elements, name, node);
	if (node != NULL)
		on(node, arg);
}

/* Visits the node with this name, of len bytes. A link or a path is found by its first
 * switch. between: the text between its two names; NULL: the part is a switch. */
static void
visit_name(const struct localise_map *map, const char *name, size_t len,
    const char *between, on_node *on, void *arg)
{
	char first[RM_PART_NAME_BYTES];
	const char *split = name;

	if (between == NULL) {
		snprintf(first, sizeof first, "%.*s", (int)len, name);
		visit_node(map, first, on, arg);
		return;
	}
	/* A switch may have "--" in its own name. */
	while ((split = strstr(split, between)) != NULL && split < name + len) {
		snprintf(first, sizeof first, "%.*s", (int)(split - name), name);
		visit_node(map, first, on, arg);
		split++;
	}
}

void
localise_part_nodes(
    const struct localise_map *map, const struct rm_part *part, on_node *on, void *arg)
{
	const char *between = part->type == RM_PART_LINK   ? "--"
			      : part->type == RM_PART_PATH ? "->"
							   : NULL;
	const char *name = part->name;

	while (name != NULL) {
		const char *either = strstr(name, RM_PART_OR);

		visit_name(map, name,
		    either != NULL ? (size_t)(either - name) : strlen(name), between,
		    on, arg);
		name = either != NULL ? either + strlen(RM_PART_OR) : NULL;
	}
}

struct visit {
	const struct rm_part *part;
	bool (*on)(struct localise_path *path, void *arg);
	void *arg;
	bool stopped;
};

static void
visit_paths(struct localise_element *node, void *arg)
{
	struct visit *visit = arg;

	for (size_t i = 0; !visit->stopped && i < node->path_count; i++)
		if (localise_part_on(visit->part, node->paths[i]))
			visit->stopped = !visit->on(node->paths[i], visit->arg);
}

void
localise_part_paths(const struct localise_map *map, const struct rm_part *part,
    bool (*on)(struct localise_path *path, void *arg), void *arg)
{
	struct visit visit = { part, on, arg, false };

	localise_part_nodes(map, part, visit_paths, &visit);
}

/* True: name is one of the two ends of the link. Names of switches may contain "--", so
 * the link is not split at the first "--". */
static bool
ends_with(const char *link, size_t link_len, const char *name)
{
	const size_t len = strlen(name);
	const char *rest;

	if (link_len < len + 3)
		return false;
	rest = link + link_len - len;
	return (strncmp(link, name, len) == 0 && strncmp(link + len, "--", 2) == 0) ||
	       (strncmp(rest, name, len) == 0 && strncmp(rest - 2, "--", 2) == 0);
}

bool
localise_part_is_end(const struct rm_part *part, const char *name)
{
	const char *link = part->type == RM_PART_LINK ? part->name : NULL;

	while (link != NULL) {
		const char *either = strstr(link, RM_PART_OR);

		if (ends_with(link,
			either != NULL ? (size_t)(either - link) : strlen(link), name))
			return true;
		link = either != NULL ? either + strlen(RM_PART_OR) : NULL;
	}
	return false;
}
