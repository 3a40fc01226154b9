/*
 * rack_slow_named - the type for a member whose loss was found in a window of more than
 * one second, and the verdict on it.
 */
#ifndef TOR_AGGREGATOR_LASTING_RACK_SLOW_NAMED_H
#define TOR_AGGREGATOR_LASTING_RACK_SLOW_NAMED_H

#include <stddef.h>

#include "rackmesh/judge/verdict.h"

struct rack_slow_named {
	/* other: the second RNIC of a verdict "A or B"; RACK_NO_OTHER: there is
	 * none. */
	size_t member, other;
	/* without the name of the part, and without samples */
	struct rm_verdict verdict;
};

#endif
