#include "analyzer/suspicion/localise_evidence.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/paths/localise_listed.h"
#include "analyzer/suspicion/localise_standing.h"

#define MAX_NEIGHBOURS 16
#define MAX_WAYS 4096     /* looked at for one neighbour */
#define MIN_TO_RULE_OUT 4 /* probes */
#define SHARE_TO_RULE_OUT 0.9
#define MAX_SAMPLES_READ 128
#define MAX_WAYS_BACK 64
#define ONE_RNIC_SHARE 0.75
#define MAX_PAIRS 64
#define CONFINED_LN 3.0 /* 20 to 1 that others would be lost too, were it an RNIC */
#define CONFINED_SHARE 0.25

void
localise_evidence_losses(const struct localise_map *map,
    const struct localise_suspect *suspect, rm_mono_t now, localise_seen *seen,
    struct localise_sum *ret)
{
	const size_t listed = localise_listed(map, seen);

	*ret = (struct localise_sum){ 0 };
	for (size_t i = 0; i < listed; i++)
		if (localise_suspect_on(suspect, map->lossy[i]))
			seen(map, map->lossy[i], now, ret);
}

void
localise_evidence_traffic(const struct localise_map *map,
    const struct localise_suspect *suspect, localise_seen *seen, rm_mono_t now,
    struct localise_sum *ret)
{
	const size_t ends = suspect->type == RM_PART_PATH ? 1 : suspect->element_count;

	*ret = (struct localise_sum){ 0 };
	for (size_t i = 0; i < ends; i++)
		for (size_t k = 0; k < suspect->elements[i]->way_count; k++) {
			const struct localise_way *way = suspect->elements[i]->ways[k];

			if (localise_suspect_on(suspect, way))
				seen(map, way, now, ret);
		}
}

struct sample {
	char from[2 * RM_NAME_BYTES], to[2 * RM_NAME_BYTES];
	unsigned port;
};

/* The next "h1/r0>h9/r0:49153". NULL: none is left, or it makes no sense. */
static const char *
read_sample(const char *text, struct sample *sample)
{
	const char *arrow, *colon = NULL, *end;

	if (text == NULL || *text == '\0')
		return NULL;
	end = text + strcspn(text, " ");
	arrow = memchr(text, '>', (size_t)(end - text));
	if (arrow == NULL)
		return NULL;
	for (const char *p = arrow; p < end; p++)
		if (*p == ':')
			colon = p;
	if (colon == NULL || arrow - text >= (int)sizeof sample->from ||
	    colon - arrow > (int)sizeof sample->to)
		return NULL;
	snprintf(sample->from, sizeof sample->from, "%.*s", (int)(arrow - text), text);
	snprintf(
	    sample->to, sizeof sample->to, "%.*s", (int)(colon - arrow - 1), arrow + 1);
	sample->port = (unsigned)strtoul(colon + 1, NULL, 10) & UINT16_MAX;
	return *end == ' ' ? end + 1 : end;
}

static bool
has_end(const struct sample *sample, const char *rnic)
{
	return strcmp(sample->from, rnic) == 0 || strcmp(sample->to, rnic) == 0;
}

/* Most of the samples begin or end at this one; all between the same two are not of
 * one, unless one_pair. */
static bool
is_at(const char *rnic, const struct sample *samples, size_t count, bool one_pair)
{
	const struct sample *first = NULL;
	size_t at = 0;
	bool varied = false;

	for (size_t i = 0; i < count; i++) {
		if (!has_end(&samples[i], rnic))
			continue;
		at++;
		if (first == NULL)
			first = &samples[i];
		varied |= strcmp(samples[i].from, first->from) != 0 ||
			  strcmp(samples[i].to, first->to) != 0;
	}
	return (varied || one_pair) && (double)at >= ONE_RNIC_SHARE * (double)count;
}

struct one_rnic {
	const struct localise_now *now;
	const struct localise_finding *finding;
	const struct localise_standings *standings;
	struct sample samples[MAX_SAMPLES_READ];
	size_t count;
};

