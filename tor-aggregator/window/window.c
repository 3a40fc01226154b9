#include "tor-aggregator/window/window.h"

#include <errno.h>
#include <stdlib.h>

#include "tor-aggregator/window/pair_table.h"

#define MAX_BINS 1024 /* size of the ring, whatever the options say */
#define NEWEST_BINS 2 /* bins in newest_sent and newest_lost */

/* The time for which the receive counts of one member are complete: from `from` to
 * `through`, on this aggregator's clock. */
struct coverage {
	bool known;
	int64_t from_ns, through_ns;
};

struct window {
	struct window_options options;
	struct pair_table *bins; /* bin b is at index b modulo ring */
	int64_t ring;            /* number of items in bins */
	int64_t
	    next; /* number of the bin that closes next; it starts at next * bin_ns */
	int64_t current, current_start_ns; /* start of the bin to which the last result
					      was added; saves a division */
	rm_mono_t partial_until, doubtful_until;
	struct coverage *coverage; /* by member */
	size_t coverage_count;
	struct pair_table judged;
};

static int64_t
bin_of(const struct window *window, int64_t ns)
{
	const int64_t bin_ns = window->options.bin_ns;

	return ns >= 0 ? ns / bin_ns : -((bin_ns - 1 - ns) / bin_ns);
}

static struct pair_table *
bin_table(const struct window *window, int64_t bin)
{
	const int64_t at = bin % window->ring;

	return &window->bins[at < 0 ? at + window->ring : at];
}

int
window_new(const struct window_options *options, rm_mono_t now, struct window **ret)
{
	struct window *window;

	if (options->bin_ns <= 0 || options->judge_bins == 0 ||
	    options->open_bins == 0 || options->judge_bins > MAX_BINS ||
	    options->open_bins > MAX_BINS || options->max_pairs > UINT32_MAX / 4)
		return -EINVAL;
	window = calloc(1, sizeof *window);
	if (window == NULL)
		return -ENOMEM;
	window->options = *options;
	window->ring = (int64_t)options->judge_bins + options->open_bins;
	window->bins = calloc((size_t)window->ring, sizeof *window->bins);
	if (window->bins == NULL) {
		free(window);
		return -ENOMEM;
	}
	for (int64_t i = 0; i < window->ring; i++)
		pair_table_init(&window->bins[i], options->max_pairs);
	pair_table_init(&window->judged, options->judge_bins * options->max_pairs);
	window->next = bin_of(window, now.ns);
	window->current = window->next;
	window->current_start_ns = window->next * options->bin_ns;
	window->partial_until = now;
	*ret = window;
	return 0;
}

void
window_set_timeout(struct window *window, int64_t timeout_ns)
{
	window->options.timeout_ns = timeout_ns;
}

void
window_free(struct window *window)
{
	if (window == NULL)
		return;
	for (int64_t i = 0; i < window->ring; i++)
		pair_table_release(&window->bins[i]);
	pair_table_release(&window->judged);
	free(window->bins);
	free(window->coverage);
	free(window);
}

/* Counts the outcomes of large probes. */
static void
add_size(struct window_large *large, const struct wire_result *result)
{
	if (result->size_bytes <= WIRE_ROCE_SMALL_BYTES) {
		if (result->size_bytes > large->small_bytes)
			large->small_bytes = result->size_bytes;
		return;
	}
	if (result->size_bytes > large->bytes)
		large->bytes = result->size_bytes;
	switch (result->outcome) {
	case WIRE_OK:
	case WIRE_LATE_REPLY:
	case WIRE_INVALID:
		large->answered++;
		break;
	case WIRE_NO_REPLY:
		large->lost++;
		break;
	case WIRE_SEND_FAILED:
		large->failed++;
		break;
	default: /* the other outcomes are no evidence */
		break;
	}
}

static void
time_answer(struct window_pair *pair, rm_mono_t sent, const struct wire_result *result)
{
	const uint32_t took_ns =
	    window_took_ns(result->flags, result->rtt_ns, result->round_trip_ns);

	if (!window_is_timed(result->outcome, result->stamp_source))
		return;
	pair->timed++;
	if (took_ns < WINDOW_SLOW_NS)
		return;
	pair->slow++;
	window_release_add(&pair->release, sent, took_ns);
}

