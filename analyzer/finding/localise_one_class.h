/*
 * localise_one_class - parts over which packets of one class alone are lost. Pure. Such
 * a part is dead to the class, or loses some of it: packets of other classes that cross
 * it are no evidence for or against it, and count for the other parts of their paths.
 */
#ifndef ANALYZER_FINDING_LOCALISE_ONE_CLASS_H
#define ANALYZER_FINDING_LOCALISE_ONE_CLASS_H

#include "analyzer/finding/localise_losses.h"

/* Decides for each element of the case's lossy paths. A path that crosses an element
 * with a class has one entry in c->lossy for what it lost of this class, and one for
 * what it lost of others. -ENOMEM. */
int localise_one_class_find(struct localise_case *c);

/* What the entry counts crossed this element, as far as it is evidence. */
bool localise_one_class_crossed(
    const struct localise_case *c, const struct localise_lossy *lossy, uint32_t local);
/* Of the sum of an element's paths: what is evidence for or against it. */
struct localise_sum localise_one_class_over(
    const struct localise_case *c, uint32_t local, const struct localise_sum *sum);

#endif
