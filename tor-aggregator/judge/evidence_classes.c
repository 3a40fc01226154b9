#include "tor-aggregator/judge/evidence_classes.h"

#include <stdbool.h>
#include <string.h>

#include "rackmesh/judge/verdict.h"
#include "schemas/wire.h"
#include "tor-aggregator/window/ring.h"

#define CLASSES 64
#define MAX_VERDICTS 16    /* beyond: nothing is said */
#define MAX_SCANNED 262144 /* results looked at for one judgement */
#define DISORDER_NS (2 * RM_NS_PER_S)
#define MIN_LOST 10
#define MIN_SENT 10         /* of the other classes */
#define OTHERS_OF_LOST 0.05 /* that may be of another class */
#define OTHERS_SHARE 0.2    /* of the class's share of loss, in the others */

struct classes {
	struct rm_verdict *verdict;
	struct wire_rnic_id id;
	rm_mono_t since;
	struct {
		uint64_t sent, lost;
	} of[CLASSES], all;
};

static size_t
begin(struct classes *list, struct rm_verdict *verdicts, size_t count, rm_mono_t end,
    rm_mono_t *oldest)
{
	size_t n = 0;

	*oldest = end;
	for (size_t i = 0; i < count && n < MAX_VERDICTS; i++) {
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

/* Is it this class that loses, and no other? */
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
	struct classes list[MAX_VERDICTS];
	rm_mono_t oldest;
	const size_t n = begin(list, verdicts, count, end, &oldest);

	for (size_t i = 0; i < MAX_SCANNED && n > 0; i++) {
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
