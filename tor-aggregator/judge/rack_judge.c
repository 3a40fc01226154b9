#include "tor-aggregator/judge/rack_judge.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/core/fnv.h"
#include "rackmesh/judge/judge.h"
#include "tor-aggregator/judge/rack_hosts.h"
#include "tor-aggregator/judge/rack_ports.h"
#include "tor-aggregator/lasting/rack_slow.h"
#include "tor-aggregator/report_check/report_check.h"
#include "tor-aggregator/suspect/rack_evidence.h"
#include "tor-aggregator/suspect/rack_late.h"
#include "tor-aggregator/suspect/rack_legs.h"
#include "tor-aggregator/suspect/rack_loss.h"
#include "tor-aggregator/suspect/rack_support.h"
#include "tor-aggregator/suspect/rack_suspect.h"
#include "tor-aggregator/window/rack_view.h"
#include "tor-aggregator/window/window.h"

#define BASE_LOSS 0.002        /* loss, without a fault, of one leg of a round trip */
#define ALTERNATIVES_WITHIN 14 /* ln of a million */
/* Windows to wait for late replies, if probes arrive at their targets and no replies
 * arrive: the ToR may be late or down. */
#define TOR_PATIENT_WINDOWS 8
/* Windows for which a ToR stays late after late replies have arrived. */
#define TOR_LATE_WINDOWS 16
/* Parts that may be at fault at the same time. With more, the ToR is at fault, or
 * nothing can be decided. */
#define MAX_PARTS 64

struct rack_judge {
	struct rm_judge *judge;
	struct rack_slow *slow;
	struct report_check *check;
	struct rack_support *support;
	struct rack_legs legs;
	/* fingerprint of the rack that the arrays below describe */
	uint64_t fingerprint;
	unsigned tor_arrives; /* windows waited so far, up to TOR_PATIENT_WINDOWS */
	unsigned tor_late;    /* windows left of TOR_LATE_WINDOWS */

	/* The arrays have one item per member, host or remote RNIC. */
	struct rack_tally *tallies;
	struct rack_suspect_memory *suspects;
	size_t suspect_count;
	/* Restored states of ports whose RNICs are not members yet. */
	struct port_flaps_of *restored;
	size_t restored_count;
	uint64_t falls; /* windows in which a port went down */
	struct rack_host_memory *hosts;
	struct rack_blame blame;
	struct rack_late *lates;
	bool *witnesses, *excused, *unsteady;
	enum rm_health *member_health, *host_health;
	struct rm_verdict *verdicts;
	size_t verdict_count;
	struct rack_suspect *found; /* RNICs suspected in this window */
};

int
rack_judge_new(struct rack_judge **ret)
{
	const struct rm_judge_options options = {
		.base_loss = BASE_LOSS,
		.alternatives_within = ALTERNATIVES_WITHIN,
		.max_parts = MAX_PARTS,
	};
	struct rack_judge *judge = calloc(1, sizeof *judge);
	int r;

	if (judge == NULL)
		return -ENOMEM;
	r = rm_judge_new(&options, &judge->judge);
	if (r == 0)
		r = rack_slow_new(&judge->slow);
	if (r == 0)
		r = report_check_new(&judge->check);
	if (r == 0)
		r = rack_support_new(&judge->support);
	if (r < 0) {
		rack_judge_free(judge);
		return r;
	}
	*ret = judge;
	return 0;
}

static void
forget_rack(struct rack_judge *judge)
{
	free(judge->tallies);
	free(judge->suspects);
	free(judge->hosts);
	free(judge->blame.members);
	free(judge->blame.remotes);
	free(judge->lates);
	free(judge->witnesses);
	free(judge->excused);
	free(judge->unsteady);
	free(judge->member_health);
	free(judge->host_health);
	free(judge->verdicts);
	free(judge->found);
	judge->tallies = NULL;
	judge->suspects = NULL;
	judge->hosts = NULL;
	judge->blame = (struct rack_blame){ 0 };
	judge->lates = NULL;
	judge->witnesses = judge->excused = judge->unsteady = NULL;
	judge->member_health = judge->host_health = NULL;
	judge->verdicts = NULL;
	judge->found = NULL;
	judge->suspect_count = 0;
	judge->tor_arrives = judge->tor_late = 0;
	judge->fingerprint = 0;
}

