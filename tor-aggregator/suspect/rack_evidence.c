#include "tor-aggregator/suspect/rack_evidence.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "rackmesh/judge/judge.h"
#include "tor-aggregator/suspect/rack_legs.h"
#include "tor-aggregator/suspect/rack_pair.h"
#include "tor-aggregator/window/rack_view.h"
#include "tor-aggregator/window/similar.h"

#define COMMON_MEMBERS 3
#define COMMON_SHARE 0.65 /* least share of all members that are blamed */
/* least number of lost probes of the others, which is hardly ever reached by chance */
#define SHARED_LOST 8
/* share of loss of the others, as a part of the member's share */
#define SHARED_PART 0.25
#define MIN_TO_RULE_OUT 4     /* least number of probes or packets */
#define SHARE_TO_RULE_OUT 0.9 /* least share of them that was answered or arrived */
#define MAX_PEERS_RULED_OUT 3

/* least number of probes to the member, and of its own probes */
#define REFUSES_MIN 8
#define REFUSES_LOST 0.95
#define REFUSES_MISSING 0.9
#define REFUSES_OWN 0.1 /* largest share of its own probes that may be lost */

/* Standard deviation of a pair's receive count, in packets. It comes from the two edges
 * of the window, and from the remaining difference of the two clocks. */
#define COUNT_DEVIATION(sent_per_s) (1.5 + 0.03 * (sent_per_s))

void
rack_member_name(
    const struct rack *rack, size_t member, char name[RACK_MEMBER_NAME_BYTES])
{
	snprintf(name, RACK_MEMBER_NAME_BYTES, "%.63s/%.63s",
	    rack->members[member].host, rack->members[member].device);
}

static void
tally_end(struct rack_tally *tally, const struct rack_pair *pair, bool excused)
{
	const uint32_t lost = pair->sent - pair->answered;

	tally->sent += pair->sent;
	tally->lost += lost;
	tally->newest_sent += pair->newest_sent;
	tally->newest_lost += pair->newest_lost;
	if (!pair->large) {
		tally->small_sent += pair->sent;
		tally->small_lost += lost;
	}
	if (excused)
		return;
	tally->clean_sent += pair->sent;
	tally->clean_lost += lost;
	tally->clean_newest_answered += pair->newest_sent - pair->newest_lost;
	if (pair->large) {
		tally->large_sent += pair->sent;
		tally->large_lost += lost;
		tally->large_inside_lost += pair->remote ? 0 : lost;
	}
	if (!pair->remote) {
		tally->inside_sent += pair->sent;
		tally->inside_answered += pair->answered;
	}
}

static void
tally_probe_loss(
    struct rack_probe_loss *loss, const struct rack_pair *pair, double seconds)
{
	const double deviation = COUNT_DEVIATION((double)pair->sent / seconds);

	if (!pair->counted)
		return;
	loss->sent += pair->sent;
	loss->lost += pair->sent - pair->answered;
	loss->missing += pair->sent - pair->arrived;
	loss->variance += deviation * deviation * (double)pair->weight;
}

static void
tally_bytes(struct rack_tally *tally, const struct rack_pair *pair)
{
	uint16_t *bytes = pair->large ? &tally->large_bytes : &tally->small_bytes;

	if (pair->bytes > *bytes)
		*bytes = pair->bytes;
}

/* Adds the probes of a pair of members to the tallies of both. They are clean for one
 * member if the other one is not blamed. */
static void
tally_mesh(struct rack_tally *tallies, const struct rack_legs *legs,
    const struct rack_blame *blame, const struct rack_pair *pair)
{
	struct rack_tally *src = &tallies[pair->src], *dst = &tallies[pair->dst];

	tally_bytes(src, pair);
	tally_bytes(dst, pair);
	if (!blame->members[pair->dst]) {
		tally_probe_loss(&src->own, pair, legs->seconds);
		if (pair->large)
			tally_probe_loss(&src->large_own, pair, legs->seconds);
	}
	if (!blame->members[pair->src]) {
		tally_probe_loss(&dst->peers, pair, legs->seconds);
		if (pair->large)
			tally_probe_loss(&dst->large_peers, pair, legs->seconds);
	}
	tally_end(src, pair, blame->tor || blame->members[pair->dst]);
	tally_end(dst, pair, blame->tor || blame->members[pair->src]);
}

