/*
 * localise_one_class - finds the elements that lose packets of one class only. Pure.
 * Such an element loses all packets of the class, or some. Packets of other classes
 * that cross it are no evidence for or against it; they are evidence for or against the
 * other elements of their paths.
 */
#ifndef ANALYZER_FINDING_LOCALISE_ONE_CLASS_H
#define ANALYZER_FINDING_LOCALISE_ONE_CLASS_H

#include "analyzer/finding/localise_losses.h"

/* Finds the elements that lose packets of one class only, among those on the case's
 * lossy paths, and sets their one_class and dscp. Afterwards a lossy path over such an
 * element has an entry in c->lossy for its packets of this class and, if it lost
 * packets of other classes, a second entry for these. Returns 0 or -ENOMEM. */
int localise_one_class_find(struct localise_case *c);

/* local: index of the element in c->locals. True: the packets counted in this entry are
 * evidence for or against the element. False: they are of classes that do not matter
 * for it. */
bool localise_one_class_crossed(
    const struct localise_case *c, const struct localise_lossy *lossy, uint32_t local);
/* sum: the counts of the element's paths. Returns the part of them that is evidence for
 * or against the element: all packets, or the packets of its class. */
struct localise_sum localise_one_class_over(
    const struct localise_case *c, uint32_t local, const struct localise_sum *sum);

#endif
