#include "rackmesh/judge/links.h"

#include <stdio.h>
#include <string.h>

#define BETWEEN ", "
#define ONE_WAY "->" /* between two names of switches, which do not contain it */

static void
set_name(struct rm_link *link)
{
	const bool swap = strcmp(link->from, link->to) > 0;

	snprintf(link->name, sizeof link->name, "%s--%s", swap ? link->to : link->from,
	    swap ? link->from : link->to);
}

bool
rm_links_next(const char **at, struct rm_link *ret)
{
	const size_t len = strcspn(*at, BETWEEN);
	const char *arrow;

	if (len == 0 || len >= sizeof ret->name)
		return false;
	*ret = (struct rm_link){ 0 };
	memcpy(ret->name, *at, len);
	arrow = strstr(ret->name, ONE_WAY);
	if (arrow != NULL) {
		const size_t from = (size_t)(arrow - ret->name);

		if (from >= sizeof ret->from || len - from - 2 >= sizeof ret->to)
			return false;
		ret->one_way = true;
		memcpy(ret->from, ret->name, from);
		memcpy(ret->to, arrow + 2, len - from - 2);
		set_name(ret);
	}
	*at += len;
	*at += strspn(*at, BETWEEN);
	return true;
}

bool
rm_links_add(char links[RM_LINKS_BYTES], const struct rm_link *link)
{
	const size_t len = strlen(links);
	const char *join = len > 0 ? BETWEEN : "";
	const int n =
	    link->one_way
		? snprintf(links + len, RM_LINKS_BYTES - len, "%s%s" ONE_WAY "%s", join,
		      link->from, link->to)
		: snprintf(links + len, RM_LINKS_BYTES - len, "%s%s", join, link->name);

	if (n >= 0 && (size_t)n < RM_LINKS_BYTES - len)
		return true;
	links[len] = '\0';
	return false;
}

bool
rm_links_have(const char *links, const struct rm_part *part)
{
	struct rm_link link;

	if (part->type != RM_PART_LINK)
		return false;
	while (rm_links_next(&links, &link))
		if (rm_part_names(part, link.name))
			return true;
	return false;
}

size_t
rm_links_count(const char *links)
{
	struct rm_link link;
	size_t count = 0;

	while (rm_links_next(&links, &link))
		count++;
	return count;
}

static bool
ends_at(const char *link, size_t len, const char *node)
{
	const size_t of = strlen(node);

	return len >= of + 3 &&
	       ((memcmp(link, node, of) == 0 && memcmp(link + of, "--", 2) == 0) ||
		   (memcmp(link + len - of, node, of) == 0 &&
		       memcmp(link + len - of - 2, "--", 2) == 0));
}

bool
rm_links_end_at(const struct rm_part *part, const char *node)
{
	const char *at = part->name, *next;

	if (part->type != RM_PART_LINK)
		return false;
	while ((next = strstr(at, RM_PART_OR)) != NULL) {
		if (!ends_at(at, (size_t)(next - at), node))
			return false;
		at = next + strlen(RM_PART_OR);
	}
	return ends_at(at, strlen(at), node);
}
