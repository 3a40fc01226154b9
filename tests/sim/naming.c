/* The parts that our judges name at present, as numbers in the simulated fabric. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/incident/incident.h"
#include "tests/sim/run_state.h"
#include "tor-aggregator/rack/tor_rack.h"

/* Returns the link of the cable that ends at this address; "": of the first cable. */
static uint32_t
find_link(const struct clos *clos, const char *from, const char *to, const char *at)
{
	const uint32_t a = clos_find(clos, from), b = clos_find(clos, to);
	const uint32_t *links;
	uint32_t count, first = CLOS_NONE;

	if (a == CLOS_NONE || b == CLOS_NONE || clos_part(clos, a)->type == CLOS_RNIC ||
	    clos_part(clos, a)->type == CLOS_HOST)
		return CLOS_NONE;
	count = clos_leaving(clos, a, &links);
	for (uint32_t i = 0; i < count; i++) {
		char address[16];

		if (clos_part(clos, links[i])->to != b)
			continue;
		clos_address(clos, links[i], address);
		if (strcmp(address, at) == 0)
			return links[i];
		if (first == CLOS_NONE)
			first = links[i];
	}
	return first;
}

static uint32_t
find_link_named(const struct clos *clos, const char *name)
{
	char from[RM_NAME_BYTES];
	const char *dashes = strstr(name, "--");

	if (dashes == NULL)
		return CLOS_NONE;
	snprintf(from, sizeof from, "%.*s", (int)(dashes - name), name);
	return find_link(clos, from, dashes + 2, "");
}

static uint32_t
find_part(const struct clos *clos, enum rm_part_type type, const char *name)
{
	return type == RM_PART_LINK ? find_link_named(clos, name)
				    : clos_find(clos, name);
}

/* Handles a link that fails in both directions, or in an unknown one. Each direction
 * has the address of its own end, but both are ends of one cable. */
static bool
find_cable(const struct clos *clos, const struct rm_evidence *evidence, uint32_t *link)
{
	const char *const paths[] = { "both ways, at ", "one way or both, at " };
	char to[RM_NAME_BYTES], at[RM_NAME_BYTES], end[RM_PART_NAME_BYTES];
	const struct clos_part *part = clos_part(clos, *link);
	uint32_t found;

	for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
		const size_t len = strlen(paths[i]);

		if (strncmp(evidence->observed, paths[i], len) != 0 ||
		    sscanf(evidence->observed + len, "%63s of %63[^ ,]", at, to) != 2)
			continue;
		clos_name(clos, part->to, end);
		if (strcmp(end, to) != 0)
			part = clos_part(clos, part->twin);
		clos_name(clos, part->from, end);
		found = find_link(clos, end, to, at);
		if (found != CLOS_NONE)
			*link = found;
		return true;
	}
	return false;
}

/* Reads the direction in the evidence: "from A to B at ADDRESS", or as above. */
static void
find_direction(const struct clos *clos, const struct rm_evidence *evidence,
    struct scheme_named *named)
{
	char from[RM_NAME_BYTES], to[RM_NAME_BYTES], at[RM_NAME_BYTES] = "";
	uint32_t link;

	named->both_directions = true;
	if (find_cable(clos, evidence, &named->part))
		return;
	if (sscanf(evidence->observed, "from %63s to %63s at %63[^ ;,]", from, to, at) <
	    2)
		return;
	link = find_link(clos, from, to, at);
	if (link == CLOS_NONE)
		return;
	named->part = link;
	named->both_directions = false;
}

/* Of a switch or its cables, the first one has the type of the switch. */
static uint32_t
find_other(const struct clos *clos, const char *name)
{
	const uint32_t link = find_link_named(clos, name);

	return link != CLOS_NONE ? link : clos_find(clos, name);
}

/* Reads the names after the first one: one name, or two. */
static void
find_others(const struct clos *clos, const char *names, struct scheme_named *named)
{
	const char *third = strstr(names, RM_PART_OR);
	char second[RM_PART_NAME_BYTES];

	snprintf(second, sizeof second, "%.*s",
	    (int)(third != NULL ? (size_t)(third - names) : strlen(names)), names);
	named->other = find_other(clos, second);
	if (third != NULL)
		named->third = find_other(clos, third + strlen(RM_PART_OR));
	if (named->third == CLOS_NONE)
		named->third = 0;
}

