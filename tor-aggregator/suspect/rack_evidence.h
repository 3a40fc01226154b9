/*
 * rack_evidence - calculates sums per member, and the figures and sentences of a
 * verdict. Pure.
 */
#ifndef TOR_AGGREGATOR_SUSPECT_RACK_EVIDENCE_H
#define TOR_AGGREGATOR_SUSPECT_RACK_EVIDENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/judge/verdict.h"

struct rack;
struct rack_legs;

/* the parts that are blamed in this window, for any share of loss */
struct rack_blame {
	bool *members;
	bool *remotes;
	bool uplinks, tor;
};

/*
 * Lost probes in one direction, and how many of them did not arrive at their target
 * (missing). If all are missing, the probes are lost; if none is, the replies are.
 * Receive counts are assigned to bins by time only, so the standard deviation of
 * `missing` is the square root of `variance`.
 */
struct rack_probe_loss {
	double sent, lost, missing, variance;
};

struct rm_explanation;

struct rack_tally { /* probes from and to one member: the sums over its pairs */
	uint64_t sent, lost, newest_sent, newest_lost;
	/* Small probes. They are also counted in `sent` and `lost`. */
	uint64_t small_sent, small_lost;
	/* its own probes: those sent, and those that could not be sent */
	uint64_t own_sent, send_failed;
	/* Its own probes to targets outside the rack. */
	uint64_t outside_sent, outside_answered;
	/* The part of the outside probes that went to remote RNICs which are not
	 * blamed. */
	uint64_t unblamed_sent, unblamed_newest_sent, unblamed_newest_answered;
	/* Probes that cross no other blamed part. */
	uint64_t clean_sent, clean_lost, clean_newest_answered;
	uint64_t inside_sent, inside_answered; /* the clean probes inside the rack */
	/* Probes that stalled hosts of the rack sent to it; in no other sum. any_stall:
	 * a host of the rack was stalled while it sent probes. */
	uint64_t stalled_sent, stalled_lost;
	bool any_stall;
	/* own: its own probes; peers: the probes of its peers to it. */
	struct rack_probe_loss own, peers;
	/* Large probes. They are also counted in clean_*, own and peers. */
	uint64_t large_sent, large_lost, large_failed;
	uint64_t large_inside_lost; /* inside the rack */
	struct rack_probe_loss large_own, large_peers;
	/* largest size of the large probes, and of the small ones */
	uint16_t large_bytes, small_bytes;
};

/* Stores which parts the explanation blames. */

void rack_blame_note(struct rack_blame *blame, const struct rack_legs *legs,
    const struct rm_explanation *explanation, size_t members, size_t remotes);
/* True: so many of the members are blamed that their common part, the ToR, is the
 * likelier cause. If there are only two, both are blamed, and they lose a similar share
 * of their probes to other racks. tallies: one per member. */
bool rack_blame_is_common(
    const struct rack_blame *blame, const struct rack_tally *tallies, size_t members);
/* True: probes between members that are not blamed are lost, too, at a quarter of this
 * member's share of loss or more. Then the ToR is the likelier cause: if it drops some
 * flows, each pair loses a different share. */
bool rack_loss_is_shared(const struct rack_legs *legs, const struct rack_blame *blame,
    const struct rack_tally *tally);

/* Fills tallies, one per member. For a member's own tally, the clean probes are those
 * whose other end is not blamed, whether the member is blamed or not. */
void rack_evidence_tally(const struct rack_legs *legs, const struct rack_blame *blame,
    struct rack_tally *tallies);

/* True: by its receive counts, the member gets no probes of its peers, while its own
 * probes are answered: it accepts replies, but no probes. */
bool rack_tally_refuses(const struct rack_tally *tally);

#define RACK_MEMBER_NAME_BYTES (2 * RM_NAME_BYTES)
void rack_member_name(
    const struct rack *rack, size_t member, char name[RACK_MEMBER_NAME_BYTES]);

/* Fills the counts by direction, the number of peers, and the parts that were ruled
 * out; the caller fills the window. witnesses: scratch, one per member. */
void rack_evidence_of_member(const struct rack *rack, const struct rack_legs *legs,
    const struct rack_blame *blame, const struct rack_tally *tallies, size_t member,
    enum rm_kind kind, bool *witnesses, struct rm_evidence *evidence);

/* The same as rack_evidence_of_member, for the ToR of the rack. evidence->peers: the
 * number of RNICs whose results are evidence. */
void rack_evidence_of_tor(const struct rack *rack, const struct rack_legs *legs,
    const struct rack_tally *tallies, struct rm_evidence *evidence);

#endif
