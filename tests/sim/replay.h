/*
 * replay - feeds a recording to the same ingest, windows, rack judges, incidents and
 * localisation as a run. Only the connections from the racks to the analyzer are
 * simulated.
 *
 * The file may have any content: a line that does not match the format in README.md is
 * an error that names the line.
 */
#ifndef TESTS_SIM_REPLAY_H
#define TESTS_SIM_REPLAY_H

#include <stdio.h>

#include "rackmesh/core/error.h"

/* Writes each opening, change and end of an incident to verdicts, as a sentence.
 * -EINVAL with error filled; -ENOMEM. */
int replay_whole(FILE *in, const char *file, FILE *verdicts, struct rm_error *error);

#endif
