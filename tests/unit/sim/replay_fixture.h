/*
 * replay_fixture - a recording replayed, and what was said, for tests.
 */
#ifndef TESTS_REPLAY_FIXTURE_H
#define TESTS_REPLAY_FIXTURE_H

#include <stdio.h>

#include "tests/sim/replay.h"

/* As replay_whole of `in`, which it closes; errors call it `name`. free(*said). */
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
