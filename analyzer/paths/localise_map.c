#define HASH_NONFATAL_OOM 1
#include "analyzer/paths/localise_map.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/paths/localise_listed.h"
#include "rackmesh/core/fnv.h"

/* ---- elements that paths cross ---- */

#define MAX_COURSES 64
#define STRIDE 7919
#define OTHER_STRIDE 7907

static void localise_element_drop(
    struct localise_map *map, struct localise_element *element);

static uint64_t
hash_of(const char *name)
{
	return rm_fnv1a(RM_FNV1A, name, strlen(name));
}

static int
keyed_element(struct localise_map *map, const char *key, struct localise_element **ret)
{
	const size_t len = strlen(key) + 1;
	struct localise_element *element;

	HASH_FIND_STR(map->elements, key, element);
	if (element == NULL) {
		element = calloc(1, sizeof *element + len);
		if (element == NULL)
			return -ENOMEM;
		memcpy(element->key, key, len);
		HASH_ADD(hh, map->elements, key[0], len - 1, element);
		if (element->hh.tbl == NULL) {
			free(element);
			return -ENOMEM;
		}
	}
	*ret = element;
	return 0;
}

/* *ret: the element, which is made if it does not exist. With b "" it is the switch a.
 * Returns 0 or -ENOMEM. */
static int
localise_element_find(struct localise_map *map, const char *a, const char *b,
    const char *at, struct localise_element **ret)
{
	char key[3 * RM_NAME_BYTES + 2];
	int r;

	if (b[0] == '\0')
		snprintf(key, sizeof key, "%s", a);
	else
		snprintf(key, sizeof key, "%s>%s@%s", a, b, at);
	r = keyed_element(map, key, ret);
	if (r < 0 || (*ret)->a[0] != '\0')
		return r;
	snprintf((*ret)->a, sizeof(*ret)->a, "%s", a);
	snprintf((*ret)->b, sizeof(*ret)->b, "%s", b);
	snprintf((*ret)->at, sizeof(*ret)->at, "%s", at);
	if (b[0] != '\0')
		(*ret)->cable = hash_of(a) + hash_of(b);
	return 0;
}

/* *ret: the pair from one ToR to another, i.e. everything between them. If it does not
 * exist, it is made together with the pair of the other direction. */
static int
localise_element_pair(struct localise_map *map, struct localise_element *src,
    struct localise_element *dst, struct localise_element **ret)
{
	char key[2 * RM_NAME_BYTES + 2];
	struct localise_element *there, *back;
	int r;

	snprintf(key, sizeof key, "%s %s", src->a, dst->a);
	r = keyed_element(map, key, &there);
	if (r < 0)
		return r;
	if (there->back == NULL) {
		snprintf(key, sizeof key, "%s %s", dst->a, src->a);
		r = keyed_element(map, key, &back);
		if (r < 0) {
			localise_element_drop(map, there);
			return r;
		}
		there->back = back;
		back->back = there;
		there->ends[0] = back->ends[1] = src;
		there->ends[1] = back->ends[0] = dst;
	}
	*ret = there;
	return 0;
}

/* Frees an element that no path crosses. */
static void
localise_element_drop(struct localise_map *map, struct localise_element *element)
{
	HASH_DEL(map->elements, element);
	free(element->paths);
	free(element);
}

/* Takes the path off the element's list; frees the element after its last path. */
static void
localise_element_leave(struct localise_map *map, struct localise_element *element,
    const struct localise_path *path)
{
	for (size_t i = element->path_count; i-- > 0;)
		if (element->paths[i] == path) {
			element->paths[i] = element->paths[--element->path_count];
			break;
		}
	if (element->path_count > 0)
		return;
	if (element->back == NULL)
		localise_element_drop(map, element);
	/* The pairs of both directions are made and freed together. */
	else if (element->back->path_count == 0) {
		localise_element_drop(map, element->back);
		localise_element_drop(map, element);
	}
}

