/*
 * acceptance - the observations of one rack during its burn-in, and whether it passes.
 * Pure. The caller passes the answers of the rack's aggregator and of a controller as
 * they arrive, and then calls acceptance_judge. Missing reports count as bad: a rack
 * without reports fails.
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
	/* largest share of lost probes of a pair, and of an RNIC: 0.001 is 0.1 % */
	double max_loss;
	unsigned rnics; /* expected number of RNICs; 0: the number in the topology */
	/* the switches do not answer traces, so paths are not required */
	bool without_paths;
};

#define ACCEPTANCE_MAX_RNICS 4096
#define ACCEPTANCE_NAME 136 /* host/device */

struct acceptance *acceptance_new(const char *tor,
    const struct acceptance_limits *limits); /* Returns NULL when out of memory. */
void acceptance_free(struct acceptance *acceptance);

/* Counts one look at the rack. answered: all requests of the look were answered. */
void acceptance_look(struct acceptance *acceptance, bool answered);

/* These functions take answers of the aggregator: /v1/rnics, /v1/hosts, /v1/incidents
 * and /v1/paths, all for this ToR, and /v1/racks. */
void acceptance_take_rnics(struct acceptance *acceptance, const json_t *answer);
void acceptance_take_hosts(struct acceptance *acceptance, const json_t *answer);
void acceptance_take_incidents(struct acceptance *acceptance, const json_t *answer);
void acceptance_take_paths(struct acceptance *acceptance, const json_t *answer);
/* The answer of /v1/drill for the RNIC with this index. Counts its own probes, without
 * results that earlier answers had. The first answer is not counted: it only sets the
 * time from which results count. */
void acceptance_take_drill(
    struct acceptance *acceptance, size_t rnic, const json_t *answer);
/* Answers of a controller: /v1/racks, /v1/topology, /v1/refused. */
void acceptance_take_plan(struct acceptance *acceptance, const json_t *answer);
void acceptance_take_topology(struct acceptance *acceptance, const json_t *answer);
void acceptance_take_refused(struct acceptance *acceptance, const json_t *answer);

/* Returns the number of RNICs that are known so far; the index of an RNIC never
 * changes. */
size_t acceptance_rnics(const struct acceptance *acceptance);
const char *acceptance_rnic_name(const struct acceptance *acceptance, size_t rnic);

#define ACCEPTANCE_RACKS_BYTES 512
/* Writes the names of the racks in the array "racks" of the aggregator's /v1/racks:
 * "tor1, tor2 and 12 more". Names are whole; the number of those that do not fit is
 * given. "none": it has none. */
void acceptance_racks(const json_t *racks, char out[ACCEPTANCE_RACKS_BYTES]);

/* Writes "6 of 6 RNICs, 24310 probes, 3 lost, 0 incidents". */
void acceptance_progress(const struct acceptance *acceptance, FILE *out);

enum acceptance_result {
	ACCEPTANCE_PASS,
	ACCEPTANCE_FAIL, /* something is wrong */
	/* Agents were stalled for so long that some RNICs cannot be judged. */
	ACCEPTANCE_NOT_JUDGED,
};

/* Judges the rack, and adds all findings. The rack passes if no finding is wrong, and
 * stalls left nothing undecided. */
enum acceptance_result acceptance_judge(
    struct acceptance *acceptance, struct findings *findings);

/* Call both after acceptance_judge. The first prints a table to stdout (-ENOMEM); the
 * second returns lists as JSON (NULL: out of memory). */
int acceptance_print(const struct acceptance *acceptance);
json_t *acceptance_json(const struct acceptance *acceptance);

#endif
