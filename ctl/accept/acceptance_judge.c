/* The result of a burn-in. */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/accept/acceptance_state.h"
#include "ctl/accept/pair_counts.h"
#include "ctl/output/findings.h"
#include "rackmesh/metrics/sketch.h"

/* least number of probes of an RNIC that were answered, and of probes to it */
#define MIN_ANSWERED 20
#define MAX_PAIRS_LISTED 10
/* An RNIC is slow if its RTT is this many times the median of the rack, */
#define RTT_FACTOR 4
#define RTT_LEAST_NS 20000 /* and longer than that by at least this */
#define BAD_LOOKS_PART 10  /* A host may be bad in one of this many looks. */
/* A host that is stalled in more than this part (1/2) of the looks is not judged. */
#define STALLED_LOOKS_PART 2

#define NOT_JUDGED "not judged"

#define WRONG(...) findings_add(findings, FINDING_WRONG, __VA_ARGS__)
#define GOOD(...) findings_add(findings, FINDING_GOOD, __VA_ARGS__)
#define WARNING(...) findings_add(findings, FINDING_WARNING, __VA_ARGS__)

/* ---- answers of the daemons ---- */

static void
judge_looks(const struct acceptance *acceptance, struct findings *findings)
{
	findings->check = "aggregator";
	if (acceptance->looks == acceptance->unanswered) {
		WRONG("no query for the rack was answered completely");
		findings_remedy(findings,
		    "is %s a ToR of this aggregator? rackmeshctl racks lists its ToRs; "
		    "--aggregator selects another one",
		    acceptance->tor);
	} else if (acceptance->unanswered * BAD_LOOKS_PART > acceptance->looks) {
		WRONG("%u of %u queries for the rack were not answered",
		    acceptance->unanswered, acceptance->looks);
		findings_remedy(findings, "see the aggregator's log, and repeat");
	} else {
		GOOD("%u queries for the rack, %u of them not answered",
		    acceptance->looks, acceptance->unanswered);
	}
}

/* ---- presence of all RNICs ---- */

static void
judge_count(const struct acceptance *acceptance, const char *what, size_t seen,
    unsigned expected, struct findings *findings)
{
	if (seen < expected) {
		WRONG("%zu of %u expected %s are present", seen, expected, what);
		findings_remedy(findings,
		    "start the missing ones (rackmeshctl doctor on their hosts), or "
		    "correct racks: in the topology file");
	} else if (seen > expected) {
		WARNING("%zu %s are present, %u are expected", seen, what, expected);
		findings_remedy(findings,
		    "correct racks: in the topology file, or the tor: of those that do "
		    "not belong to this rack, in the agents' configs");
	} else {
		GOOD("all %u expected %s are present", expected, what);
	}
}

static void
judge_expected(const struct acceptance *acceptance, struct findings *findings)
{
	unsigned expected = acceptance->limits.rnics > 0 ? acceptance->limits.rnics
							 : acceptance->expected_rnics;
	size_t registered = 0, i;
	const json_t *each;

	findings->check = "expected";
	for (i = 0; i < acceptance->rnic_count; i++)
		registered +=
		    acceptance->rnics[i].listed && acceptance->rnics[i].registered;
	if (expected > 0) {
		judge_count(acceptance, "RNICs", registered, expected, findings);
	} else {
		WRONG("the expected number of RNICs is not known: %zu are registered",
		    registered);
		findings_remedy(findings, "give --rnics N; or set rnics: under racks: "
					  "in the topology file, and "
					  "name a controller by --controller");
	}
	if (acceptance->expected_hosts > 0)
		judge_count(acceptance, "hosts", acceptance->host_count,
		    acceptance->expected_hosts, findings);
	json_array_foreach (acceptance->refused, i, each) {
		WRONG("the controller refuses %s", json_string_value(each));
		findings_remedy(findings, "as it says");
	}
}

static void
judge_plan(const struct acceptance *acceptance, struct findings *findings)
{
	findings->check = "plan";
	if (!acceptance->has_plan) {
		WARNING("no controller answered for this rack: neither its plan nor "
			"its links are known");
		findings_remedy(findings, "name one by --controller");
	} else if (!acceptance->plan_is_held) {
		WRONG("no aggregator of the rack has its newest plan");
		findings_remedy(findings,
		    "rackmeshctl racks; is the aggregator connected to "
		    "a controller?");
	} else {
		GOOD("an aggregator has the newest plan");
	}
}

/* ---- RNICs ---- */