void
rack_judge_free(struct rack_judge *judge)
{
	if (judge == NULL)
		return;
	forget_rack(judge);
	free(judge->restored);
	rack_legs_release(&judge->legs);
	rack_slow_free(judge->slow);
	report_check_free(judge->check);
	rack_support_free(judge->support);
	rm_judge_free(judge->judge);
	free(judge);
}

/* Returns a hash of members, hosts and remote RNICs in their order. If it changes,
 * their indexes have changed. */
static uint64_t
fingerprint_of(const struct rack *rack)
{
	uint64_t hash = RM_FNV1A;

	for (size_t i = 0; i < rack->member_count; i++) {
		const struct rack_member *member = &rack->members[i];

		hash = rm_fnv1a(hash, &member->id.guid, sizeof member->id.guid);
		hash = rm_fnv1a(hash, &member->id.port, sizeof member->id.port);
		hash = rm_fnv1a(hash, &member->host_index, sizeof member->host_index);
	}
	for (size_t i = 0; i < rack->host_count; i++)
		hash = rm_fnv1a(
		    hash, rack->hosts[i].name, strlen(rack->hosts[i].name) + 1);
	hash = rm_fnv1a(hash, &rack->remote_count, sizeof rack->remote_count);
	for (size_t i = 0; i < rack->remote_count; i++) {
		const struct rm_rnic_id *id = &rack->remotes[i].id;

		hash = rm_fnv1a(hash, &id->guid, sizeof id->guid);
		hash = rm_fnv1a(hash, &id->port, sizeof id->port);
	}
	return hash != 0 ? hash : 1;
}

/* Copies the known state of the RNIC's port, from its former index or from before a
 * restart: a port may flap for longer than a plan is valid. */
static void
keep_port(struct rack_judge *judge, struct rack_suspect_memory *to,
    const struct rack_suspect_memory *from, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (!rm_rnic_id_equal(from[i].rnic, to->rnic))
			continue;
		to->port_known = from[i].port_known;
		to->port_falls = from[i].port_falls;
		to->port_flaps = from[i].port_flaps;
		return;
	}
	for (size_t i = 0; i < judge->restored_count; i++) {
		if (!rm_rnic_id_equal(judge->restored[i].rnic, to->rnic))
			continue;
		to->port_flaps = judge->restored[i].flaps;
		judge->restored[i] = judge->restored[--judge->restored_count];
		return;
	}
}

bool
port_flaps_are_old(const struct port_flaps_of *port, rm_mono_t now)
{
	struct rm_recurrence flaps = port->flaps;

	if (flaps.flaps && port->down_at.ns != 0)
		flaps.at[0] = port->down_at;
	return rm_recurrence_is_old(&flaps, now);
}

bool
rack_judge_port(
    const struct rack_judge *judge, size_t i, rm_mono_t now, struct port_flaps_of *ret)
{
	for (size_t k = 0; k < judge->suspect_count; k++) {
		const struct rack_suspect_memory *memory = &judge->suspects[k];
		const struct port_flaps_of port = { memory->rnic, memory->port_flaps,
			memory->port_down > 0 ? now : (rm_mono_t){ 0 } };

		if (port.flaps.at[0].ns == 0 || port_flaps_are_old(&port, now) ||
		    i-- > 0)
			continue;
		*ret = port;
		return true;
	}
	for (size_t k = 0; k < judge->restored_count; k++) {
		if (port_flaps_are_old(&judge->restored[k], now) || i-- > 0)
			continue;
		*ret = judge->restored[k];
		return true;
	}
	return false;
}

int
rack_judge_restore_port(struct rack_judge *judge, const struct port_flaps_of *port)
{
	struct port_flaps_of *more =
	    realloc(judge->restored, (judge->restored_count + 1) * sizeof(*more));

	if (more == NULL)
		return -ENOMEM;
	judge->restored = more;
	judge->restored[judge->restored_count++] = *port;
	return 0;
}

uint64_t
rack_judge_falls(const struct rack_judge *judge)
{
	return judge->falls;
}

/* If the members or hosts have changed, makes room for the new ones, and resets their
 * state, except the state of ports. */
