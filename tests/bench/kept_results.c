#include "tests/bench/kept_results.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/bench/figure.h"

#define MAX_KEPT 4000000

struct kept {
	int64_t sent_ns;
	uint32_t stream; /* index of the target */
	uint8_t outcome;
	bool split;
};

struct kept_results {
	size_t count, lost;
	struct kept all[MAX_KEPT];
};

/* The kernel allocates its pages when they are first written to. */
struct kept_results *
kept_results_new(void)
{
	return calloc(1, sizeof(struct kept_results));
}

void
kept_results_free(struct kept_results *kept)
{
	free(kept);
}

void
kept_results_add(struct kept_results *kept, const struct wire_batch_view *view)
{
	for (size_t i = 0; i < view->count; i++) {
		const struct wire_result *result = &view->results[i];

		if (kept->count == MAX_KEPT) {
			kept->lost++;
			continue;
		}
		kept->all[kept->count++] = (struct kept){
			.sent_ns = (int64_t)(view->head.now_ns - result->sent_age_ns),
			.stream = (uint32_t)result->dst_guid,
			.outcome = result->outcome,
			.split = result->flags & WIRE_SPLIT,
		};
	}
}

static int
compare_kept(const void *a, const void *b)
{
	const struct kept *x = a, *y = b;

	if (x->stream != y->stream)
		return x->stream < y->stream ? -1 : 1;
	return x->sent_ns < y->sent_ns ? -1 : x->sent_ns > y->sent_ns;
}

/* Time between two probes of the same target. */
static double
gap_p99_us(struct kept *kept, size_t count)
{
	int64_t *gaps = calloc(count + 1, sizeof(*gaps));
	size_t n = 0;
	double p99;

	if (gaps == NULL)
		return -1;
	qsort(kept, count, sizeof(*kept), compare_kept);
	for (size_t i = 1; i < count; i++)
		if (kept[i].stream == kept[i - 1].stream)
			gaps[n++] = kept[i].sent_ns - kept[i - 1].sent_ns;
	p99 = figure_p99_us(gaps, n);
	free(gaps);
	return p99;
}

void
kept_results_print(
    struct kept_results *kept, int64_t from, int64_t to, uint64_t overruns)
{
	uint64_t outcomes[WIRE_OUTCOMES] = { 0 };
	size_t count = 0, split = 0;

	for (size_t i = 0; i < kept->count; i++) {
		const struct kept *one = &kept->all[i];

		if (one->sent_ns < from || one->sent_ns >= to)
			continue;
		outcomes[one->outcome < WIRE_OUTCOMES ? one->outcome : WIRE_INVALID]++;
		split += one->split;
		kept->all[count++] = *one;
	}
	printf("{\"sent\": %zu, \"ok\": %zu, \"no_reply\": %zu, \"late_reply\": %zu, "
	       "\"send_failed\": %zu, \"sent_late\": %zu, \"self_loss\": %zu, "
	       "\"invalid\": %zu, \"split\": %zu, \"overruns\": %zu, \"gap_p99_us\": "
	       "%.1f, \"not_kept\": %zu}\n",
	    count, (size_t)outcomes[WIRE_OK], (size_t)outcomes[WIRE_NO_REPLY],
	    (size_t)outcomes[WIRE_LATE_REPLY], (size_t)outcomes[WIRE_SEND_FAILED],
	    (size_t)outcomes[WIRE_SENT_LATE], (size_t)outcomes[WIRE_SELF_LOSS],
	    (size_t)outcomes[WIRE_INVALID], split, (size_t)overruns,
	    gap_p99_us(kept->all, count), kept->lost);
	kept->count = kept->lost = 0;
}
