/*
 * localise_fan - which parts replies may have crossed, and what share of them. Pure.
 *
 * Nobody traces replies, and switches send them by a hash of their own. So a reply
 * leaves a ToR as the probes that begin there do, and enters one as the probes to it
 * do: up to the highest switch of its way by the share of the one's ways, down from it
 * by that of the other's.
 */
#ifndef ANALYZER_FINDING_LOCALISE_FAN_H
#define ANALYZER_FINDING_LOCALISE_FAN_H

#include "analyzer/finding/localise_losses.h"

#define LOCALISE_FAN 32

enum localise_fan_direction { LOCALISE_FAN_UP, LOCALISE_FAN_DOWN };

struct localise_fan { /* of one ToR: what leaves it, or what enters it */
	uint32_t count;
	struct localise_fan_part { /* that is under suspicion */
		uint32_t local;
		float share;
	} parts[LOCALISE_FAN];
};

/* Valid until the next call. NULL: out of memory. */
const struct localise_fan *localise_fan(struct localise_case *c,
    struct localise_element *tor, enum localise_fan_direction direction);

/* Adds what replies of one ToR to another may have crossed to an observation's last
 * elements. */
int localise_fan_replies(struct localise_case *c, struct rm_observation *o,
    const struct localise_element *pair);

#endif