static bool
is_ours_to_name(enum rm_part_type type, bool centre)
{
	if (centre)
		return type == RM_PART_TOR || type == RM_PART_LINK ||
		       type == RM_PART_SWITCH;
	return type == RM_PART_RNIC || type == RM_PART_HOST || type == RM_PART_AGENT;
}

static int
add_named(struct run *run, const struct scheme_named *named)
{
	int r;

	/* The aggregators of eight rails may name the same host. */
	for (size_t i = 0; i < run->named_count; i++)
		if (run->named[i].part == named->part &&
		    run->named[i].other == named->other &&
		    run->named[i].third == named->third)
			return 0;
	r = run_grow((void **)&run->named, run->named_count, &run->named_room,
	    sizeof *run->named);
	if (r == 0)
		run->named[run->named_count++] = *named;
	return r;
}

/* A verdict on several links of one switch: names each of the links, and not the
 * switch. */
static int
name_links(
    struct run *run, const struct rm_evidence *evidence, struct scheme_named named)
{
	const char *at = evidence->links;
	struct rm_link link;
	int r = 0;

	while (r == 0 && rm_links_next(&at, &link)) {
		named.both_directions = !link.one_way;
		named.part = link.one_way ? find_link(run->clos, link.from, link.to, "")
					  : find_link_named(run->clos, link.name);
		if (named.part != CLOS_NONE)
			r = add_named(run, &named);
	}
	return r;
}

static int
name_one(
    struct run *run, const struct rm_incident *incident, bool centre, int64_t wall_ns)
{
	const struct rm_verdict *verdict = &incident->verdict;
	/* An incident that opened on a link may now be about the whole switch or ToR.
	 */
	const bool widened = verdict->evidence.widened[0] != '\0';
	const enum rm_part_type type = !widened ? verdict->part.type
				       : verdict->evidence.widened_is_tor
					   ? RM_PART_TOR
					   : RM_PART_SWITCH;
	const char *name = widened ? verdict->evidence.widened : verdict->part.name;
	const char *other = strstr(name, RM_PART_OR);
	struct scheme_named named = { .part = CLOS_NONE,
		.other = CLOS_NONE,
		.confidence = verdict->confidence,
		.kind = rm_kind_str(verdict->kind),
		.one_class = verdict->evidence.one_class,
		.dscp = verdict->evidence.dscp,
		.since_ns = incident->opened.ns - wall_ns };
	char first[RM_PART_NAME_BYTES];

	if (rm_kind_is_links(verdict->kind))
		return name_links(run, &verdict->evidence, named);
	if (!is_ours_to_name(type, centre))
		return 0;
	snprintf(first, sizeof first, "%.*s",
	    (int)(other != NULL ? (size_t)(other - name) : strlen(name)), name);
	named.part = find_part(run->clos, type, first);
	if (other != NULL)
		find_others(run->clos, other + strlen(RM_PART_OR), &named);
	if (named.part == CLOS_NONE)
		return 0;
	if (type == RM_PART_LINK)
		find_direction(run->clos, &verdict->evidence, &named);
	return add_named(run, &named);
}

static int
name_all(
    struct run *run, const struct rm_incidents *incidents, bool centre, int64_t wall_ns)
{
	int r = 0;

	for (size_t i = 0; i < rm_incidents_open(incidents) && r == 0; i++)
		r = name_one(run, rm_incidents_get(incidents, i), centre, wall_ns);
	return r;
}

int
naming_now(struct run *run, const struct scheme_named **ret, size_t *count)
{
	int r;

	run->named_count = 0;
	r = name_all(run, centre_incidents(run->centre), true, RUN_WALL_NS);
	for (uint32_t i = 0; i < run->racks && r == 0; i++)
		if (run->rack[i].rack != NULL)
			r = name_all(run, tor_rack_incidents(run->rack[i].rack), false,
			    RUN_WALL_NS + run->rack[i].wall_ns);
	*ret = run->named;
	*count = run->named_count;
	return r;
}