/* -ENOMEM. */
static int
localise_element_enter(struct localise_element *element, struct localise_path *path)
{
	if (element->path_count == element->path_size) {
		const size_t size =
		    element->path_size != 0 ? 2 * element->path_size : 4;
		struct localise_path **paths =
		    realloc(element->paths, size * sizeof(struct localise_path *));

		if (paths == NULL)
			return -ENOMEM;
		element->paths = paths;
		element->path_size = size;
	}
	element->paths[element->path_count++] = path;
	return 0;
}

static bool
same_course(const struct localise_path *a, const struct localise_path *b)
{
	return a->element_count == b->element_count &&
	       memcmp(a->elements, b->elements,
		   a->element_count * sizeof(struct localise_element *)) == 0;
}

/* Paths are listed in the order of peers and spines. A sample in that order would have
 * only the first peers, or only some spines; with a stride that has no common divisor
 * with their number it has different ones of both, and no path twice. Both strides are
 * prime, and no element has as many paths as their product. */
struct localise_path *
localise_element_sample(
    const struct localise_element *element, size_t count, size_t nth)
{
	const size_t paths = element->path_count,
		     stride = paths % STRIDE != 0 ? STRIDE : OTHER_STRIDE;

	return element->paths[paths > count ? nth * stride % paths : nth];
}

size_t
localise_element_courses(const struct localise_element *pair)
{
	const struct localise_path *first[MAX_COURSES];
	size_t count = 0;

	for (size_t i = 0; i < pair->path_count && count < MAX_COURSES; i++) {
		size_t k = 0;

		while (k < count && !same_course(first[k], pair->paths[i]))
			k++;
		if (k == count)
			first[count++] = pair->paths[i];
	}
	return count > 0 ? count : 1;
}

/* ---- paths ---- */

#define KEY_BYTES (WIRE_MAX_STRING + RM_NAME_BYTES + 2)

struct course { /* a path whose text is being read */
	struct localise_map *map;
	struct localise_element *elements[LOCALISE_PATH_ELEMENTS];
	uint8_t count;
	/* number of its elements that list the path already: drop_path takes it off
	 * these */
	uint8_t entered;
	bool has_gap;
};

static void
drop_path(struct localise_map *map, struct localise_path *path)
{
	localise_unlist(map, path);
	if (path->pair != NULL) /* NULL: the path was made only in part */
		localise_element_leave(map, path->pair, path);
	for (uint8_t i = 0; i < path->element_count; i++)
		localise_element_leave(map, path->elements[i], path);
	HASH_DEL(path->rack->paths, path);
	path->rack->path_count--;
	map->path_count--;
	free(path->samples);
	free(path);
}

void
localise_map_sweep(struct localise_map *map, struct localise_rack *rack, rm_mono_t now)
{
	const int64_t keep_ns = 12 * map->row_interval_ns;
	struct localise_path *path, *next;

	if (rm_mono_since(now, rack->swept) < keep_ns)
		return;
	rack->swept = now;
	HASH_ITER (hh, rack->paths, path, next) {
		if (rm_mono_since(now, path->row_at) >= keep_ns)
			drop_path(map, path);
	}
}

void
localise_map_release(struct localise_map *map)
{
	struct localise_rack *rack, *next_rack;
	struct localise_path *path, *next;

	HASH_ITER (hh, map->racks, rack, next_rack) {
		HASH_ITER (hh, rack->paths, path, next) {
			drop_path(map, path);
		}
		HASH_DEL(map->racks, rack);
		localise_ends_release(&rack->ends);
		free(rack->inside);
		free(rack);
	}
	free(map->lossy);
	*map = (struct localise_map){ 0 };
}

struct localise_rack *
localise_map_find_rack(const struct localise_map *map, const char *tor)
{
	struct localise_rack *rack;

	HASH_FIND_STR(map->racks, tor, rack);
	return rack;
}

