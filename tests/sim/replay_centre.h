/*
 * replay_centre - feeds the recording of an analyzer (analyzer/incidents/recorder.h) to
 * the real localisation and incidents, at exactly the times at which it judged.
 */
#ifndef TESTS_SIM_REPLAY_CENTRE_H
#define TESTS_SIM_REPLAY_CENTRE_H

#include <stdio.h>

#include "rackmesh/core/error.h"

/* As replay_whole. */
int replay_centre(FILE *in, const char *file, FILE *verdicts, struct rm_error *error);

#endif