static int
set_rack(struct rack_judge *judge, const struct rack *rack)
{
	const uint64_t fingerprint = fingerprint_of(rack);
	const size_t members = rack->member_count + 1, hosts = rack->host_count + 1;
	struct rack_suspect_memory *before = judge->suspects;
	const size_t before_count = judge->suspect_count;

	if (fingerprint == judge->fingerprint)
		return 0;
	judge->suspects = NULL;
	forget_rack(judge);
	judge->tallies = calloc(members, sizeof *judge->tallies);
	judge->suspects = calloc(members, sizeof *judge->suspects);
	judge->hosts = calloc(hosts, sizeof *judge->hosts);
	judge->blame.members = calloc(members, sizeof(bool));
	judge->blame.remotes = calloc(rack->remote_count + 1, sizeof(bool));
	judge->lates = calloc(members, sizeof *judge->lates);
	judge->witnesses = calloc(members, sizeof(bool));
	judge->excused = calloc(members, sizeof(bool));
	judge->unsteady = calloc(members, sizeof(bool));
	judge->member_health = calloc(members, sizeof(enum rm_health));
	judge->host_health = calloc(hosts, sizeof(enum rm_health));
	judge->verdicts = calloc(members + 2 * hosts, sizeof *judge->verdicts);
	judge->found = calloc(members, sizeof *judge->found);
	if (judge->tallies == NULL || judge->suspects == NULL || judge->hosts == NULL ||
	    judge->blame.members == NULL || judge->blame.remotes == NULL ||
	    judge->lates == NULL || judge->witnesses == NULL ||
	    judge->excused == NULL || judge->unsteady == NULL ||
	    judge->member_health == NULL || judge->host_health == NULL ||
	    judge->verdicts == NULL || judge->found == NULL ||
	    rack_slow_forget(judge->slow, rack) < 0 ||
	    report_check_forget(judge->check, rack) < 0) {
		free(before);
		forget_rack(judge);
		return -ENOMEM;
	}
	judge->suspect_count = rack->member_count;
	for (size_t i = 0; i < rack->member_count; i++) {
		judge->suspects[i].rnic = rack->members[i].id;
		keep_port(judge, &judge->suspects[i], before, before_count);
	}
	free(before);
	judge->fingerprint = fingerprint;
	return 0;
}

static void
judge_hosts(struct rack_judge *judge, const struct rack *rack,
    const struct window_closed *window, rm_wall_t start)
{
	const int64_t window_ns = rm_mono_since(window->end, window->start);

	rack_hosts_count(rack, window, judge->blame.members, judge->hosts);
	for (size_t i = 0; i < rack->host_count; i++) {
		if (!rack_host_judge(rack, i, start, window_ns, &judge->hosts[i],
			&judge->verdicts[judge->verdict_count]))
			continue;
		judge->verdict_count++;
		judge->host_health[i] = RM_HEALTH_BAD;
	}
}

static struct rm_verdict *
new_verdict(struct rack_judge *judge, const struct window_closed *window,
    enum rm_part_type type, enum rm_kind kind, double confidence)
{
	struct rm_verdict *verdict = &judge->verdicts[judge->verdict_count++];

	*verdict = (struct rm_verdict){
		.part = { .type = type }, .kind = kind, .confidence = confidence
	};
	verdict->evidence.window_ns = rm_mono_since(window->end, window->start);
	return verdict;
}

static void
tor_verdict(struct rack_judge *judge, const struct rack *rack,
    const struct window_closed *window, rm_wall_t start, enum rm_kind kind)
{
	struct rm_verdict *verdict =
	    new_verdict(judge, window, RM_PART_TOR, kind, 0.95);

	snprintf(verdict->part.name, sizeof verdict->part.name, "%.63s", rack->tor);
	verdict->evidence.window_start = start;
	rack_evidence_of_tor(rack, &judge->legs, judge->tallies, &verdict->evidence);
	if (kind == RM_KIND_SWITCH_LATE)
		rack_late_tor_sentence(&judge->legs, &verdict->evidence);
}

/* Adds the verdict on the ToR, through which all probes are lost, or their replies
 * arrive after the time-out. It may take some windows to decide between these two. */
