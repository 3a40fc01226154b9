#include "tests/sim/clos.h"

#include <errno.h>
#include <stdlib.h>

#include "tests/sim/clos_state.h"

static bool
makes_a_fabric(const struct clos_options *o)
{
	if (o->racks == 0 || o->racks > CLOS_MAX_RACKS || o->middle == 0 ||
	    o->middle > CLOS_MAX_RACKS || o->rnics_per_rack == 0 ||
	    o->rnics_per_rack > CLOS_MAX_RNICS_PER_RACK ||
	    o->rnics_per_host > CLOS_MAX_RNICS_PER_RACK || o->cables > CLOS_MAX_CABLES)
		return false;
	if (o->loopbacks && o->cables > 1)
		return false;
	if ((o->rails ? o->racks : o->rnics_per_rack) % o->rnics_per_host != 0)
		return false;
	if (o->tiers == 2)
		return o->pods <= 1 && o->cores == 0;
	return o->tiers == 3 && o->pods > 0 && o->pods <= o->racks && o->cores > 0 &&
	       o->cores <= CLOS_MAX_RACKS && o->cores % o->middle == 0 &&
	       (uint64_t)o->pods * o->middle <= CLOS_MAX_RACKS &&
	       /* every pod has at least one rack */
	       (o->pods - 1) * ((o->racks + o->pods - 1) / o->pods) < o->racks;
}

static void
count_parts(struct clos *c)
{
	const struct clos_options *o = &c->o;

	c->rnics = o->racks * o->rnics_per_rack;
	c->hosts = c->rnics / o->rnics_per_host;
	c->pods = o->tiers == 3 ? o->pods : 1;
	c->pod_racks = (o->racks + c->pods - 1) / c->pods;
	c->middles = c->pods * o->middle;
	c->cores = o->tiers == 3 ? o->cores : 0;
	c->uplinks = c->cores / o->middle;
	c->links =
	    2 * (c->rnics + o->racks * o->middle * o->cables + c->middles * c->uplinks);
	c->parts = clos_first_link(c) + c->links;
}

static void
join(struct clos *c, uint32_t up, uint32_t low, uint32_t high, uint32_t cable)
{
	c->part[up] = (struct clos_part){ CLOS_LINK, low, high, up + 1, cable, 0 };
	c->part[up + 1] = (struct clos_part){ CLOS_LINK, high, low, up, cable, 0 };
}

static void
place_rnics(struct clos *c)
{
	const uint32_t per_host = c->o.rnics_per_host, per_rack = c->o.rnics_per_rack;

	for (uint32_t i = 0; i < c->rnics; i++) {
		const uint32_t host = i / per_host, rail = i % per_host;
		const uint32_t rack =
		    c->o.rails ? host / per_rack * per_host + rail : i / per_rack;
		const uint32_t at = c->o.rails ? host % per_rack : i % per_rack;

		c->part[i] = (struct clos_part){ CLOS_RNIC, c->rnics + host,
			clos_tors(c) + rack, 0, 0, 0 };
		c->part[c->rnics + host] = (struct clos_part){ .type = CLOS_HOST };
		c->rack[rack * per_rack + at] = i;
		join(c, clos_rnic_link(c, i), i, clos_tors(c) + rack, 0);
	}
}

static void
place_switches(struct clos *c)
{
	for (uint32_t rack = 0; rack < c->o.racks; rack++) {
		const uint32_t pod = rack / c->pod_racks, tor = clos_tors(c) + rack;

		c->part[tor] = (struct clos_part){ .type = CLOS_TOR, .pod = pod };
		for (uint32_t m = 0; m < c->o.middle; m++)
			for (uint32_t k = 0; k < c->o.cables; k++)
				join(c, clos_rack_link(c, rack, m, k), tor,
				    clos_middles(c) + pod * c->o.middle + m, k);
	}
	for (uint32_t i = 0; i < c->middles; i++) {
		const uint32_t pod = i / c->o.middle, m = i % c->o.middle;

		c->part[clos_middles(c) + i] =
		    (struct clos_part){ .type = CLOS_MIDDLE, .pod = pod };
		for (uint32_t u = 0; u < c->uplinks; u++)
			join(c, clos_core_link(c, pod, m, u), clos_middles(c) + i,
			    clos_cores(c) + m * c->uplinks + u, 0);
	}
	for (uint32_t i = 0; i < c->cores; i++)
		c->part[clos_cores(c) + i] = (struct clos_part){ .type = CLOS_CORE };
}

