/*
 * localise_fan - finds which parts packets on an unknown path may have crossed, and
 * with which probability. Pure.
 *
 * Replies are not traced, and switches select their paths by a hash of their own. So
 * the paths of probes are taken as a sample: a reply leaves a ToR like the probes that
 * begin there, up to the highest switch, and goes down to the other ToR like the probes
 * to that one. The share of a part is the share of these paths that cross it. The same
 * holds for probes of flows that are not traced, or take several paths.
 */
#ifndef ANALYZER_FINDING_LOCALISE_FAN_H
#define ANALYZER_FINDING_LOCALISE_FAN_H

#include "analyzer/finding/localise_losses.h"

#define LOCALISE_FAN 32

enum localise_fan_direction { LOCALISE_FAN_UP, LOCALISE_FAN_DOWN };

struct localise_fan { /* the parts that packets from one ToR, or to it, cross */
	uint32_t count;
	struct localise_fan_part { /* only suspects */
		uint32_t local;
		float share;
	} parts[LOCALISE_FAN];
};

/* Returns the fan of a ToR, which is made if it does not exist; it is valid until the
 * next call. NULL: out of memory. */
const struct localise_fan *localise_fan(struct localise_case *c,
    struct localise_element *tor, enum localise_fan_direction direction);

/* Appends the elements that packets from one ToR to another may have crossed to the
 * observation, each with its share, if their path is not known. pair: the pair of these
 * two ToRs. Returns 0 or -ENOMEM. */
int localise_fan_packets(struct localise_case *c, struct rm_observation *o,
    const struct localise_element *pair);

/* Appends the elements that replies from one ToR to another may have crossed to the
 * observation, each with its share. pair: the pair of these two ToRs. Returns 0 or
 * -ENOMEM. */
int localise_fan_replies(struct localise_case *c, struct rm_observation *o,
    const struct localise_element *pair);

#endif
