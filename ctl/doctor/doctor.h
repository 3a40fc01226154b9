/*
 * doctor - every check of a host, one after the other.
 */
#ifndef CTL_DOCTOR_DOCTOR_H
#define CTL_DOCTOR_DOCTOR_H

#include <jansson.h>
#include <stdio.h>

struct findings;
struct host;

void doctor_look(const struct host *host, struct findings *findings);

/* For people: a line for each finding, and one for what to do. */
void doctor_print(const struct findings *findings, FILE *out);
/* NULL: memory. */
json_t *doctor_json(const struct findings *findings);

#endif