/* Another part took its probes, or may have taken their replies. */
static bool
is_explained(const struct one_rnic *one, const struct localise_way *way)
{
	const struct localise_element *back = way->pair->back;

	if (localise_standings_other(one->standings, one->finding, way, one->now->now))
		return true;
	for (size_t i = 0; i < back->way_count && i < MAX_WAYS_BACK; i++)
		if (localise_standings_other(
			one->standings, one->finding, back->ways[i], one->now->now))
			return true;
	return false;
}

static void
read_samples(struct one_rnic *one, const struct localise_suspect *suspect,
    localise_seen *seen, bool explained)
{
	const struct localise_map *map = one->now->map;
	const size_t listed = localise_listed(map, seen);

	one->count = 0;
	for (size_t i = 0; i < listed && one->count < MAX_SAMPLES_READ; i++) {
		const struct localise_way *way = map->lossy[i];
		const char *text = way->samples;
		struct localise_sum sum = { 0 };

		seen(map, way, one->now->now, &sum);
		if (sum.forward + sum.unknown + sum.reverse < 1 ||
		    !localise_suspect_on(suspect, way) ||
		    (!explained && is_explained(one, way)))
			continue;
		while (one->count < MAX_SAMPLES_READ &&
		       (text = read_sample(text, &one->samples[one->count])) != NULL)
			one->count++;
	}
}

bool
localise_evidence_one_rnic(const struct localise_now *now,
    const struct localise_finding *finding, const struct localise_suspect *suspect,
    localise_seen *seen, const struct localise_standings *standings, bool one_pair)
{
	struct one_rnic one = { now, finding, standings, .count = 0 };

	read_samples(&one, suspect, seen, false);
	if (one.count == 0)
		read_samples(&one, suspect, seen, true);
	for (size_t i = 0; i < one.count && i < 8; i++)
		if (is_at(one.samples[i].from, one.samples, one.count, one_pair) ||
		    is_at(one.samples[i].to, one.samples, one.count, one_pair))
			return true;
	return false;
}

static bool
is_among(const struct localise_element *pair,
    const struct localise_element *const *pairs, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (pairs[i] == pair)
			return true;
	return false;
}

bool
localise_evidence_confined(
    const struct localise_now *now, const struct localise_suspect *suspect)
{
	const struct localise_element *pairs[MAX_PAIRS];
	struct localise_sum on = { 0 }, beside = { 0 };
	size_t count = 0;
	double lost;

	if (suspect->type == RM_PART_PATH)
		return false;
	for (size_t i = 0; i < now->map->lossy_count && count < MAX_PAIRS; i++) {
		const struct localise_element *pair = now->map->lossy[i]->pair;

		if (!localise_suspect_on(suspect, now->map->lossy[i]) ||
		    is_among(pair, pairs, count))
			continue;
		pairs[count++] = pair;
		for (size_t k = 0; k < pair->way_count && k < MAX_WAYS; k++)
			localise_way_newest(now->map, pair->ways[k], now->now,
			    localise_suspect_on(suspect, pair->ways[k]) ? &on
									: &beside);
	}
	/* Rows of few packets know a flow to be silent, not yet dead. */
	lost = fmax(on.hit, on.gone);
	return on.flows > 0 && lost * log1p(beside.flows / on.flows) >= CONFINED_LN &&
	       fmax(beside.hit, beside.gone) <=
		   CONFINED_SHARE * lost * beside.flows / on.flows;
}

static bool
loses_now(const struct localise_map *map, const struct localise_way *way, rm_mono_t now)
{
	struct localise_sum sum = { 0 };

	localise_way_recent(map, way, now, &sum);
	return sum.forward + sum.unknown + sum.reverse >= 1;
}

/* recent: not of what a fault before this one lost. */
static void
fill_samples(const struct localise_map *map, const struct localise_suspect *suspect,
    size_t listed, bool recent, rm_mono_t now, struct rm_evidence *evidence)
{
	struct sample sample;

	for (size_t i = 0; i < listed; i++) {
		const struct localise_way *way = map->lossy[i];
		const char *text = way->samples;

		if (!localise_suspect_on(suspect, way) ||
		    (recent && !loses_now(map, way, now)))
			continue;
		while (evidence->sample_count < RM_EVIDENCE_SAMPLES &&
		       (text = read_sample(text, &sample)) != NULL) {
			struct rm_evidence_sample *out =
			    &evidence->samples[evidence->sample_count++];

			memcpy(out->from, sample.from, sizeof out->from);
			memcpy(out->to, sample.to, sizeof out->to);
			out->src_port = (uint16_t)sample.port;
			snprintf(out->outcome, sizeof out->outcome, "no_reply");
		}
	}
}