enum window_status
window_add(struct window *window, rm_mono_t sent, const struct wire_result *result,
    uint32_t src, uint32_t dst)
{
	const int64_t offset = sent.ns - window->current_start_ns;
	struct window_pair *pair;

	if (result->outcome >= WIRE_OUTCOMES || src >= WINDOW_REMOTE_BASE)
		return WINDOW_REFUSED;
	if (offset < 0 || offset >= window->options.bin_ns) {
		window->current = bin_of(window, sent.ns);
		window->current_start_ns = window->current * window->options.bin_ns;
	}
	if (window->current < window->next)
		return WINDOW_LATE;
	if (window->current - window->next >= window->options.open_bins)
		return WINDOW_REFUSED;
	pair = pair_table_get(bin_table(window, window->current), src, dst);
	if (pair == NULL)
		return WINDOW_REFUSED;
	pair->outcomes[result->outcome]++;
	time_answer(pair, sent, result);
	pair->kind = result->kind;
	add_size(&pair->large, result);
	return WINDOW_COUNTED;
}

void
window_overdue(struct window *window, rm_mono_t sent, const struct wire_result *result,
    uint32_t src, uint32_t dst)
{
	struct window_pair *pair = NULL;

	if (src < WINDOW_REMOTE_BASE && result->stamp_source != WIRE_STAMP_USER)
		pair = pair_table_get(bin_table(window, window->next), src, dst);
	if (pair == NULL)
		return;
	pair->overdue++;
	window_release_add(&pair->release, sent, wire_result_overdue_ns(result));
}

enum window_status
window_arrived(struct window *window, uint32_t src, uint32_t dst, rm_mono_t from,
    rm_mono_t to, uint64_t received)
{
	const int64_t bin_ns = window->options.bin_ns;
	int64_t first = bin_of(window, from.ns), last = bin_of(window, to.ns);
	const double span = (double)(to.ns - from.ns);
	enum window_status status = WINDOW_LATE;

	if (to.ns < from.ns || src >= WINDOW_REMOTE_BASE ||
	    last - window->next >= window->options.open_bins)
		return WINDOW_REFUSED;
	if (first < window->next)
		first = window->next;
	for (int64_t bin = first; bin <= last; bin++) {
		const int64_t start = bin * bin_ns, end = start + bin_ns;
		const int64_t a = from.ns > start ? from.ns : start;
		const int64_t b = to.ns < end ? to.ns : end;
		struct window_pair *pair;

		if (a == b && span > 0) /* the span ends where this bin begins */
			continue;
		pair = pair_table_get(bin_table(window, bin), src, dst);
		if (pair == NULL)
			return WINDOW_REFUSED;
		pair->arrived += span > 0 ? (double)received * ((double)(b - a) / span)
					  : (double)received;
		status = WINDOW_COUNTED;
	}
	return status;
}

/* NULL: dst is not a member, or no memory; then its receive counts stay unknown. */
static struct coverage *
coverage_of(struct window *window, uint32_t dst)
{
	size_t count = window->coverage_count;
	struct coverage *coverage;

	if (dst >= WINDOW_REMOTE_BASE)
		return NULL;
	if (dst >= count) {
		count = count * 2 > (size_t)dst + 1 ? count * 2 : (size_t)dst + 1;
		coverage = realloc(window->coverage, count * sizeof *coverage);
		if (coverage == NULL)
			return NULL;
		for (size_t i = window->coverage_count; i < count; i++)
			coverage[i] = (struct coverage){ 0 };
		window->coverage = coverage;
		window->coverage_count = count;
	}
	return &window->coverage[dst];
}

void
window_counts_through(struct window *window, uint32_t dst, rm_mono_t through)
{
	struct coverage *coverage = coverage_of(window, dst);

	if (coverage == NULL)
		return;
	if (!coverage->known) {
		/* Receive counts are differences between two reports, so the first
		 * report gives none. */
		*coverage = (struct coverage){ true, through.ns, through.ns };
		return;
	}
	if (through.ns > coverage->through_ns)
		coverage->through_ns = through.ns;
}

static bool
is_counted(const struct window *window, uint32_t dst, int64_t start_ns, int64_t end_ns)
{
	const struct coverage *coverage;

	if (dst >= window->coverage_count)
		return false;
	coverage = &window->coverage[dst];
	return coverage->known && coverage->from_ns <= start_ns &&
	       coverage->through_ns >= end_ns;
}