static bool
has_peers(const struct acceptance *acceptance, const struct accept_rnic *rnic)
{
	for (size_t i = 0; i < acceptance->rnic_count; i++)
		if (&acceptance->rnics[i] != rnic &&
		    strcmp(acceptance->rnics[i].transport, rnic->transport) == 0)
			return true;
	return false;
}

static uint64_t
median_of(const struct accept_rnic *rnic)
{
	return rnic->rtt == NULL ? 0 : rm_sketch_quantile_ns(rnic->rtt, 0.5);
}

static int
by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Returns the median of all RNICs' median RTTs; 0: there is none. */
static uint64_t
rack_median(const struct acceptance *acceptance)
{
	uint64_t *medians = calloc(acceptance->rnic_count + 1, sizeof(*medians)),
		 median;
	size_t count = 0;

	if (medians == NULL)
		return 0;
	for (size_t i = 0; i < acceptance->rnic_count; i++)
		if (median_of(&acceptance->rnics[i]) > 0)
			medians[count++] = median_of(&acceptance->rnics[i]);
	qsort(medians, count, sizeof(*medians), by_size);
	median = count == 0 ? 0 : medians[(count - 1) / 2];
	free(medians);
	return median;
}

static bool
is_on(const struct accept_rnic *rnic, const struct accept_host *host)
{
	const size_t length = strlen(host->name);

	return strncmp(rnic->name, host->name, length) == 0 &&
	       rnic->name[length] == '/';
}

/* True: the RNIC's host, or any host, had more stalls than allowed. */
static bool
is_disturbed(
    const struct acceptance *acceptance, const struct accept_rnic *rnic, bool own)
{
	for (size_t i = 0; i < acceptance->host_count; i++) {
		const struct accept_host *host = &acceptance->hosts[i];

		if (host->stalled_looks * BAD_LOOKS_PART > host->looks &&
		    (!own || is_on(rnic, host)))
			return true;
	}
	return false;
}

/* Returns the RNIC's health at the last look. An unknown health that is rare counts as
 * "good": an RNIC has no health in a window in which its host is stalled. */
static const char *
health_of(const struct accept_rnic *rnic)
{
	return strcmp(rnic->health, "unknown") == 0 &&
		       rnic->unknown_looks * BAD_LOOKS_PART <= rnic->looks
		   ? "good"
		   : rnic->health;
}

/* Returns the reason in a word or two, for the table; "pass": there is no reason
 * against the RNIC. *remedy: what to do. */
static const char *
found_of(const struct acceptance *acceptance, const struct accept_rnic *rnic,
    uint64_t median, const char **remedy)
{
	uint64_t out = rnic->out.answered + rnic->out.lost;
	uint64_t in = rnic->in.answered + rnic->in.lost;

	*remedy = "start the agent of its host; rackmeshctl doctor there shows what is "
		  "missing";
	if (!rnic->listed || !rnic->registered)
		return "not registered";
	*remedy = "is a controller connected, and does the topology have the ToR?";
	if (!rnic->planned)
		return "not planned";
	*remedy = "look at cable, optics and switch port";
	if (strcmp(rnic->link, "down") == 0)
		return "link down";
	*remedy =
	    "see rackmeshctl rnics, and rackmeshctl doctor on its host: are probes "
	    "sent?";
	if (out < MIN_ANSWERED)
		return "does not probe";
	if (has_peers(acceptance, rnic) && in < MIN_ANSWERED)
		return "is not probed";
	*remedy = "see rackmeshctl incidents --open, and rackmeshctl drill of this "
		  "RNIC";
	if (rnic->is_lossy)
		return "lossy";
	if (acceptance_lossy(acceptance, rnic->unsent, rnic->unsent + out))
		return "cannot send";
	if (strcmp(health_of(rnic), "good") != 0)
		return "not good";
	*remedy = "compare its link speed, PCIe width, firmware and cable with its "
		  "neighbours'";
	if (median > 0 && median_of(rnic) > RTT_FACTOR * median &&
	    median_of(rnic) > median + RTT_LEAST_NS)
		return "slow";
	return "pass";
}

/* Losses that a stalled agent causes do not count against its RNIC, unless the
 * aggregator, which knows the stalls, reports the RNIC as bad. */
