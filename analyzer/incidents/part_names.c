#include "analyzer/incidents/part_names.h"

#include <string.h>

/* Returns what follows the first " or "; NULL: there is none. */
static const char *
after_or(const char *names)
{
	const char * or = strstr(names, RM_PART_OR);

	return or != NULL ? or +strlen(RM_PART_OR) : NULL;
}

/* Adds a name, unless it is no name or is there already. */
static void
add_name(char names[PART_NAMES_MAX][RM_NAME_BYTES], size_t *count, const char *text,
    size_t len)
{
	char name[RM_NAME_BYTES];

	if (len >= RM_NAME_BYTES || *count == PART_NAMES_MAX)
		return;
	memcpy(name, text, len);
	name[len] = '\0';
	if (!rm_name_valid(name))
		return;
	for (size_t i = 0; i < *count; i++)
		if (strcmp(names[i], name) == 0)
			return;
	strcpy(names[(*count)++], name);
}

static bool
is_joint(const char *text)
{
	return strncmp(text, "--", 2) == 0 || strncmp(text, "->", 2) == 0;
}

size_t
part_names_of(const char *part, char names[PART_NAMES_MAX][RM_NAME_BYTES])
{
	size_t count = 0;

	while (part != NULL) {
		const char *next = strstr(part, RM_PART_OR);
		const size_t len = next != NULL ? (size_t)(next - part) : strlen(part);

		add_name(names, &count, part, len);
		for (size_t at = 0; at + 2 <= len; at++)
			if (is_joint(part + at)) {
				add_name(names, &count, part, at);
				add_name(names, &count, part + at + 2, len - at - 2);
			}
		part = after_or(part);
	}
	return count;
}

/* True: this ToR is one end of the link. len: length of `link` in bytes. The name is
 * not split at "--", because names of switches may contain "--". */
static bool
ends_at(const char *link, size_t len, const char *tor)
{
	const size_t tor_len = strlen(tor);
	const char *end;

	if (len <= tor_len + strlen("--"))
		return false;
	end = link + len - tor_len;
	return (memcmp(link, tor, tor_len) == 0 &&
		   memcmp(link + tor_len, "--", 2) == 0) ||
	       (memcmp(end, tor, tor_len) == 0 && memcmp(end - 2, "--", 2) == 0);
}

bool
part_names_tor(const struct rm_part *part, const char *tor)
{
	const char *one = NULL;

	if (part->type == RM_PART_TOR)
		return rm_part_names(part, tor);
	if (part->type == RM_PART_LINK)
		one = part->name;
	else if (part->type == RM_PART_SWITCH) /* "spine1 or spine1--tor1" */
		one = after_or(part->name);
	for (; one != NULL; one = after_or(one)) {
		const char *end = strstr(one, RM_PART_OR);

		if (ends_at(one, end != NULL ? (size_t)(end - one) : strlen(one), tor))
			return true;
	}
	return false;
}

bool
part_names_tor_of(const struct rm_verdict *verdict, const char *tor)
{
	const char *at = verdict->evidence.links;
	struct rm_link link;

	if (part_names_tor(&verdict->part, tor))
		return true;
	while (rm_links_next(&at, &link))
		if (ends_at(link.name, strlen(link.name), tor))
			return true;
	return false;
}
