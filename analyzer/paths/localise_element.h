/*
 * localise_element - switches, links and pairs of racks that ways cross. Pure.
 *
 * They live while a way crosses them; a pair, while one does either way.
 */
#ifndef ANALYZER_PATHS_LOCALISE_ELEMENT_H
#define ANALYZER_PATHS_LOCALISE_ELEMENT_H

#include "analyzer/paths/localise_map.h"

/* *ret: found or made; b "": the switch a. -ENOMEM. */
int localise_element_find(struct localise_map *map, const char *a, const char *b,
    const char *at, struct localise_element **ret);
/* From one ToR to another, and the way back with it. */
int localise_element_pair(struct localise_map *map, struct localise_element *src,
    struct localise_element *dst, struct localise_element **ret);
/* Of one that no way crosses. */
void localise_element_drop(struct localise_map *map, struct localise_element *element);

/* -ENOMEM. */
int localise_element_enter(struct localise_element *element, struct localise_way *way);
/* Drops it with its last way. */
void localise_element_leave(struct localise_map *map, struct localise_element *element,
    const struct localise_way *way);

/* How many of a pair's ways differ in what they cross: two that only differ in the port
 * by which they enter their first switch are one. At least 1. */
size_t localise_element_courses(const struct localise_element *pair);

#endif
