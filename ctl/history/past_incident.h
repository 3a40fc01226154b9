/*
 * past_incident - incidents that only the history has, in the form of the analyzer's
 * answer for those that it has itself (GET /v1/incidents/<id>).
 */
#ifndef CTL_HISTORY_PAST_INCIDENT_H
#define CTL_HISTORY_PAST_INCIDENT_H

#include <jansson.h>

/* Days before now that are searched. */
#define PAST_INCIDENT_DAYS 31

/* The rows of rm_incident that have this id, the oldest first: the incident as its last
 * row has it, with evidence, but without related ones. NULL: it has no row, or memory.
 * The caller's. */
json_t *past_incident_read(const json_t *answer);

/* Rows of rm_incident of one part, each an opening: an array of id, kind and opened,
 * one for each incident, the newest first, but the one with this id. NULL: it is no
 * such answer, or memory. The caller's. */
json_t *past_incident_openings(const json_t *answer, const char *id);

#endif
