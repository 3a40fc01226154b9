/*
 * Reads any bytes as a topology. Either it is consistent and its paths can be counted,
 * or there is one error. Then the same with one allocation that fails.
 */
#include <stdlib.h>
#include <string.h>

#include "rackmesh/topology/topology.h"
#include "rackmesh/topology/topology_paths.h"
#include "tests/support/failing_malloc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

#define WALKS 8 /* destinations; walks to all would make large inputs slow */

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
		for (size_t m = 0; m < sw->member_count; m++)
			(void)rm_topology_cables(topology, sw->name, NULL, 0);
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

static void
check_texts(const struct rm_topology *topology)
{
	if (!rm_name_valid(rm_topology_region(topology)))
		abort();
	for (size_t i = 0; i < rm_topology_planes(topology); i++)
		if (!rm_name_valid(rm_topology_plane(topology, i)))
			abort();
	for (size_t i = 0; i < rm_topology_warnings(topology); i++)
		if (rm_topology_warning(topology, i)[0] == 0)
			abort();
	for (size_t i = 0; i < rm_topology_switches(topology); i++)
		if (rm_switch_role_str(rm_topology_switch(topology, i)->role)[0] == 0)
			abort();
}

/* A failure leaves nothing allocated. */
static void
without_memory(const uint8_t *data, size_t len, unsigned n)
{
	struct rm_topology *topology = NULL;
	struct rm_error error = { 0 };
	int r;

	failing_malloc_arm(n);
	r = rm_topology_parse("f", (const char *)data, len, &topology, &error);
	if (!failing_malloc_disarm() && r == 0)
		abort();
	if (r < 0 && topology != NULL)
		abort();
	rm_topology_free(topology);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct rm_topology *topology = NULL;
	struct rm_error error = { 0 };

	if (rm_topology_parse("f", (const char *)data, len, &topology, &error) < 0) {
		if (error.text[0] == '\0' || topology != NULL)
			abort();
		return 0;
	}
	check_texts(topology);
	check_switches(topology);
	check_links(topology);
	check_paths(topology);
	rm_topology_free(topology);
	for (unsigned n = 1; n < 64; n += 1 + len % 7)
		without_memory(data, len, n);
	return 0;
}
