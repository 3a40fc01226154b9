/*
 * concerns - whose rack does a part between the racks concern? Pure.
 */
#ifndef ANALYZER_INCIDENTS_CONCERNS_H
#define ANALYZER_INCIDENTS_CONCERNS_H

#include <stdbool.h>
#include <stddef.h>

#include "rackmesh/judge/part.h"

#define CONCERNS_MAX 8

/* The names of all switches that the part's name holds: of a ToR itself, a link's and a
 * path's both ends, and of all in "A or B". Returns how many. */
size_t concerns_names(const char *part, char names[CONCERNS_MAX][RM_NAME_BYTES]);
/* A ToR or a link, and it is that ToR or ends there. */
bool concerns_tor(const struct rm_part *part, const char *tor);

#endif
