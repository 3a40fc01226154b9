#include "host-agent/probe/prober_crowd.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host-agent/probe/ceiling.h"
#include "host-agent/probe/prober_target.h"

static int
compare(const struct wire_address *a, const struct wire_address *b)
{
	if (a->family != b->family)
		return a->family < b->family ? -1 : 1;
	return memcmp(a->bytes, b->bytes, a->family == 4 ? 4 : 16);
}

static int
by_address(const void *a, const void *b)
{
	const struct prober_target *const *x = a, *const *y = b;

	return compare(&(*x)->wire.address, &(*y)->wire.address);
}

int
prober_crowds_make(struct prober_target *const *targets, size_t count,
    struct prober_crowd **ret, size_t *ret_count)
{
	struct prober_target **sorted =
	    calloc(count + 1, sizeof(struct prober_target *));
	struct prober_crowd *crowds = calloc(count + 1, sizeof(*crowds));
	size_t last = 0;

	if (sorted == NULL || crowds == NULL) {
		free(sorted);
		free(crowds);
		return -ENOMEM;
	}
	for (size_t i = 0; i < count; i++)
		sorted[i] = targets[i];
	qsort(sorted, count, sizeof(*sorted), by_address);
	for (size_t i = 0; i < count; i++) {
		if (i > 0 && compare(&sorted[i - 1]->wire.address,
				 &sorted[i]->wire.address) != 0)
			last++;
		sorted[i]->crowd = last;
	}
	free(sorted);
	*ret = crowds;
	*ret_count = count == 0 ? 0 : last + 1;
	return 0;
}

void
prober_crowds_clear(struct prober_crowd *crowds, size_t count)
{
	for (size_t i = 0; i < count; i++)
		crowds[i] = (struct prober_crowd){ 0 };
}

double
prober_crowd_bytes(const struct prober_target *target)
{
	double sum = 0;

	for (size_t i = 0; i < target->wire.size_count; i++)
		sum += target->sizes[i];
	return sum / (double)target->wire.size_count + CEILING_HEADER_BYTES;
}

void
prober_crowd_add(struct prober_crowd *crowds, const struct prober_target *target,
    double packets_per_s)
{
	struct prober_crowd *crowd = &crowds[target->crowd];

	crowd->packets_per_s += packets_per_s;
	crowd->bytes_per_s += packets_per_s * prober_crowd_bytes(target);
}

double
prober_crowd_stretch(const struct prober_crowd *crowd)
{
	double packets = crowd->packets_per_s / CEILING_TARGET_PACKETS_PER_S;
	double bytes = crowd->bytes_per_s / CEILING_TARGET_BYTES_PER_S;
	double most = packets > bytes ? packets : bytes;

	return most > 1 ? most : 1;
}
