#include "tests/sim/scenario_read.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAMES_SHOWN 320

static int
read_plain(const struct scenario_read *read, const struct rm_yaml_node *node,
    const struct scenario_option *option, double *ret)
{
	const char *text = rm_yaml_text(node);
	char *end;
	double value;

	if (rm_yaml_kind(node) != RM_YAML_SCALAR)
		return rm_yaml_error(node, read->error, -EINVAL,
		    "%s: expected a number, {from: A, to: B} or {of: [A, B, ...]}",
		    option->name);
	if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0) {
		value = text[0] == 't';
	} else {
		value = strtod(text, &end);
		if (end == text || *end != '\0' || !isfinite(value))
			return rm_yaml_error(node, read->error, -EINVAL,
			    "%s: expected a number, not \"%.40s\"", option->name, text);
	}
	if (value < option->min || value > option->max)
		return rm_yaml_error(node, read->error, -EINVAL,
		    "%s: expected %.10g to %.10g, not %.40s", option->name, option->min,
		    option->max, text);
	if (option->whole && value != floor(value))
		return rm_yaml_error(node, read->error, -EINVAL,
		    "%s: expected a whole number, not %.40s", option->name, text);
	*ret = value;
	return 0;
}

int
scenario_read_keys(const struct scenario_read *read, const struct rm_yaml_node *map,
    const char *what, const char *const *keys)
{
	for (size_t i = 0; i < rm_yaml_count(map); i++) {
		const struct rm_yaml_node *key = rm_yaml_key(map, i);
		char known[NAMES_SHOWN] = "";
		size_t k = 0, len = 0;

		for (; keys[k] != NULL; k++) {
			if (strcmp(rm_yaml_text(key), keys[k]) == 0)
				break;
			len += (size_t)snprintf(known + len, sizeof known - len, "%s%s",
			    k > 0 ? ", " : "", keys[k]);
			if (len >= sizeof known)
				len = sizeof known - 1;
		}
		if (keys[k] == NULL)
			return rm_yaml_error(key, read->error, -EINVAL,
			    "%s has no option %.40s; it has %s", what,
			    rm_yaml_text(key), known);
	}
	return 0;
}

static int
read_of(const struct scenario_read *read, const struct rm_yaml_node *list,
    const struct scenario_option *option, struct scenario_choice *ret)
{
	int r = 0;

	if (rm_yaml_kind(list) != RM_YAML_LIST || rm_yaml_count(list) == 0 ||
	    rm_yaml_count(list) > SCENARIO_MAX_CHOICES)
		return rm_yaml_error(list, read->error, -EINVAL,
		    "%s: of: expected a list of 1 to %d", option->name,
		    SCENARIO_MAX_CHOICES);
	ret->type = CHOICE_OF;
	ret->count = rm_yaml_count(list);
	for (size_t i = 0; i < ret->count && r == 0; i++)
		r = read_plain(read, rm_yaml_item(list, i), option, &ret->values[i]);
	return r;
}

static int
read_range(const struct scenario_read *read, const struct rm_yaml_node *map,
    const struct scenario_option *option, struct scenario_choice *ret)
{
	static const struct scenario_option of_log = { "log", 0, 0, 1, true, "" };
	const struct rm_yaml_node *from = rm_yaml_get(map, "from"),
				  *to = rm_yaml_get(map, "to"),
				  *log = rm_yaml_get(map, "log");
	double is_log = 0;
	int r;

	if (from == NULL || to == NULL)
		return rm_yaml_error(map, read->error, -EINVAL,
		    "%s: expected both from and to, or of", option->name);
	r = read_plain(read, from, option, &ret->values[0]);
	if (r == 0)
		r = read_plain(read, to, option, &ret->values[1]);
	if (r == 0 && log != NULL)
		r = read_plain(read, log, &of_log, &is_log);
	if (r < 0)
		return r;
	if (ret->values[1] < ret->values[0] || (is_log != 0 && ret->values[0] <= 0))
		return rm_yaml_error(map, read->error, -EINVAL,
		    "%s: expected from <= to, and with log from > 0", option->name);
	ret->type = is_log != 0 ? CHOICE_LOG : CHOICE_RANGE;
	ret->count = 2;
	return 0;
}

int
scenario_read_number(const struct scenario_read *read, const struct rm_yaml_node *node,
    const struct scenario_option *option, struct scenario_choice *ret)
{
	static const char *const keys[] = { "from", "to", "log", "of", NULL };
	const struct rm_yaml_node *of;
	int r;

	if (rm_yaml_kind(node) != RM_YAML_MAP) {
		ret->type = CHOICE_ONE;
		ret->count = 1;
		return read_plain(read, node, option, &ret->values[0]);
	}
	r = scenario_read_keys(read, node, option->name, keys);
	if (r < 0)
		return r;
	of = rm_yaml_get(node, "of");
	if (of != NULL && rm_yaml_count(node) > 1)
		return rm_yaml_error(node, read->error, -EINVAL,
		    "%s: of goes without from, to and log", option->name);
	return of != NULL ? read_of(read, of, option, ret)
			  : read_range(read, node, option, ret);
}

int
scenario_read_find(const struct scenario_read *read, const struct rm_yaml_node *node,
    const char *what, const char *const *names, size_t *ret)
{
	char known[NAMES_SHOWN] = "";
	size_t len = 0;

	for (size_t i = 0; names[i] != NULL && names[i][0] != '\0'; i++) {
		if (strcmp(rm_yaml_text(node), names[i]) == 0) {
			*ret = i;
			return 0;
		}
		len += (size_t)snprintf(known + len, sizeof known - len, "%s%s",
		    i > 0 ? ", " : "", names[i]);
		if (len >= sizeof known)
			len = sizeof known - 1;
	}
	return rm_yaml_error(
	    node, read->error, -EINVAL, "%s: expected one of %s", what, known);
}

int
scenario_read_name(const struct scenario_read *read, const struct rm_yaml_node *node,
    const char *what, const char *const *names, size_t skip,
    struct scenario_choice *ret)
{
	const struct rm_yaml_node *of = rm_yaml_get(node, "of");
	const size_t count = of != NULL ? rm_yaml_count(of) : 1;

	if (count == 0 || count > SCENARIO_MAX_CHOICES ||
	    (of == NULL && rm_yaml_kind(node) != RM_YAML_SCALAR) ||
	    (of != NULL && rm_yaml_kind(of) != RM_YAML_LIST))
		return rm_yaml_error(node, read->error, -EINVAL,
		    "%s: expected a name or {of: [NAME, ...]}", what);
	ret->type = CHOICE_OF;
	ret->count = count;
	for (size_t i = 0; i < count; i++) {
		size_t at = 0;
		const int r = scenario_read_find(read,
		    of != NULL ? rm_yaml_item(of, i) : node, what, names + skip, &at);

		if (r < 0)
			return r;
		ret->values[i] = (double)(at + skip);
	}
	return 0;
}
