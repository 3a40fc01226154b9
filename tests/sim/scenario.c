#include "tests/sim/scenario.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/marks_read.h"
#include "tests/sim/scenario_read.h"

/* ---- sections -------------------------------------------------------------------- */

static void
set_fallbacks(const struct scenario_option *options, size_t count,
    struct scenario_choice *choices)
{
	for (size_t i = 0; i < count; i++)
		choices[i] =
		    (struct scenario_choice){ CHOICE_ONE, 1, { options[i].fallback } };
}

static int
read_section(const struct scenario_read *read, const struct rm_yaml_node *root,
    const char *name, const struct scenario_option *options, size_t count,
    struct scenario_choice *choices)
{
	const struct rm_yaml_node *map = rm_yaml_get(root, name), *node;
	const char *keys[PROBING_OPTIONS + NOISE_OPTIONS] = { NULL };
	int r;

	if (map == NULL)
		return 0;
	if (rm_yaml_kind(map) != RM_YAML_MAP)
		return rm_yaml_error(
		    map, read->error, -EINVAL, "%s: expected a map of options", name);
	for (size_t i = 0; i < count; i++)
		keys[i] = options[i].name;
	r = scenario_read_keys(read, map, name, keys);
	for (size_t i = 0; i < count && r == 0; i++) {
		node = rm_yaml_get(map, options[i].name);
		if (node != NULL)
			r = scenario_read_number(read, node, &options[i], &choices[i]);
	}
	return r;
}

static int
read_part(const struct scenario_read *read, const struct rm_yaml_node *node,
    struct scenario_fault *fault)
{
	const struct rm_yaml_node *of = rm_yaml_get(node, "of");
	const size_t count = of != NULL ? rm_yaml_count(of) : 1;

	if (of == NULL && strcmp(rm_yaml_text(node), "random") == 0)
		return 0;
	if (count == 0 || count > SCENARIO_MAX_CHOICES ||
	    (of == NULL && rm_yaml_kind(node) != RM_YAML_SCALAR) ||
	    (of != NULL && rm_yaml_kind(of) != RM_YAML_LIST))
		return rm_yaml_error(node, read->error, -EINVAL,
		    "part: expected random, a name, or {of: [NAME, ...]}");
	fault->parts = calloc(count, sizeof *fault->parts);
	if (fault->parts == NULL)
		return -ENOMEM;
	fault->part_count = count;
	for (size_t i = 0; i < count; i++)
		snprintf(fault->parts[i], RM_PART_NAME_BYTES, "%s",
		    rm_yaml_text(of != NULL ? rm_yaml_item(of, i) : node));
	return 0;
}

static int
read_flap(const struct scenario_read *read, const struct rm_yaml_node *map,
    struct scenario_fault *fault)
{
	static const char *const keys[] = { "on_ms", "off_ms", NULL };
	const struct rm_yaml_node *on, *off;
	int r;

	if (rm_yaml_kind(map) != RM_YAML_MAP)
		return rm_yaml_error(
		    map, read->error, -EINVAL, "flap: expected {on_ms: A, off_ms: B}");
	r = scenario_read_keys(read, map, "flap", keys);
	on = rm_yaml_get(map, "on_ms");
	off = rm_yaml_get(map, "off_ms");
	if (r == 0 && (on == NULL || off == NULL))
		r = rm_yaml_error(
		    map, read->error, -EINVAL, "flap: expected both on_ms and off_ms");
	if (r == 0)
		r = scenario_read_number(read, on, &scenario_fault_options[FAULT_ON_MS],
		    &fault->options[FAULT_ON_MS]);
	if (r == 0)
		r = scenario_read_number(read, off,
		    &scenario_fault_options[FAULT_OFF_MS],
		    &fault->options[FAULT_OFF_MS]);
	return r;
}

static int
read_fault_names(const struct scenario_read *read, const struct rm_yaml_node *map,
    struct scenario_fault *fault)
{
	const struct rm_yaml_node *kind = rm_yaml_get(map, "kind"),
				  *part = rm_yaml_get(map, "part"),
				  *direction = rm_yaml_get(map, "way"),
				  *type = rm_yaml_get(map, "type");
	size_t at = 0;
	int r;

	if (kind == NULL)
		return rm_yaml_error(
		    map, read->error, -EINVAL, "kind: a fault must have one");
	r = scenario_read_find(read, kind, "kind", scenario_kind_names, &at);
	fault->kind = (enum fault_kind)at;
	if (r == 0 && part != NULL)
		r = read_part(read, part, fault);
	if (r == 0 && direction != NULL)
		r = scenario_read_name(read, direction, "way", scenario_direction_names,
		    0, &fault->direction);
	if (r == 0 && type != NULL)
		r = scenario_read_name(
		    read, type, "type", scenario_place_names, 1, &fault->type);
	if (r == 0 && fault->kind == FAULT_LINK_FLAP &&
	    rm_yaml_get(map, "flap") == NULL)
		r = rm_yaml_error(
		    map, read->error, -EINVAL, "flap: a link-flap must have it");
	return r;
}

