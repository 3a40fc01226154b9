/*
 * replay - a recording through the real judgement: the same ingest, windows, rack
 * judges, incidents and localisation as in a run, and nothing simulated but the way
 * from the racks to the centre.
 *
 * Foreign bytes: a line that is not as README.md has it is an error that names it.
 */
#ifndef TESTS_SIM_REPLAY_H
#define TESTS_SIM_REPLAY_H

#include <stdio.h>

#include "rackmesh/core/error.h"

/* Each opening, change and end of an incident goes to verdicts, as a sentence. -EINVAL
 * and why; -ENOMEM. */
int replay_whole(FILE *in, const char *file, FILE *verdicts, struct rm_error *error);

#endif