static const char *
verdict_of(const struct acceptance *acceptance, const struct accept_rnic *rnic,
    uint64_t median, const char **remedy)
{
	const char *verdict = found_of(acceptance, rnic, median, remedy);
	const bool not_known = strcmp(verdict, "not good") == 0;

	if (strcmp(verdict, "pass") == 0 || !rnic->listed || !rnic->registered ||
	    !rnic->planned || strcmp(rnic->link, "down") == 0 ||
	    strcmp(rnic->health, "bad") == 0 ||
	    !is_disturbed(acceptance, rnic, !not_known))
		return verdict;
	*remedy = "find out what stalls the agents of the rack, and repeat";
	return NOT_JUDGED;
}

static void
judge_rnics(struct acceptance *acceptance, struct findings *findings)
{
	uint64_t median = rack_median(acceptance);
	size_t passed = 0;

	findings->check = "rnic";
	for (size_t i = 0; i < acceptance->rnic_count; i++) {
		struct accept_rnic *rnic = &acceptance->rnics[i];
		const char *remedy;
		bool unjudged;

		rnic->verdict = verdict_of(acceptance, rnic, median, &remedy);
		if (strcmp(rnic->verdict, "pass") == 0) {
			passed++;
			continue;
		}
		unjudged = strcmp(rnic->verdict, NOT_JUDGED) == 0;
		acceptance->unjudged = acceptance->unjudged || unjudged;
		findings_add(findings, unjudged ? FINDING_WARNING : FINDING_WRONG,
		    "%s: %s (health %s, link %s; probes that it sent: %" PRIu64
		    " answered, %" PRIu64 " lost; probes sent to it: %" PRIu64
		    " answered, %" PRIu64 " lost)",
		    rnic->name, rnic->verdict, rnic->health, rnic->link,
		    rnic->out.answered, rnic->out.lost, rnic->in.answered,
		    rnic->in.lost);
		findings_remedy(findings, "%s", remedy);
	}
	if (acceptance->rnic_count == 0) {
		WRONG("the rack has no RNIC");
		findings_remedy(findings, "start its hosts' agents");
	} else if (passed == acceptance->rnic_count) {
		GOOD(
		    "all %zu RNICs probe, are probed, and lose no more than %g %%; the "
		    "median RTT is %.1f us",
		    passed, 100 * acceptance->limits.max_loss, (double)median / 1000);
	}
}

/* ---- pairs ---- */

static void
judge_pairs(const struct acceptance *acceptance, struct findings *findings)
{
	size_t count = pair_counts_count(acceptance->pairs), lossy = 0, explained = 0;

	findings->check = "pair";
	for (size_t i = 0; i < count; i++) {
		const struct pair_count *pair = pair_counts_at(acceptance->pairs, i);

		if (!acceptance_lossy(acceptance, pair->lost, pair->sent))
			continue;
		if (acceptance->rnics[pair->from].to_blame ||
		    acceptance->rnics[pair->to].to_blame) {
			explained++;
			continue;
		}
		if (++lossy > MAX_PAIRS_LISTED)
			continue;
		WRONG("%s to %s: %" PRIu64 " of %" PRIu64 " probes were lost",
		    acceptance->rnics[pair->from].name,
		    acceptance->rnics[pair->to].name, pair->lost, pair->sent);
		findings_remedy(findings, "rackmeshctl drill %s",
		    acceptance->rnics[pair->from].name);
	}
	if (lossy > MAX_PAIRS_LISTED)
		WRONG("%zu more pairs lose too much", lossy - MAX_PAIRS_LISTED);
	else if (lossy == 0 && explained > 0)
		WARNING(
		    "%zu pairs lose too much, all with an RNIC named above", explained);
	else if (lossy == 0 && count > 0)
		GOOD("none of %zu pairs within the rack loses more than %g %%", count,
		    100 * acceptance->limits.max_loss);
	if (acceptance->excused > 0)
		WARNING("%" PRIu64
			" probes were lost while the agent at one end was stalled, "
			"restarting or paused: they are not counted",
		    acceptance->excused);
	if (pair_counts_left_out(acceptance->pairs) > 0)
		WARNING("%" PRIu64 " results of more pairs than are kept were left out",
		    pair_counts_left_out(acceptance->pairs));
}

/* ---- hosts ---- */

static void
judge_stalls(struct acceptance *acceptance, const struct accept_host *host,
    struct findings *findings)
{
	const bool unjudged = host->stalled_looks * STALLED_LOOKS_PART > host->looks;

	if (host->stalled_looks == 0)
		return;
	acceptance->unjudged = acceptance->unjudged || unjudged;
	WARNING("host %s was stalled, in %u of %u queries%s", host->name,
	    host->stalled_looks, host->looks, unjudged ? ": it is not judged" : "");
	findings_remedy(findings,
	    "find out what stalls its agent: rackmeshctl doctor on %s; "
	    "rackmesh_agent_loop_stalls_total counts the stalls",
	    host->name);
}