static int
read_fault(const struct scenario_read *read, const struct rm_yaml_node *map)
{
	struct scenario_fault *fault =
	    &read->scenario->faults[read->scenario->fault_count];
	const char *keys[FAULT_OPTIONS + 8] = { "kind", "part", "way", "type", "flap" };
	size_t count = 5;
	int r;

	if (rm_yaml_kind(map) != RM_YAML_MAP)
		return rm_yaml_error(
		    map, read->error, -EINVAL, "faults: expected a map in the list");
	read->scenario->fault_count++;
	fault->line = rm_yaml_line(map);
	fault->direction = fault->type =
	    (struct scenario_choice){ CHOICE_ONE, 1, { 0 } };
	set_fallbacks(scenario_fault_options, FAULT_OPTIONS, fault->options);
	for (size_t i = 0; i < FAULT_OPTIONS; i++)
		if (i != FAULT_ON_MS && i != FAULT_OFF_MS)
			keys[count++] = scenario_fault_options[i].name;
	r = scenario_read_keys(read, map, "a fault", keys);
	if (r == 0)
		r = read_fault_names(read, map, fault);
	for (size_t i = 0; i < FAULT_OPTIONS && r == 0; i++) {
		const struct rm_yaml_node *node =
		    rm_yaml_get(map, scenario_fault_options[i].name);

		if (node != NULL)
			r = scenario_read_number(
			    read, node, &scenario_fault_options[i], &fault->options[i]);
	}
	if (r == 0 && rm_yaml_get(map, "flap") != NULL)
		r = read_flap(read, rm_yaml_get(map, "flap"), fault);
	return r;
}

static int
read_faults(const struct scenario_read *read, const struct rm_yaml_node *root)
{
	const struct rm_yaml_node *list = rm_yaml_get(root, "faults");
	int r = 0;

	if (list == NULL)
		return 0;
	if (rm_yaml_kind(list) != RM_YAML_LIST ||
	    rm_yaml_count(list) > SCENARIO_MAX_FAULTS)
		return rm_yaml_error(list, read->error, -EINVAL,
		    "faults: expected a list of at most %d", SCENARIO_MAX_FAULTS);
	for (size_t i = 0; i < rm_yaml_count(list) && r == 0; i++)
		r = read_fault(read, rm_yaml_item(list, i));
	return r;
}

static int
read_top(const struct scenario_read *read, const struct rm_yaml_node *root)
{
	static const char *const keys[] = { "name", "seconds", "count", "fabric",
		"probing", "noise", "faults", "marks", NULL };
	const struct rm_yaml_node *name = rm_yaml_get(root, "name"), *node;
	int r = scenario_read_keys(read, root, "a scenario", keys);

	if (r < 0)
		return r;
	if (name == NULL || !rm_name_valid(rm_yaml_text(name)))
		return rm_yaml_error(name != NULL ? name : root, read->error, -EINVAL,
		    "name: " RM_NAME_EXPECTED);
	snprintf(read->scenario->name, sizeof read->scenario->name, "%s",
	    rm_yaml_text(name));
	for (size_t i = 0; i < TOP_OPTIONS && r == 0; i++) {
		node = rm_yaml_get(root, scenario_top_options[i].name);
		if (node != NULL)
			r = scenario_read_number(read, node, &scenario_top_options[i],
			    &read->scenario->top[i]);
	}
	return r;
}

/* ---- the whole ------------------------------------------------------------------- */

static int
read_all(
    const struct scenario_read *read, const char *file, const struct rm_yaml_node *root)
{
	struct scenario *s = read->scenario;
	int r;

	if (root == NULL || rm_yaml_kind(root) != RM_YAML_MAP)
		return rm_error_set(read->error, -EINVAL,
		    "%s:1:1: expected a map: name, seconds, fabric, ...", file);
	r = read_top(read, root);
	if (r == 0)
		r = read_section(read, root, "fabric", scenario_fabric_options,
		    FABRIC_OPTIONS, s->fabric);
	if (r == 0)
		r = read_section(read, root, "probing", scenario_probing_options,
		    PROBING_OPTIONS, s->probing);
	if (r == 0)
		r = read_section(read, root, "noise", scenario_noise_options,
		    NOISE_OPTIONS, s->noise);
	if (r == 0)
		r = read_faults(read, root);
	return r == 0 ? marks_read(read, root) : r;
}

static int
from_yaml(const char *file, struct rm_yaml *yaml, struct scenario **ret,
    struct rm_error *error)
{
	struct scenario_read read = { calloc(1, sizeof *read.scenario), error };
	int r;

	if (read.scenario == NULL)
		return rm_error_set(error, -ENOMEM, "%s: out of memory", file);
	snprintf(read.scenario->file, sizeof read.scenario->file, "%s", file);
	set_fallbacks(scenario_top_options, TOP_OPTIONS, read.scenario->top);
	set_fallbacks(scenario_fabric_options, FABRIC_OPTIONS, read.scenario->fabric);
	set_fallbacks(
	    scenario_probing_options, PROBING_OPTIONS, read.scenario->probing);
	set_fallbacks(scenario_noise_options, NOISE_OPTIONS, read.scenario->noise);
	r = read_all(&read, file, rm_yaml_root(yaml));
	if (r < 0) {
		scenario_free(read.scenario);
		return r;
	}
	*ret = read.scenario;
	return 0;
}

int
scenario_load(const char *path, struct scenario **ret, struct rm_error *error)
{
	struct rm_yaml *yaml = NULL;
	int r = rm_yaml_load(path, &yaml, error);

	if (r == 0)
		r = from_yaml(path, yaml, ret, error);
	rm_yaml_free(yaml);
	return r;
}

int
scenario_parse(const char *name, const char *text, size_t len, struct scenario **ret,
    struct rm_error *error)
{
	struct rm_yaml *yaml = NULL;
	int r = rm_yaml_parse(name, text, len, &yaml, error);

	if (r == 0)
		r = from_yaml(name, yaml, ret, error);
	rm_yaml_free(yaml);
	return r;
}

void
scenario_free(struct scenario *scenario)
{
	if (scenario == NULL)
		return;
	for (size_t i = 0; i < scenario->fault_count; i++)
		free(scenario->faults[i].parts);
	free(scenario);
}
