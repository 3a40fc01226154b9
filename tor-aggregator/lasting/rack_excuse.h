/*
 * rack_excuse - finds out whether something else than an RNIC may lose the packets for
 * which the RNIC is blamed. Pure.
 *
 * The explanation of a window blames the RNIC that explains the most losses. If one of
 * these excuses holds, another cause explains them as well, and the RNIC is not named
 * as lossy:
 *
 * excuse         what may lose the packets          how the losses show it
 * OUTSIDE        a part outside of the rack         with a fault of the RNIC, probes
 *                                                   inside the rack would be lost, too,
 *                                                   and they are not
 *                                                   (rack_loss_is_elsewhere)
 * NO_WITNESS     the ToR, or a part outside         packets out of the rack are lost,
 *                                                   and no unblamed RNIC of the rack
 *                                                   probes it: a blamed one was dead
 *                                                   for half a second or more, or the
 *                                                   hosts of its peers are stalled
 * STUTTER        hosts that stop for a moment       the RNIC's host stuttered, or most
 *                                                   hosts did, and less than 5 % of the
 *                                                   packets is lost
 * OUTAGE         one outage, or the begin or end    the packets are lost in few
 *                of another fault                   half-seconds, not all the time
 * BEGAN_OUTSIDE  a part outside of the rack, and    the first losses are all outside;
 *                later another one                  those inside begin later
 * FLOWS          a part that several RNICs share    all packets of some flows are lost,
 *                and that drops whole flows         and none of the others
 *
 * An RNIC that is named already was lossy without any excuse: only OUTSIDE ends its
 * verdict.
 */
#ifndef TOR_AGGREGATOR_LASTING_RACK_EXCUSE_H
#define TOR_AGGREGATOR_LASTING_RACK_EXCUSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rack;
struct rack_pair;
struct rack_tally;

#define RACK_COURSE_SECONDS 5
#define RACK_COURSE_HALVES (2 * RACK_COURSE_SECONDS)

struct rack_half { /* probes from and to one member in half a second */
	uint32_t sent, lost;
	uint32_t outside_sent, outside_lost; /* part of them: probes out of the rack */
};

/* The last RACK_COURSE_SECONDS of one member, newest last; initially zeros. */
struct rack_course {
	struct rack_half halves[RACK_COURSE_HALVES];
};

/* Begins a new second, and removes the oldest one. */
void rack_course_begin_second(struct rack_course *course);
/* Adds the probes of one pair of the member in the newest second. */
void rack_course_add(struct rack_course *course, const struct rack_pair *pair);
/* True: in a half-second, nearly all probes from and to the member were lost. */
bool rack_course_has_outage(const struct rack_course *course);
uint32_t rack_course_newest_lost(const struct rack_course *course);

enum rack_excuse {
	RACK_EXCUSE_NONE,
	RACK_EXCUSE_OUTSIDE,
	RACK_EXCUSE_NO_WITNESS,
	RACK_EXCUSE_STUTTER,
	RACK_EXCUSE_OUTAGE,
	RACK_EXCUSE_BEGAN_OUTSIDE,
	RACK_EXCUSE_FLOWS,
};

/* facts about one blamed member, in the same RACK_COURSE_SECONDS */
struct rack_excuse_facts {
	const struct rack *rack;
	size_t member;
	const struct rack_tally *tally;
	const struct rack_course *course;
	bool stutters; /* its host stuttered, or most hosts of the rack did */
	bool named;    /* it has a verdict that it is lossy */
	/* Another blamed member had an outage. The share that it lost in all these
	 * seconds does not fit each of its pairs, so this member may be blamed for the
	 * rest. */
	bool peer_outage;
};

/* The first excuse of the table that holds. */
enum rack_excuse rack_excuse_find(const struct rack_excuse_facts *facts);

#endif
