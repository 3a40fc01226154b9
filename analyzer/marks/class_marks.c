#include "analyzer/marks/class_marks.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "rackmesh/judge/part.h"

#define SLICES 6 /* number of slices, of 10 s each: together the last minute */
#define SLICE_NS (10 * RM_NS_PER_S)
#define ENOUGH 20 /* a pair is judged only after this many arrivals */
/* A pair counts as rewritten if more than this share of its arrivals was rewritten, so
 * that one path of many is enough. */
#define REWRITTEN_PER_MILLE 20
#define ALL_PER_MILLE 950
#define DSCPS 64
#define JUDGE_EVERY_NS (5 * RM_NS_PER_S)
/* Pairs report every ten seconds, at different times: a class is judged when none of
 * its pairs has changed for SETTLED_NS, or when pairs have kept changing for
 * UNSETTLED_NS. */
#define SETTLED_NS (25 * RM_NS_PER_S)
#define UNSETTLED_NS (90 * RM_NS_PER_S)
#define MAX_LOOKS 128 /* passes over all pairs, in one judgement */

struct slice {
	/* number of the slice, counted from 0 of the monotonic clock; 0: none */
	int64_t number;
	uint64_t arrived, rewritten;
};

struct pair_key {
	char src[RM_NAME_BYTES], dst[RM_NAME_BYTES];
	uint8_t dscp;
};

struct pair {
	struct pair_key key;
	struct slice slices[SLICES];
	uint8_t arrived_dscp;        /* DSCP of the last rewritten arrival */
	uint64_t arrived, rewritten; /* numbers of arrivals in the last minute */
	bool known, is_rewritten;
	bool named; /* a verdict explains it */
	UT_hash_handle hh;
};

struct class_marks {
	struct pair *pairs;
	uint64_t refused;
	struct {
		bool known, any_rewritten;
		/* turned: time of the last change of a pair. turning: time of the first
		 * change of a pair after the class was settled. */
		rm_mono_t turned, turning;
	} classes[DSCPS];
	rm_mono_t judged;
	size_t looks;
	struct rm_verdict verdicts[CLASS_MARKS_MAX_VERDICTS];
	size_t verdict_count;
};

int
class_marks_new(struct class_marks **ret)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret != NULL ? 0 : -ENOMEM;
}

void
class_marks_free(struct class_marks *marks)
{
	struct pair *pair, *next;

	if (marks == NULL)
		return;
	HASH_ITER (hh, marks->pairs, pair, next) {
		HASH_DEL(marks->pairs, pair);
		free(pair);
	}
	free(marks);
}

/* ---- counting -------------------------------------------------------------------- */

/* Finds or adds the pair of a row. NULL: the table is full, or memory ran out. */
static struct pair *
get_pair(struct class_marks *marks, const struct wire_row *row)
{
	struct pair_key key = { .dscp = row->dscp };
	struct pair *pair;

	strcpy(key.src, row->src_tor);
	strcpy(key.dst, row->dst_tor);
	HASH_FIND(hh, marks->pairs, &key, sizeof(key), pair);
	if (pair != NULL || HASH_COUNT(marks->pairs) == CLASS_MARKS_MAX_PAIRS)
		return pair;
	pair = calloc(1, sizeof(*pair));
	if (pair == NULL)
		return NULL;
	pair->key = key;
	HASH_ADD(hh, marks->pairs, key, sizeof(key), pair);
	if (pair->hh.tbl == NULL) { /* uthash could not grow */
		free(pair);
		return NULL;
	}
	return pair;
}

static void
take_row(struct class_marks *marks, const struct wire_row *row, int64_t number)
{
	struct pair *pair = get_pair(marks, row);
	struct slice *slice;

	if (pair == NULL) {
		marks->refused++;
		return;
	}
	slice = &pair->slices[number % SLICES];
	if (slice->number != number)
		*slice = (struct slice){ .number = number };
	slice->arrived += row->arrived;
	slice->rewritten += row->rewritten;
	if (row->rewritten > 0)
		pair->arrived_dscp = row->arrived_dscp;
}

void
class_marks_summary(
    struct class_marks *marks, const struct wire_summary_view *view, rm_mono_t now)
{
	for (size_t i = 0; i < view->summary.row_count; i++) {
		struct wire_row row;

		wire_summary_row(view, i, &row);
		if (row.arrived > 0 && row.rewritten <= row.arrived &&
		    row.dscp < DSCPS && row.arrived_dscp < DSCPS &&
		    row.src_tor != NULL && row.dst_tor != NULL &&
		    rm_name_valid(row.src_tor) && rm_name_valid(row.dst_tor))
			take_row(marks, &row, now.ns / SLICE_NS + 1);
	}
}

