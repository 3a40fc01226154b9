/*
 * trace_path - the path of one flow, from repeated traces.
 *
 * A trace that shows fewer hops than are known deletes none of them, because a black
 * hole, or a switch that limits its answers, shows no hop. If another switch answers,
 * the path changes only after two traces in a row have shown the same. Pure.
 */
#ifndef HOST_AGENT_TRACE_TRACE_PATH_H
#define HOST_AGENT_TRACE_TRACE_PATH_H

#include <stdbool.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"
#include "schemas/wire.h"

/* A path that changed so many times within so much time is marked as moving. */
#define TRACE_PATH_MOVES 3
#define TRACE_PATH_MOVES_NS (600 * RM_NS_PER_S)

struct trace_hops {
	uint8_t at[WIRE_MAX_HOPS][16]; /* as in struct wire_path; zeros: no answer */
	uint8_t count;
	bool complete; /* the destination is behind the last hop */
};

struct trace_path {
	struct trace_hops good; /* the known path; count 0: none is known yet */
	/* The hops of the last trace if it differed; count 0: it did not. */
	struct trace_hops other;
	rm_mono_t traced; /* when good was last confirmed */
	/* times of the latest moves, as a ring */
	rm_mono_t moves[TRACE_PATH_MOVES + 1];
	unsigned move_count;
	bool multipath;
};

enum trace_status {
	TRACE_SAME,
	TRACE_NEWS, /* the path or its flag has changed */
	TRACE_LESS, /* the trace showed fewer hops than are known */
	/* the same, and one of the hops is of another path: trace again soon */
	TRACE_LESS_ODD,
	/* the trace showed another path, for the first time: trace again soon */
	TRACE_ODD,
};

/* Takes the hops that one trace has found, at the time now. */
enum trace_status trace_path_take(
    struct trace_path *path, const struct trace_hops *found, rm_mono_t now);

/* True: there is no hop at which two different switches answered, and no other sign of
 * two paths. */
bool trace_hops_agree(const struct trace_hops *a, const struct trace_hops *b);

/* True: a hop did not answer, or the end of the path is unknown. */
bool trace_path_has_gaps(const struct trace_path *path);

#endif