static void
judge_tor(struct rack_judge *judge, const struct rack *rack,
    const struct window_closed *window, rm_wall_t start)
{
	const enum rack_late_tor late = rack_late_tor(&judge->legs);

	if (late == RACK_TOR_LATE) {
		judge->tor_late = TOR_LATE_WINDOWS;
	} else if (late == RACK_TOR_ARRIVES && judge->tor_late == 0 &&
		   judge->tor_arrives < TOR_PATIENT_WINDOWS) {
		judge->tor_arrives++;
		return;
	}
	tor_verdict(judge, rack, window, start,
	    judge->tor_late > 0 ? RM_KIND_SWITCH_LATE : RM_KIND_TOR_DOWN);
}

static void
rnic_verdict(struct rack_judge *judge, const struct rack *rack,
    const struct window_closed *window, const struct rack_suspect *suspect)
{
	struct rm_verdict *verdict = new_verdict(
	    judge, window, RM_PART_RNIC, suspect->kind, suspect->confidence);
	struct rm_evidence *evidence = &verdict->evidence;

	rack_suspect_name(rack, suspect, &verdict->part);
	evidence->window_start = judge->suspects[suspect->member].since;
	evidence->direction = suspect->direction;
	rack_evidence_of_member(rack, &judge->legs, &judge->blame, judge->tallies,
	    suspect->member, suspect->kind, judge->witnesses, evidence);
	if (suspect->gap > 0 && evidence->observed[0] == '\0')
		snprintf(evidence->observed, sizeof evidence->observed,
		    "for a short time, and also %.1f s before",
		    (double)suspect->gap / RACK_GAPS_WINDOWS_PER_S);
	if (suspect->other == RACK_NO_OTHER) {
		verdict->rnic = rack->members[suspect->member].id;
		return;
	}
	evidence->peers = 0;
	snprintf(evidence->observed, sizeof evidence->observed,
	    "one of the two is at fault, and no other probes tell which");
}

/* Returns the verdict that exists already on this RNIC, or the verdict that its host is
 * late; otherwise NULL. */
static struct rm_verdict *
verdict_of(struct rack_judge *judge, const struct rack *rack, size_t member)
{
	const struct rack_member *of = &rack->members[member];

	for (size_t i = judge->verdict_count; i-- > 0;) {
		struct rm_verdict *verdict = &judge->verdicts[i];

		if (rm_rnic_id_equal(verdict->rnic, of->id) ||
		    (verdict->part.type == RM_PART_HOST &&
			verdict->kind == RM_KIND_RNIC_LATE &&
			strcmp(verdict->part.name, of->host) == 0))
			return verdict;
	}
	return NULL;
}

static void
add_loss_to_sentence(
    const char *whose, const struct rm_evidence *loss, struct rm_evidence *evidence)
{
	const struct rm_leg_counts *to = &loss->to_part, *from = &loss->from_part;
	const size_t len = strlen(evidence->observed);
	char figures[48] = "";

	if (to->sent + from->sent > 0)
		snprintf(figures, sizeof figures, " %" PRIu64 " of %" PRIu64,
		    to->sent - to->arrived + from->sent - from->arrived,
		    to->sent + from->sent);
	snprintf(evidence->observed + len, sizeof evidence->observed - len,
	    "; and %.63s loses%s packets", whose, figures);
	evidence->loses_too = true;
}

/* Adds to the verdict on a late RNIC which packets it loses. */
static void
add_loss(const struct rack *rack, const struct rack_slow_named *named,
    struct rm_verdict *verdict)
{
	const struct rm_evidence *loss = &named->verdict.evidence;
	struct rm_evidence *evidence = &verdict->evidence;
	char name[RACK_MEMBER_NAME_BYTES];

	rack_member_name(rack, named->member, name);
	if (verdict->part.type == RM_PART_HOST) {
		add_loss_to_sentence(name, loss, evidence);
		return;
	}
	add_loss_to_sentence("it", loss, evidence);
	evidence->window_ns = loss->window_ns;
	evidence->direction = loss->direction;
	evidence->to_part = loss->to_part;
	evidence->from_part = loss->from_part;
	evidence->outside = loss->outside;
	evidence->others = loss->others;
}

