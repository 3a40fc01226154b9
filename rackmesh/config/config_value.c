#include "rackmesh/config/config_value.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/config/yaml.h"

uint64_t
rm_config_min(const struct rm_option *option)
{
	bool counts = option->kind == RM_STRING || option->kind == RM_LIST ||
		      option->kind == RM_TABLE;

	if (counts && (option->flags & RM_REQUIRED) && option->min == 0)
		return 1;
	return option->min;
}

uint64_t
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

/* "text of 1 to 15 characters", "a list of at most 8 texts". */
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
accepts_words(const struct rm_option *option, char out[RM_CONFIG_ACCEPTS])
{
	size_t len = (size_t)snprintf(out, RM_CONFIG_ACCEPTS, "one of");

	for (const struct rm_word *word = option->words; word->word != NULL; word++) {
		int more = snprintf(out + len, RM_CONFIG_ACCEPTS - len, "%s %s",
		    word == option->words ? "" : ",", word->word);

		if (more < 0 || (size_t)more >= RM_CONFIG_ACCEPTS - len)
			return; /* a table of very many words is cut */
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
		accepts_words(option, out);
		break;
	case RM_LIST:
		accepts_count(option, "a list", "texts", out);
		break;
	case RM_TABLE:
		accepts_count(option, "a list", "maps", out);
		break;
	}
	return out;
}

static bool
value_string(const struct rm_option *option, const char *text, char **field, int *r)
{
	size_t len = strlen(text);
	char *copy;

	/* min and max of a list count its items. */
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
value_word(const struct rm_option *option, const char *text, int *field)
{
	for (const struct rm_word *word = option->words; word->word != NULL; word++) {
		if (strcmp(word->word, text) == 0) {
			*field = word->value;
			return true;
		}
	}
	return false;
}

int
rm_config_value(const struct rm_option *option, const char *text, bool quoted,
    void *field, struct rm_why *what)
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
		valid = value_word(option, text, field);
		break;
	case RM_TABLE:
		break;
	}
	if (r < 0)
		return rm_why(what, r, "out of memory");
	if (!valid)
		return rm_why(what, -EINVAL, "expected %s%s",
		    rm_config_accepts(option, accepts),
		    quoted && plain ? ", without quotes" : "");
	return 0;
}
