/*
 * replay_centre - what an analyzer recorded (analyzer/incidents/recorder.h) through the
 * real localisation and incidents, at the very times at which it judged.
 */
#ifndef TESTS_SIM_REPLAY_CENTRE_H
#define TESTS_SIM_REPLAY_CENTRE_H

#include <stdio.h>

#include "rackmesh/core/error.h"

/* As replay_whole. */
int replay_centre(FILE *in, const char *file, FILE *verdicts, struct rm_error *error);

#endif
