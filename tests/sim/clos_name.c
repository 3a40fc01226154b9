#include <stdio.h>
#include <string.h>

#include "rackmesh/topology/topology.h"
#include "tests/sim/clos_state.h"

static void
name_end(const struct clos *c, uint32_t part, char name[RM_NAME_BYTES])
{
	const struct clos_part *p = &c->part[part];

	switch (p->type) {
	case CLOS_RNIC:
		snprintf(name, RM_NAME_BYTES, "h%u/r%u", p->from - c->rnics + 1,
		    part % c->o.rnics_per_host);
		break;
	case CLOS_HOST:
		snprintf(name, RM_NAME_BYTES, "h%u", part - c->rnics + 1);
		break;
	case CLOS_TOR:
		snprintf(name, RM_NAME_BYTES, "tor%u", part - clos_tors(c) + 1);
		break;
	case CLOS_MIDDLE:
		if (c->o.tiers == 2)
			snprintf(
			    name, RM_NAME_BYTES, "spine%u", part - clos_middles(c) + 1);
		else
			snprintf(name, RM_NAME_BYTES, "pod%u-agg%u", p->pod + 1,
			    (part - clos_middles(c)) % c->o.middle + 1);
		break;
	case CLOS_CORE:
		snprintf(name, RM_NAME_BYTES, "core%u", part - clos_cores(c) + 1);
		break;
	case CLOS_LINK:
		break;
	}
}

void
clos_name(const struct clos *c, uint32_t part, char name[RM_PART_NAME_BYTES])
{
	char a[RM_NAME_BYTES], b[RM_NAME_BYTES];
	bool swap;

	if (c->part[part].type != CLOS_LINK) {
		name_end(c, part, name);
		return;
	}
	name_end(c, c->part[part].from, a);
	name_end(c, c->part[part].to, b);
	swap = strcmp(a, b) > 0;
	snprintf(name, RM_PART_NAME_BYTES, "%s--%s", swap ? b : a, swap ? a : b);
}

/* Reads a number from 1 to count; 0: there is none. */
static uint32_t
within(uint32_t number, uint32_t count)
{
	return number <= count ? number : 0;
}

/* The part with the numbers in the name; the whole name is compared later. */
static uint32_t
scan_end(const struct clos *c, const char *name)
{
	uint32_t i, k;

	if (sscanf(name, "h%u/r%u", &i, &k) == 2)
		return within(i, c->hosts) && k < c->o.rnics_per_host
			   ? (i - 1) * c->o.rnics_per_host + k
			   : CLOS_NONE;
	if (sscanf(name, "h%u", &i) == 1)
		return within(i, c->hosts) ? c->rnics + i - 1 : CLOS_NONE;
	if (sscanf(name, "tor%u", &i) == 1)
		return within(i, c->o.racks) ? clos_tors(c) + i - 1 : CLOS_NONE;
	if (sscanf(name, "spine%u", &i) == 1)
		return within(i, c->middles) ? clos_middles(c) + i - 1 : CLOS_NONE;
	if (sscanf(name, "pod%u-agg%u", &i, &k) == 2)
		return within(i, c->pods) && within(k, c->o.middle)
			   ? clos_middles(c) + (i - 1) * c->o.middle + k - 1
			   : CLOS_NONE;
	if (sscanf(name, "core%u", &i) == 1)
		return within(i, c->cores) ? clos_cores(c) + i - 1 : CLOS_NONE;
	return CLOS_NONE;
}

static uint32_t
find_end(const struct clos *c, const char *name)
{
	const uint32_t part = scan_end(c, name);
	char whole[RM_NAME_BYTES];

	if (part == CLOS_NONE)
		return CLOS_NONE;
	name_end(c, part, whole);
	return strcmp(whole, name) == 0 ? part : CLOS_NONE;
}

uint32_t
clos_find(const struct clos *c, const char *name)
{
	const char *dashes = strstr(name, "--");
	char a[RM_NAME_BYTES];
	uint32_t from, to;

	if (dashes == NULL)
		return find_end(c, name);
	if ((size_t)(dashes - name) >= sizeof a)
		return CLOS_NONE;
	memcpy(a, name, (size_t)(dashes - name));
	a[dashes - name] = '\0';
	from = find_end(c, a);
	to = find_end(c, dashes + 2);
	if (from == CLOS_NONE || to == CLOS_NONE)
		return CLOS_NONE;
	for (uint32_t i = clos_first_link(c); i < c->parts; i++)
		if (c->part[i].from == from && c->part[i].to == to)
			return i;
	return CLOS_NONE;
}

/* No address ends in 0 or 255. The addresses of links begin at 10.200.0.1. */
void
clos_address(const struct clos *c, uint32_t part, char text[16])
{
	const bool link = c->part[part].type == CLOS_LINK;
	uint32_t i = link ? part - clos_first_link(c) : part;

	if (link && c->o.loopbacks)
		i = c->part[part].to;

	snprintf(text, 16, "10.%u.%u.%u", (link ? 200 : 0) + i / 62500 % 56,
	    i / 250 % 250, i % 250 + 1);
}

static json_t *
aliases(const struct clos *c, uint32_t sw)
{
	const uint32_t *links;
	uint32_t count = clos_leaving(c, sw, &links);
	json_t *list = json_array();
	char text[16];

	if (c->o.loopbacks && count > 1)
		count = 1;
	if (count > RM_TOPOLOGY_MAX_ALIASES)
		count = RM_TOPOLOGY_MAX_ALIASES;
	for (uint32_t i = 0; i < count; i++) {
		clos_address(c, c->part[links[i]].twin, text);
		json_array_append_new(list, json_string(text));
	}
	return list;
}

static json_t *
describe_switch(const struct clos *c, uint32_t sw)
{
	const char *role = c->part[sw].type == CLOS_TOR      ? "tor"
			   : c->part[sw].type == CLOS_MIDDLE ? "spine"
							     : "core";
	char name[RM_PART_NAME_BYTES];

	clos_name(c, sw, name);
	return json_pack(
	    "{s:s, s:s, s:o}", "name", name, "role", role, "aliases", aliases(c, sw));
}

/* Returns NULL for the cable of an RNIC, and for all upward links between two switches
 * but the first. */
static json_t *
describe_link(const struct clos *c, uint32_t link)
{
	const struct clos_part *p = &c->part[link];
	char a[RM_PART_NAME_BYTES], b[RM_PART_NAME_BYTES];

	if (p->from < clos_tors(c) || p->from > p->to || p->cable > 0)
		return NULL;
	clos_name(c, p->from, a);
	clos_name(c, p->to, b);
	return json_pack("{s:s, s:s, s:i}", "a", a, "b", b, "count",
	    c->part[p->to].type == CLOS_CORE ? 1 : (int)c->o.cables);
}

json_t *
clos_topology(const struct clos *c)
{
	json_t *switches = json_array(), *links = json_array();

	for (uint32_t i = clos_tors(c); i < clos_first_link(c); i++)
		json_array_append_new(switches, describe_switch(c, i));
	for (uint32_t i = clos_first_link(c); i < c->parts; i++) {
		json_t *link = describe_link(c, i);

		if (link != NULL)
			json_array_append_new(links, link);
	}
	return json_pack(
	    "{s:s, s:o, s:o}", "region", "sim", "switches", switches, "links", links);
}
