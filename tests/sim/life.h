/*
 * life - when the agent of each host runs, is stalled, has ended or is unreachable.
 * Pure.
 *
 * Spans of time by host, computed from the faults and the noise before the run begins.
 */
#ifndef TESTS_SIM_LIFE_H
#define TESTS_SIM_LIFE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/sim/clos.h"
#include "tests/sim/dice.h"
#include "tests/sim/scenario.h"

struct life;

enum life_kind {
	LIFE_STALL, /* its event loop is stopped; packets wait */
	LIFE_DOWN,  /* the process has ended, and its kernel closes connections */
	LIFE_GONE,  /* the host is gone */
	LIFE_CUT,   /* no management network */
};

struct life_span {
	enum life_kind kind;
	int64_t from_ns, to_ns;
	bool kernel; /* of a stall: the kernel still acknowledges */
	bool noise;  /* noise, not a fault of the file */
};

int life_new(const struct clos *clos, const struct fault *faults, size_t count,
    const struct scenario *scenario, const struct scenario_draw *draw,
    struct dice *dice, struct life **ret);
void life_free(struct life *life);

/* The spans of a host (from 0), ordered by their begin. */
size_t life_spans(const struct life *life, uint32_t host, const struct life_span **ret);

/* The span of this kind that contains this moment; NULL: none. */
const struct life_span *life_at(
    const struct life *life, uint32_t host, enum life_kind kind, int64_t now_ns);

/* Whether the agent's event loop runs. */
bool life_runs(const struct life *life, uint32_t host, int64_t now_ns);
/* When the agent reads what waits in its sockets; INT64_MAX: never. */
int64_t life_resumes(const struct life *life, uint32_t host, int64_t now_ns);
/* Whether the agent was stalled for at least min_ns within that time. */
bool life_stood_still(const struct life *life, uint32_t host, int64_t from_ns,
    int64_t to_ns, int64_t min_ns);
/* Whether the host's kernel answers over the management network. */
bool life_kernel_answers(const struct life *life, uint32_t host, int64_t now_ns);

#endif
