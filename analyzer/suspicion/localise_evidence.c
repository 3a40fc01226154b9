#include "analyzer/suspicion/localise_evidence.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/finding/localise_lossy_over.h"
#include "analyzer/paths/localise_bins.h"
#include "analyzer/paths/localise_classes.h"
#include "analyzer/paths/localise_listed.h"
#include "analyzer/paths/localise_part.h"
#include "analyzer/suspicion/localise_at_node.h"
#include "analyzer/suspicion/localise_direction.h"
#include "analyzer/suspicion/localise_passage.h"
#include "analyzer/suspicion/localise_sizes.h"
#include "analyzer/suspicion/localise_standings.h"

#define MAX_NEIGHBOURS 16
#define MAX_PATHS 4096 /* maximum number of paths of one pair that are examined */
/* maximum number of paths of one neighbour that are examined */
#define MAX_ELSEWHERE 512
/* A neighbour is good if at least so many probes over it, and such a share of them,
 * arrived. */
#define MIN_TO_RULE_OUT 4
#define SHARE_TO_RULE_OUT 0.9
#define MAX_SAMPLES_READ 128
#define MAX_PATHS_BACK 64
#define ONE_RNIC_SHARE 0.75
#define MAX_PAIRS 64
/* ln of 20: an RNIC at fault must be less likely than 1 to 20 */
#define CONFINED_LN 3.0
/* other paths lose at most this part of the share of flows that the suspect loses */
#define CONFINED_SHARE 0.25

void
localise_evidence_losses(const struct localise_map *map,
    const struct localise_suspect *suspect, rm_mono_t now, localise_seen *seen,
    struct localise_sum *ret)
{
	struct localise_lossy_over over =
	    localise_lossy_over(map, suspect, localise_listed(map, seen));
	const struct localise_path *path;

	*ret = (struct localise_sum){ 0 };
	while ((path = localise_lossy_next(&over)) != NULL)
		seen(map, path, now, ret);
}

/* *ret: the sum of the counts of all paths over the suspect */
static void
localise_evidence_traffic(const struct localise_map *map,
    const struct localise_suspect *suspect, localise_seen *seen, rm_mono_t now,
    struct localise_sum *ret)
{
	const size_t ends = suspect->type == RM_PART_PATH ? 1 : suspect->element_count;

	*ret = (struct localise_sum){ 0 };
	for (size_t i = 0; i < ends; i++)
		for (size_t k = 0; k < suspect->elements[i]->path_count; k++) {
			const struct localise_path *path =
			    suspect->elements[i]->paths[k];

			if (localise_suspect_on(suspect, path))
				seen(map, path, now, ret);
		}
}

struct sample {
	char from[2 * RM_NAME_BYTES], to[2 * RM_NAME_BYTES];
	unsigned port;
};

/* Reads one flow such as "h1/r0>h9/r0:49153". Returns the text after it. NULL: there
 * are no more flows, or the text is malformed. */
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

/* True: most of the samples begin or end at this RNIC. If all of these are between the
 * same two RNICs, it is true only with one_pair. */
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

static bool
is_tied(const struct localise_finding *finding, const struct rm_part *part)
{
	for (size_t i = 0; i < finding->tie_count; i++)
		if (localise_part_same(&finding->ties[i], part))
			return true;
	return localise_part_same(&finding->part, part);
}

struct another {
	const struct localise_finding *finding;
	rm_mono_t now;
};

static bool
is_another(
    const struct localise_standing *s, const struct localise_path *path, void *arg)
{
	const struct another *another = arg;

	return (s->named ||
		   rm_mono_since(another->now, s->seen) < LOCALISE_JUST_NOW_NS) &&
	       s->part.type != RM_PART_PATH && !is_tied(another->finding, &s->part) &&
	       localise_part_on(&s->part, path);
}

/* True: another part on this path, which is not in the finding, is named or blamed now.
 */
static bool
is_another_on(const struct localise_standings *standings,
    const struct localise_finding *finding, const struct localise_path *path,
    rm_mono_t now)
{
	struct another another = { finding, now };

	return localise_at_node_any(standings, path, is_another, &another);
}

struct one_rnic {
	const struct localise_now *now;
	const struct localise_finding *finding;
	const struct localise_standings *standings;
	struct sample samples[MAX_SAMPLES_READ];
	size_t count;
};

/* True: another part is on this path, or on a path that replies to its probes may take.
 */
