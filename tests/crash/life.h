/*
 * life - one run of a spool in a folder, with the oracle beside it. There is no thread
 * and no clock: life_turn runs what is due.
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

struct life_faults { /* number of faults; all must stay 0 */
	uint64_t lost, invented, altered, disordered;
	uint64_t refused; /* the spool did not start */
	uint64_t slow;    /* starts that took longer than a second */
	uint64_t stuck;   /* it accepted or promised nothing, or its counts are wrong */
	uint64_t numbers; /* numbers used twice */
	char first[160];  /* description of the first fault */
};

struct life {
	struct rm_loop *loop;
	struct rm_spool *spool; /* NULL: not running */
	struct rm_spool_options options;
	struct oracle *oracle;
	const struct trace *trace; /* the length of the trace serves as the time */
	struct life_faults *faults;
	int64_t slowest_ns;             /* at the start */
	uint64_t dropped, dropped_seen; /* dropped by newer ones; dropped in this run */
};

uint64_t life_fault_count(const struct life_faults *faults);

/* Returns 0, or -errno: it was refused, and counted. Records that are found count as
 * promised from then on. */
int life_start(struct life *life);
void life_turn(struct life *life);
/* Timers fire in the next turn, or never while they are held. */
void life_hold_timers(bool hold);
void life_append(struct life *life, size_t len);
void life_done(struct life *life, uint64_t seq);
/* Reads all records and compares them with the oracle. */
void life_walk(struct life *life);
/* Checks that the spool still accepts, promises and delivers a record. */
void life_works(struct life *life);
void life_stop(struct life *life); /* an orderly end */
void life_kill(struct life *life); /* the recorder blocks all calls, as after kill -9 */

#endif
