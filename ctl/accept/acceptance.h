/*
 * acceptance - the observations of one rack during its burn-in, and whether it passes.
 * Pure. Feed it the answers of the rack's aggregator and of a controller as they
 * arrive, then have it judged. Missing reports are never good: a rack without reports
 * fails.
 */
#ifndef CTL_ACCEPT_ACCEPTANCE_H
#define CTL_ACCEPT_ACCEPTANCE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct acceptance;
struct findings;

struct acceptance_limits {
	double max_loss;    /* of a pair's probes, and of an RNIC's: 0.001 is 0.1 % */
	unsigned rnics;     /* expected number; 0: that of the topology */
	bool without_paths; /* no switch answers traces here */
};

#define ACCEPTANCE_MAX_RNICS 4096
#define ACCEPTANCE_NAME 136 /* host/device */

struct acceptance *acceptance_new(
    const char *tor, const struct acceptance_limits *limits); /* NULL: memory */
void acceptance_free(struct acceptance *acceptance);

/* A look at the rack, and whether all of it was answered. */
void acceptance_look(struct acceptance *acceptance, bool answered);

/* Answers of the aggregator: /v1/rnics, /v1/hosts, /v1/incidents, /v1/paths, all
 * of this ToR, and /v1/racks. */
void acceptance_take_rnics(struct acceptance *acceptance, const json_t *answer);
void acceptance_take_hosts(struct acceptance *acceptance, const json_t *answer);
void acceptance_take_incidents(struct acceptance *acceptance, const json_t *answer);
void acceptance_take_paths(struct acceptance *acceptance, const json_t *answer);
/* /v1/drill of the RNIC of this number. Of its own probes, results that earlier answers
 * did not have are counted; the first answer only sets the time from which on. */
void acceptance_take_drill(
    struct acceptance *acceptance, size_t rnic, const json_t *answer);
/* Answers of a controller: /v1/racks, /v1/topology, /v1/refused. */
void acceptance_take_plan(struct acceptance *acceptance, const json_t *answer);
void acceptance_take_topology(struct acceptance *acceptance, const json_t *answer);
void acceptance_take_refused(struct acceptance *acceptance, const json_t *answer);

/* RNICs that are known by now; their numbers never change. */
size_t acceptance_rnics(const struct acceptance *acceptance);
const char *acceptance_rnic_name(const struct acceptance *acceptance, size_t rnic);

/* "6 of 6 RNICs, 24310 probes, 3 lost, 0 incidents" */
void acceptance_progress(const struct acceptance *acceptance, FILE *out);

enum acceptance_result {
	ACCEPTANCE_PASS,
	ACCEPTANCE_FAIL, /* something is wrong */
	/* Agents were stalled for so long that nothing can be said of some RNICs. */
	ACCEPTANCE_NOT_JUDGED,
};

/* Adds all that was found. The rack passes if nothing of it is wrong, and stalls left
 * nothing undecided. */
enum acceptance_result acceptance_judge(
    struct acceptance *acceptance, struct findings *findings);

/* After the judgement. A table to stdout; lists of JSON. -ENOMEM, or NULL. */
int acceptance_print(const struct acceptance *acceptance);
json_t *acceptance_json(const struct acceptance *acceptance);

#endif
