/*
 * life - when each host's agent runs, stands still, is gone or cannot be heard. Pure.
 *
 * Made of the faults and the noise of a run before it begins: spans of time, by host.
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
	LIFE_STALL, /* its loop does not turn; packets wait */
	LIFE_DOWN,  /* the process is gone, its kernel says so */
	LIFE_GONE,  /* the host is gone */
	LIFE_CUT,   /* no management network */
};

struct life_span {
	enum life_kind kind;
	int64_t from_ns, to_ns;
	bool kernel; /* of a stall: it acknowledges */
	bool noise;  /* no fault of the file's */
};

int life_new(const struct clos *clos, const struct fault *faults, size_t count,
    const struct scenario *scenario, const struct scenario_draw *draw,
    struct dice *dice, struct life **ret);
void life_free(struct life *life);

/* host: from 0. By time from. */
size_t life_spans(const struct life *life, uint32_t host, const struct life_span **ret);

/* The span of this kind that holds this moment; NULL: none. */
const struct life_span *life_at(
    const struct life *life, uint32_t host, enum life_kind kind, int64_t now_ns);

/* The loop turns. */
bool life_runs(const struct life *life, uint32_t host, int64_t now_ns);
/* When what waits in its sockets is read; INT64_MAX: never. */
int64_t life_resumes(const struct life *life, uint32_t host, int64_t now_ns);
/* It stood still for at least min_ns, somewhere in between. */
bool life_stood_still(const struct life *life, uint32_t host, int64_t from_ns,
    int64_t to_ns, int64_t min_ns);
/* Its kernel answers over the management network. */
bool life_kernel_answers(const struct life *life, uint32_t host, int64_t now_ns);

#endif
