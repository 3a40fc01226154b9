/*
 * past_incident - converts incidents that only the history has to the form of the
 * analyzer's GET /v1/incidents/<id>.
 */
#ifndef CTL_HISTORY_PAST_INCIDENT_H
#define CTL_HISTORY_PAST_INCIDENT_H

#include <jansson.h>

/* Number of days before now that are searched. */
#define PAST_INCIDENT_DAYS 31

/* Converts the rows of rm_incident that have this id, the oldest first: the incident as
 * in its last row, with evidence, and without related incidents. NULL: there is no row,
 * or no memory. New reference. */
json_t *past_incident_read(const json_t *answer);

/* Converts the rows of rm_incident in which an incident of one part was opened, to an
 * array with id, kind and opened, one for each incident, the newest first, without the
 * incident that has this id. NULL: not such an answer, or no memory. New reference. */
json_t *past_incident_openings(const json_t *answer, const char *id);

#endif