static void
judge_host(const struct accept_host *host, struct findings *findings)
{
	if (host->slowed_looks * BAD_LOOKS_PART > host->looks) {
		WRONG("host %s probes less than it should (%s), in %u of %u queries",
		    host->name, host->slowed, host->slowed_looks, host->looks);
		findings_remedy(findings, "see limits: in its agent's config");
	}
	if (!host->is_ok || !host->connected ||
	    host->bad_looks * BAD_LOOKS_PART > host->looks) {
		WRONG("host %s is %s, in %u of %u queries", host->name,
		    host->state[0] == '\0' ? "no longer reported" : host->state,
		    host->bad_looks, host->looks);
		findings_remedy(findings, "rackmeshctl doctor on %s", host->name);
	} else if (host->bad_looks > 0) {
		WARNING("host %s was %s, in %u of %u queries", host->name, host->state,
		    host->bad_looks, host->looks);
		findings_remedy(findings, "journalctl -u host-agent on %s", host->name);
	}
}

static void
judge_hosts(struct acceptance *acceptance, struct findings *findings)
{
	size_t before = findings->counts[FINDING_WRONG];

	findings->check = "host";
	for (size_t i = 0; i < acceptance->host_count; i++) {
		judge_host(&acceptance->hosts[i], findings);
		judge_stalls(acceptance, &acceptance->hosts[i], findings);
	}
	if (acceptance->host_count == 0) {
		WRONG("the aggregator names no host of the rack");
		findings_remedy(findings, "start their agents");
	} else if (findings->counts[FINDING_WRONG] == before) {
		GOOD("%zu hosts are connected, none of them slowed",
		    acceptance->host_count);
	}
}

/* ---- incidents ---- */

static void
judge_incidents(const struct acceptance *acceptance, struct findings *findings)
{
	findings->check = "incident";
	for (size_t i = 0; i < acceptance->incident_count; i++) {
		WRONG("%s", acceptance->incidents[i].sentence);
		findings_remedy(
		    findings, "rackmeshctl explain %s", acceptance->incidents[i].id);
	}
	if (acceptance->incident_count == 0 &&
	    acceptance->looks > acceptance->unanswered)
		GOOD("no incident was open");
}

/* ---- paths ---- */

static void
judge_paths(const struct acceptance *acceptance, struct findings *findings)
{
	size_t seen = 0, expected = 0;

	findings->check = "path";
	if (acceptance->limits.without_paths) {
		WARNING("paths were not checked (--no-paths)");
		return;
	}
	for (size_t i = 0; i < acceptance->uplink_count; i++) {
		const struct accept_uplink *uplink = &acceptance->uplinks[i];

		expected += uplink->expected;
		seen += uplink->expected && uplink->seen;
		if (!uplink->expected || uplink->seen)
			continue;
		WRONG("no traced path crosses the uplink to %s", uplink->name);
		findings_remedy(findings,
		    "rackmeshctl topology show: is its address an alias of the switch? "
		    "does "
		    "the switch answer with ICMP time exceeded? Where nothing traces: "
		    "--no-paths");
	}
	if (expected == 0) {
		WARNING(
		    acceptance->has_topology
			? "the topology has no link of %s: its uplinks were not judged"
			: "no controller reported the links of %s: its uplinks were "
			  "not judged",
		    acceptance->tor);
		findings_remedy(
		    findings, "list its links in the topology file, under links:");
	} else if (seen == expected) {
		GOOD("traced paths cross all %zu uplinks (%" PRIu64 " of %" PRIu64
		     " flows traced)",
		    seen, acceptance->traced, acceptance->flows);
	}
}

enum acceptance_result
acceptance_judge(struct acceptance *acceptance, struct findings *findings)
{
	const size_t before = findings->counts[FINDING_WRONG];

	acceptance->unjudged = false;
	acceptance_blame(acceptance);
	judge_looks(acceptance, findings);
	judge_expected(acceptance, findings);
	judge_plan(acceptance, findings);
	judge_rnics(acceptance, findings);
	judge_pairs(acceptance, findings);
	judge_hosts(acceptance, findings);
	judge_incidents(acceptance, findings);
	judge_paths(acceptance, findings);
	if (findings->counts[FINDING_WRONG] > before)
		return ACCEPTANCE_FAIL;
	return acceptance->unjudged ? ACCEPTANCE_NOT_JUDGED : ACCEPTANCE_PASS;
}
