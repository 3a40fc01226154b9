#include "host-agent/probe/overdue.h"

#include <stdlib.h>

#include "host-agent/probe/prober_target.h"

static struct overdue_probe *
place_of(struct overdue *overdue, uint32_t seq)
{
	return &overdue->ring[seq & (OVERDUE_MAX - 1)];
}

void
overdue_put(struct overdue *overdue, const struct pending_probe *probe,
    const struct wire_result *result)
{
	struct overdue_probe *place;

	if (overdue->ring == NULL)
		overdue->ring = calloc(OVERDUE_MAX, sizeof(*overdue->ring));
	if (overdue->ring == NULL)
		return;
	place = place_of(overdue, probe->seq);
	overdue_forget(place);
	prober_target_ref(probe->target);
	*place = (struct overdue_probe){ *probe, *result };
}

struct overdue_probe *
overdue_find(struct overdue *overdue, uint32_t seq)
{
	struct overdue_probe *place;

	if (overdue->ring == NULL)
		return NULL;
	place = place_of(overdue, seq);
	return place->probe.target != NULL && place->probe.seq == seq ? place : NULL;
}

void
overdue_forget(struct overdue_probe *probe)
{
	prober_target_unref(probe->probe.target);
	probe->probe.target = NULL;
}

void
overdue_clear(struct overdue *overdue)
{
	for (size_t i = 0; overdue->ring != NULL && i < OVERDUE_MAX; i++)
		overdue_forget(&overdue->ring[i]);
	free(overdue->ring);
	overdue->ring = NULL;
}

bool
overdue_report(const struct overdue_probe *probe, int64_t back_ns, int64_t share_ns,
    int64_t timeout_ns, struct wire_result *ret)
{
	const int64_t took = back_ns - probe->probe.sent_ns;

	if (!(probe->probe.has & PENDING_SENT) || share_ns < 0 || took > OVERDUE_NS ||
	    took - share_ns <= timeout_ns)
		return false;
	*ret = probe->result;
	ret->outcome = WIRE_OVERDUE;
	wire_result_overdue(ret, (uint64_t)(took - share_ns));
	return true;
}