static bool
is_loss_of_late(const struct rack_judge *judge, const struct rack_slow_named *named,
    const struct rm_verdict *verdict)
{
	return judge->lates[named->member].status != RACK_LATE_NOTHING &&
	       verdict->kind == RM_KIND_RNIC_LATE &&
	       named->verdict.kind == RM_KIND_RNIC_LOSSY &&
	       named->other == RACK_NO_OTHER;
}

/* Adds a verdict on a member from a longer window. If there is a verdict from the last
 * second, too: a verdict of the same kind is replaced by the longer window's verdict,
 * which has larger counts; to a verdict that the RNIC is late, the loss is added, or it
 * is replaced if the RNIC was lossy before; any other verdict stays alone. A member
 * that refused probes, or had a gap (rack_gaps), in the longer window is not lossy: it
 * lost all probes for a time, not a steady share. For a member whose port is down, only
 * that is reported. */
static void
slow_verdict(struct rack_judge *judge, const struct rack *rack,
    const struct rack_slow_named *named)
{
	const size_t member = named->member;
	const struct rack_suspect suspect = { .member = member, .other = named->other };
	const enum rm_kind was = judge->suspects[member].named;
	struct rm_verdict *verdict = &judge->verdicts[judge->verdict_count];

	if (judge->excused[member] ||
	    (named->verdict.kind == RM_KIND_RNIC_LOSSY &&
		(judge->suspects[member].refused > 0 ||
		    rack_gaps_are_fresh(&judge->suspects[member].gaps))))
		return;
	if (judge->member_health[member] == RM_HEALTH_BAD) {
		verdict = verdict_of(judge, rack, member);
		if (verdict == NULL)
			return;
		if (is_loss_of_late(judge, named, verdict)) {
			if (was != RM_KIND_RNIC_LOSSY ||
			    verdict->part.type == RM_PART_HOST) {
				add_loss(rack, named, verdict);
				return;
			}
		} else if (verdict->kind != named->verdict.kind) {
			return;
		}
	} else {
		judge->verdict_count++;
	}
	*verdict = named->verdict;
	rack_suspect_name(rack, &suspect, &verdict->part);
	if (judge->lates[member].status == RACK_LATE_RNIC &&
	    verdict->evidence.observed[0] == '\0')
		rack_late_sentence(
		    rack, &judge->legs, judge->lates, member, &verdict->evidence);
	judge->member_health[member] = RM_HEALTH_BAD;
	if (named->other < rack->member_count)
		judge->member_health[named->other] = RM_HEALTH_BAD;
}

/* Adds verdicts from windows of five seconds and longer, unless nothing works in the
 * last second. */
static void
judge_slow(struct rack_judge *judge, const struct rack *rack,
    const struct window_closed *window, rm_wall_t start, bool works)
{
	const struct rack_slow_named *named;
	size_t count;

	for (size_t i = 0; i < rack->member_count; i++)
		judge->unsteady[i] =
		    rack->hosts[rack->members[i].host_index].state == HOST_STUTTERED;
	if (rack_slow_judge(judge->slow, rack, judge->unsteady, window, start,
		&judge->blame, &named, &count) < 0)
		return;
	for (size_t i = 0; i < count && works; i++)
		slow_verdict(judge, rack, &named[i]);
}

static void
judge_ports(struct rack_judge *judge, const struct rack *rack,
    const struct window_closed *window, rm_wall_t start)
{
	judge->verdict_count +=
	    rack_ports_judge(rack, window, start, judge->member_health, judge->suspects,
		&judge->verdicts[judge->verdict_count]);
	for (size_t i = 0; i < rack->member_count; i++) {
		const struct rack_suspect_memory *memory = &judge->suspects[i];

		/* A flapping port is bad also while it is up. */
		if (memory->port_down > 0 ||
		    (memory->port_flaps.flaps && judge->excused[i]))
			judge->member_health[i] = RM_HEALTH_BAD;
	}
}