void
rack_blame_note(struct rack_blame *blame, const struct rack_legs *legs,
    const struct rm_explanation *explanation, size_t members, size_t remotes)
{
	memset(blame->members, 0, members * sizeof *blame->members);
	memset(blame->remotes, 0, remotes * sizeof *blame->remotes);
	blame->tor = blame->uplinks = false;
	for (size_t i = 0; i < explanation->part_count; i++) {
		const size_t candidate = explanation->parts[i].candidate;
		enum rack_direction direction;
		size_t index;

		if (rack_legs_is_member(legs, candidate, &index, &direction))
			blame->members[index] = true;
		else if (rack_legs_is_tor(legs, candidate))
			blame->tor = true;
		else if (rack_legs_is_uplinks(legs, candidate))
			blame->uplinks = true;
		else if (rack_legs_is_remote(legs, candidate, &index))
			blame->remotes[index] = true;
	}
}

/* The member's share of lost probes to other racks; 0: too few are lost. */
static double
lost_outside(const struct rack_tally *tally)
{
	const uint64_t lost = tally->outside_sent - tally->outside_answered;

	return lost >= SHARED_LOST ? (double)lost / (double)tally->outside_sent : 0;
}

bool
rack_blame_is_common(
    const struct rack_blame *blame, const struct rack_tally *tallies, size_t members)
{
	size_t blamed = 0;

	if (members == 2)
		return blame->members[0] && blame->members[1] &&
		       similar_shares(
			   lost_outside(&tallies[0]), lost_outside(&tallies[1]));
	for (size_t i = 0; i < members; i++)
		blamed += blame->members[i];
	return blamed >= COMMON_MEMBERS &&
	       (double)blamed >= COMMON_SHARE * (double)members;
}

bool
rack_loss_is_shared(const struct rack_legs *legs, const struct rack_blame *blame,
    const struct rack_tally *tally)
{
	uint64_t sent = 0, lost = 0;

	for (size_t i = 0; i < legs->pair_count; i++) {
		const struct rack_pair *pair = &legs->pairs[i];

		if (pair->remote || blame->members[pair->src] ||
		    blame->members[pair->dst])
			continue;
		sent += pair->sent;
		lost += pair->sent - pair->answered;
	}
	return lost >= SHARED_LOST &&
	       (double)lost * (double)tally->sent >=
		   SHARED_PART * (double)tally->lost * (double)sent;
}

void
rack_evidence_tally(const struct rack_legs *legs, const struct rack_blame *blame,
    struct rack_tally *tallies)
{
	memset(tallies, 0, legs->members * sizeof *tallies);
	for (size_t i = 0; i < legs->members && legs->any_stall; i++) {
		tallies[i].any_stall = true;
		tallies[i].stalled_sent = legs->stalls[i].sent;
		tallies[i].stalled_lost = legs->stalls[i].lost;
	}
	for (size_t i = 0; i < legs->pair_count; i++) {
		const struct rack_pair *pair = &legs->pairs[i];
		struct rack_tally *src = &tallies[pair->src];

		src->own_sent += pair->sent;
		src->send_failed += pair->send_failed;
		if (pair->large)
			src->large_failed += pair->send_failed;
		if (pair->remote) {
			tally_bytes(src, pair);
			src->outside_sent += pair->sent;
			src->outside_answered += pair->answered;
			if (!blame->remotes[pair->dst]) {
				src->unblamed_sent += pair->sent;
				src->unblamed_newest_sent += pair->newest_sent;
				src->unblamed_newest_answered +=
				    pair->newest_sent - pair->newest_lost;
			}
			tally_end(src, pair,
			    blame->tor || blame->remotes[pair->dst] ||
				(blame->uplinks && !pair->reflector));
			continue;
		}
		tally_mesh(tallies, legs, blame, pair);
	}
}

