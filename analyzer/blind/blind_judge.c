#define HASH_NONFATAL_OOM 1
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/blind/blind_state.h"

/* An aggregator is silent alone if another one of its region has sent something at
 * least this long after its last message; this is the time of three pings. If all
 * aggregators of a region become silent at once, no single one is named in the seconds
 * until the region is named. */
#define SILENT_ALONE_NS (3 * RM_NS_PER_S / 2)
/* Agents try to reconnect every 5 s: after this time an aggregator has all of them. */
#define RECONNECT_NS (15 * RM_NS_PER_S)
#define STATE_ROW_INTERVALS 3 /* a state that is older than this does not count */

/* Returns the time since the last message of the aggregator, without time in which this
 * process was stopped. */
static int64_t
silence(const struct blind *blind, const struct blind_aggregator *a, rm_mono_t now)
{
	rm_mono_t since = a->last_seen;

	if (since.ns < blind->stalled.ns)
		since = blind->stalled;
	return rm_mono_since(now, since);
}

bool
blind_is_silent(
    const struct blind *blind, const struct blind_aggregator *a, rm_mono_t now)
{
	return silence(blind, a, now) >= blind->options.grace_ns;
}

static bool
has_source(const struct blind *blind, const struct blind_rack *rack, rm_mono_t now)
{
	for (size_t i = 0; i < rack->source_count; i++)
		if (!blind_is_silent(blind, rack->sources[i].aggregator, now))
			return true;
	return false;
}

/* True: the aggregator has reported for the grace time that no agent of the rack is
 * connected to it. An aggregator that has just connected first gets RECONNECT_NS for
 * its agents. */
static bool
reports_no_hosts(
    const struct blind *blind, const struct blind_source *source, rm_mono_t now)
{
	return source->has_state && source->is_empty &&
	       rm_mono_since(now, source->empty_since) >= blind->options.grace_ns &&
	       rm_mono_since(now, source->aggregator->unread) >=
		   blind->options.grace_ns &&
	       rm_mono_since(now, source->aggregator->since) >= RECONNECT_NS;
}

/* True: the aggregator has reported the rack recently, which a standby does not do. */
bool
blind_is_current(
    const struct blind *blind, const struct blind_source *source, rm_mono_t now)
{
	const int64_t current_ns =
	    STATE_ROW_INTERVALS * source->aggregator->row_interval_ns;

	return source->has_state &&
	       (current_ns == 0 ||
		   rm_mono_since(now, source->reported_at) <= current_ns);
}

/* True: an aggregator with a recent report has agents of the rack. If no aggregator has
 * a recent report: a connected one has not reported the rack as empty. */
static bool
has_hosts(const struct blind *blind, const struct blind_rack *rack, rm_mono_t now)
{
	bool reported = false, doubt = false;

	for (size_t i = 0; i < rack->source_count; i++) {
		const struct blind_source *source = &rack->sources[i];
		bool current = blind_is_current(blind, source, now);

		if (blind_is_silent(blind, source->aggregator, now))
			continue;
		reported = reported || current;
		if (reports_no_hosts(blind, source, now))
			continue;
		if (current)
			return true;
		doubt = true;
	}
	return doubt && !reported;
}

bool
blind_rack_is_seen(
    const struct blind *blind, const char *region, const char *tor, rm_mono_t now)
{
	const struct blind_rack *rack = blind_find_rack(blind, region, tor);

	return rack != NULL && has_source(blind, rack, now);
}

static void
forget_sources(struct blind_rack *rack, const struct blind_aggregator *aggregator)
{
	for (size_t i = rack->source_count; i-- > 0;)
		if (rack->sources[i].aggregator == aggregator)
			rack->sources[i] = rack->sources[--rack->source_count];
}

void
blind_forget(struct blind *blind, struct blind_aggregator *a)
{
	struct blind_rack *rack, *next;

	HASH_ITER (hh, blind->racks, rack, next) {
		forget_sources(rack, a);
		if (rack->source_count > 0)
			continue;
		HASH_DEL(blind->racks, rack);
		free(rack);
	}
	HASH_DEL(blind->aggregators, a);
	free(a);
}

static void
forget(struct blind *blind, rm_mono_t now)
{
	struct blind_aggregator *a, *next;

	HASH_ITER (hh, blind->aggregators, a, next)
		if (silence(blind, a, now) >= blind->options.forget_ns)
			blind_forget(blind, a);
}

static bool
region_is_silent(const struct blind *blind, const char *region, rm_mono_t now)
{
	const struct blind_aggregator *a;

	for (a = blind->aggregators; a != NULL; a = a->hh.next)
		if (strcmp(a->region, region) == 0 && !blind_is_silent(blind, a, now))
			return false;
	return true;
}

