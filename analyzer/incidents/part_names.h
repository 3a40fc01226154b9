/*
 * part_names - the ToRs and switches in the name of a part. Pure.
 */
#ifndef ANALYZER_INCIDENTS_PART_NAMES_H
#define ANALYZER_INCIDENTS_PART_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "rackmesh/judge/part.h"

#define PART_NAMES_MAX 8

/* The names in a part's name: a ToR or switch itself; both ends of a link or of a path;
 * of "A or B", those of both. Returns how many. */
size_t part_names_of(const char *part, char names[PART_NAMES_MAX][RM_NAME_BYTES]);
/* True if the part is this ToR, or a link that ends at it. */
bool part_names_tor(const struct rm_part *part, const char *tor);

#endif
