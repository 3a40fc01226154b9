#include "rackmesh/judge/part.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "rackmesh/core/fnv.h"

#define SWITCH_PREFIX "switch:"

static const struct {
	const char *name, *alertname;
} part_types[RM_PART_TYPES] = {
	[RM_PART_RNIC] = { "rnic", "RackmeshRnic" },
	[RM_PART_HOST] = { "host", "RackmeshHost" },
	[RM_PART_AGENT] = { "agent", "RackmeshAgent" },
	[RM_PART_TOR] = { "tor", "RackmeshTor" },
	[RM_PART_LINK] = { "link", "RackmeshLink" },
	[RM_PART_SWITCH] = { "switch", "RackmeshSwitch" },
	[RM_PART_PATH] = { "path", "RackmeshPath" },
	[RM_PART_RACK] = { "rack", "RackmeshRack" },
	[RM_PART_AGGREGATOR] = { "aggregator", "RackmeshAggregator" },
	[RM_PART_REGION] = { "region", "RackmeshRegion" },
	[RM_PART_CONTROLLER] = { "controller", "RackmeshController" },
	[RM_PART_ANALYZER] = { "analyzer", "RackmeshAnalyzer" },
	[RM_PART_CLASS] = { "class", "RackmeshClass" },
};

void
rm_rnic_id_format(struct rm_rnic_id id, char text[RM_RNIC_ID_TEXT])
{
	const uint64_t g = id.guid;

	if (id.port == RM_PORT_SWITCH) {
		snprintf(text, RM_RNIC_ID_TEXT, SWITCH_PREFIX "%016" PRIx64, g);
		return;
	}
	if (id.port == RM_PORT_MAC) {
		snprintf(text, RM_RNIC_ID_TEXT, "%02x:%02x:%02x:%02x:%02x:%02x",
		    (unsigned)(g >> 40 & 0xff), (unsigned)(g >> 32 & 0xff),
		    (unsigned)(g >> 24 & 0xff), (unsigned)(g >> 16 & 0xff),
		    (unsigned)(g >> 8 & 0xff), (unsigned)(g & 0xff));
		return;
	}
	snprintf(text, RM_RNIC_ID_TEXT, "%04x:%04x:%04x:%04x/%u",
	    (unsigned)(g >> 48 & 0xffff), (unsigned)(g >> 32 & 0xffff),
	    (unsigned)(g >> 16 & 0xffff), (unsigned)(g & 0xffff), (unsigned)id.port);
}

/*
 * Reads groups of exactly `digits` hex digits with ':' between them; *end is the
 * first character after the last group.
 */
static int
parse_hex_groups(
    const char *text, unsigned groups, unsigned digits, const char **end, uint64_t *ret)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < groups; i++) {
		if (i > 0 && *text++ != ':')
			return -EINVAL;
		for (unsigned k = 0; k < digits; k++) {
			const int c = tolower((unsigned char)*text++);

			if (!isxdigit(c))
				return -EINVAL;
			value =
			    value << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
		}
	}
	*end = text;
	*ret = value;
	return 0;
}

static int
parse_port(const char *text, uint8_t *ret)
{
	unsigned port = 0;
	size_t len = strlen(text);

	if (len == 0 || len > 3 || text[0] == '0')
		return -EINVAL;
	for (; *text != '\0'; text++) {
		if (!isdigit((unsigned char)*text))
			return -EINVAL;
		port = port * 10 + (unsigned)(*text - '0');
	}
	if (port >= RM_PORT_SWITCH)
		return -EINVAL;
	*ret = (uint8_t)port;
	return 0;
}

int
rm_rnic_id_parse(const char *text, struct rm_rnic_id *ret)
{
	const size_t prefix = sizeof SWITCH_PREFIX - 1;
	struct rm_rnic_id id = { 0 };
	const char *end;
	int r;

	if (strncmp(text, SWITCH_PREFIX, prefix) == 0) {
		id.port = RM_PORT_SWITCH;
		r = parse_hex_groups(text + prefix, 1, 16, &end, &id.guid);
	} else if (strchr(text, '/') == NULL) {
		id.port = RM_PORT_MAC;
		r = parse_hex_groups(text, 6, 2, &end, &id.guid);
	} else {
		r = parse_hex_groups(text, 4, 4, &end, &id.guid);
		if (r < 0 || *end != '/')
			return -EINVAL;
		r = parse_port(end + 1, &id.port);
		end = "";
	}
	if (r < 0 || *end != '\0')
		return -EINVAL;
	*ret = id;
	return 0;
}

bool
rm_rnic_id_equal(struct rm_rnic_id a, struct rm_rnic_id b)
{
	return a.guid == b.guid && a.port == b.port;
}

struct rm_rnic_id
rm_rnic_id_of_switch(const char *name)
{
	return (struct rm_rnic_id){ .guid = rm_fnv1a(RM_FNV1A, name, strlen(name)),
		.port = RM_PORT_SWITCH };
}

/* Accepts ASCII only, because isalnum() depends on the locale. */
static bool
is_alphanumeric(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9');
}

bool
rm_name_valid(const char *name)
{
	size_t len = 0;

	if (!is_alphanumeric(name[0]))
		return false;
	for (; name[len] != '\0'; len++) {
		if (len + 1 >= RM_NAME_BYTES)
			return false;
		if (!is_alphanumeric(name[len]) && strchr("._:-", name[len]) == NULL)
			return false;
	}
	return true;
}

/* The time that fnmatch() takes grows exponentially with the number of stars. */
#define PATTERN_MAX_STARS 4

bool
rm_name_pattern_valid(const char *pattern)
{
	size_t len = 0, stars = 0;

	for (; pattern[len] != '\0'; len++) {
		if (len + 1 >= RM_NAME_BYTES)
			return false;
		if (!is_alphanumeric(pattern[len]) &&
		    strchr("._:-*?[]!", pattern[len]) == NULL)
			return false;
		stars += pattern[len] == '*';
	}
	return len > 0 && stars <= PATTERN_MAX_STARS;
}

bool
rm_name_matches(const char *name, const char *pattern)
{
	return fnmatch(pattern, name, FNM_NOESCAPE) == 0;
}

const char *
rm_part_type_str(enum rm_part_type type)
{
	if (type < RM_PART_RNIC || type >= RM_PART_TYPES)
		return "unknown";
	return part_types[type].name;
}

const char *
rm_part_alertname(enum rm_part_type type)
{
	if (type < RM_PART_RNIC || type >= RM_PART_TYPES)
		return "RackmeshUnknown";
	return part_types[type].alertname;
}

bool
rm_part_equal(const struct rm_part *a, const struct rm_part *b)
{
	return a->type == b->type && strcmp(a->name, b->name) == 0 &&
	       strcmp(a->place, b->place) == 0;
}

bool
rm_part_names(const struct rm_part *part, const char *name)
{
	const size_t len = strlen(name);
	const char *at = part->name;

	while (at != NULL) {
		const char * or = strstr(at, RM_PART_OR);
		const size_t here = or == NULL ? strlen(at) : (size_t)(or -at);

		if (here == len && memcmp(at, name, len) == 0)
			return true;
		at = or == NULL ? NULL : or +sizeof RM_PART_OR - 1;
	}
	return false;
}