static void
sum_pair(struct class_marks *marks, struct pair *pair, rm_mono_t now)
{
	const int64_t first = now.ns / SLICE_NS + 1 - SLICES + 1;
	bool was = pair->is_rewritten;

	pair->arrived = pair->rewritten = 0;
	for (size_t i = 0; i < SLICES; i++)
		if (pair->slices[i].number >= first) {
			pair->arrived += pair->slices[i].arrived;
			pair->rewritten += pair->slices[i].rewritten;
		}
	pair->known = pair->arrived >= ENOUGH;
	pair->is_rewritten =
	    pair->known && pair->rewritten > 1 &&
	    1000 * pair->rewritten >= REWRITTEN_PER_MILLE * pair->arrived;
	marks->classes[pair->key.dscp].known |= pair->known;
	marks->classes[pair->key.dscp].any_rewritten |= pair->is_rewritten;
	if (was == pair->is_rewritten)
		return;
	marks->classes[pair->key.dscp].turned = now;
	if (marks->classes[pair->key.dscp].turning.ns == 0)
		marks->classes[pair->key.dscp].turning = now;
}

/* Sums up the last minute of every pair; a pair without arrivals in it is forgotten. */
static void
sum_up(struct class_marks *marks, rm_mono_t now)
{
	struct pair *pair, *next;

	for (size_t i = 0; i < DSCPS; i++)
		marks->classes[i].known = marks->classes[i].any_rewritten = false;
	HASH_ITER (hh, marks->pairs, pair, next) {
		sum_pair(marks, pair, now);
		if (pair->arrived > 0)
			continue;
		HASH_DEL(marks->pairs, pair);
		free(pair);
	}
}

static bool
is_settled(struct class_marks *marks, uint8_t dscp, rm_mono_t now)
{
	if (marks->classes[dscp].turning.ns == 0)
		return true;
	if (rm_mono_since(now, marks->classes[dscp].turned) < SETTLED_NS &&
	    rm_mono_since(now, marks->classes[dscp].turning) < UNSETTLED_NS)
		return false;
	marks->classes[dscp].turning.ns = 0;
	return true;
}

/* ---- judging --------------------------------------------------------------------- */

/* The places at which a device may rewrite a class. Each place is defined by the pairs
 * that pass it. */
enum place { EVERYWHERE, BETWEEN, FROM, OUT_OF, INTO, INSIDE, PAIR };

struct candidate {
	enum place place;
	uint8_t dscp;
	const char *src, *dst; /* the pair that suggests this place */
};

static bool
passes(const struct pair *pair, const struct candidate *at)
{
	const bool inside = strcmp(pair->key.src, pair->key.dst) == 0;
	const bool src = strcmp(pair->key.src, at->src) == 0;
	const bool dst = strcmp(pair->key.dst, at->dst) == 0;

	if (pair->key.dscp != at->dscp || !pair->known)
		return false;
	switch (at->place) {
	case EVERYWHERE:
		return true;
	case BETWEEN:
		return !inside;
	case FROM:
		return src;
	case OUT_OF:
		return src && !inside;
	case INTO:
		return dst && !inside;
	case INSIDE:
	case PAIR:
		return src && dst;
	}
	return false;
}

struct seen {
	size_t pairs, insides, rewritten_pairs;
	uint64_t arrived, rewritten;
	uint8_t arrived_dscp;
};

static struct seen
look(struct class_marks *marks, const struct candidate *at)
{
	struct seen seen = { 0 };

	marks->looks++;
	for (const struct pair *pair = marks->pairs; pair != NULL;
	     pair = pair->hh.next) {
		if (!passes(pair, at))
			continue;
		seen.pairs++;
		seen.insides += strcmp(pair->key.src, pair->key.dst) == 0;
		seen.rewritten_pairs += pair->is_rewritten;
		seen.arrived += pair->arrived;
		seen.rewritten += pair->rewritten;
		if (pair->is_rewritten)
			seen.arrived_dscp = pair->arrived_dscp;
	}
	return seen;
}

static void
write_part(const struct candidate *at, struct rm_part *part)
{
	static const char *const prefixes[] = { [FROM] = "from-",
		[OUT_OF] = "out-of-",
		[INTO] = "into-",
		[INSIDE] = "inside-" };
	const char *tor = at->place == INTO ? at->dst : at->src;

	part->type = RM_PART_CLASS;
	switch (at->place) {
	case EVERYWHERE:
	case BETWEEN:
		snprintf(part->name, sizeof(part->name), "dscp%u-%s", at->dscp,
		    at->place == BETWEEN ? "between-racks" : "everywhere");
		break;
	case PAIR:
		snprintf(part->name, sizeof(part->name), "dscp%u-%s->%s", at->dscp,
		    at->src, at->dst);
		break;
	default:
		snprintf(part->place, sizeof(part->place), "%s", tor);
		snprintf(part->name, sizeof(part->name), "dscp%u-%s%s", at->dscp,
		    prefixes[at->place], tor);
	}
}

