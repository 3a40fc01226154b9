#include "analyzer/incidents/part_names.h"

#include <string.h>

/* The separators between two names. */
static const char *const joints[] = { RM_PART_OR, "--", "->" };

/* Returns the first separator of any kind, or the end; *len: length of the separator.
 */
static const char *
next_joint(const char *text, size_t *len)
{
	const char *first = text + strlen(text);

	*len = 0;
	for (size_t i = 0; i < sizeof(joints) / sizeof(joints[0]); i++) {
		const char *at = strstr(text, joints[i]);

		if (at == NULL || at >= first)
			continue;
		first = at;
		*len = strlen(joints[i]);
	}
	return first;
}

size_t
part_names_of(const char *part, char names[PART_NAMES_MAX][RM_NAME_BYTES])
{
	size_t count = 0;

	while (part[0] != '\0' && count < PART_NAMES_MAX) {
		size_t joint_len;
		const char *end = next_joint(part, &joint_len);
		size_t len = (size_t)(end - part);

		if (len > 0 && len < RM_NAME_BYTES) {
			memcpy(names[count], part, len);
			names[count][len] = '\0';
			count++;
		}
		part = end + joint_len;
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
	const char *one = part->name;

	if (part->type == RM_PART_TOR)
		return rm_part_names(part, tor);
	while (part->type == RM_PART_LINK && one != NULL) {
		const char *next = strstr(one, RM_PART_OR);

		if (ends_at(
			one, next != NULL ? (size_t)(next - one) : strlen(one), tor))
			return true;
		one = next != NULL ? next + strlen(RM_PART_OR) : NULL;
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
