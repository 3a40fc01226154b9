#include "tests/sim/kept.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct kept_second {
	struct seen seen; /* its flows are owned by this object */
	int64_t now_ns;
};

struct kept {
	struct clos *clos;
	struct truth *truths;
	size_t truth_count;
	struct kept_second *seconds;
	size_t count, room;
};

int
kept_new(const struct clos_options *fabric, const struct truth *truths, size_t count,
    struct kept **ret)
{
	struct kept *kept = calloc(1, sizeof *kept);
	int r;

	if (kept == NULL)
		return -ENOMEM;
	r = clos_new(fabric, &kept->clos);
	kept->truths = calloc(count > 0 ? count : 1, sizeof *truths);
	if (r == 0 && kept->truths == NULL)
		r = -ENOMEM;
	if (r < 0) {
		kept_free(kept);
		return r;
	}
	if (count > 0)
		memcpy(kept->truths, truths, count * sizeof *truths);
	kept->truth_count = count;
	*ret = kept;
	return 0;
}

void
kept_free(struct kept *kept)
{
	if (kept == NULL)
		return;
	for (size_t i = 0; i < kept->count; i++)
		free((void *)kept->seconds[i].seen.flows);
	free(kept->seconds);
	free(kept->truths);
	clos_free(kept->clos);
	free(kept);
}

static int
make_room(struct kept *kept)
{
	const size_t room = kept->room > 0 ? 2 * kept->room : 64;
	struct kept_second *wider;

	if (kept->count < kept->room)
		return 0;
	wider = realloc(kept->seconds, room * sizeof *wider);
	if (wider == NULL)
		return -ENOMEM;
	kept->seconds = wider;
	kept->room = room;
	return 0;
}

int
kept_report(struct kept *kept, const struct seen *seen, int64_t now_ns)
{
	const size_t bytes = seen->count * sizeof *seen->flows;
	struct seen_flow *flows = malloc(bytes > 0 ? bytes : 1);

	if (flows == NULL || make_room(kept) < 0) {
		free(flows);
		return -ENOMEM;
	}
	if (bytes > 0)
		memcpy(flows, seen->flows, bytes);
	kept->seconds[kept->count++] =
	    (struct kept_second){ { seen->end_ns, flows, seen->count }, now_ns };
	return 0;
}

static int
judge_second(
    const struct kept_second *second, struct scheme *scheme, struct score *score)
{
	const struct scheme_named *named = NULL;
	int r = scheme->type->report(scheme, &second->seen);

	if (r >= 0)
		r = scheme->type->judge(scheme, &named);
	return r < 0 ? r : score_report(score, second->now_ns, named, (size_t)r);
}

int
kept_judge(const struct kept *kept, const struct scheme_type *type,
    const double *values, struct score *score)
{
	struct scheme *scheme;
	int r = type->new (kept->clos, values, &scheme);

	if (r < 0)
		return r;
	r = score_begin(score, kept->clos, kept->truths, kept->truth_count);
	for (size_t i = 0; i < kept->count && r >= 0; i++)
		r = judge_second(&kept->seconds[i], scheme, score);
	if (r >= 0)
		r = score_end(
		    score, kept->count > 0 ? kept->seconds[kept->count - 1].now_ns : 0);
	type->free(scheme);
	return r < 0 ? r : 0;
}
