/*
 * trials - the number of trials of a simulating test: all with RACKMESH_FULL=1 or
 * RACKMESH_SOAK=1, otherwise the first quarter of them. Trial n is the same in both
 * cases.
 */
#ifndef TESTS_SUPPORT_TRIALS_H
#define TESTS_SUPPORT_TRIALS_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static inline bool
trials_are_asked_for(const char *name)
{
	const char *value = getenv(name);

	return value != NULL && strcmp(value, "1") == 0;
}

static inline bool
trials_are_all(void)
{
	return trials_are_asked_for("RACKMESH_FULL") ||
	       trials_are_asked_for("RACKMESH_SOAK");
}

static inline unsigned
trials_of(unsigned all)
{
	return trials_are_all() ? all : (all + 3) / 4;
}

#endif
