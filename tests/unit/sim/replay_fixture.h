/*
 * replay_fixture - replays a recording, and keeps the reports as text.
 */
#ifndef TESTS_REPLAY_FIXTURE_H
#define TESTS_REPLAY_FIXTURE_H

#include <stdio.h>

#include "tests/sim/replay.h"

/* Calls replay_whole() and closes `in`; `name` is the file in error texts. The caller
 * frees *reported. */
static inline int
replay_reported(FILE *in, const char *name, char **reported, struct rm_error *error)
{
	size_t len;
	FILE *out = open_memstream(reported, &len);
	int r;

	assert_non_null(in);
	assert_non_null(out);
	r = replay_whole(in, name, out, error);
	fclose(in);
	fclose(out);
	return r;
}

#endif
