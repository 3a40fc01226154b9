/*
 * rack_slow_named - a member that more than one second shows to lose, and as what.
 */
#ifndef TOR_AGGREGATOR_LASTING_RACK_SLOW_NAMED_H
#define TOR_AGGREGATOR_LASTING_RACK_SLOW_NAMED_H

#include <stddef.h>

#include "rackmesh/judge/verdict.h"

struct rack_slow_named {
	size_t member, other;      /* other: of "A or B", else RACK_NO_OTHER */
	struct rm_verdict verdict; /* part's name and samples not filled */
};

#endif