static bool
is_explained(const struct one_rnic *one, const struct localise_path *path)
{
	const struct localise_element *back = path->pair->back;

	if (is_another_on(one->standings, one->finding, path, one->now->now))
		return true;
	for (size_t i = 0; i < back->path_count && i < MAX_PATHS_BACK; i++)
		if (is_another_on(
			one->standings, one->finding, back->paths[i], one->now->now))
			return true;
	return false;
}

static void
read_samples(struct one_rnic *one, const struct localise_suspect *suspect,
    localise_seen *seen, bool explained)
{
	const struct localise_map *map = one->now->map;
	struct localise_lossy_over over =
	    localise_lossy_over(map, suspect, localise_listed(map, seen));
	const struct localise_path *path;

	one->count = 0;
	while (one->count < MAX_SAMPLES_READ &&
	       (path = localise_lossy_next(&over)) != NULL) {
		const char *text = path->samples;
		struct localise_sum sum = { 0 };

		seen(map, path, one->now->now, &sum);
		if (sum.forward + sum.unknown + sum.reverse < 1 ||
		    (!explained && is_explained(one, path)))
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

/* Returns the ln of the probability that, of all lost flows, `lost` are among the `on`
 * flows over the suspect and `strays` among the `beside` other flows, if all flows are
 * equally likely to be lost. */
static double
ln_of_split(double lost, double strays, double on, double beside)
{
	const double all = on + beside;

	return lgamma(lost + strays + 1) - lgamma(lost + 1) - lgamma(strays + 1) +
	       lost * log(on / all) + (strays > 0 ? strays * log(beside / all) : 0);
}

bool
localise_evidence_confined(
    const struct localise_now *now, const struct localise_suspect *suspect)
{
	const struct localise_element *pairs[MAX_PAIRS];
	struct localise_lossy_over over =
	    localise_lossy_over(now->map, suspect, now->map->lossy_count);
	struct localise_sum on = { 0 }, beside = { 0 };
	const struct localise_path *path;
	size_t count = 0;
	double lost, strays;

	if (suspect->type == RM_PART_PATH)
		return false;
	while (count < MAX_PAIRS && (path = localise_lossy_next(&over)) != NULL) {
		const struct localise_element *pair = path->pair;

		if (is_among(pair, pairs, count))
			continue;
		pairs[count++] = pair;
		for (size_t k = 0; k < pair->path_count && k < MAX_PATHS; k++)
			localise_path_newest(now->map, pair->paths[k], now->now,
			    localise_suspect_on(suspect, pair->paths[k]) ? &on
									 : &beside);
	}
	/* A flow with one probe and no reply is not in `hit`, but in `gone`. */
	lost = fmax(on.hit, on.gone);
	strays = fmax(beside.hit, beside.gone);
	return on.flows > 0 &&
	       strays * on.flows <= CONFINED_SHARE * lost * beside.flows &&
	       ln_of_split(lost, strays, on.flows, beside.flows) <= -CONFINED_LN;
}

static bool
loses_now(
    const struct localise_map *map, const struct localise_path *path, rm_mono_t now)
{
	struct localise_sum sum = { 0 };

	localise_path_recent(map, path, now, &sum);
	return sum.forward + sum.unknown + sum.reverse >= 1;
}

/* Writes the path's switches, each with the address of the interface at which the path
 * enters it. A text that is too long ends after a whole hop. */
static void
write_path(const struct localise_path *route, char path[static RM_EVIDENCE_TEXT])
{
	const struct localise_element *link = NULL;
	size_t len = 0;

	for (uint8_t i = 0; i < route->element_count; i++) {
		const struct localise_element *element = route->elements[i];
		int n;

		if (element->b[0] != '\0') {
			link = element;
			continue;
		}
		n = snprintf(path + len, RM_EVIDENCE_TEXT - len, "%s%s%s%s",
		    len > 0 ? " " : "", element->a,
		    link != NULL && link->at[0] != '\0' ? "@" : "",
		    link != NULL ? link->at : "");
		if (n < 0 || (size_t)n >= RM_EVIDENCE_TEXT - len) {
			path[len] = '\0';
			return;
		}
		len += (size_t)n;
		link = NULL;
	}
}

/* Writes the lost flows over the suspect. recent: only the flows of paths that lose
 * packets now, because the samples of other paths may be those of an earlier fault. */
static void
fill_samples(const struct localise_map *map, const struct localise_suspect *suspect,
    size_t listed, bool recent, rm_mono_t now, struct rm_evidence *evidence)
{
	struct localise_lossy_over over = localise_lossy_over(map, suspect, listed);
	const struct localise_path *path;
	struct sample sample;

	while (evidence->sample_count < RM_EVIDENCE_SAMPLES &&
	       (path = localise_lossy_next(&over)) != NULL) {
		const char *text = path->samples;

		if (recent && !loses_now(map, path, now))
			continue;
		while (evidence->sample_count < RM_EVIDENCE_SAMPLES &&
		       (text = read_sample(text, &sample)) != NULL) {
			struct rm_evidence_sample *out =
			    &evidence->samples[evidence->sample_count++];

			memcpy(out->from, sample.from, sizeof out->from);
			memcpy(out->to, sample.to, sizeof out->to);
			out->src_port = (uint16_t)sample.port;
			snprintf(out->outcome, sizeof out->outcome, "no_reply");
			if (path->is_traced)
				write_path(path, out->path);
		}
	}
}

/* The switches on the suspect's lossy paths, without the suspect: they may be good. */
static size_t
find_neighbours(const struct localise_map *map, const struct localise_suspect *suspect,
    size_t listed, struct localise_element **neighbours)
{
	struct localise_lossy_over over = localise_lossy_over(map, suspect, listed);
	const struct localise_path *path;
	size_t count = 0;

	while (count < MAX_NEIGHBOURS && (path = localise_lossy_next(&over)) != NULL) {
		for (uint8_t e = 0; e < path->element_count; e++) {
			struct localise_element *element = path->elements[e];
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

/* For a switch that loses packets only between some pairs of racks: sums up its paths
 * between these. */
static void
sum_pairs(const struct localise_map *map, const struct localise_standing *s,
    const struct localise_element *node, localise_seen *seen, rm_mono_t now,
    struct localise_sum *ret)
{
	*ret = (struct localise_sum){ 0 };
	for (size_t i = 0; i < node->path_count; i++)
		if (localise_pairs_on(&s->pairs, node->paths[i]))
			seen(map, node->paths[i], now, ret);
}

static bool
is_of_pairs(const struct localise_finding *finding, const struct localise_standing *s,
    const struct localise_path *path)
{
	return finding->suspect->transit != NULL &&
	       localise_path_crosses(path, finding->suspect->elements[0]) &&
	       localise_pairs_on(&s->pairs, path);
}

static bool
is_others(const struct localise_finding *finding, const struct localise_path *path)
{
	for (size_t i = 0; i < LOCALISE_EITHER - 1 && finding->others[i] != NULL; i++)
		if (localise_suspect_on(finding->others[i], path))
			return true;
	return false;
}

/* *ret: the sum of the paths over `at` that avoid the finding's parts, or of a sample
 * of them. *from: the sum of those that begin at this ToR. */
static void
sum_elsewhere(const struct localise_map *map, const struct localise_finding *finding,
    const struct localise_standing *s, const struct localise_element *at,
    localise_seen *seen, rm_mono_t now, struct localise_sum *ret,
    struct localise_sum *from)
{
	*ret = *from = (struct localise_sum){ 0 };
	for (size_t i = 0; i < at->path_count && i < MAX_ELSEWHERE; i++) {
		const struct localise_path *path =
		    localise_element_sample(at, MAX_ELSEWHERE, i);

		if (localise_suspect_on(finding->suspect, path) ||
		    is_of_pairs(finding, s, path) || is_others(finding, path))
			continue;
		seen(map, path, now, ret);
		if (path->elements[0] == at)
			seen(map, path, now, from);
	}
}

static uint64_t
arrived(const struct localise_sum *sum)
{
	const double lost = sum->forward + sum->unknown;

	return (uint64_t)fmax(round(sum->sent - lost), 0);
}

/* Adds the neighbours to the evidence, each with the probes over it that avoid the
 * part: they show that the neighbours are good. */
static void
rule_out(const struct localise_map *map, const struct localise_finding *finding,
    const struct localise_standing *s, localise_seen *seen, rm_mono_t now,
    struct rm_evidence *evidence)
{
	const size_t listed = localise_listed(map, seen);
	struct localise_element *neighbours[MAX_NEIGHBOURS];
	const size_t count = find_neighbours(map, finding->suspect, listed, neighbours);

	for (size_t i = 0; i < count; i++) {
		struct localise_sum sum, from;

		sum_elsewhere(map, finding, s, neighbours[i], seen, now, &sum, &from);
		evidence->others.sent += (uint64_t)round(from.sent);
		evidence->others.arrived += arrived(&from);
		if (evidence->ruled_out_count == RM_EVIDENCE_RULED_OUT ||
		    sum.sent < MIN_TO_RULE_OUT ||
		    (double)arrived(&sum) < SHARE_TO_RULE_OUT * sum.sent)
			continue;
		snprintf(evidence->ruled_out[evidence->ruled_out_count++],
		    RM_EVIDENCE_TEXT,
		    "%s: %" PRIu64 " of %.0f probes over it on other paths arrived",
		    neighbours[i]->a, arrived(&sum), round(sum.sent));
	}
}

/* Appends that one of the parts is at fault, after the text about pairs of racks if
 * there is one. */
static void
report_either(const struct localise_finding *finding, char observed[RM_EVIDENCE_TEXT])
{
	const size_t len = finding->suspect->transit != NULL ? strlen(observed) : 0;

	snprintf(observed + len, RM_EVIDENCE_TEXT - len,
	    "%sone of the %s is at fault, and no other probes tell which",
	    len > 0 ? ": " : "", finding->others[1] != NULL ? "three" : "two");
}

/* Fills all evidence except the window and a link's direction. reported: the suspect,
 * or only one direction of it. */
static void
localise_evidence_fill(struct localise_map *map, const struct localise_finding *finding,
    const struct localise_standing *s, const struct localise_suspect *reported,
    localise_seen *seen, rm_mono_t now, struct rm_evidence *evidence)
{
	const size_t listed = localise_listed(map, seen);
	struct localise_sum sum;

	if (reported->transit != NULL)
		sum_pairs(map, s, reported->elements[0], seen, now, &sum);
	else
		localise_evidence_traffic(map, reported, seen, now, &sum);
	evidence->to_part.sent = (uint64_t)round(sum.sent);
	evidence->to_part.arrived = arrived(&sum);
	if (finding->others[0] != NULL)
		report_either(finding, evidence->observed);
	else if (finding->or_its_links)
		snprintf(evidence->observed, sizeof evidence->observed,
		    "it or one of its cables is at fault: the same packets cross all "
		    "of them");
	fill_samples(map, finding->suspect, listed, true, now, evidence);
	if (evidence->sample_count == 0)
		fill_samples(map, finding->suspect, listed, false, now, evidence);
	rule_out(map, finding, s, seen, now, evidence);
}

/* if at least this share of the flows with losses lose all packets, the part is dead
 * for them */
#define DEAD_SHARE 0.5
#define EVIDENCE_NS RM_NS_PER_S /* a verdict is updated once in this time */
/* A part through which nothing passes loses at least this share of the sent probes. */
#define DOWN_SHARE 0.9
/* so many probes show that a ToR which was down passes some packets */
#define TOR_MIN_SENT 20
#define MIN_SENT 4 /* fewer probes than this, in one direction, do not count */
/* A verdict changes to another kind only if this kind has been found for this time: the
 * first and last second of a fault are partial. */
#define TURN_NS (2500 * RM_NS_PER_MS)
/* For this time after the suspicion began, it may be unknown whether any packets pass:
 * after it, the third rows of all racks have arrived. */
#define HOLD_NS (2500 * RM_NS_PER_MS)

/* What is known of a suspect; for a link, of both directions. */
struct look {
	/* index 0: the direction there, or the switch; index 1: the direction back */
	struct localise_passed passed[2];
	size_t count;       /* how many items of `passed` are known */
	size_t first, last; /* first and last item of `passed` that is reported */
	struct localise_directed link;
};

const struct localise_rack *
localise_rack_of(const struct localise_map *map, const struct localise_finding *finding)
{
	if (finding->suspect->type != RM_PART_TOR || finding->others[0] != NULL)
		return NULL;
	return localise_map_find_rack(map, finding->suspect->elements[0]->a);
}

/* Selects which direction of a link is reported, or both. */
static void
pick(struct look *look)
{
	const enum localise_passage there = look->passed[0].passage,
				    back = look->passed[1].passage;

	look->first = 0;
	look->last = look->count - 1;
	if (look->count < 2)
		return;
	if (look->link.direction != LOCALISE_THERE &&
	    look->link.direction != LOCALISE_BACK) {
		/* a link that is dead in one direction only is reported for that
		 * direction */
		if (there == LOCALISE_CLOSED && back == LOCALISE_PASSES)
			look->link.direction = LOCALISE_THERE;
		if (back == LOCALISE_CLOSED && there == LOCALISE_PASSES)
			look->link.direction = LOCALISE_BACK;
	}
	if (look->link.direction == LOCALISE_THERE)
		look->last = 0;
	if (look->link.direction == LOCALISE_BACK)
		look->first = 1;
}

static void
look_at(struct look *look, const struct localise_now *now,
    const struct localise_suspect *suspect, bool slow, rm_wall_t since)
{
	*look = (struct look){ .count = 1 };
	if (suspect->type == RM_PART_PATH)
		return;
	localise_passage_see(suspect->elements[0], now->now, since, &look->passed[0]);
	if (suspect->type != RM_PART_LINK)
		return;
	localise_direction_see(now->map, suspect, slow, now->now, &look->link);
	if (look->link.back == NULL ||
	    (suspect->element_count == 1 && look->link.direction != LOCALISE_BACK))
		return;
	localise_passage_see(look->link.back, now->now, since, &look->passed[1]);
	look->count = 2;
	pick(look);
}

/* Decides what is still undecided: a part is closed if a flow without replies is known,
 * or if there are no such rows and nearly all of the newest probes are lost. */
static void
settle(struct localise_passed *passed, const struct localise_sum *traffic)
{
	if (passed->passage == LOCALISE_UNDECIDED)
		passed->passage =
		    passed->dead >= 1 || (passed->window_ns == 0 &&
					     traffic->newest_sent >= MIN_SENT &&
					     traffic->newest_lost >=
						 DOWN_SHARE * traffic->newest_sent)
			? LOCALISE_CLOSED
			: LOCALISE_PASSES;
}

/* Returns the state of the reported directions together: closed only if each of them
 * is. */
static enum localise_passage
passage_of(const struct look *look)
{
	enum localise_passage ret = LOCALISE_CLOSED;

	for (size_t i = look->first; i <= look->last; i++)
		if (look->passed[i].passage < ret)
			ret = look->passed[i].passage;
	return ret;
}

static enum rm_kind
kind_of(enum rm_part_type type, const struct localise_sum *traffic, bool slow,
    bool is_closed, bool some_alone)
{
	if (type == RM_PART_PATH)
		return RM_KIND_PATH_LOSSY;
	if (type == RM_PART_TOR)
		return RM_KIND_TOR_DOWN;
	if (is_closed)
		return type == RM_PART_LINK ? RM_KIND_LINK_DOWN : RM_KIND_SWITCH_DOWN;
	if (!slow && !some_alone && traffic->dead > 0 &&
	    traffic->dead >= DEAD_SHARE * traffic->hit)
		return RM_KIND_FLOWS_BLACKHOLED;
	return type == RM_PART_LINK ? RM_KIND_LINK_LOSSY : RM_KIND_SWITCH_LOSSY;
}

/* The ToR was named as down, but passes packets. */
static bool
lets_some_pass(const struct localise_sum *traffic)
{
	return traffic->newest_sent >= TOR_MIN_SENT &&
	       traffic->newest_lost < DOWN_SHARE * traffic->newest_sent;
}

static void
report_tor(const struct localise_rack *rack, struct rm_evidence *evidence)
{
	if (rack == NULL)
		return;
	if (rack->tor_stands && !rack->mesh_fails)
		snprintf(evidence->observed, sizeof evidence->observed,
		    "probes inside its rack arrive, probes that leave or enter the "
		    "rack do not: all its uplinks are down");
	else if (rack->two_report)
		snprintf(evidence->observed, sizeof evidence->observed,
		    "its own rack reports it too; or both of its probed RNICs are "
		    "dead: there is no third RNIC to compare");
	else if (rack->tor_stands)
		snprintf(evidence->observed, sizeof evidence->observed,
		    "its own rack reports it too");
	else if (!rack->seen)
		snprintf(evidence->observed, sizeof evidence->observed,
		    "no aggregator reports its rack");
	else if (rack->agents == LOCALISE_AGENTS_PAUSED)
		snprintf(evidence->observed, sizeof evidence->observed,
		    "no agent of its rack probes: all that report are paused");
	else if (rack->agents == LOCALISE_AGENTS_GONE)
		snprintf(evidence->observed, sizeof evidence->observed,
		    "no agent of its rack reports; or all hosts of the rack are down");
}

/* A ToR that passes some packets is reported as a switch. A named part keeps its type,
 * which is in the labels of its incident. */
static enum rm_part_type
type_of(const struct localise_standing *s, const struct localise_finding *finding,
    const struct localise_rack *rack, const struct localise_sum *traffic, bool slow)
{
	if (s->named)
		return s->verdict.part.type;
	if (finding->suspect->type == RM_PART_TOR &&
	    (rack == NULL || !rack->tor_stands) &&
	    (slow || traffic->newest_lost < DOWN_SHARE * traffic->newest_sent))
		return RM_PART_SWITCH;
	return finding->suspect->type;
}

/* Returns the kind to report: the last kind, until another kind has been found for
 * TURN_NS. */
static enum rm_kind
turn(struct localise_standing *s, enum rm_kind kind, rm_mono_t now)
{
	if (!s->named || kind == s->verdict.kind) {
		s->turn = kind;
		s->turn_at = now;
		return kind;
	}
	if (kind != s->turn) {
		s->turn = kind;
		s->turn_at = now;
	}
	return rm_mono_since(now, s->turn_at) >= TURN_NS ? kind : s->verdict.kind;
}

/* For a part through which nothing passes: fills the window and the counts since the
 * first losses. */
static void
fill_closed(const struct look *look, struct rm_evidence *evidence)
{
	double sent = 0, lost = 0;
	int64_t window_ns = 0;

	for (size_t i = look->first; i <= look->last; i++) {
		const struct localise_passed *passed = &look->passed[i];

		sent += passed->sent;
		lost += passed->lost + passed->lost_replies;
		if (window_ns < passed->window_ns)
			window_ns = passed->window_ns;
	}
	if (window_ns == 0)
		return;
	evidence->window_ns = window_ns;
	evidence->to_part.sent = (uint64_t)round(sent);
	evidence->to_part.arrived = (uint64_t)round(fmax(sent - lost, 0));
}

static void
report_direction(const struct localise_directed *link, struct rm_evidence *evidence)
{
	const struct localise_element *only = localise_direction_only(link);

	localise_direction_report(link, evidence->observed);
	if (only != NULL) {
		strcpy(evidence->lost_from, only->a);
		strcpy(evidence->lost_to, only->b);
	}
}

/* For a link that is reported in one direction: leaves only the counts of that
 * direction. */
static void
fill(struct localise_standing *s, const struct localise_now *now,
    const struct localise_finding *finding, const struct look *look, bool slow)
{
	struct rm_evidence *evidence = &s->verdict.evidence;
	struct localise_suspect reported = *finding->suspect;

	if (reported.type == RM_PART_LINK && look->first == look->last)
		reported = (struct localise_suspect){ .type = RM_PART_LINK,
			.elements = { look->first == 0 ? reported.elements[0]
						       : look->link.back },
			.element_count = 1 };
	evidence->window_ns = slow ? LOCALISE_WINDOW_NS : 2 * RM_NS_PER_S;
	evidence->late_ns = s->late_ns;
	evidence->window_start =
	    slow ? (rm_wall_t){ now->wall.ns - LOCALISE_WINDOW_NS } : s->start;
	if (reported.type == RM_PART_LINK)
		report_direction(&look->link, evidence);
	if (reported.transit != NULL)
		localise_pairs_report(&s->pairs, evidence->observed);
	localise_evidence_fill(now->map, finding, s, &reported,
	    slow ? localise_path_slow : localise_path_recent, now->now, evidence);
	if (!slow && reported.transit == NULL && passage_of(look) == LOCALISE_CLOSED)
		fill_closed(look, evidence);
}

/* *ret: the kind of the losses. some_alone: only large packets, or packets of only one
 * class, are lost. False: the kind is not known yet. */
static bool
see_kind(struct look *look, const struct localise_standing *first,
    const struct localise_now *now, enum rm_part_type type, bool is_transit,
    const struct localise_sum *traffic, bool slow, bool some_alone, enum rm_kind *ret)
{
	const bool may_close = !slow && !is_transit && !some_alone &&
			       (type == RM_PART_LINK || type == RM_PART_SWITCH);

	if (may_close && passage_of(look) == LOCALISE_UNDECIDED) {
		if (rm_mono_since(now->now, first->since) < HOLD_NS)
			return false;
		for (size_t i = 0; i < look->count; i++)
			settle(&look->passed[i], traffic);
		pick(look);
	}
	*ret = kind_of(type, traffic, slow,
	    may_close && passage_of(look) == LOCALISE_CLOSED, some_alone);
	return true;
}

static void
add_classes_of(struct localise_classes *classes, rm_mono_t now,
    const struct localise_suspect *suspect, const struct localise_element *element)
{
	for (size_t i = 0; i < element->path_count; i++)
		if (suspect == NULL || localise_suspect_on(suspect, element->paths[i]))
			localise_classes_add(classes, element->paths[i], now);
}

/* back: for a link that is suspected in one direction only, its other direction;
 * otherwise NULL */
static void
add_classes(struct localise_classes *classes, rm_mono_t now,
    const struct localise_suspect *suspect, const struct localise_element *back)
{
	const size_t ends = suspect->type == RM_PART_PATH ? 1 : suspect->element_count;

	for (size_t i = 0; i < ends; i++) {
		add_classes_of(classes, now, suspect, suspect->elements[i]);
		if (suspect->elements[i] == back)
			back = NULL;
	}
	if (back != NULL)
		add_classes_of(classes, now, NULL, back);
	localise_classes_end(classes, now);
}

/* Adds to the evidence that only large packets, or only one class, are lost. */
static void
report_some(struct localise_standing *s, const struct localise_sizes *sizes)
{
	struct rm_evidence *evidence = &s->verdict.evidence;
	const enum rm_kind kind = s->verdict.kind;

	if (kind != RM_KIND_LINK_LOSSY && kind != RM_KIND_SWITCH_LOSSY &&
	    kind != RM_KIND_PATH_LOSSY)
		return;
	if (s->large_alone)
		localise_sizes_report(sizes, evidence->observed);
	evidence->one_class = s->one_class;
	evidence->dscp = s->one_class ? s->dscp : 0;
	if (s->one_class)
		localise_classes_report(&s->classes, s->dscp, evidence->observed);
}

void
localise_name(struct localise_standing *s, const struct localise_now *now,
    const struct localise_finding *finding, const struct localise_standing *first,
    bool slow)
{
	const struct localise_rack *rack = localise_rack_of(now->map, finding);
	struct localise_sum traffic;
	struct localise_sizes sizes;
	enum rm_part_type type;
	struct look look;
	enum rm_kind kind;
	bool large_alone, one_class;

	if (s->named && rm_mono_since(now->now, s->reported_at) < EVIDENCE_NS)
		return;
	localise_evidence_traffic(
	    now->map, finding->suspect, localise_path_recent, now->now, &traffic);
	type = type_of(s, finding, rack, &traffic, slow);
	look_at(&look, now, finding->suspect, slow, first->first_end);
	localise_sizes_see(now->now, finding->suspect, look.link.back, &sizes);
	large_alone = localise_sizes_large_alone(&sizes, s->named && s->large_alone);
	add_classes(&s->classes, now->now, finding->suspect, look.link.back);
	one_class = localise_classes_one_alone(&s->classes,
	    finding->suspect->one_class || (s->named && s->one_class), &s->dscp);
	if (!see_kind(&look, first, now, type, finding->suspect->transit != NULL,
		&traffic, slow, large_alone || one_class, &kind))
		return;
	if (s->named && type == RM_PART_TOR && lets_some_pass(&traffic))
		kind = RM_KIND_SWITCH_LOSSY;
	s->reported_at = now->now;
	s->late_ns = first->late_ns;
	s->slow = s->named ? s->slow && slow : slow;
	/* The figures now would not fit the reported kind: keep the last evidence. */
	if (turn(s, kind, now->now) != kind)
		return;
	s->large_alone = large_alone;
	s->one_class = one_class;
	s->verdict = (struct rm_verdict){ .part = s->part,
		.kind = kind,
		.confidence = s->named ? fmax(s->verdict.confidence,
					     localise_finding_confidence(finding))
				       : localise_finding_confidence(finding) };
	s->verdict.part.type = type;
	if (finding->suspect->transit != NULL)
		localise_pairs_note(&s->pairs, finding->suspect, !s->named, now->now);
	else
		s->pairs.count = 0;
	fill(s, now, finding, &look, slow);
	if (kind == RM_KIND_TOR_DOWN)
		report_tor(rack, &s->verdict.evidence);
	report_some(s, &sizes);
	s->named = true;
}
