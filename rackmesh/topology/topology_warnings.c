/* Warns of entries that are possible, but usually mistakes. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "rackmesh/topology/topology_internal.h"

static int warn(struct rm_topology *topology, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static int
warn(struct rm_topology *topology, int line, const char *format, ...)
{
	char *text = NULL, *sentence = NULL;
	va_list args;
	int len;

	/* The last warning says how many more there are. */
	if (topology->warning_count >= RM_TOPOLOGY_MAX_WARNINGS - 1) {
		topology->warnings_beyond++;
		return 0;
	}
	va_start(args, format);
	len = vasprintf(&text, format, args);
	va_end(args);
	if (len < 0)
		return -ENOMEM;
	len = asprintf(&sentence, "%s:%d: %s", topology->file, line, text);
	free(text);
	if (len < 0)
		return -ENOMEM;
	topology->warnings[topology->warning_count++] = sentence;
	return 0;
}

static int
warn_of_more(struct rm_topology *topology)
{
	char *sentence = NULL;

	if (topology->warnings_beyond == 0)
		return 0;
	if (asprintf(&sentence, "%s: and %zu more warnings", topology->file,
		topology->warnings_beyond) < 0)
		return -ENOMEM;
	topology->warnings[topology->warning_count++] = sentence;
	return 0;
}

static size_t
tors_of(const struct rm_topology *topology, size_t plane)
{
	size_t tors = 0;

	for (size_t i = 0; i < topology->switch_count; i++)
		tors += topology->switches[i].role == RM_SWITCH_TOR &&
			topology->switches[i].plane == plane;
	return tors;
}

/* An island is a group of switches that are connected without a ToR in between. */
struct islands {
	/* another switch of the same island; following these links leads to the
	 * island's head */
	size_t *above;
	size_t *tor; /* by head: one ToR that is connected to the island */
	/* by ToR: it reaches another ToR. By head: several ToRs are connected to the
	 * island */
	bool *reaching;
};

#define NO_TOR SIZE_MAX

static size_t
island_of(struct islands *islands, size_t i)
{
	while (islands->above[i] != i) {
		islands->above[i] = islands->above[islands->above[i]];
		i = islands->above[i];
	}
	return i;
}

static bool
is_tor(const struct rm_topology *topology, size_t i)
{
	return topology->switches[i].role == RM_SWITCH_TOR;
}

static void
island_meets(struct islands *islands, size_t head, size_t tor)
{
	if (islands->tor[head] == NO_TOR)
		islands->tor[head] = tor;
	else if (islands->tor[head] != tor)
		islands->reaching[head] = true;
}

/* Sets reaching[] for each ToR that has a path to another one. */
static void
find_reaching(const struct rm_topology *topology, struct islands *islands)
{
	for (size_t i = 0; i < topology->switch_count; i++) {
		islands->above[i] = i;
		islands->tor[i] = NO_TOR;
	}
	for (size_t i = 0; i < topology->link_count; i++) {
		const struct rm_topology_link *link = &topology->links[i];

		if (!is_tor(topology, link->a) && !is_tor(topology, link->b))
			islands->above[island_of(islands, link->a)] =
			    island_of(islands, link->b);
	}
	for (size_t i = 0; i < topology->link_count; i++) {
		size_t a = topology->links[i].a, b = topology->links[i].b;

		if (is_tor(topology, a) && is_tor(topology, b))
			islands->reaching[a] = islands->reaching[b] = true;
		else if (is_tor(topology, a))
			island_meets(islands, island_of(islands, b), a);
		else if (is_tor(topology, b))
			island_meets(islands, island_of(islands, a), b);
	}
	for (size_t i = 0; i < topology->link_count; i++) {
		size_t a = topology->links[i].a, b = topology->links[i].b;

		if (is_tor(topology, a) && islands->reaching[island_of(islands, b)])
			islands->reaching[a] = true;
		if (is_tor(topology, b) && islands->reaching[island_of(islands, a)])
			islands->reaching[b] = true;
	}
}

static int
plane_warnings(
    struct rm_topology *topology, const struct islands *islands, size_t plane)
{
	const char *name = topology->planes[plane];
	size_t tors = tors_of(topology, plane);
	int r = 0;

	if (tors == 0)
		return warn(topology, 1,
		    "plane \"%s\" has no switch of role tor; nothing is probed in it",
		    name);
	if (!rm_topology_has_links(topology, plane)) {
		if (tors == 1)
			return 0;
		return warn(topology, 1,
		    "plane \"%s\" has no links; its %zu racks probe each other, but "
		    "over "
		    "an assumed number of paths: write the links down",
		    name, tors);
	}
	for (size_t i = 0; i < topology->switch_count && r == 0; i++) {
		const struct rm_switch *sw = &topology->switches[i];

		if (sw->role != RM_SWITCH_TOR || sw->plane != plane || tors == 1)
			continue;
		if (!islands->reaching[i])
			r = warn(topology, sw->line,
			    "no path leads from \"%s\" to any other ToR of its plane; "
			    "it "
			    "will be probed from inside only: add its uplinks",
			    sw->name);
	}
	return r;
}

static int
unlinked_switches(struct rm_topology *topology)
{
	bool *linked = calloc(topology->switch_count, sizeof(*linked));
	int r = 0;

	if (linked == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < topology->link_count; i++) {
		linked[topology->links[i].a] = true;
		linked[topology->links[i].b] = true;
	}
	for (size_t i = 0; i < topology->switch_count && r == 0; i++) {
		const struct rm_switch *sw = &topology->switches[i];

		if (sw->role != RM_SWITCH_TOR && !linked[i])
			r = warn(topology, sw->line,
			    "%s \"%s\" has no link; add its links or remove it",
			    rm_switch_role_str(sw->role), sw->name);
	}
	free(linked);
	return r;
}

int
topology_find_warnings(struct rm_topology *topology)
{
	struct islands islands = {
		.above = calloc(topology->switch_count, sizeof(*islands.above)),
		.tor = calloc(topology->switch_count, sizeof(*islands.tor)),
		.reaching = calloc(topology->switch_count, sizeof(*islands.reaching)),
	};
	int r = -ENOMEM;

	if (islands.above != NULL && islands.tor != NULL && islands.reaching != NULL) {
		find_reaching(topology, &islands);
		r = 0;
	}
	for (size_t i = 0; i < topology->plane_count && r == 0; i++)
		r = plane_warnings(topology, &islands, i);
	if (r == 0)
		r = unlinked_switches(topology);
	if (r == 0)
		r = warn_of_more(topology);
	free(islands.above);
	free(islands.tor);
	free(islands.reaching);
	return r;
}