bool
rack_tally_refuses(const struct rack_tally *tally)
{
	const struct rack_probe_loss *own = &tally->own, *peers = &tally->peers;

	return peers->sent >= REFUSES_MIN && own->sent >= REFUSES_MIN &&
	       peers->lost >= REFUSES_LOST * peers->sent &&
	       peers->missing + sqrt(peers->variance) >=
		   REFUSES_MISSING * peers->sent &&
	       own->lost <= REFUSES_OWN * own->sent;
}

static void
add_leg(struct rm_leg_counts *legs, uint32_t sent, uint32_t arrived)
{
	legs->sent += sent;
	legs->arrived += arrived;
}

static void
add_mesh_pair(struct rm_evidence *evidence, const struct rack_pair *pair, size_t member)
{
	const bool mine = pair->src == member;
	struct rm_leg_counts *out = mine ? &evidence->from_part : &evidence->to_part;
	struct rm_leg_counts *back = mine ? &evidence->to_part : &evidence->from_part;

	if (!pair->counted) /* it is not known whether probes or replies were lost */
		return;
	add_leg(out, pair->sent, pair->arrived);
	add_leg(back, pair->arrived, pair->answered);
}

static void
add_counts(const struct rack_legs *legs, const struct rack_blame *blame, size_t member,
    bool *witnesses, struct rm_evidence *evidence)
{
	for (size_t i = 0; i < legs->pair_count; i++) {
		const struct rack_pair *pair = &legs->pairs[i];

		if (pair->sent == 0)
			continue;
		if (pair->remote) {
			if (pair->src == member)
				add_leg(&evidence->outside, pair->sent, pair->answered);
			continue;
		}
		if (pair->src == member || pair->dst == member) {
			add_mesh_pair(evidence, pair, member);
			witnesses[pair->src == member ? pair->dst : pair->src] = true;
		} else if (!blame->members[pair->src] && !blame->members[pair->dst]) {
			add_leg(&evidence->others, pair->sent,
			    pair->counted ? pair->arrived : pair->answered);
			if (pair->counted)
				add_leg(
				    &evidence->others, pair->arrived, pair->answered);
		}
	}
}

static void __attribute__((format(printf, 2, 3)))
rule_out(struct rm_evidence *evidence, const char *format, ...)
{
	va_list args;

	if (evidence->ruled_out_count == RM_EVIDENCE_RULED_OUT)
		return;
	va_start(args, format);
	vsnprintf(evidence->ruled_out[evidence->ruled_out_count++], RM_EVIDENCE_TEXT,
	    format, args);
	va_end(args);
}

static bool
clears(uint64_t answered, uint64_t sent)
{
	return sent >= MIN_TO_RULE_OUT &&
	       (double)answered >= SHARE_TO_RULE_OUT * (double)sent;
}

static void
rule_out_side(enum rm_kind kind, struct rm_evidence *evidence)
{
	const bool send_dead = kind == RM_KIND_RNIC_SEND_DEAD;
	const struct rm_leg_counts *well =
	    send_dead ? &evidence->to_part : &evidence->from_part;

	if ((!send_dead && kind != RM_KIND_RNIC_RECEIVE_DEAD) ||
	    !clears(well->arrived, well->sent))
		return;
	rule_out(evidence,
	    "its %s side: %" PRIu64 " of %" PRIu64 " packets %s it arrived",
	    send_dead ? "receive" : "send", well->arrived, well->sent,
	    send_dead ? "to" : "from");
}

/* Rules out RNICs at the other end of lost probes that work with all other RNICs. */
static void
rule_out_peers(const struct rack *rack, const struct rack_blame *blame,
    const struct rack_tally *tallies, const bool *witnesses,
    struct rm_evidence *evidence)
{
	unsigned count = 0;

	for (size_t i = 0; i < rack->member_count && count < MAX_PEERS_RULED_OUT; i++) {
		const struct rack_tally *tally = &tallies[i];
		char name[RACK_MEMBER_NAME_BYTES];

		if (!witnesses[i] || blame->members[i])
			continue;
		rack_member_name(rack, i, name);
		if (clears(tally->outside_answered, tally->outside_sent))
			rule_out(evidence,
			    "%s: %" PRIu64 " of %" PRIu64
			    " of its probes to other racks were answered",
			    name, tally->outside_answered, tally->outside_sent);
		else if (clears(tally->inside_answered, tally->inside_sent))
			rule_out(evidence,
			    "%s: %" PRIu64 " of %" PRIu64
			    " of its probes with the others were answered",
			    name, tally->inside_answered, tally->inside_sent);
		else
			continue;
		count++;
	}
}

