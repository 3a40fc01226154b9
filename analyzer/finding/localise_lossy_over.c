#include "analyzer/finding/localise_lossy_over.h"

#include "analyzer/finding/localise_case.h"

#define SHORT 2000 /* up to this number of listed paths, the list itself is read */

static size_t
ends_of(const struct localise_suspect *suspect)
{
	return suspect->type == RM_PART_PATH ? 1 : suspect->element_count;
}

struct localise_lossy_over
localise_lossy_over(const struct localise_map *map,
    const struct localise_suspect *suspect, size_t limit)
{
	size_t paths = 0;

	for (size_t i = 0; i < ends_of(suspect); i++)
		paths += suspect->elements[i]->path_count;
	return (struct localise_lossy_over){ .map = map,
		.suspect = suspect,
		.limit = limit,
		.by_list = limit <= SHORT || paths >= limit };
}

static struct localise_path *
next_of_list(struct localise_lossy_over *over)
{
	while (over->at < over->limit) {
		struct localise_path *path = over->map->lossy[over->at++];

		if (localise_suspect_on(over->suspect, path))
			return path;
	}
	return NULL;
}

struct localise_path *
localise_lossy_next(struct localise_lossy_over *over)
{
	const struct localise_suspect *suspect = over->suspect;

	if (over->by_list)
		return next_of_list(over);
	for (; over->element < ends_of(suspect); over->element++, over->at = 0) {
		const struct localise_element *element =
		    suspect->elements[over->element];

		while (over->at < element->path_count) {
			struct localise_path *path = element->paths[over->at++];

			/* a path over both elements is returned once, with the first
			 * element */
			if (path->is_listed && path->listed_at < over->limit &&
			    (over->element == 0 ||
				!localise_path_crosses(path, suspect->elements[0])) &&
			    localise_suspect_on(suspect, path))
				return path;
		}
	}
	return NULL;
}
