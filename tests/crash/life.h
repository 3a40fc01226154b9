/*
 * life - one life of a spool in a folder, with the oracle beside it. Nothing runs on
 * its own: no thread, no clock; life_turn does what is due.
 */
#ifndef TESTS_CRASH_LIFE_H
#define TESTS_CRASH_LIFE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/spool/spool.h"
#include "tests/crash/oracle.h"
#include "tests/crash/trace.h"

struct rm_loop;

struct life_faults { /* all of them have to stay 0 */
	uint64_t lost, invented, altered, disordered;
	uint64_t refused; /* it did not start */
	uint64_t slow;    /* longer than a second */
	uint64_t stuck;   /* it took or promised nothing, or its counts are wrong */
	uint64_t numbers; /* used a second time */
	char first[160];  /* which one */
};

struct life {
	struct rm_loop *loop;
	struct rm_spool *spool; /* NULL: not alive */
	struct rm_spool_options options;
	struct oracle *oracle;
	const struct trace *trace; /* its length is the time */
	struct life_faults *faults;
	int64_t slowest_ns;             /* start */
	uint64_t dropped, dropped_seen; /* pushed out by newer ones; of this life */
};

uint64_t life_fault_count(const struct life_faults *faults);

/* 0, or -errno: refused, and counted. What is found then counts as promised. */
int life_start(struct life *life);
void life_turn(struct life *life);
/* Timers fire in the next turn, or, while held, never. */
void life_hold_timers(bool hold);
void life_append(struct life *life, size_t len);
void life_done(struct life *life, uint64_t seq);
/* Reads all there is and compares. */
void life_walk(struct life *life);
/* It still works: takes, promises and shows a record. */
void life_works(struct life *life);
void life_stop(struct life *life); /* as it should be */
void life_kill(
    struct life *life); /* the recorder lets nothing through: as by kill -9 */

#endif