/* The caller does not call a region with only one aggregator blind, because the name of
 * the aggregator says more. */
static size_t
aggregators_of(const struct blind *blind, const char *region)
{
	const struct blind_aggregator *a;
	size_t count = 0;

	for (a = blind->aggregators; a != NULL; a = a->hh.next)
		count += strcmp(a->region, region) == 0;
	return count;
}

static bool
region_is_blind(const struct blind *blind, const char *region, rm_mono_t now)
{
	return aggregators_of(blind, region) > 1 &&
	       region_is_silent(blind, region, now);
}

static struct rm_verdict *
add(struct blind *blind, enum rm_part_type type, enum rm_kind kind, const char *name,
    const char *place, int64_t silent_ns, rm_wall_t wall)
{
	struct rm_verdict *verdict = &blind->verdicts[blind->verdict_count++];

	*verdict = (struct rm_verdict){
		.part = { .type = type }, .kind = kind, .confidence = 0.99
	};
	snprintf(verdict->part.name, sizeof verdict->part.name, "%s", name);
	snprintf(verdict->part.place, sizeof verdict->part.place, "%s", place);
	verdict->evidence.window_ns = silent_ns;
	verdict->evidence.window_start.ns = wall.ns - silent_ns;
	return verdict;
}

static void
judge_regions(struct blind *blind, rm_mono_t now, rm_wall_t wall)
{
	const struct blind_aggregator *a, *b;

	for (a = blind->aggregators; a != NULL; a = a->hh.next) {
		struct rm_verdict *verdict;
		int64_t least = INT64_MAX;

		for (b = blind->aggregators; strcmp(b->region, a->region) != 0;)
			b = b->hh.next;
		/* One verdict for each region, made for its first aggregator. */
		if (b != a || !region_is_blind(blind, a->region, now))
			continue;
		for (; b != NULL; b = b->hh.next)
			if (strcmp(b->region, a->region) == 0 &&
			    silence(blind, b, now) < least)
				least = silence(blind, b, now);
		verdict = add(blind, RM_PART_REGION, RM_KIND_REGION_BLIND, a->region,
		    "", least, wall);
		snprintf(verdict->evidence.observed, RM_EVIDENCE_TEXT,
		    "none of its %zu aggregators sent anything for %.1f s",
		    aggregators_of(blind, a->region), (double)least / 1e9);
	}
}

/* Lists the racks that become blind because this aggregator is silent. */
static size_t
list_blinded(const struct blind *blind, const struct blind_aggregator *a, rm_mono_t now,
    char *out, size_t len)
{
	const struct blind_rack *rack;
	size_t count = 0, at = 0;

	out[0] = '\0';
	for (rack = blind->racks; rack != NULL; rack = rack->hh.next) {
		bool mine = false;
		int n;

		for (size_t i = 0; i < rack->source_count; i++)
			mine |= rack->sources[i].aggregator == a;
		if (!mine || has_source(blind, rack, now))
			continue;
		count++;
		if (at + RM_NAME_BYTES + 8 >= len)
			continue;
		n = snprintf(out + at, len - at, "%s%s", at > 0 ? ", " : "", rack->tor);
		at += n > 0 ? (size_t)n : 0;
	}
	return count;
}

/* True: another aggregator of the region has sent something SILENT_ALONE_NS later; or
 * the region has no other aggregator. */
static bool
is_silent_alone(const struct blind *blind, const struct blind_aggregator *a)
{
	const struct blind_aggregator *b;

	for (b = blind->aggregators; b != NULL; b = b->hh.next)
		if (b != a && strcmp(b->region, a->region) == 0 &&
		    rm_mono_since(b->last_seen, a->last_seen) >= SILENT_ALONE_NS)
			return true;
	return aggregators_of(blind, a->region) == 1;
}

static void
judge_aggregators(struct blind *blind, rm_mono_t now, rm_wall_t wall)
{
	const struct blind_aggregator *a;

	for (a = blind->aggregators; a != NULL; a = a->hh.next) {
		struct rm_verdict *verdict;
		char racks[RM_EVIDENCE_TEXT - 88];
		int64_t silent_ns;
		size_t blinded;

		if (!blind_is_silent(blind, a, now) || !is_silent_alone(blind, a) ||
		    region_is_blind(blind, a->region, now))
			continue;
		silent_ns = silence(blind, a, now);
		blinded = list_blinded(blind, a, now, racks, sizeof racks);
		verdict = add(blind, RM_PART_AGGREGATOR, RM_KIND_AGGREGATOR_DOWN,
		    a->name, "", silent_ns, wall);
		snprintf(verdict->evidence.observed, RM_EVIDENCE_TEXT,
		    "%s for %.1f s; racks that no aggregator monitors now: %zu%s%s",
		    a->connected ? "connected, but it sent nothing"
				 : "no connection to it",
		    (double)silent_ns / 1e9, blinded, blinded > 0 ? ": " : "", racks);
	}
}

