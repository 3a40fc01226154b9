/* incident - prints one incident of a daemon's JSON. */
#ifndef CTL_COMMANDS_INCIDENT_H
#define CTL_COMMANDS_INCIDENT_H

#include <jansson.h>
#include <stdbool.h>

bool incident_is_open(const json_t *incident);

/* A few lines: state, times, the sentence, up to max_samples of the probes behind it.
 */
void incident_print(const json_t *incident, size_t max_samples);

/* "-" for what is not there. Borrowed. */
const char *incident_text(const json_t *incident, const char *key);

#endif