int
localise_map_rack(struct localise_map *map, const char *tor, struct localise_rack **ret)
{
	struct localise_rack *rack = localise_map_find_rack(map, tor);

	if (rack == NULL) {
		if (map->rack_count >= LOCALISE_MAX_RACKS)
			return -ENOBUFS;
		rack = calloc(1, sizeof *rack);
		if (rack == NULL)
			return -ENOMEM;
		snprintf(rack->tor, sizeof rack->tor, "%.63s", tor);
		rack->frame_came[0].ns = rack->frame_came[1].ns = INT64_MIN / 2;
		HASH_ADD_STR(map->racks, tor, rack);
		if (rack->hh.tbl == NULL) { /* uthash could not grow */
			free(rack);
			return -ENOMEM;
		}
		map->rack_count++;
	}
	*ret = rack;
	return 0;
}

static int
add_element(struct course *course, const char *a, const char *b, const char *at)
{
	struct localise_element *element;
	int r;

	r = localise_element_find(course->map, a, b, at, &element);
	if (r < 0)
		return r;
	for (uint8_t i = 0; i < course->count; i++)
		if (course->elements[i] == element) /* a loop */
			return 0;
	if (course->count >= LOCALISE_PATH_ELEMENTS) {
		if (element->path_count == 0)
			localise_element_drop(course->map, element);
		return -EINVAL;
	}
	course->elements[course->count++] = element;
	return 0;
}

/* Splits a hop's text into name and address; both are "" if the hop did not answer. */
static int
read_hop(const char *text, size_t len, char name[RM_NAME_BYTES], char at[RM_NAME_BYTES])
{
	const char *split = memchr(text, '@', len);
	const size_t name_len = split != NULL ? (size_t)(split - text) : len;
	const size_t at_len = split != NULL ? len - name_len - 1 : 0;
	const bool silent = name_len == 1 && text[0] == '?';

	if (name_len == 0 || name_len >= RM_NAME_BYTES || at_len >= RM_NAME_BYTES)
		return -EINVAL;
	memcpy(at, split != NULL ? split + 1 : "", at_len);
	at[at_len] = '\0';
	memcpy(name, text, name_len);
	name[name_len] = '\0';
	if (strpbrk(at, ">@") != NULL)
		return -EINVAL;
	if (silent) /* a hop without a name is named by its address */
		snprintf(name, RM_NAME_BYTES, "%s", rm_name_valid(at) ? at : "");
	return name[0] == '\0' || rm_name_valid(name) ? 0 : -EINVAL;
}

/* Adds one hop behind `last`, which is "" after a hop that did not answer. */
static int
add_hop(struct course *course, char last[RM_NAME_BYTES], const char *name,
    const char *at, bool is_end)
{
	int r = 0;

	if (strcmp(last, name) == 0)
		return 0;
	if (last[0] != '\0')
		r = add_element(course, last, name, at);
	/* read_course adds the destination's ToR, which is always last. */
	if (r == 0 && !is_end)
		r = add_element(course, name, "", "");
	memcpy(last, name, strlen(name) + 1);
	return r;
}

static int
read_course(struct course *course, const char *src, const char *dst, const char *path)
{
	char last[RM_NAME_BYTES], name[RM_NAME_BYTES], at[RM_NAME_BYTES];
	size_t hop = 0;
	int r;

	snprintf(last, sizeof last, "%.63s", src);
	r = add_element(course, src, "", "");
	for (const char *p = path; r == 0 && *p != '\0'; hop++) {
		const size_t len = strcspn(p, " ");
		const bool is_final = p[len] == '\0';

		r = hop < WIRE_MAX_HOPS ? read_hop(p, len, name, at) : -EINVAL;
		if (r < 0)
			break;
		/* The ToRs at both ends are known, even if they did not answer or the
		 * topology does not name their addresses. */
		if (name[0] == '\0' || strcmp(name, at) == 0) {
			if (hop == 0)
				snprintf(name, sizeof name, "%.63s", src);
			else if (is_final)
				snprintf(name, sizeof name, "%.63s", dst);
		}
		if (name[0] == '\0')
			course->has_gap = true, last[0] = '\0';
		else
			r = add_hop(course, last, name, at, strcmp(name, dst) == 0);
		p += len + (is_final ? 0 : 1);
	}
	if (r == 0 && strcmp(last, dst) != 0)
		course->has_gap = true;
	return r == 0 ? add_element(course, dst, "", "") : r;
}

