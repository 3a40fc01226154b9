#include "tests/sim/unlucky.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "tests/sim/dice.h"

struct unlucky {
	const struct clos *clos;
	bool *parts; /* RNICs, hosts, switches */
};

static uint64_t
lot(uint64_t salt, uint32_t sw)
{
	return dice_mix(salt ^ dice_mix(sw));
}

static int
by_lot(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* The switches of a tier with the lowest random numbers. */
static int
draw_tier(struct unlucky *u, uint32_t first, uint32_t end, double share, uint64_t salt)
{
	const uint32_t count = end - first;
	uint32_t few = (uint32_t)ceil(share * count);
	uint64_t *lots, worst;

	if (count == 0)
		return 0;
	lots = calloc(count, sizeof *lots);
	if (lots == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++)
		lots[i] = lot(salt, first + i);
	qsort(lots, count, sizeof *lots, by_lot);
	worst = lots[few > 0 ? few - 1 : 0];
	free(lots);
	for (uint32_t sw = first; sw < end; sw++)
		u->parts[sw] = lot(salt, sw) <= worst;
	return 0;
}

int
unlucky_new(const struct clos *clos, double share, uint64_t salt, struct unlucky **ret)
{
	const uint32_t tors = clos_first(clos, CLOS_TOR),
		       middles = clos_first(clos, CLOS_MIDDLE),
		       cores = clos_first(clos, CLOS_CORE),
		       links = clos_first(clos, CLOS_LINK);
	struct unlucky *u = calloc(1, sizeof *u);
	int r = -ENOMEM;

	if (u != NULL) {
		u->clos = clos;
		u->parts = calloc(links, sizeof *u->parts);
	}
	if (u != NULL && u->parts != NULL)
		r = draw_tier(u, tors, middles, share, salt);
	if (r == 0)
		r = draw_tier(u, middles, cores, share, salt);
	if (r == 0)
		r = draw_tier(u, cores, links, share, salt);
	if (r < 0) {
		unlucky_free(u);
		return r;
	}
	for (uint32_t i = 0; i < clos_rnics(clos); i++)
		if (u->parts[clos_part(clos, i)->to])
			u->parts[i] = u->parts[clos_part(clos, i)->from] = true;
	*ret = u;
	return 0;
}

void
unlucky_free(struct unlucky *u)
{
	if (u == NULL)
		return;
	free(u->parts);
	free(u);
}

bool
unlucky_is(const struct unlucky *u, uint32_t part)
{
	const struct clos_part *p = clos_part(u->clos, part);

	if (p->type != CLOS_LINK)
		return u->parts[part];
	return u->parts[p->from] || u->parts[p->to];
}
