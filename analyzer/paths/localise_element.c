#define HASH_NONFATAL_OOM 1
#include "analyzer/paths/localise_element.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/core/fnv.h"

#define MAX_COURSES 64

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

int
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

int
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

void
localise_element_drop(struct localise_map *map, struct localise_element *element)
{
	HASH_DEL(map->elements, element);
	free(element->ways);
	free(element);
}

void
localise_element_leave(struct localise_map *map, struct localise_element *element,
    const struct localise_way *way)
{
	for (size_t i = element->way_count; i-- > 0;)
		if (element->ways[i] == way) {
			element->ways[i] = element->ways[--element->way_count];
			break;
		}
	if (element->way_count > 0)
		return;
	if (element->back == NULL)
		localise_element_drop(map, element);
	else if (element->back->way_count == 0) { /* they come and go together */
		localise_element_drop(map, element->back);
		localise_element_drop(map, element);
	}
}

int
localise_element_enter(struct localise_element *element, struct localise_way *way)
{
	if (element->way_count == element->way_size) {
		const size_t size = element->way_size != 0 ? 2 * element->way_size : 4;
		struct localise_way **ways =
		    realloc(element->ways, size * sizeof(struct localise_way *));

		if (ways == NULL)
			return -ENOMEM;
		element->ways = ways;
		element->way_size = size;
	}
	element->ways[element->way_count++] = way;
	return 0;
}

static bool
same_course(const struct localise_way *a, const struct localise_way *b)
{
	return a->element_count == b->element_count &&
	       memcmp(a->elements, b->elements,
		   a->element_count * sizeof(struct localise_element *)) == 0;
}

size_t
localise_element_courses(const struct localise_element *pair)
{
	const struct localise_way *first[MAX_COURSES];
	size_t count = 0;

	for (size_t i = 0; i < pair->way_count && count < MAX_COURSES; i++) {
		size_t k = 0;

		while (k < count && !same_course(first[k], pair->ways[i]))
			k++;
		if (k == count)
			first[count++] = pair->ways[i];
	}
	return count > 0 ? count : 1;
}