/* Switches on the lossy ways, which are not the part: they may be innocent. */
static size_t
find_neighbours(const struct localise_map *map, const struct localise_suspect *suspect,
    size_t listed, struct localise_element **neighbours)
{
	size_t count = 0;

	for (size_t i = 0; i < listed; i++) {
		const struct localise_way *way = map->lossy[i];

		if (!localise_suspect_on(suspect, way))
			continue;
		for (uint8_t e = 0; e < way->element_count; e++) {
			struct localise_element *element = way->elements[e];
			bool known = element->b[0] != '\0';

			for (size_t k = 0; k < suspect->element_count; k++)
				known |= suspect->type != RM_PART_PATH &&
					 element == suspect->elements[k];
			for (size_t k = 0; k < count; k++)
				known |= element == neighbours[k];
			if (!known && count < MAX_NEIGHBOURS)
				neighbours[count++] = element;
		}
	}
	return count;
}

/* Of what avoids the part; sources: only what begins there. */
static void
sum_elsewhere(const struct localise_map *map, const struct localise_finding *finding,
    const struct localise_element *at, bool sources, localise_seen *seen, rm_mono_t now,
    struct localise_sum *ret)
{
	*ret = (struct localise_sum){ 0 };
	for (size_t i = 0; i < at->way_count && i < MAX_WAYS; i++) {
		const struct localise_way *way = at->ways[i];

		if (localise_suspect_on(finding->suspect, way) ||
		    (finding->other != NULL &&
			localise_suspect_on(finding->other, way)) ||
		    (sources && way->elements[0] != at))
			continue;
		seen(map, way, now, ret);
	}
}

static uint64_t
arrived(const struct localise_sum *sum)
{
	const double lost = sum->forward + sum->unknown;

	return (uint64_t)fmax(round(sum->sent - lost), 0);
}

static void
rule_out(const struct localise_map *map, const struct localise_finding *finding,
    localise_seen *seen, rm_mono_t now, struct rm_evidence *evidence)
{
	const size_t listed = localise_listed(map, seen);
	struct localise_element *neighbours[MAX_NEIGHBOURS];
	const size_t count = find_neighbours(map, finding->suspect, listed, neighbours);

	for (size_t i = 0; i < count; i++) {
		struct localise_sum sum;

		sum_elsewhere(map, finding, neighbours[i], true, seen, now, &sum);
		evidence->others.sent += (uint64_t)round(sum.sent);
		evidence->others.arrived += arrived(&sum);
		sum_elsewhere(map, finding, neighbours[i], false, seen, now, &sum);
		if (evidence->ruled_out_count == RM_EVIDENCE_RULED_OUT ||
		    sum.sent < MIN_TO_RULE_OUT ||
		    (double)arrived(&sum) < SHARE_TO_RULE_OUT * sum.sent)
			continue;
		snprintf(evidence->ruled_out[evidence->ruled_out_count++],
		    RM_EVIDENCE_TEXT,
		    "%s: %" PRIu64 " of %.0f probes over it elsewhere arrived",
		    neighbours[i]->a, arrived(&sum), round(sum.sent));
	}
}

void
localise_evidence_fill(struct localise_map *map, const struct localise_finding *finding,
    const struct localise_suspect *told, localise_seen *seen, rm_mono_t now,
    struct rm_evidence *evidence)
{
	const size_t listed = localise_listed(map, seen);
	struct localise_sum sum;

	localise_evidence_traffic(map, told, seen, now, &sum);
	evidence->to_part.sent = (uint64_t)round(sum.sent);
	evidence->to_part.arrived = arrived(&sum);
	if (finding->other != NULL)
		snprintf(evidence->observed, sizeof evidence->observed,
		    "one of the two is at fault, and no other probes tell which");
	fill_samples(map, finding->suspect, listed, true, now, evidence);
	if (evidence->sample_count == 0)
		fill_samples(map, finding->suspect, listed, false, now, evidence);
	rule_out(map, finding, seen, now, evidence);
}