/*
 * Receive counts of a bin that were not reported before it closed are ignored. If the
 * counts of a member were incomplete then, they cover only bins after this one.
 */
static void
cut_coverage(struct window *window, int64_t bin_end_ns)
{
	for (size_t i = 0; i < window->coverage_count; i++) {
		struct coverage *coverage = &window->coverage[i];

		if (coverage->known && coverage->through_ns < bin_end_ns &&
		    coverage->from_ns < bin_end_ns)
			coverage->from_ns = bin_end_ns;
	}
}

static void
sum_large(struct window_large *to, const struct window_large *from, bool newest)
{
	to->answered += from->answered;
	to->lost += from->lost;
	to->failed += from->failed;
	if (from->bytes > to->bytes)
		to->bytes = from->bytes;
	if (from->small_bytes > to->small_bytes)
		to->small_bytes = from->small_bytes;
	if (newest) {
		to->newest_sent += from->answered + from->lost;
		to->newest_lost += from->lost;
	}
}

/* Adds a bin to the judged window. -ENOMEM: some pairs of the bin are missing. */
static int
sum_bin(struct window *window, int64_t bin, bool newest)
{
	const struct pair_table *table = bin_table(window, bin);

	for (size_t i = 0; i < table->count; i++) {
		const struct window_pair *from = &table->pairs[i];
		struct window_pair *to =
		    pair_table_get(&window->judged, from->src, from->dst);

		if (to == NULL)
			return -ENOMEM;
		for (int k = 0; k < WIRE_OUTCOMES; k++)
			to->outcomes[k] += from->outcomes[k];
		to->timed += from->timed;
		to->slow += from->slow;
		to->overdue += from->overdue;
		window_release_join(&to->release, &from->release);
		to->arrived += from->arrived;
		to->kind = from->kind;
		sum_large(&to->large, &from->large, newest);
		if (!newest)
			continue;
		to->newest_lost += from->outcomes[WIRE_NO_REPLY];
		to->newest_sent +=
		    from->outcomes[WIRE_OK] + from->outcomes[WIRE_NO_REPLY] +
		    from->outcomes[WIRE_LATE_REPLY] + from->outcomes[WIRE_INVALID];
	}
	return 0;
}

bool
window_close(struct window *window, rm_mono_t now, rm_mono_t everything_through,
    struct window_closed *ret)
{
	const struct window_options *options = &window->options;
	const int64_t newest = window->next, oldest = newest - options->judge_bins + 1;
	const int64_t start_ns = oldest * options->bin_ns;
	const int64_t end_ns = (newest + 1) * options->bin_ns;
	bool partial;

	if (everything_through.ns < end_ns) {
		if (now.ns < end_ns + options->timeout_ns + options->wait_ns)
			return false;
		if (newest * options->bin_ns < window->doubtful_until.ns)
			window_mark_partial(window, (rm_mono_t){ end_ns });
	}
	partial = start_ns < window->partial_until.ns;
	pair_table_clear(&window->judged);
	for (int64_t bin = oldest; bin <= newest; bin++)
		if (sum_bin(window, bin, bin > newest - NEWEST_BINS) < 0)
			partial = true;
	cut_coverage(window, end_ns);
	for (size_t i = 0; i < window->judged.count; i++) {
		struct window_pair *pair = &window->judged.pairs[i];

		pair->counted = is_counted(window, pair->dst, start_ns, end_ns);
	}
	pair_table_clear(bin_table(window, oldest));
	window->next++;
	*ret = (struct window_closed){ { start_ns }, { end_ns }, partial,
		window->judged.pairs, window->judged.count };
	return true;
}

void
window_mark_partial(struct window *window, rm_mono_t until)
{
	if (until.ns > window->partial_until.ns)
		window->partial_until = until;
}

void
window_mark_doubtful(struct window *window, rm_mono_t until)
{
	if (until.ns > window->doubtful_until.ns)
		window->doubtful_until = until;
}

void
window_renumber(struct window *window)
{
	for (int64_t i = 0; i < window->ring; i++)
		pair_table_clear(&window->bins[i]);
	for (size_t i = 0; i < window->coverage_count; i++)
		window->coverage[i] = (struct coverage){ 0 };
}
