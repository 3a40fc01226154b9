/*
 * rack_lasting_state - what rack_lasting.c and rack_lasting_judge.c share; nobody
 * else's business.
 */
#ifndef TOR_AGGREGATOR_LASTING_RACK_LASTING_STATE_H
#define TOR_AGGREGATOR_LASTING_RACK_LASTING_STATE_H

#include <stdbool.h>

#include "tor-aggregator/lasting/rack_lasting.h"
#include "tor-aggregator/lasting/rack_slow.h"
#include "tor-aggregator/suspect/rack_evidence.h"
#include "tor-aggregator/suspect/rack_legs.h"
#include "tor-aggregator/suspect/rack_suspect.h"

#define RACK_LASTING_PARTS 64
#define RACK_LASTING_LEAST 0.002 /* share of loss, worth telling */

#define RACK_LASTING_LENGTHS 6
/* Blocks: 20, 30, 40, 60, 80 and 120 s at most; the newest block is not full. */
extern const unsigned rack_lasting_lengths[RACK_LASTING_LENGTHS];

struct rack_lasting_memory { /* of one member */
	struct rack_suspect_memory suspect;
	size_t other;     /* of "A or B", while it is named */
	double share;     /* of round trips that it loses, while it is named */
	double over;      /* ln of how much likelier that has ended */
	double over_at;   /* so much of it is enough */
	double unlost;    /* round trips since its newest loss */
	unsigned length;  /* of rack_lasting_lengths: that shows it best */
	bool shows, seen; /* in this second: well enough, as part of an explanation */
};

struct rack_lasting {
	struct rm_judge *judge;
	struct rack_legs legs;
	struct rack_support *support;
	struct rack_blocks *blocks;
	struct rm_rnic_id *ids;
	size_t members;
	struct rack_lasting_memory *memories;
	bool *known; /* by member: a verdict stands */
	struct rack_tally *tallies;
	struct rack_blame blame;
	bool *witnesses;
	struct rack_slow_named named[RACK_LASTING_PARTS];
	size_t named_count;
};

/* Room for a member's verdict; NULL: for no more. */
struct rack_slow_named *rack_lasting_keep(struct rack_lasting *lasting, size_t member);

/* Explains one window of those that show somebody, and names whom it shows best.
 * end: of the newest second. */
int rack_lasting_explain(struct rack_lasting *lasting, const struct rack *rack,
    rm_wall_t end, unsigned length);

#endif