/* A rack is named blind only if its aggregator is connected. If it is silent, the
 * aggregator is named: one fault has one alert. */
static bool
rack_is_blind(const struct blind *blind, const struct blind_rack *rack, rm_mono_t now)
{
	return has_source(blind, rack, now) && !has_hosts(blind, rack, now);
}

/* The aggregator whose report made the rack blind. */
static const struct blind_source *
source_without_hosts(
    const struct blind *blind, const struct blind_rack *rack, rm_mono_t now)
{
	for (size_t i = 0; i < rack->source_count; i++)
		if (!blind_is_silent(blind, rack->sources[i].aggregator, now) &&
		    reports_no_hosts(blind, &rack->sources[i], now))
			return &rack->sources[i];
	return &rack->sources[0];
}

static void
judge_racks(struct blind *blind, rm_mono_t now, rm_wall_t wall)
{
	const struct blind_rack *rack;

	for (rack = blind->racks; rack != NULL; rack = rack->hh.next) {
		const struct blind_source *source;
		const struct wire_rack_state *state;
		struct rm_verdict *verdict;

		if (!rack_is_blind(blind, rack, now))
			continue;
		source = source_without_hosts(blind, rack, now);
		state = &source->state;
		verdict = add(blind, RM_PART_RACK, RM_KIND_RACK_BLIND, rack->tor, "",
		    rm_mono_since(now, source->empty_since), wall);
		snprintf(verdict->evidence.observed, RM_EVIDENCE_TEXT,
		    "its aggregator %.63s reports, but none of its %" PRIu32
		    " hosts reports to it, and none of its %" PRIu32
		    " RNICs is known to work",
		    source->aggregator->name, state->hosts, state->rnics);
	}
}

const struct blind_aggregator *
blind_reports_ending(const struct blind *blind, const char *controller, rm_mono_t now)
{
	const struct blind_aggregator *a;

	for (a = blind->aggregators; a != NULL; a = a->hh.next)
		if (a->controller_ends_s != 0 && !blind_is_silent(blind, a, now) &&
		    strcmp(a->controller, controller) == 0)
			return a;
	return NULL;
}

static void
add_certificate(struct blind *blind, enum rm_part_type daemon, const char *name,
    int64_t ends_s, rm_wall_t wall)
{
	struct rm_verdict *verdict = &blind->verdicts[blind->verdict_count++];

	rm_verdict_certificate(verdict, daemon, name, ends_s);
	verdict->evidence.window_start = wall;
}

static void
judge_certificates(struct blind *blind, rm_mono_t now, rm_wall_t wall)
{
	const struct blind_aggregator *a;

	if (blind->own_ends_s != 0)
		add_certificate(
		    blind, RM_PART_ANALYZER, blind->analyzer, blind->own_ends_s, wall);
	for (a = blind->aggregators; a != NULL; a = a->hh.next) {
		if (a->ends_s != 0 && !blind_is_silent(blind, a, now))
			add_certificate(
			    blind, RM_PART_AGGREGATOR, a->name, a->ends_s, wall);
		if (a->controller_ends_s != 0 &&
		    blind_reports_ending(blind, a->controller, now) == a)
			add_certificate(blind, RM_PART_CONTROLLER, a->controller,
			    a->controller_ends_s, wall);
	}
}

int
blind_judge(
    struct blind *blind, rm_mono_t now, rm_wall_t wall, const struct rm_verdict **ret)
{
	const size_t room =
	    3 * HASH_COUNT(blind->aggregators) + HASH_COUNT(blind->racks) + 2;

	if (rm_mono_since(now, blind->started) < blind->options.start_ns) {
		*ret = NULL;
		return 0;
	}
	forget(blind, now);
	if (room > blind->verdict_size) {
		struct rm_verdict *verdicts = calloc(room, sizeof *verdicts);

		if (verdicts == NULL)
			return -ENOMEM;
		free(blind->verdicts);
		blind->verdicts = verdicts;
		blind->verdict_size = room;
	}
	blind->verdict_count = 0;
	judge_regions(blind, now, wall);
	judge_aggregators(blind, now, wall);
	judge_racks(blind, now, wall);
	judge_certificates(blind, now, wall);
	*ret = blind->verdicts;
	return (int)blind->verdict_count;
}
