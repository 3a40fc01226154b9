/* Any bytes: a consistent topology whose paths can be counted, or one sentence. */
#include <stdlib.h>
#include <string.h>

#include "rackmesh/fabric/topology.h"
#include "rackmesh/fabric/topology_paths.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

#define WALKS 8 /* destinations; a walk of all would make large inputs slow */

static void
check_switches(const struct rm_topology *topology)
{
	for (size_t i = 0; i < rm_topology_switches(topology); i++) {
		const struct rm_switch *sw = rm_topology_switch(topology, i);
		size_t found;

		if (!rm_name_valid(sw->name) ||
		    !rm_topology_find(topology, sw->name, &found) || found != i ||
		    sw->plane >= rm_topology_planes(topology))
			abort();
		for (size_t a = 0; a < sw->alias_count; a++) {
			if (!rm_topology_find_alias(
				topology, &sw->aliases[a], &found) ||
			    found != i)
				abort();
		}
	}
}

static void
check_links(const struct rm_topology *topology)
{
	for (size_t i = 0; i < rm_topology_links(topology); i++) {
		const struct rm_topology_link *link = rm_topology_link(topology, i);

		if (link->a == link->b || link->a >= rm_topology_switches(topology) ||
		    link->b >= rm_topology_switches(topology) || link->count == 0 ||
		    rm_topology_switch(topology, link->a)->plane !=
			rm_topology_switch(topology, link->b)->plane)
			abort();
	}
}

static void
check_paths(const struct rm_topology *topology)
{
	size_t switches = rm_topology_switches(topology);
	double *rates = calloc(switches, sizeof(*rates));
	double *loads = calloc(2 * rm_topology_links(topology) + 1, sizeof(*loads));
	struct rm_topology_paths *paths = NULL;

	if (rates == NULL || loads == NULL ||
	    rm_topology_paths_new(topology, &paths) < 0)
		abort();
	for (size_t i = 0; i < switches && i < WALKS; i++) {
		rm_topology_paths_to(paths, i);
		for (size_t from = 0; from < switches; from++) {
			if (rm_topology_paths_from(paths, from) > RM_TOPOLOGY_MAX_PATHS)
				abort();
			rates[from] = 1;
		}
		rm_topology_paths_load(paths, rates, loads);
		rm_topology_paths_worst(paths, loads, rates);
	}
	rm_topology_paths_free(paths);
	free(rates);
	free(loads);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct rm_topology *topology = NULL;
	struct rm_why why = { 0 };

	if (rm_topology_parse("f", (const char *)data, len, &topology, &why) < 0) {
		if (why.text[0] == '\0' || topology != NULL)
			abort();
		return 0;
	}
	check_switches(topology);
	check_links(topology);
	check_paths(topology);
	rm_topology_free(topology);
	return 0;
}