static void
late_verdict(struct rack_judge *judge, const struct rack *rack,
    const struct window_closed *window, size_t member)
{
	const bool host = judge->lates[member].status == RACK_LATE_HOST;
	const struct rack_suspect suspect = { .member = member,
		.other = RACK_NO_OTHER };
	struct rm_verdict *verdict =
	    new_verdict(judge, window, host ? RM_PART_HOST : RM_PART_RNIC,
		RM_KIND_RNIC_LATE, rack_suspect_confidence(RACK_LOSS_SURE));
	struct rm_evidence *evidence = &verdict->evidence;

	evidence->window_start = judge->suspects[member].late_since;
	if (host) {
		snprintf(verdict->part.name, sizeof(verdict->part.name), "%.63s",
		    rack->members[member].host);
	} else {
		rack_suspect_name(rack, &suspect, &verdict->part);
		verdict->rnic = rack->members[member].id;
		rack_evidence_of_member(rack, &judge->legs, &judge->blame,
		    judge->tallies, member, RM_KIND_RNIC_LATE, judge->witnesses,
		    evidence);
	}
	rack_late_evidence(
	    rack, &judge->legs, judge->lates, member, judge->witnesses, evidence);
}

/* Adds verdicts on late RNICs and hosts, one per host. If a late RNIC has a verdict on
 * its loss already, that verdict stays, and its sentence mentions the lateness. */
static void
judge_late(struct rack_judge *judge, const struct rack *rack,
    const struct window_closed *window, rm_wall_t start)
{
	for (size_t i = 0; i < rack->member_count; i++)
		judge->unsteady[i] = judge->member_health[i] == RM_HEALTH_BAD;
	rack_late_count(&judge->legs, judge->lates);
	rack_late_judge(
	    rack, &judge->legs, start, judge->unsteady, judge->suspects, judge->lates);
	for (size_t i = 0; i < rack->member_count; i++) {
		struct rm_verdict *reported = verdict_of(judge, rack, i);
		bool again = false;

		if (judge->lates[i].status == RACK_LATE_NOTHING)
			continue;
		if (reported != NULL && reported->kind == RM_KIND_RNIC_LOSSY &&
		    reported->evidence.observed[0] == '\0')
			rack_late_sentence(
			    rack, &judge->legs, judge->lates, i, &reported->evidence);
		if (judge->member_health[i] == RM_HEALTH_BAD)
			continue;
		judge->member_health[i] = RM_HEALTH_BAD;
		for (size_t k = 0; k < i; k++)
			again |=
			    judge->lates[k].status == RACK_LATE_HOST &&
			    rack->members[k].host_index == rack->members[i].host_index;
		if (!again)
			late_verdict(judge, rack, window, i);
	}
}

/* True: something works. False: nothing works, so no RNIC can be distinguished. */
static bool
judge_rnics(struct rack_judge *judge, const struct rack *rack,
    const struct window_closed *window, rm_wall_t start,
    const struct rm_explanation *explanation)
{
	const struct rack_view view = { rack, &judge->legs, &judge->blame,
		judge->tallies, start, judge->support };
	const enum rack_state state =
	    rack_suspect_tor(&view, explanation, judge->suspects);
	size_t count;

	rack_suspects_note_first(&view, judge->suspects);
	if (state == RACK_FAILS)
		judge_tor(judge, rack, window, start);
	else if (state == RACK_WORKS)
		judge->tor_arrives = 0;
	if (judge->tor_late > 0)
		judge->tor_late--;
	if (state != RACK_WORKS) {
		rack_suspects_forget(&view, judge->suspects);
		return false;
	}
	count = rack_suspects(&view, explanation, judge->suspects, judge->found);
	for (size_t i = 0; i < count; i++)
		rnic_verdict(judge, rack, window, &judge->found[i]);
	for (size_t i = 0; i < count; i++) {
		judge->member_health[judge->found[i].member] = RM_HEALTH_BAD;
		if (judge->found[i].other < rack->member_count)
			judge->member_health[judge->found[i].other] = RM_HEALTH_BAD;
	}
	return true;
}

/* A member is healthy when at least this many probes were answered and hardly any
 * was lost. */
#define GOOD_MIN_ANSWERED 4
#define GOOD_MIN_NEWEST_ANSWERED 2
#define GOOD_LOSS 0.1

