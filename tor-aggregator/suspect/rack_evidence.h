/*
 * rack_evidence - sums per member, and the figures and sentences of a verdict. Pure.
 */
#ifndef TOR_AGGREGATOR_SUSPECT_RACK_EVIDENCE_H
#define TOR_AGGREGATOR_SUSPECT_RACK_EVIDENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/judge/verdict.h"

struct rack;
struct rack_legs;

struct rack_blame { /* the parts blamed in this window, for whatever share of loss */
	bool *members;
	bool *remotes;
	bool uplinks, tor;
};

/*
 * Of the lost probes in one direction: how many never arrived. All of them: the way out
 * is dead. None: the way back is. Receive counts are assigned to bins by time alone, so
 * `missing` is known only up to the root of variance.
 */
struct rack_outbound {
	double sent, lost, missing, variance;
};

struct rm_explanation;

struct rack_tally { /* probes from and to one member; sums over its pairs */
	uint64_t sent, lost, newest_sent, newest_lost;
	/* Included in sent and lost: no large probes. */
	uint64_t small_sent, small_lost;
	uint64_t own_sent, send_failed; /* its own probes: sent, could not be sent */
	/* Its own probes to targets outside the rack. */
	uint64_t outside_sent, outside_answered;
	/* those of them to remote RNICs that are not blamed themselves */
	uint64_t outbound_sent, outbound_newest_sent, outbound_newest_answered;
	/* probes on whose path no other part is blamed */
	uint64_t clean_sent, clean_lost, clean_newest_answered;
	uint64_t inside_sent, inside_answered; /* those of them inside the rack */
	/* Its own probes, and those of its peers to it. */
	struct rack_outbound own, peers;
	/* part of clean_*, own and peers: large probes */
	uint64_t large_sent, large_lost, large_failed;
	uint64_t large_inside_lost; /* inside the rack */
	struct rack_outbound large_own, large_peers;
	uint16_t large_bytes, small_bytes; /* the largest of either kind */
};

void rack_blame_note(struct rack_blame *blame, const struct rack_legs *legs,
    const struct rm_explanation *explanation, size_t members, size_t remotes);
/* True: so many of the members are blamed for partial loss that the common part,
 * their ToR, is the likelier cause, which other racks can confirm. */
bool rack_blame_is_common(const struct rack_blame *blame, size_t members);
/* True: the members that are not blamed lose a part of what this one loses among
 * themselves, too. A ToR that drops some flows hits each pair by another share. */
bool rack_loss_is_shared(const struct rack_legs *legs, const struct rack_blame *blame,
    const struct rack_tally *tally);

/* tallies: one per member. blame->members excuses only other members than itself. */
void rack_evidence_tally(const struct rack_legs *legs, const struct rack_blame *blame,
    struct rack_tally *tallies);

/* True: no probe that its peers send it arrives, by its own counts, while its own
 * probes are answered: it accepts replies, but no probes. */
bool rack_tally_refuses(const struct rack_tally *tally);

#define RACK_MEMBER_NAME_BYTES (2 * RM_NAME_BYTES)
void rack_member_name(
    const struct rack *rack, size_t member, char name[RACK_MEMBER_NAME_BYTES]);

/* Fills counts by direction, witnesses and the parts that were ruled out; the caller
 * fills the window. witnesses: scratch, one per member. */
void rack_evidence_of_member(const struct rack *rack, const struct rack_legs *legs,
    const struct rack_blame *blame, const struct rack_tally *tallies, size_t member,
    enum rm_kind kind, bool *witnesses, struct rm_evidence *evidence);

/* peers: the RNICs whose results are evidence. */
void rack_evidence_of_tor(const struct rack *rack, const struct rack_legs *legs,
    const struct rack_tally *tallies, struct rm_evidence *evidence);

#endif