static void
list_leaving(struct clos *c)
{
	const uint32_t switches = clos_switches(c), first = clos_tors(c);
	uint32_t *at = c->leaving_first;

	for (uint32_t i = clos_first_link(c); i < c->parts; i++)
		if (c->part[i].from >= first)
			at[c->part[i].from - first + 2]++;
	for (uint32_t i = 2; i < switches + 2; i++)
		at[i] += at[i - 1];
	/* at[i + 1] is the place of the next entry of list i; when all entries are
	 * written, it is the end of that list. */
	for (uint32_t i = clos_first_link(c); i < c->parts; i++)
		if (c->part[i].from >= first)
			c->leaving[at[c->part[i].from - first + 1]++] = i;
}

int
clos_new(const struct clos_options *options, struct clos **ret)
{
	struct clos *c;

	c = calloc(1, sizeof *c);
	if (c == NULL)
		return -ENOMEM;
	c->o = *options;
	if (c->o.cables == 0)
		c->o.cables = 1;
	if (c->o.rnics_per_host == 0)
		c->o.rnics_per_host = 1;
	if (!makes_a_fabric(&c->o)) {
		free(c);
		return -EINVAL;
	}
	count_parts(c);
	c->part = calloc(c->parts, sizeof *c->part);
	c->rack = calloc(c->rnics, sizeof *c->rack);
	c->leaving_first = calloc(clos_switches(c) + 2, sizeof *c->leaving_first);
	c->leaving = calloc(c->links, sizeof *c->leaving);
	c->withdrawn = calloc(c->links, sizeof *c->withdrawn);
	if (c->part == NULL || c->rack == NULL || c->leaving_first == NULL ||
	    c->leaving == NULL || c->withdrawn == NULL) {
		clos_free(c);
		return -ENOMEM;
	}
	place_rnics(c);
	place_switches(c);
	list_leaving(c);
	*ret = c;
	return 0;
}

void
clos_free(struct clos *c)
{
	if (c == NULL)
		return;
	free(c->part);
	free(c->rack);
	free(c->leaving_first);
	free(c->leaving);
	free(c->withdrawn);
	free(c);
}

uint32_t
clos_parts(const struct clos *c)
{
	return c->parts;
}

const struct clos_part *
clos_part(const struct clos *c, uint32_t part)
{
	return &c->part[part];
}

uint32_t
clos_rnics(const struct clos *c)
{
	return c->rnics;
}

uint32_t
clos_hosts(const struct clos *c)
{
	return c->hosts;
}

uint32_t
clos_switches(const struct clos *c)
{
	return c->o.racks + c->middles + c->cores;
}

uint32_t
clos_links(const struct clos *c)
{
	return c->links;
}

bool
clos_is_symmetric(const struct clos *c)
{
	return c->o.symmetric;
}

uint32_t
clos_first(const struct clos *c, enum clos_type type)
{
	switch (type) {
	case CLOS_RNIC:
		return 0;
	case CLOS_HOST:
		return c->rnics;
	case CLOS_TOR:
		return clos_tors(c);
	case CLOS_MIDDLE:
		return clos_middles(c);
	case CLOS_CORE:
		return clos_cores(c);
	case CLOS_LINK:
		break;
	}
	return clos_first_link(c);
}

uint32_t
clos_rack(const struct clos *c, uint32_t tor, const uint32_t **rnics)
{
	*rnics = c->rack + (size_t)(tor - clos_tors(c)) * c->o.rnics_per_rack;
	return c->o.rnics_per_rack;
}

uint32_t
clos_leaving(const struct clos *c, uint32_t sw, const uint32_t **links)
{
	const uint32_t i = sw - clos_tors(c);

	*links = c->leaving + c->leaving_first[i];
	return c->leaving_first[i + 1] - c->leaving_first[i];
}
