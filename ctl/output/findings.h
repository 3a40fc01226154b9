/*
 * findings - results of checks: the level, what was found, and what to do.
 *
 * Texts come from files, programs and daemons, so control characters are removed. At
 * most FINDINGS_MAX findings are kept; further ones are only counted.
 */
#ifndef CTL_OUTPUT_FINDINGS_H
#define CTL_OUTPUT_FINDINGS_H

#include <jansson.h>
#include <stddef.h>
#include <stdio.h>

#define FINDINGS_MAX 512
#define FINDING_BYTES 768

enum finding_level {
	FINDING_GOOD,
	/* it works, but not as well as it could; or it could not be checked */
	FINDING_WARNING,
	FINDING_WRONG,
	FINDING_LEVELS,
};

struct finding {
	enum finding_level level;
	const char *check; /* name of the check, a constant */
	char seen[FINDING_BYTES];
	char remedy[FINDING_BYTES]; /* "": nothing to do */
};

struct findings {
	struct finding *list;
	size_t count, allocated;
	size_t counts[FINDING_LEVELS];
	/* number of findings that were not kept; the counts of the levels include them
	 */
	size_t dropped;
	const char *check; /* name of the check to which the next findings belong */
};

void findings_clear(struct findings *findings);

void findings_add(struct findings *findings, enum finding_level level,
    const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Sets what to do about the last finding. */
void findings_remedy(struct findings *findings, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* "good", "warning", "wrong". */
const char *finding_level_name(enum finding_level level);

/* Prints, for people, a line for each finding, and one for what to do. */
void findings_print(const struct findings *findings, FILE *out);
/* An array of objects. NULL: out of memory. */
json_t *findings_json(const struct findings *findings);

#endif
