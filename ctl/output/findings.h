/*
 * findings - what checks have found: good or not, what was seen, what to do.
 *
 * Texts come from files, programs and daemons: what a terminal would obey is taken out.
 * At most FINDINGS_MAX are kept; the rest is counted.
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
	FINDING_WARNING, /* works, but less well than it could, or could not be seen */
	FINDING_WRONG,
	FINDING_LEVELS,
};

struct finding {
	enum finding_level level;
	const char *check; /* who found it; a constant */
	char seen[FINDING_BYTES];
	char remedy[FINDING_BYTES]; /* "": nothing to do */
};

struct findings {
	struct finding *list;
	size_t count, allocated;
	size_t counts[FINDING_LEVELS];
	size_t dropped;    /* also counted by level */
	const char *check; /* the subject of the next findings */
};

void findings_clear(struct findings *findings);

void findings_add(struct findings *findings, enum finding_level level,
    const char *format, ...) __attribute__((format(printf, 3, 4)));
/* What to do about the last one. */
void findings_remedy(struct findings *findings, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* "good", "warning", "wrong". */
const char *finding_level_name(enum finding_level level);

/* For people: a line for each finding, and one for what to do. */
void findings_print(const struct findings *findings, FILE *out);
/* A list of objects; NULL: memory. */
json_t *findings_json(const struct findings *findings);

#endif
