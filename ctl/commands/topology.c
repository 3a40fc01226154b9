#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/client/ctl.h"
#include "ctl/client/request.h"
#include "ctl/client/show.h"
#include "ctl/output/table.h"
#include "rackmesh/core/file.h"
#include "rackmesh/topology/topology.h"

#define MAX_TOPOLOGY_BYTES (4u << 20)

static size_t
count_role(const struct rm_topology *topology, enum rm_switch_role role)
{
	size_t count = 0;

	for (size_t i = 0; i < rm_topology_switches(topology); i++)
		count += rm_topology_switch(topology, i)->role == role;
	return count;
}

static json_t *
switch_json(const struct rm_topology *topology, size_t i)
{
	const struct rm_switch *at = rm_topology_switch(topology, i);
	char reflector[RM_ADDRESS_TEXT] = "";

	if (at->has_reflector)
		rm_address_format(&at->reflector, reflector);
	return json_pack("{s:s, s:s, s:s, s:s, s:i, s:i, s:s}", "name", at->name,
	    "role", rm_switch_role_str(at->role), "plane",
	    rm_topology_plane(topology, at->plane), "reflector", reflector,
	    "expected_rnics", (int)at->expected_rnics, "line", at->line, "known",
	    "written");
}

static json_t *
topology_json(const struct rm_topology *topology)
{
	json_t *switches = json_array(), *links = json_array(),
	       *warnings = json_array();

	for (size_t i = 0; i < rm_topology_switches(topology); i++)
		json_array_append_new(switches, switch_json(topology, i));
	for (size_t i = 0; i < rm_topology_links(topology); i++) {
		const struct rm_topology_link *link = rm_topology_link(topology, i);

		json_array_append_new(
		    links, json_pack("{s:s, s:s, s:i, s:i, s:s}", "a",
			       rm_topology_switch(topology, link->a)->name, "b",
			       rm_topology_switch(topology, link->b)->name, "count",
			       (int)link->count, "speed_gbps", (int)link->speed_gbps,
			       "known", "written"));
	}
	for (size_t i = 0; i < rm_topology_warnings(topology); i++)
		json_array_append_new(
		    warnings, json_string(rm_topology_warning(topology, i)));
	return json_pack("{s:b, s:s, s:o, s:o, s:o}", "good", 1, "region",
	    rm_topology_region(topology), "switches", switches, "links", links,
	    "warnings", warnings);
}

static const struct column switch_columns[] = {
	{ "SWITCH", "name", COLUMN_TEXT },
	{ "ROLE", "role", COLUMN_TEXT },
	{ "PLANE", "plane", COLUMN_TEXT },
	{ "REFLECTOR", "reflector", COLUMN_TEXT },
	{ "KNOWN", "known", COLUMN_TEXT },
	{ "FIRST TRACED", "first_traced", COLUMN_TEXT },
	{ "LAST TRACED", "last_traced", COLUMN_TEXT },
	{ 0 },
};

static const struct column link_columns[] = {
	{ "LINK", "a", COLUMN_TEXT },
	{ "", "b", COLUMN_TEXT },
	{ ">CABLES", "count", COLUMN_NUMBER },
	{ "KNOWN", "known", COLUMN_TEXT },
	{ "FIRST TRACED", "first_traced", COLUMN_TEXT },
	{ "LAST TRACED", "last_traced", COLUMN_TEXT },
	{ "BY", "traced_by", COLUMN_TEXT },
	{ 0 },
};

static int
print_topology(const json_t *topology)
{
	const char *region = json_string_value(json_object_get(topology, "region"));

	printf("region %s\n\n", region != NULL ? region : "-");
	if (columns_print(switch_columns, json_object_get(topology, "switches")) < 0)
		return CTL_NO_ANSWER;
	printf("\n");
	if (columns_print(link_columns, json_object_get(topology, "links")) < 0)
		return CTL_NO_ANSWER;
	return CTL_GOOD;
}

