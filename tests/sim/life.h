/*
 * life - when the agent of each host runs, is stalled, has ended, or cannot be reached.
 * Pure. For each host it has spans of time, which are computed from the faults and the
 * noise before the run begins.
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
	LIFE_GONE,  /* the host does not exist on the network any more */
	LIFE_CUT,   /* no management network */
};

struct life_span {
	enum life_kind kind;
	int64_t from_ns, to_ns;
	bool kernel; /* in a stall: the kernel still acknowledges */
	bool noise;  /* the span comes from noise, not from a fault of the file */
};

int life_new(const struct clos *clos, const struct fault *faults, size_t count,
    const struct scenario *scenario, const struct scenario_draw *draw,
    struct dice *dice, struct life **ret);
void life_free(struct life *life);

/* Returns the spans of a host (from 0), in the order of their beginnings. */
size_t life_spans(const struct life *life, uint32_t host, const struct life_span **ret);

/* Returns the span of this kind that contains this moment; NULL: there is none. */
const struct life_span *life_at(
    const struct life *life, uint32_t host, enum life_kind kind, int64_t now_ns);

/* Whether the agent's event loop runs. */
bool life_runs(const struct life *life, uint32_t host, int64_t now_ns);
/* Returns when the agent reads what waits in its sockets; INT64_MAX: never. */
int64_t life_resumes(const struct life *life, uint32_t host, int64_t now_ns);
/* Whether the agent was stalled for at least min_ns within that time. */
bool life_stood_still(const struct life *life, uint32_t host, int64_t from_ns,
    int64_t to_ns, int64_t min_ns);
/* Whether the host's kernel answers over the management network. */
bool life_kernel_answers(const struct life *life, uint32_t host, int64_t now_ns);

#endif
