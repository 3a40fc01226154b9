#include "rackmesh/config/config_near.h"

#include <string.h>

#define NEAR_MAX 64 /* longer names are not compared */

static unsigned
min3(unsigned a, unsigned b, unsigned c)
{
	unsigned least = a < b ? a : b;

	return least < c ? least : c;
}

/* Levenshtein's distance: single letters added, left out or changed. */
static unsigned
near_distance(const char *a, const char *b)
{
	size_t a_len = strlen(a), b_len = strlen(b);
	unsigned row[NEAR_MAX + 1];

	if (a_len > NEAR_MAX || b_len > NEAR_MAX)
		return NEAR_MAX;
	for (unsigned j = 0; j <= b_len; j++)
		row[j] = j;
	for (unsigned i = 1; i <= a_len; i++) {
		unsigned diagonal = row[0];

		row[0] = i;
		for (unsigned j = 1; j <= b_len; j++) {
			unsigned changed = diagonal + (a[i - 1] != b[j - 1]);

			diagonal = row[j];
			row[j] = min3(changed, row[j] + 1, row[j - 1] + 1);
		}
	}
	return row[b_len];
}

static unsigned
count_dots(const char *text)
{
	unsigned dots = 0;

	for (; *text != 0; text++)
		dots += *text == '.';
	return dots;
}

/* The option's name down to the depth of what was typed: "prbe" stands beside
 * "probe", not beside "probe.interval_ms". */
static void
near_cut(const char *name, unsigned dots, char cut[RM_CONFIG_NAME])
{
	size_t len = 0;

	while (name[len] != 0 && len + 1 < RM_CONFIG_NAME &&
	       (name[len] != '.' || dots-- > 0)) {
		cut[len] = name[len];
		len++;
	}
	cut[len] = 0;
}

bool
rm_config_near(
    const struct rm_option *options, const char *name, char ret[RM_CONFIG_NAME])
{
	unsigned dots = count_dots(name), best = 1 + (unsigned)strlen(name) / 4;
	bool found = false;

	if (strlen(name) < 3)
		best = 1;
	for (const struct rm_option *option = options; option->name != NULL; option++) {
		const char *last = strrchr(option->name, '.');
		char cut[RM_CONFIG_NAME];
		unsigned distance;

		/* The right word in the wrong map. */
		if (last != NULL && strcmp(last + 1, name) == 0) {
			near_cut(option->name, UINT32_MAX, ret);
			return true;
		}
		near_cut(option->name, dots, cut);
		distance = near_distance(name, cut);
		if (distance > best || (found && distance == best))
			continue;
		best = distance;
		found = true;
		memcpy(ret, cut, sizeof(cut));
	}
	return found;
}