static int
report_bad(const struct ctl *ctl, const struct rm_error *error)
{
	json_t *json;

	if (!ctl->json) {
		fprintf(stderr, "%s\n", error->text);
		return CTL_PROBLEM;
	}
	json = json_pack("{s:b, s:s}", "good", 0, "error", error->text);
	show_json(json);
	json_decref(json);
	return CTL_PROBLEM;
}

static int
check(const struct ctl *ctl, const struct rm_topology *topology, const char *path)
{
	if (ctl->json) {
		json_t *json = topology_json(topology);

		show_json(json);
		json_decref(json);
		return CTL_GOOD;
	}
	for (size_t i = 0; i < rm_topology_warnings(topology); i++)
		fprintf(stderr, "warning: %s\n", rm_topology_warning(topology, i));
	printf("%s is good: region %s, %zu ToRs, %zu other switches, %zu links\n", path,
	    rm_topology_region(topology), count_role(topology, RM_SWITCH_TOR),
	    rm_topology_switches(topology) - count_role(topology, RM_SWITCH_TOR),
	    rm_topology_links(topology));
	return CTL_GOOD;
}

static int
from_file(const struct ctl *ctl, const char *path, bool show)
{
	struct rm_topology *topology = NULL;
	struct rm_error error = { "" };
	json_t *json;
	int status;

	if (rm_topology_load(path, &topology, &error) < 0)
		return report_bad(ctl, &error);
	if (!show || ctl->json) {
		status = check(ctl, topology, path);
	} else {
		json = topology_json(topology);
		status = print_topology(json);
		json_decref(json);
	}
	rm_topology_free(topology);
	return status;
}

static int
import(const struct ctl *ctl, const char *path)
{
	struct rm_topology *topology = NULL;
	struct rm_error error = { "" };
	json_t *answer = NULL;
	uint8_t *text = NULL;
	size_t len;
	int r;

	/* Errors have the name of the file on this host. */
	if (rm_topology_load(path, &topology, &error) < 0)
		return report_bad(ctl, &error);
	rm_topology_free(topology);
	r = rm_file_read(path, MAX_TOPOLOGY_BYTES, &text, &len);
	if (r < 0) {
		fprintf(
		    stderr, "rackmeshctl: cannot read %s: %s\n", path, strerror(-r));
		return CTL_NO_ANSWER;
	}
	r = request_post_text(ctl->controller_changes, "/v1/topology/import",
	    (const char *)text, &answer);
	free(text);
	if (r < 0)
		return CTL_NO_ANSWER;
	if (ctl->json)
		show_json(answer);
	else
		printf("%s is the region's topology now.\n", path);
	json_decref(answer);
	return CTL_GOOD;
}

static int export(const struct ctl *ctl)
{
	char *text = NULL;

	if (request_get_text(ctl->controller, "/v1/topology/export", &text) < 0)
		return CTL_NO_ANSWER;
	fputs(text, stdout);
	free(text);
	return CTL_GOOD;
}

int
ctl_topology(const struct ctl *ctl)
{
	json_t *json = NULL;
	int status;

	if (ctl->argc == 2 && strcmp(ctl->argv[0], "check") == 0)
		return from_file(ctl, ctl->argv[1], false);
	if (ctl->argc == 2 && strcmp(ctl->argv[0], "show") == 0)
		return from_file(ctl, ctl->argv[1], true);
	if (ctl->argc == 2 && strcmp(ctl->argv[0], "import") == 0)
		return import(ctl, ctl->argv[1]);
	if (ctl->argc == 1 && strcmp(ctl->argv[0], "export") == 0)
		return export(ctl);
	if (ctl->argc != 1 || strcmp(ctl->argv[0], "show") != 0)
		return ctl_usage("expected: topology check FILE, show [FILE], import "
				 "FILE, or export");
	if (request_get(ctl->controller, "/v1/topology", &json) < 0)
		return CTL_NO_ANSWER;
	status = CTL_GOOD;
	if (ctl->json)
		show_json(json);
	else
		status = print_topology(json);
	json_decref(json);
	return status;
}