static void
write_observation(
    const struct rack_tally *tally, enum rm_kind kind, struct rm_evidence *evidence)
{
	const uint64_t small = tally->clean_sent - tally->large_sent;
	const uint64_t small_lost = tally->clean_lost - tally->large_lost;
	const uint64_t large = tally->large_sent + tally->large_failed;

	if (kind == RM_KIND_RNIC_MTU)
		snprintf(evidence->observed, sizeof evidence->observed,
		    "%" PRIu64 " of %" PRIu64
		    " probes of %u bytes were answered, and %" PRIu64 " of %" PRIu64
		    " of up to %u bytes",
		    tally->large_sent - tally->large_lost, large, tally->large_bytes,
		    small - small_lost, small, tally->small_bytes);
	else if (kind == RM_KIND_RNIC_RECEIVE_DEAD && rack_tally_refuses(tally))
		snprintf(evidence->observed, sizeof evidence->observed,
		    "its own probes are answered, but it accepts no probes of others: "
		    "a "
		    "firewall of its host, or an agent that does not answer");
	else if (kind == RM_KIND_RNIC_LATE)
		snprintf(evidence->observed, sizeof evidence->observed,
		    "packets arrive in both directions, but no reply arrives within "
		    "the time-out of probes");
	else if (tally->send_failed > 0)
		snprintf(evidence->observed, sizeof evidence->observed,
		    "%sits own host could not send %" PRIu64 " of %" PRIu64
		    " probes through it",
		    kind == RM_KIND_RNIC_SEND_FAILED ? "send-failed: " : "",
		    tally->send_failed, tally->send_failed + tally->own_sent);
}

void
rack_evidence_of_member(const struct rack *rack, const struct rack_legs *legs,
    const struct rack_blame *blame, const struct rack_tally *tallies, size_t member,
    enum rm_kind kind, bool *witnesses, struct rm_evidence *evidence)
{
	const struct rack_tally *tally = &tallies[member];

	memset(witnesses, 0, rack->member_count * sizeof *witnesses);
	add_counts(legs, blame, member, witnesses, evidence);
	for (size_t i = 0; i < rack->member_count; i++)
		evidence->peers += witnesses[i];
	write_observation(tally, kind, evidence);
	rule_out_side(kind, evidence);
	rule_out_peers(rack, blame, tallies, witnesses, evidence);
}

/* Adds the sentence that two dead RNICs and a dead ToR look the same if no third RNIC
 * reports. */
static void
observe_two(const struct rack *rack, const size_t two[2], struct rm_evidence *evidence)
{
	char a[RACK_MEMBER_NAME_BYTES], b[RACK_MEMBER_NAME_BYTES];

	rack_member_name(rack, two[0], a);
	rack_member_name(rack, two[1], b);
	snprintf(evidence->observed, sizeof evidence->observed,
	    "or both %.60s and %.60s are dead: there is no third RNIC to compare", a,
	    b);
}

void
rack_evidence_of_tor(const struct rack *rack, const struct rack_legs *legs,
    const struct rack_tally *tallies, struct rm_evidence *evidence)
{
	size_t report[2] = { 0 };

	for (size_t i = 0; i < legs->pair_count; i++) {
		const struct rack_pair *pair = &legs->pairs[i];

		add_leg(pair->remote ? &evidence->outside : &evidence->others,
		    pair->sent, pair->answered);
	}
	for (size_t i = 0; i < legs->members; i++) {
		if (tallies[i].sent + tallies[i].send_failed == 0)
			continue;
		report[evidence->peers++ & 1] = i;
	}
	if (evidence->peers == 2 && rm_tor_fails_inside(&evidence->others))
		observe_two(rack, report, evidence);
}
