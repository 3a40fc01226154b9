#include <inttypes.h>
#include <stdio.h>

#include "rackmesh/judge/verdict.h"
#include "tor-aggregator/report_check/report_check_state.h"
#include "tor-aggregator/suspect/rack_evidence.h"
#include "tor-aggregator/window/rack_view.h"

#define CONFIDENCE 0.95
/* Confidence if the contradicting hosts are not more than may be wrong at the same
 * time. */
#define FEW_CONFIDENCE 0.8

static void
report_miscount(const struct report_check *check, const struct rack *rack, size_t host,
    struct rm_evidence *evidence)
{
	const struct rack_miscount *miscount = &check->hosts[host].miscount;
	char src[RACK_MEMBER_NAME_BYTES], dst[RACK_MEMBER_NAME_BYTES];

	rack_member_name(rack, miscount->src, src);
	rack_member_name(rack, miscount->dst, dst);
	snprintf(evidence->observed, sizeof(evidence->observed),
	    "it disagrees with %" PRIu32
	    " hosts on what arrives: %.30s reports that %.30s answered %" PRIu64
	    ", which received %" PRIu64,
	    check->hosts[host].reported.miscounts, src, dst,
	    miscount->answered / RACK_REPORT_UNIT,
	    miscount->arrived / RACK_REPORT_UNIT);
	evidence->peers = check->hosts[host].reported.miscounts;
}

static void
report_what(const struct report_check *check, const struct rack *rack, size_t host,
    struct rm_evidence *evidence)
{
	const struct rack_contradiction *reported = &check->hosts[host].reported;
	const uint64_t lost = reported->lost / RACK_REPORT_UNIT;
	const uint64_t sent = reported->sent / RACK_REPORT_UNIT;
	char dst[RACK_MEMBER_NAME_BYTES];

	if (reported->miscounts > reported->peers && !reported->reaches_alone) {
		report_miscount(check, rack, host, evidence);
		return;
	}
	rack_member_name(rack, reported->dst, dst);
	if (reported->reaches_alone && reported->src == reported->dst)
		snprintf(evidence->observed, sizeof(evidence->observed),
		    "it reports that probes of %.60s are answered, %" PRIu32
		    " others report that none are",
		    dst, reported->observers);
	else if (reported->reaches_alone)
		snprintf(evidence->observed, sizeof(evidence->observed),
		    "it reports that %.50s answered %" PRIu64 " of its %" PRIu64
		    " probes; %" PRIu32 " others report that none are answered",
		    dst, sent - lost, sent, reported->observers);
	else
		snprintf(evidence->observed, sizeof(evidence->observed),
		    "it reports that %" PRIu64 " of its %" PRIu64 " probes to %" PRIu32
		    " hosts were lost, as to %.40s; others reach them, and %" PRIu32
		    " of them count its probes",
		    lost, sent, reported->peers, dst, reported->counted);
	evidence->peers =
	    reported->reaches_alone ? reported->observers : reported->peers;
}

void
report_check_rule_out(const struct report_check *check, const struct rack *rack,
    size_t member, struct rm_evidence *evidence)
{
	const struct rack_observers *observers = &check->observers[member];
	char name[RACK_MEMBER_NAME_BYTES];

	if (observers->good == 0)
		return;
	rack_member_name(rack, member, name);
	snprintf(evidence->ruled_out[evidence->ruled_out_count++], RM_EVIDENCE_TEXT,
	    "%s: %" PRIu32 " hosts report that it answers, and %" PRIu32
	    " of its %" PRIu32 " targets answer it",
	    name, observers->good, observers->own_good, observers->own);
}

static void
agent_verdict(const struct report_check *check, const struct rack *rack, size_t host,
    struct rm_verdict *ret)
{
	const struct rack_contradiction *reported = &check->hosts[host].reported;
	const bool few = !reported->reaches_alone &&
			 reported->peers <= rack_max_faulty(rack) &&
			 reported->miscounts <= rack_max_faulty(rack);

	*ret = (struct rm_verdict){
		.part = { .type = RM_PART_AGENT },
		.kind = RM_KIND_AGENT_CONTRADICTED,
		.confidence = few ? FEW_CONFIDENCE : CONFIDENCE,
		.evidence = { .window_start = check->hosts[host].since },
	};
	snprintf(
	    ret->part.name, sizeof(ret->part.name), "%.63s", rack->hosts[host].name);
	report_what(check, rack, host, &ret->evidence);
	if (reported->peers > 0)
		report_check_rule_out(check, rack, reported->dst, &ret->evidence);
}

size_t
report_check_judge(const struct report_check *check, const struct rack *rack,
    const struct rack_suspect_memory *suspects, int64_t window_ns,
    struct rm_verdict *verdicts)
{
	size_t count = 0;

	if (rack->host_count < RACK_MIN_HOSTS)
		return 0;
	for (size_t i = 0; i < check->host_count; i++)
		if (check->hosts[i].named && rack->hosts[i].state == HOST_OK)
			agent_verdict(check, rack, i, &verdicts[count++]);
	count += rack_quarrels_judge(
	    check, rack, suspects, &verdicts[count], check->host_count - count);
	for (size_t i = 0; i < count; i++)
		verdicts[i].evidence.window_ns = window_ns;
	return count;
}