static void
name(struct class_marks *marks, const struct candidate *at, const struct seen *seen,
    rm_wall_t wall)
{
	const int64_t minute_ns = SLICES * SLICE_NS;
	struct rm_verdict *verdict;

	for (struct pair *pair = marks->pairs; pair != NULL; pair = pair->hh.next)
		pair->named |= passes(pair, at);
	if (marks->verdict_count == CLASS_MARKS_MAX_VERDICTS)
		return;
	verdict = &marks->verdicts[marks->verdict_count++];
	*verdict = (struct rm_verdict){ .kind = RM_KIND_CLASS_REWRITTEN,
		.confidence = seen->pairs > 1 ? 0.95 : 0.8,
		.evidence = {
		    .window_ns = minute_ns, .window_start = { wall.ns - minute_ns } } };
	write_part(at, &verdict->part);
	snprintf(verdict->evidence.observed, sizeof(verdict->evidence.observed),
	    "%" PRIu64 " probes sent with DSCP %u arrived, and %" PRIu64
	    " of them had another DSCP (%u in the last one)%s; this is seen "
	    "between %zu pair%s of racks and no others",
	    seen->arrived, at->dscp, seen->rewritten, seen->arrived_dscp,
	    1000 * seen->rewritten < ALL_PER_MILLE * seen->arrived
		? ", not on every path"
		: "",
	    seen->pairs, seen->pairs == 1 ? "" : "s");
}

/* True: all pairs that pass the place are rewritten, and there are enough of them to
 * distinguish it from other places. */
static bool
is_it(const struct candidate *at, const struct seen *seen)
{
	const size_t least = at->place >= INSIDE ? 1 : 2;

	if (seen->pairs < least || seen->rewritten_pairs < seen->pairs)
		return false;
	return at->place != FROM || seen->insides > 0;
}

static void
judge_class(struct class_marks *marks, uint8_t dscp, rm_wall_t wall)
{
	for (int place = EVERYWHERE; place <= PAIR; place++)
		for (struct pair *pair = marks->pairs; pair != NULL;
		     pair = pair->hh.next) {
			const struct candidate at = { (enum place)place, dscp,
				pair->key.src, pair->key.dst };
			struct seen seen;

			if (pair->key.dscp != dscp || !pair->is_rewritten ||
			    pair->named ||
			    (place == INSIDE &&
				strcmp(pair->key.src, pair->key.dst) != 0))
				continue;
			if (marks->looks == MAX_LOOKS)
				return;
			seen = look(marks, &at);
			if (is_it(&at, &seen))
				name(marks, &at, &seen, wall);
			else if (place <= BETWEEN)
				break; /* the remaining places are the same for all
					  pairs */
		}
}

/* Keeps the verdicts of classes whose pairs are changing. */
static void
keep_unsettled(struct class_marks *marks, const bool settled[DSCPS])
{
	size_t kept = 0;
	unsigned dscp;

	for (size_t i = 0; i < marks->verdict_count; i++)
		if (sscanf(marks->verdicts[i].part.name, "dscp%u-", &dscp) == 1 &&
		    dscp < DSCPS && !settled[dscp])
			marks->verdicts[kept++] = marks->verdicts[i];
	marks->verdict_count = kept;
}

int
class_marks_judge(struct class_marks *marks, rm_mono_t now, rm_wall_t wall,
    const struct rm_verdict **ret)
{
	bool settled[DSCPS];

	*ret = marks->verdicts;
	if (marks->judged.ns != 0 && rm_mono_since(now, marks->judged) < JUDGE_EVERY_NS)
		return (int)marks->verdict_count;
	marks->judged = now;
	marks->looks = 0;
	sum_up(marks, now);
	for (uint8_t dscp = 0; dscp < DSCPS; dscp++)
		settled[dscp] = is_settled(marks, dscp, now);
	keep_unsettled(marks, settled);
	for (struct pair *pair = marks->pairs; pair != NULL; pair = pair->hh.next)
		pair->named = false;
	for (uint8_t dscp = 0; dscp < DSCPS; dscp++)
		if (settled[dscp] && marks->classes[dscp].any_rewritten)
			judge_class(marks, dscp, wall);
	return (int)marks->verdict_count;
}

enum rm_health
class_marks_health(const struct class_marks *marks, const struct rm_verdict *verdict)
{
	unsigned dscp;

	if (sscanf(verdict->part.name, "dscp%u-", &dscp) != 1 || dscp >= DSCPS ||
	    !marks->classes[dscp].known)
		return RM_HEALTH_UNKNOWN;
	return RM_HEALTH_GOOD;
}

const uint64_t *
class_marks_refused(const struct class_marks *marks)
{
	return &marks->refused;
}
