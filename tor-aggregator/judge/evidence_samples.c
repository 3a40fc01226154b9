#include "tor-aggregator/judge/evidence_samples.h"

#include <stdio.h>
#include <string.h>

#include "rackmesh/judge/verdict.h"
#include "schemas/wire/text.h"
#include "tor-aggregator/window/ring.h"
#include "tor-aggregator/window/roster.h"
#include "tor-aggregator/window/window_pair.h"

/* Results come in the order in which their probes were sent, except for deviations of
 * up to this time. */
#define DISORDER_NS (2 * RM_NS_PER_S)
#define MAX_VERDICTS 64 /* verdicts beyond this number have no samples */

bool
evidence_is_about(const struct rm_part *part, const struct roster_rnic *member)
{
	char name[2 * RM_NAME_BYTES];
	const char *at = part->name;

	if (part->type == RM_PART_TOR)
		return true;
	if (part->type == RM_PART_RNIC)
		snprintf(name, sizeof(name), "%s/%s", member->host, member->device);
	else
		snprintf(name, sizeof(name), "%s", member->host);
	for (;;) {
		const char *next = strstr(at, " or ");
		size_t len = next == NULL ? strlen(at) : (size_t)(next - at);

		if (strlen(name) == len && memcmp(name, at, len) == 0)
			return true;
		if (next == NULL)
			return false;
		at = next + strlen(" or ");
	}
}

/* The members that a verdict is about, by index, because comparing names for each
 * result would be slow. */
struct subject {
	uint32_t members[WIRE_MAX_HOST_RNICS];
	size_t count;
	bool whole_rack;
};

static void
subject_init(struct subject *subject, const struct rm_verdict *verdict,
    const struct roster *roster)
{
	subject->count = 0;
	subject->whole_rack = verdict->part.type == RM_PART_TOR;
	for (size_t i = 0; i < roster_members(roster) && !subject->whole_rack; i++) {
		if (subject->count == WIRE_MAX_HOST_RNICS)
			return;
		if (evidence_is_about(&verdict->part, roster_member(roster, i)))
			subject->members[subject->count++] = (uint32_t)i;
	}
}

static bool
subject_touches(const struct subject *subject, const struct roster_rnic *src,
    const struct roster_rnic *dst)
{
	for (size_t i = 0; i < subject->count; i++)
		if (subject->members[i] == src->index ||
		    subject->members[i] == dst->index)
			return true;
	return subject->whole_rack;
}

static uint32_t
took_ns(const struct ring_result *result)
{
	return window_took_ns(result->flags, result->rtt_ns, result->round_trip_ns);
}

static void
add_sample(struct rm_evidence *evidence, const struct ring_result *result,
    const struct roster_rnic *src, const struct roster_rnic *dst)
{
	struct rm_evidence_sample *sample =
	    &evidence->samples[evidence->sample_count++];

	*sample = (struct rm_evidence_sample){
		.src_port = result->src_port,
		.size_bytes = result->size_bytes,
		.dscp = result->dscp,
		.seq = result->seq,
	};
	snprintf(sample->from, sizeof(sample->from), "%s/%s", src->host, src->device);
	snprintf(sample->to, sizeof(sample->to), "%s/%s", dst->host, dst->device);
	if (result->outcome == WIRE_NO_REPLY)
		snprintf(sample->outcome, sizeof(sample->outcome), "%s",
		    wire_outcome_str(result->outcome));
	else
		snprintf(sample->outcome, sizeof(sample->outcome), "%.10s, %u ms",
		    wire_outcome_str(result->outcome),
		    (unsigned)(took_ns(result) / RM_NS_PER_MS));
}

/* True: the result is a sample for a verdict of this kind. */
static bool
is_sample(const struct ring_result *result, enum rm_kind kind)
{
	if (result->outcome == WIRE_NO_REPLY)
		return true;
	return kind == RM_KIND_RNIC_LATE &&
	       window_is_timed(result->outcome, result->stamp_source) &&
	       took_ns(result) >= WINDOW_SLOW_NS;
}

void
evidence_samples_fill(struct rm_verdict *verdicts, size_t count,
    const struct ring *ring, const struct roster *roster, rm_mono_t since)
{
	struct subject subjects[MAX_VERDICTS];
	size_t open = count < MAX_VERDICTS ? count : MAX_VERDICTS;
	bool any_late = false;

	count = open;
	for (size_t v = 0; v < count; v++) {
		subject_init(&subjects[v], &verdicts[v], roster);
		verdicts[v].evidence.sample_count = 0;
		any_late |= verdicts[v].kind == RM_KIND_RNIC_LATE;
	}
	for (size_t i = 0; i < EVIDENCE_MAX_SCANNED && open > 0; i++) {
		const struct ring_result *result = ring_get(ring, i);
		const struct roster_rnic *src, *dst;

		if (result == NULL || rm_mono_since(since, result->sent) > DISORDER_NS)
			return;
		if (result->sent.ns < since.ns ||
		    (result->outcome != WIRE_NO_REPLY && !any_late))
			continue;
		src = roster_find(roster,
		    (struct wire_rnic_id){ result->src_guid, result->src_port_num });
		dst = roster_find(roster,
		    (struct wire_rnic_id){ result->dst_guid, result->dst_port_num });
		for (size_t v = 0; v < count && src != NULL && dst != NULL; v++) {
			struct rm_evidence *evidence = &verdicts[v].evidence;

			if (evidence->sample_count == RM_EVIDENCE_SAMPLES ||
			    !is_sample(result, verdicts[v].kind) ||
			    !subject_touches(&subjects[v], src, dst))
				continue;
			add_sample(evidence, result, src, dst);
			if (evidence->sample_count == RM_EVIDENCE_SAMPLES)
				open--;
		}
	}
}

