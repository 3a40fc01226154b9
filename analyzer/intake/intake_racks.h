/*
 * intake_racks - the time up to which the summaries of one aggregator's racks were
 * applied. Pure. A new incarnation of an aggregator may have lost numbers, and so sends
 * summaries that were applied under other numbers: then only their times show that.
 * Within one incarnation the numbers count, and a clock that is set back changes
 * nothing.
 */
#ifndef ANALYZER_INTAKE_INTAKE_RACKS_H
#define ANALYZER_INTAKE_INTAKE_RACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/judge/part.h"

struct intake_racks;

/* Drops the times of ToRs that it does not serve any more. *racks: NULL at first; the
 * caller frees it. -ENOMEM changes nothing. */
int intake_racks_serve(
    struct intake_racks **racks, char (*tors)[RM_NAME_BYTES], size_t count);
void intake_racks_free(struct intake_racks *racks);

void intake_racks_new_life(struct intake_racks *racks); /* NULL is fine */
/* True: the summary to apply was applied already, from an earlier incarnation. */
bool intake_racks_repeated(
    struct intake_racks *racks, const char *tor, uint64_t end_wall_ns);

#endif
