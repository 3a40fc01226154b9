/*
 * intake_racks - stores for each rack of an aggregator the time up to which its
 * summaries were applied. Pure. A new incarnation of an aggregator may have lost its
 * message numbers, and may send summaries again under other numbers: only their times
 * show that they were applied. Within one incarnation only the numbers decide, so a
 * clock that is set back has no effect.
 */
#ifndef ANALYZER_INTAKE_INTAKE_RACKS_H
#define ANALYZER_INTAKE_INTAKE_RACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/judge/part.h"

struct intake_racks;

/* Sets the ToRs of the aggregator; times of other ToRs are deleted. *racks: NULL
 * initially; the caller frees it. -ENOMEM: nothing was changed. */
int intake_racks_serve(
    struct intake_racks **racks, char (*tors)[RM_NAME_BYTES], size_t count);
void intake_racks_free(struct intake_racks *racks);

/* Call it when the aggregator has a new incarnation. racks may be NULL. */
void intake_racks_new_life(struct intake_racks *racks);
/* Call it before a summary is applied. True: an earlier incarnation has sent this
 * summary, and it was applied. */
bool intake_racks_repeated(
    struct intake_racks *racks, const char *tor, uint64_t end_wall_ns);

#endif