/* ---- losses by class, and of services ---- */

/* A window has only sums over all classes (DSCPs); raw results have the class. */

#define CLASSES 64
#define MAX_CLASSED 16 /* verdicts beyond this number get no classes */
#define MIN_LOST 10
#define MIN_SENT 10         /* probes in the other classes */
#define OTHERS_OF_LOST 0.05 /* part of all losses that may be in other classes */
/* share of loss in the other classes, divided by that in the class */
#define OTHERS_SHARE 0.2

struct classes {
	struct rm_verdict *verdict;
	struct wire_rnic_id id;
	rm_mono_t since;
	struct {
		uint64_t sent, lost;
	} of[CLASSES], all;
};

static size_t
classes_begin(struct classes *list, struct rm_verdict *verdicts, size_t count,
    rm_mono_t end, rm_mono_t *oldest)
{
	size_t n = 0;

	*oldest = end;
	for (size_t i = 0; i < count && n < MAX_CLASSED; i++) {
		struct rm_verdict *verdict = &verdicts[i];
		struct classes *one = &list[n];

		if (verdict->part.type != RM_PART_RNIC || verdict->rnic.guid == 0)
			continue;
		memset(one, 0, sizeof(*one));
		one->verdict = verdict;
		one->id =
		    (struct wire_rnic_id){ verdict->rnic.guid, verdict->rnic.port };
		one->since = rm_mono_add(end, -verdict->evidence.window_ns);
		if (rm_mono_since(one->since, *oldest) < 0)
			*oldest = one->since;
		n++;
	}
	return n;
}

static void
count_result(struct classes *one, const struct ring_result *result)
{
	struct rm_evidence *evidence = &one->verdict->evidence;
	const bool lost = result->outcome == WIRE_NO_REPLY;

	if (result->sent.ns < one->since.ns || !ring_touches(result, one->id))
		return;
	one->of[result->dscp % CLASSES].sent++;
	one->of[result->dscp % CLASSES].lost += lost;
	one->all.sent++;
	one->all.lost += lost;
	if (result->kind != WIRE_SERVICE)
		return;
	evidence->service_probes.sent++;
	evidence->service_probes.arrived += !lost;
}

/* Adds the class to the verdict if hardly any loss is in the other classes. */
static void
judge_classes(struct classes *one)
{
	size_t worst = 0;
	uint64_t sent, lost;

	if (one->verdict->kind != RM_KIND_RNIC_LOSSY)
		return;
	for (size_t i = 1; i < CLASSES; i++)
		if (one->of[i].lost > one->of[worst].lost)
			worst = i;
	sent = one->all.sent - one->of[worst].sent;
	lost = one->all.lost - one->of[worst].lost;
	if (one->all.lost < MIN_LOST || sent < MIN_SENT ||
	    (double)lost > OTHERS_OF_LOST * (double)one->all.lost ||
	    (double)lost * (double)one->of[worst].sent >
		OTHERS_SHARE * (double)one->of[worst].lost * (double)sent)
		return;
	one->verdict->evidence.one_class = true;
	one->verdict->evidence.dscp = (uint8_t)worst;
}

void
evidence_classes_fill(
    struct rm_verdict *verdicts, size_t count, const struct ring *ring, rm_mono_t end)
{
	struct classes list[MAX_CLASSED];
	rm_mono_t oldest;
	const size_t n = classes_begin(list, verdicts, count, end, &oldest);

	for (size_t i = 0; i < EVIDENCE_MAX_SCANNED && n > 0; i++) {
		const struct ring_result *result = ring_get(ring, i);

		if (result == NULL || rm_mono_since(oldest, result->sent) > DISORDER_NS)
			break;
		if (result->sent.ns >= end.ns ||
		    (result->outcome != WIRE_OK && result->outcome != WIRE_NO_REPLY &&
			result->outcome != WIRE_LATE_REPLY))
			continue;
		for (size_t k = 0; k < n; k++)
			count_result(&list[k], result);
	}
	for (size_t k = 0; k < n; k++)
		judge_classes(&list[k]);
}
