#include "rackmesh/topology/topology_paths.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/topology/topology.h"

#define FAR UINT32_MAX

/* One direction of a link, as seen from the switch from which it leads away. */
struct edge {
	uint32_t to;
	uint32_t cables;
	size_t load; /* 2 * link, plus 1 for the direction from b to a */
};

struct rm_topology_paths {
	const struct rm_topology *topology;
	size_t count; /* number of switches */
	/* index of the first edge of each switch, with one more entry at the end */
	size_t *first;
	struct edge *edges;
	uint32_t *distance; /* hops to the destination */
	uint32_t *paths;
	uint32_t *order; /* the switches that can be reached, the nearest first */
	size_t reached;
	double *carried;
};

static void
add_edge(struct rm_topology_paths *paths, size_t *fill, size_t from, size_t to,
    uint32_t cables, size_t load)
{
	paths->edges[fill[from]++] = (struct edge){ (uint32_t)to, cables, load };
}

static int
build_edges(struct rm_topology_paths *paths)
{
	const struct rm_topology *topology = paths->topology;
	size_t links = rm_topology_links(topology);
	size_t *fill = calloc(paths->count + 1, sizeof(*fill));

	paths->edges = calloc(2 * links + 1, sizeof(*paths->edges));
	if (fill == NULL || paths->edges == NULL) {
		free(fill);
		return -ENOMEM;
	}
	for (size_t i = 0; i < links; i++) {
		const struct rm_topology_link *link = rm_topology_link(topology, i);

		paths->first[link->a + 1]++;
		paths->first[link->b + 1]++;
	}
	for (size_t i = 0; i < paths->count; i++) {
		paths->first[i + 1] += paths->first[i];
		fill[i] = paths->first[i];
	}
	for (size_t i = 0; i < links; i++) {
		const struct rm_topology_link *link = rm_topology_link(topology, i);

		add_edge(paths, fill, link->a, link->b, link->count, 2 * i);
		add_edge(paths, fill, link->b, link->a, link->count, 2 * i + 1);
	}
	free(fill);
	return 0;
}

int
rm_topology_paths_new(
    const struct rm_topology *topology, struct rm_topology_paths **ret)
{
	struct rm_topology_paths *paths = calloc(1, sizeof(*paths));
	size_t count = rm_topology_switches(topology);
	int r = -ENOMEM;

	if (paths == NULL)
		return -ENOMEM;
	paths->topology = topology;
	paths->count = count;
	paths->first = calloc(count + 1, sizeof(*paths->first));
	paths->distance = calloc(count + 1, sizeof(*paths->distance));
	paths->paths = calloc(count + 1, sizeof(*paths->paths));
	paths->order = calloc(count + 1, sizeof(*paths->order));
	paths->carried = calloc(count + 1, sizeof(*paths->carried));
	if (paths->first != NULL && paths->distance != NULL && paths->paths != NULL &&
	    paths->order != NULL && paths->carried != NULL)
		r = build_edges(paths);
	if (r < 0) {
		rm_topology_paths_free(paths);
		return r;
	}
	memset(paths->distance, 0xff, count * sizeof(*paths->distance));
	*ret = paths;
	return 0;
}

void
rm_topology_paths_free(struct rm_topology_paths *paths)
{
	if (paths == NULL)
		return;
	free(paths->first);
	free(paths->edges);
	free(paths->distance);
	free(paths->paths);
	free(paths->order);
	free(paths->carried);
	free(paths);
}

static bool
passes_on(const struct rm_topology_paths *paths, size_t i)
{
	return rm_topology_switch(paths->topology, i)->role != RM_SWITCH_TOR;
}

/* True: this direction is part of a shortest path. */
static bool
leads_nearer(
    const struct rm_topology_paths *paths, size_t from, const struct edge *edge)
{
	uint32_t distance = paths->distance[edge->to];

	return distance != FAR && distance + 1 == paths->distance[from] &&
	       (distance == 0 || passes_on(paths, edge->to));
}

static uint32_t
capped(uint64_t count)
{
	return count < RM_TOPOLOGY_MAX_PATHS ? (uint32_t)count : RM_TOPOLOGY_MAX_PATHS;
}

static void
count_paths(struct rm_topology_paths *paths, size_t from)
{
	uint64_t sum = 0;

	for (size_t w = paths->first[from]; w < paths->first[from + 1]; w++) {
		const struct edge *edge = &paths->edges[w];

		if (leads_nearer(paths, from, edge))
			sum = capped(
			    sum + (uint64_t)edge->cables * paths->paths[edge->to]);
	}
	paths->paths[from] = capped(sum);
}

void
rm_topology_paths_to(struct rm_topology_paths *paths, size_t destination)
{
	memset(paths->distance, 0xff, paths->count * sizeof(*paths->distance));
	memset(paths->paths, 0, paths->count * sizeof(*paths->paths));
	paths->distance[destination] = 0;
	paths->paths[destination] = 1;
	paths->order[0] = (uint32_t)destination;
	paths->reached = 1;
	for (size_t head = 0; head < paths->reached; head++) {
		uint32_t at = paths->order[head];

		if (head > 0)
			count_paths(paths, at);
		if (head > 0 && !passes_on(paths, at))
			continue;
		for (size_t w = paths->first[at]; w < paths->first[at + 1]; w++) {
			uint32_t to = paths->edges[w].to;

			if (paths->distance[to] != FAR)
				continue;
			paths->distance[to] = paths->distance[at] + 1;
			paths->order[paths->reached++] = to;
		}
	}
}

uint32_t
rm_topology_paths_from(const struct rm_topology_paths *paths, size_t source)
{
	return paths->distance[source] == 0 ? 0 : paths->paths[source];
}

static uint64_t
cables_nearer(const struct rm_topology_paths *paths, size_t from)
{
	uint64_t cables = 0;

	for (size_t w = paths->first[from]; w < paths->first[from + 1]; w++) {
		if (leads_nearer(paths, from, &paths->edges[w]))
			cables += paths->edges[w].cables;
	}
	return cables;
}

void
rm_topology_paths_load(
    struct rm_topology_paths *paths, const double *rates, double *loads)
{
	memcpy(paths->carried, rates, paths->count * sizeof(*rates));
	/* Visits the farthest switch first: so all traffic that arrives at a switch is
	 * known when it is visited. */
	for (size_t i = paths->reached; i-- > 1;) {
		uint32_t from = paths->order[i];
		double share;

		if (paths->carried[from] <= 0)
			continue;
		share = paths->carried[from] / (double)cables_nearer(paths, from);
		for (size_t w = paths->first[from]; w < paths->first[from + 1]; w++) {
			const struct edge *edge = &paths->edges[w];

			if (!leads_nearer(paths, from, edge))
				continue;
			loads[edge->load] += share;
			paths->carried[edge->to] += share * edge->cables;
		}
	}
}

void
rm_topology_paths_worst(
    struct rm_topology_paths *paths, const double *weights, double *worst)
{
	for (size_t i = 0; i < paths->count; i++)
		worst[i] = 0;
	for (size_t i = 1; i < paths->reached; i++) {
		uint32_t from = paths->order[i];

		for (size_t w = paths->first[from]; w < paths->first[from + 1]; w++) {
			const struct edge *edge = &paths->edges[w];
			double weight;

			if (!leads_nearer(paths, from, edge))
				continue;
			weight = weights[edge->load] > worst[edge->to]
				     ? weights[edge->load]
				     : worst[edge->to];
			if (weight > worst[from])
				worst[from] = weight;
		}
	}
}
