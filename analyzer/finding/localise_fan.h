/*
 * localise_fan - the routes that replies may have taken, and their shares. Pure.
 * Replies are not traced, and switches send them by a hash of their own. So a reply is
 * assumed to leave a ToR as the probes that begin there do, and to enter a ToR as the
 * probes to it do: up to the highest switch by the shares of the paths from the one,
 * and down from it by the shares of those paths to the other that use the same switch.
 */
#ifndef ANALYZER_FINDING_LOCALISE_FAN_H
#define ANALYZER_FINDING_LOCALISE_FAN_H

#include "analyzer/finding/localise_losses.h"

#define LOCALISE_FAN 64
#define LOCALISE_HALF_PARTS 6

enum localise_fan_direction { LOCALISE_FAN_UP, LOCALISE_FAN_DOWN };

struct localise_half { /* of a ToR's paths: from it, or to it, and the highest switch */
	const struct localise_element *top; /* NULL: of several */
	uint32_t paths;                     /* number of the ToR's paths */
	uint8_t length;                     /* of the whole path, in elements */
	uint8_t count;
	uint32_t parts[LOCALISE_HALF_PARTS]; /* locals that are under suspicion */
};

struct localise_fan { /* of one ToR: what leaves it, or what enters it */
	uint32_t paths;
	uint32_t by_length[LOCALISE_PATH_ELEMENTS + 1];
	uint32_t count;
	struct localise_half halves[LOCALISE_FAN];
};

/* So large a share of what leaves the ToR, or enters it, crosses the part. -ENOMEM. */
int localise_fan_share(struct localise_case *c, struct localise_element *tor,
    enum localise_fan_direction direction, uint32_t local, float *ret);

/* Adds the elements that replies of one ToR to another may have crossed, on paths of
 * this length, to an observation's last elements. -ENOMEM. */
int localise_fan_replies(struct localise_case *c, struct rm_observation *o,
    const struct localise_element *pair, uint8_t length);

#endif
