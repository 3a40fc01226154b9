#include <stdio.h>
#include <string.h>

#include "analyzer/finding/localise_case.h"

struct localise_suspect
localise_suspect_path(const struct localise_element *pair)
{
	return (struct localise_suspect){ RM_PART_PATH,
		{ pair->ends[0], pair->ends[1] }, 2 };
}

void
localise_suspect_part(const struct localise_suspect *suspect, struct rm_part *ret)
{
	const struct localise_element *e = suspect->elements[0];

	*ret = (struct rm_part){ .type = suspect->type };
	if (suspect->type == RM_PART_PATH)
		snprintf(ret->name, sizeof ret->name, "%s->%s", e->a,
		    suspect->elements[1]->a);
	else if (suspect->type != RM_PART_LINK)
		snprintf(ret->name, sizeof ret->name, "%s", e->a);
	else
		snprintf(ret->name, sizeof ret->name, "%s--%s",
		    strcmp(e->a, e->b) < 0 ? e->a : e->b,
		    strcmp(e->a, e->b) < 0 ? e->b : e->a);
}

bool
localise_suspect_on(
    const struct localise_suspect *suspect, const struct localise_way *way)
{
	if (suspect->type == RM_PART_PATH)
		return way->elements[0] == suspect->elements[0] &&
		       way->elements[way->element_count - 1] == suspect->elements[1];
	for (size_t i = 0; i < suspect->element_count; i++)
		if (localise_way_crosses(way, suspect->elements[i]))
			return true;
	return false;
}
