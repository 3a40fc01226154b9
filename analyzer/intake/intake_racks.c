#include "analyzer/intake/intake_racks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/core/clock.h"

/* If the time of a summary is earlier by more than this, the clock of the rack's
 * aggregator was set back. */
#define MAX_BACK_NS ((uint64_t)(600 * RM_NS_PER_S))

struct rack {
	char tor[RM_NAME_BYTES];
	uint64_t
	    newest; /* end of the last summary that was applied; 0: there was none */
	/* end of the last summary that an earlier incarnation sent; 0: newer summaries
	 * have arrived since */
	uint64_t until;
};

struct intake_racks {
	size_t count;
	struct rack racks[];
};

static struct rack *
find(struct intake_racks *racks, const char *tor)
{
	for (size_t i = 0; racks != NULL && i < racks->count; i++)
		if (strcmp(racks->racks[i].tor, tor) == 0)
			return &racks->racks[i];
	return NULL;
}

int
intake_racks_serve(
    struct intake_racks **racks, char (*tors)[RM_NAME_BYTES], size_t count)
{
	struct intake_racks *fresh =
	    calloc(1, sizeof(*fresh) + count * sizeof(struct rack));

	if (fresh == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		const struct rack *known = find(*racks, tors[i]);

		if (known != NULL)
			fresh->racks[i] = *known;
		else
			strcpy(fresh->racks[i].tor, tors[i]);
	}
	fresh->count = count;
	free(*racks);
	*racks = fresh;
	return 0;
}

void
intake_racks_free(struct intake_racks *racks)
{
	free(racks);
}

void
intake_racks_new_life(struct intake_racks *racks)
{
	for (size_t i = 0; racks != NULL && i < racks->count; i++)
		racks->racks[i].until = racks->racks[i].newest;
}

bool
intake_racks_repeated(struct intake_racks *racks, const char *tor, uint64_t end_wall_ns)
{
	struct rack *rack = find(racks, tor);

	if (rack == NULL)
		return false;
	if (rack->until != 0 && end_wall_ns <= rack->until &&
	    rack->until - end_wall_ns <= MAX_BACK_NS)
		return true;
	rack->until = 0;
	rack->newest = end_wall_ns;
	return false;
}
