/* incident - prints one incident of a daemon's JSON. */
#ifndef CTL_COMMANDS_INCIDENT_H
#define CTL_COMMANDS_INCIDENT_H

#include <jansson.h>
#include <stdbool.h>

bool incident_is_open(const json_t *incident);

/* Prints a few lines: state, times, the sentence, and up to max_samples of the probes
 * that are its evidence. */
void incident_print(const json_t *incident, size_t max_samples);

/* Returns "-" if the key is missing. Borrowed. */
const char *incident_text(const json_t *incident, const char *key);

#endif
