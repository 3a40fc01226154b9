/*
 * intake_racks - up to when the summaries of one aggregator's racks were applied. Pure.
 *
 * A new life of an aggregator may have lost numbers, and so sends what we may have had
 * under others: then only its time tells. Within one life the numbers do, and a clock
 * that is set back changes nothing.
 */
#ifndef ANALYZER_INTAKE_INTAKE_RACKS_H
#define ANALYZER_INTAKE_INTAKE_RACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/judge/part.h"

struct intake_racks;

/* What is known of ToRs that it does not serve any more is forgotten. *racks: NULL at
 * first; the caller frees it. -ENOMEM changes nothing. */
int intake_racks_serve(
    struct intake_racks **racks, char (*tors)[RM_NAME_BYTES], size_t count);
void intake_racks_free(struct intake_racks *racks);

void intake_racks_new_life(struct intake_racks *racks); /* NULL is fine */
/* One that is about to be applied: whether an earlier life's was the same. */
bool intake_racks_repeated(
    struct intake_racks *racks, const char *tor, uint64_t end_wall_ns);

#endif
