/*
 * part_names - the ToRs and switches in the name of a part, or in a verdict. Pure.
 */
#ifndef ANALYZER_INCIDENTS_PART_NAMES_H
#define ANALYZER_INCIDENTS_PART_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "rackmesh/judge/part.h"
#include "rackmesh/judge/verdict.h"

#define PART_NAMES_MAX 16

/* Finds the names in a part's name: a ToR or switch itself; both ends of a link or of a
 * path; for "A or B", the names of both. Names may contain "--", so "a--b--c" gives all
 * of "a", "b--c", "a--b" and "c", and the whole. Each name occurs once. Returns their
 * number. */
size_t part_names_of(const char *part, char names[PART_NAMES_MAX][RM_NAME_BYTES]);
/* True if the part is this ToR, or a link that ends at it; for "A or B": if A or B is.
 */
bool part_names_tor(const struct rm_part *part, const char *tor);
/* The same for a verdict: true also if one of the links that it lists ends at the ToR.
 */
bool part_names_tor_of(const struct rm_verdict *verdict, const char *tor);

#endif