static enum rm_health
health_of(const struct rack *rack, size_t member, const struct rack_tally *tally)
{
	if (!host_is_witness(rack->hosts[rack->members[member].host_index].state) ||
	    tally->send_failed > 0 ||
	    tally->clean_sent - tally->clean_lost < GOOD_MIN_ANSWERED ||
	    tally->clean_newest_answered < GOOD_MIN_NEWEST_ANSWERED)
		return RM_HEALTH_UNKNOWN;
	/* A single loss among few probes does not make it doubtful. */
	if (tally->clean_lost > 1 &&
	    (double)tally->clean_lost > GOOD_LOSS * (double)tally->clean_sent)
		return RM_HEALTH_UNKNOWN;
	return RM_HEALTH_GOOD;
}

/* Fills the health of hosts and members before verdicts are added. A window in which
 * this aggregator may have missed results proves no member healthy; nor do the reports
 * of an agent that are contradicted. */
static void
note_health(struct rack_judge *judge, const struct rack *rack, bool partial)
{
	for (size_t i = 0; i < rack->host_count; i++)
		judge->host_health[i] = report_check_is_contradicted(judge->check, i)
					    ? RM_HEALTH_BAD
					    : rack_host_health(rack, i);
	for (size_t i = 0; i < rack->member_count; i++)
		judge->member_health[i] =
		    partial || report_check_is_contradicted(
				   judge->check, rack->members[i].host_index)
			? RM_HEALTH_UNKNOWN
			: health_of(rack, i, &judge->tallies[i]);
}

static int
explain(struct rack_judge *judge, const struct rack *rack,
    const struct window_closed *window, struct rm_explanation *ret)
{
	int r;

	r = rack_legs_build(&judge->legs, rack, window);
	if (r < 0)
		return r;
	for (size_t i = 0; i < rack->member_count; i++)
		if (judge->suspects[i].named != 0 || judge->suspects[i].died_first)
			rack_legs_expect(&judge->legs, i);
	r = rm_judge_explain(judge->judge, judge->legs.elements,
	    judge->legs.observations, judge->legs.observation_count,
	    judge->legs.candidates, judge->legs.candidate_count, ret);
	if (r < 0)
		return r;
	rack_blame_note(
	    &judge->blame, &judge->legs, ret, rack->member_count, rack->remote_count);
	for (size_t i = 0; i < rack->member_count; i++)
		if (judge->excused[i])
			judge->blame.members[i] = true;
	rack_evidence_tally(&judge->legs, &judge->blame, judge->tallies);
	return 0;
}

int
rack_judge_window(struct rack_judge *judge, const struct rack *given,
    const struct window_closed *all, rm_wall_t window_start, struct rack_judgement *ret)
{
	struct rack with_excuses = *given;
	const struct rack *rack = &with_excuses;
	struct window_closed accepted;
	const struct window_closed *window = &accepted;
	struct rm_explanation explanation;
	bool works = false;
	int r;

	r = set_rack(judge, rack);
	if (r < 0)
		return r;
	judge->falls += rack_ports_excuse(rack, all, judge->suspects, judge->excused);
	with_excuses.excused = judge->excused;
	r = report_check_receive(judge->check, rack, all, window_start);
	if (r < 0)
		return r;
	accepted = report_check_accepted(judge->check, rack, all);
	r = explain(judge, rack, window, &explanation);
	if (r < 0)
		return r;
	judge->verdict_count = 0;
	note_health(judge, rack, window->partial);
	if (!window->partial) {
		judge_hosts(judge, rack, window, window_start);
		works = judge_rnics(judge, rack, window, window_start, &explanation);
		judge_late(judge, rack, window, window_start);
	}
	judge_slow(judge, rack, window, window_start, works);
	judge_ports(judge, rack, window, window_start);
	if (!window->partial)
		judge->verdict_count += report_check_judge(judge->check, rack,
		    judge->suspects, rm_mono_since(window->end, window->start),
		    &judge->verdicts[judge->verdict_count]);
	judge->verdict_count += rack_hosts_certificates(rack, judge->check,
	    window_start, rm_mono_since(window->end, window->start),
	    &judge->verdicts[judge->verdict_count]);
	*ret = (struct rack_judgement){ judge->verdicts, judge->verdict_count,
		judge->member_health, judge->host_health,
		explanation.unexplained_lost };
	return 0;
}