static int
enter_pair(struct localise_map *map, struct localise_path *path)
{
	struct localise_element *pair;
	int r;

	r = localise_element_pair(
	    map, path->elements[0], path->elements[path->element_count - 1], &pair);
	if (r < 0)
		return r;
	r = localise_element_enter(pair, path);
	if (r < 0) {
		localise_element_leave(map, pair, path);
		return r;
	}
	path->pair = pair;
	return 0;
}

static void
abandon_course(struct course *course)
{
	for (uint8_t i = course->entered; i < course->count; i++)
		if (course->elements[i]->path_count == 0)
			localise_element_drop(course->map, course->elements[i]);
}

static struct localise_path *
new_path(struct localise_map *map, struct localise_rack *rack, struct course *course,
    const char *key, size_t key_len)
{
	/* A path and its elements are stored together, because they are used together.
	 */
	const size_t elements = course->count * sizeof(struct localise_element *);
	struct localise_path *path = calloc(1, sizeof *path + elements + key_len + 1);

	if (path == NULL)
		return NULL;
	path->key = (char *)&path->elements[course->count];
	memcpy(path->key, key, key_len + 1);
	HASH_ADD_KEYPTR(hh, rack->paths, path->key, key_len, path);
	if (path->hh.tbl == NULL) {
		free(path);
		return NULL;
	}
	path->rack = rack;
	path->is_traced = !course->has_gap;
	rack->path_count++;
	map->path_count++;
	for (uint8_t i = 0; i < course->count; i++) {
		if (localise_element_enter(course->elements[i], path) < 0) {
			drop_path(map, path);
			return NULL;
		}
		path->elements[path->element_count++] = course->elements[i];
		course->entered++;
	}
	path->elements[0]->is_tor = true;
	path->elements[path->element_count - 1]->is_tor = true;
	if (enter_pair(map, path) < 0) {
		drop_path(map, path);
		return NULL;
	}
	return path;
}

/* Returns the length of the path's text without silent hops at its end, whose number
 * varies from trace to trace. */
static size_t
path_length(const char *path)
{
	size_t len = strcmp(path, "*") == 0 ? 0 : strlen(path);

	while (len >= 1 && path[len - 1] == '?' && (len == 1 || path[len - 2] == ' '))
		len -= len == 1 ? 1 : 2;
	return len;
}

int
localise_map_path(struct localise_map *map, struct localise_rack *rack,
    const struct wire_path_row *row, struct localise_path **ret)
{
	struct course course = { .map = map };
	char key[KEY_BYTES];
	struct localise_path *path;
	/* of an untraced path, or of several paths ("*"), only the ends are known */
	const int path_len = (int)path_length(row->path);
	const int len =
	    snprintf(key, sizeof key, "%s %.*s", row->dst_tor, path_len, row->path);
	int r = 0;

	if (len < 0 || (size_t)len >= sizeof key)
		return -EINVAL;
	HASH_FIND(hh, rack->paths, key, (unsigned)len, path);
	if (path != NULL) {
		*ret = path;
		return 0;
	}
	if (map->path_count >= LOCALISE_MAX_PATHS)
		return -ENOBUFS;
	r = read_course(
	    &course, rack->tor, row->dst_tor, key + strlen(row->dst_tor) + 1);
	if (r == 0) {
		path = new_path(map, rack, &course, key, (size_t)len);
		r = path != NULL ? 0 : -ENOMEM;
	}
	if (r < 0)
		abandon_course(&course);
	else
		*ret = path;
	return r;
}

bool
localise_path_crosses(
    const struct localise_path *path, const struct localise_element *element)
{
	for (uint8_t i = 0; i < path->element_count; i++)
		if (path->elements[i] == element)
			return true;
	return false;
}
