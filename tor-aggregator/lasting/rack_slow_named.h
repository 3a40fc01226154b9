/*
 * rack_slow_named - a member that loses packets by the evidence of more than one
 * second, and the verdict on it.
 */
#ifndef TOR_AGGREGATOR_LASTING_RACK_SLOW_NAMED_H
#define TOR_AGGREGATOR_LASTING_RACK_SLOW_NAMED_H

#include <stddef.h>

#include "rackmesh/judge/verdict.h"

struct rack_slow_named {
	/* other: the second one of "A or B", else RACK_NO_OTHER. */
	size_t member, other;
	struct rm_verdict verdict; /* the part's name and samples are not filled */
};

#endif
