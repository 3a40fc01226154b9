/*
 * windowed - the common part of all published schemes, which judge windows.
 *
 * Flows are summed over a window, by path, and judged when it is full; the named parts
 * stay named until the next window is full. A passage is one direction of one flow, or
 * both if the direction of a loss is not known. The first parameter of every such
 * scheme is its window in seconds.
 *
 * A flow is left out if its source or destination was excused in the whole window. This
 * is the filter of R-Pingmesh (a host that uploaded nothing in the window).
 */
#ifndef TESTS_SIM_WINDOWED_H
#define TESTS_SIM_WINDOWED_H

#include "tests/sim/scheme.h"

#define PASSAGE_LINKS (2 * CLOS_MAX_HOPS)

struct passage {
	uint32_t src, dst; /* RNICs of the flow, in this order also for the way back */
	bool back;         /* the way back: packets sent are counted on the way out */
	uint32_t sent, lost;
	uint8_t count; /* 0: the path is not known */
	uint32_t links[PASSAGE_LINKS];
};

struct window; /* sums of the flows so far */
struct windowed;

/* Names the parts at fault, by windowed_name(). -ENOMEM. */
typedef int windowed_judge_fn(
    struct windowed *w, const struct passage *passages, size_t count);

struct windowed {
	struct scheme scheme;
	const struct clos *clos;
	double values[SCHEME_PARAMETERS];
	windowed_judge_fn *judge_window;
	struct window *window;
	struct scheme_named *named, *before;
	size_t named_count, named_allocated, before_count, before_allocated;
	int64_t now_ns;
};

int windowed_new(const struct scheme_type *type, const struct clos *clos,
    const double *values, windowed_judge_fn *judge_window, struct scheme **ret);

/* For the tables of the schemes. */
void windowed_free(struct scheme *scheme);
int windowed_report(struct scheme *scheme, const struct seen *seen);
int windowed_judge(struct scheme *scheme, const struct scheme_named **ret);

/* Names the RNIC for its cable: from outside they cannot be distinguished. */
int windowed_name(struct windowed *w, uint32_t part, double confidence);
/* Names a switch instead of its named cables if they are at least so many, and at least
 * this share of its cables. */
int windowed_gather_devices(struct windowed *w, double share, double least);

#endif
