#include <inttypes.h>
#include <stdio.h>

#include "rackmesh/judge/verdict.h"
#include "tor-aggregator/report_check/report_check_state.h"
#include "tor-aggregator/suspect/rack_evidence.h"
#include "tor-aggregator/suspect/rack_suspect.h"
#include "tor-aggregator/window/rack_view.h"

#define CONFIDENCE 0.8

static size_t
host_of(const struct rack *rack, size_t member)
{
	return rack->members[member].host_index;
}

/* True: the quarrel is between these two hosts; either may be src. */
static bool
is_between(const struct rack *rack, const struct rack_quarrel *quarrel,
    const struct rack_quarrel *other)
{
	const size_t a = host_of(rack, quarrel->src), b = host_of(rack, quarrel->dst);
	const size_t c = host_of(rack, other->src), d = host_of(rack, other->dst);

	return (a == c && b == d) || (a == d && b == c);
}

void
rack_quarrels_note(struct report_check *check, const struct rack *rack,
    const struct rack_quarrel *seen)
{
	struct rack_quarrel *quarrel = check->quarrels;
	const struct rack_quarrel *end = quarrel + check->quarrel_count;

	while (quarrel < end && !is_between(rack, quarrel, seen))
		quarrel++;
	if (quarrel == end) {
		/* There is no room for another quarrel until one has ended. */
		if (check->quarrel_count == check->host_count)
			return;
		check->quarrel_count++;
		*quarrel = *seen;
	} else if (quarrel->src == seen->src && quarrel->dst == seen->dst) {
		/* A quarrel keeps its pair of members, and gets the newest figures. */
		quarrel->sent = seen->sent;
		quarrel->lost = seen->lost;
		quarrel->both_directions = seen->both_directions;
		quarrel->counts = seen->counts;
	}
	quarrel->seen = true;
}

/* True: the host is named, or will be named soon, so quarrels with it are not
 * reported. */
static bool
is_doubted(const struct report_check *check, size_t host)
{
	return check->hosts[host].named || check->hosts[host].windows > 0;
}

/* Counts a window with or without the quarrel. False: the quarrel is over. */
static bool
age(const struct report_check *check, const struct rack *rack,
    struct rack_quarrel *quarrel, rm_wall_t start)
{
	const size_t src = host_of(rack, quarrel->src);
	const size_t dst = host_of(rack, quarrel->dst);
	const bool seen = quarrel->seen && !(quarrel->counts && check->counts_differ);

	quarrel->seen = false;
	if (check->hosts[src].named || check->hosts[dst].named)
		return false;
	if (!seen) {
		quarrel->windows = 0;
		return quarrel->reported && ++quarrel->absent < RACK_ABSENT_WINDOWS;
	}
	if (quarrel->since.ns == 0)
		quarrel->since = start;
	quarrel->absent = 0;
	if (++quarrel->windows >= RACK_NAMED_WINDOWS && !is_doubted(check, src) &&
	    !is_doubted(check, dst))
		quarrel->reported = true;
	return true;
}

void
rack_quarrels_age(struct report_check *check, const struct rack *rack, rm_wall_t start)
{
	size_t kept = 0;

	for (size_t i = 0; i < check->quarrel_count; i++) {
		struct rack_quarrel *quarrel = &check->quarrels[i];

		if (age(check, rack, quarrel, start))
			check->quarrels[kept++] = *quarrel;
	}
	check->quarrel_count = kept;
}

static void
report_what(const struct rack_quarrel *quarrel, const char *src, const char *dst,
    struct rm_evidence *evidence)
{
	const uint64_t sent = quarrel->sent / RACK_REPORT_UNIT;
	const uint64_t lost = quarrel->lost / RACK_REPORT_UNIT;

	if (quarrel->counts)
		snprintf(evidence->observed, sizeof(evidence->observed),
		    "%.30s reports that %" PRIu64
		    " of its probes to %.30s were answered, which reports that it "
		    "received %" PRIu64,
		    src, sent, dst, sent - lost);
	else
		snprintf(evidence->observed, sizeof(evidence->observed),
		    "%.30s reports that %" PRIu64 " of its %" PRIu64
		    " probes to %.30s were lost, %s; others reach both",
		    src, lost, sent, dst,
		    quarrel->both_directions ? "which reports the same"
					     : "which does not");
}

static void
quarrel_verdict(const struct report_check *check, const struct rack *rack,
    const struct rack_quarrel *quarrel, struct rm_verdict *ret)
{
	const struct rack_suspect pair = { .member = quarrel->src,
		.other = quarrel->dst };
	char src[RACK_MEMBER_NAME_BYTES], dst[RACK_MEMBER_NAME_BYTES];

	*ret = (struct rm_verdict){
		.part = { .type = RM_PART_RNIC },
		.kind = RM_KIND_PAIR_CONTRADICTED,
		.confidence = CONFIDENCE,
		.evidence = { .window_start = quarrel->since },
	};
	rack_suspect_name(rack, &pair, &ret->part);
	rack_member_name(rack, quarrel->src, src);
	rack_member_name(rack, quarrel->dst, dst);
	report_what(quarrel, src, dst, &ret->evidence);
	report_check_rule_out(check, rack, quarrel->src, &ret->evidence);
	report_check_rule_out(check, rack, quarrel->dst, &ret->evidence);
}

size_t
rack_quarrels_judge(const struct report_check *check, const struct rack *rack,
    const struct rack_suspect_memory *suspects, struct rm_verdict *verdicts,
    size_t room)
{
	size_t count = 0;

	for (size_t i = 0; i < check->quarrel_count && count < room; i++) {
		const struct rack_quarrel *quarrel = &check->quarrels[i];
		const size_t src = host_of(rack, quarrel->src);
		const size_t dst = host_of(rack, quarrel->dst);

		if (quarrel->reported && suspects[quarrel->src].named == 0 &&
		    suspects[quarrel->dst].named == 0 && !is_doubted(check, src) &&
		    !is_doubted(check, dst) && rack->hosts[src].state == HOST_OK &&
		    rack->hosts[dst].state == HOST_OK)
			quarrel_verdict(check, rack, quarrel, &verdicts[count++]);
	}
	return count;
}
