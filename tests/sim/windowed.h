/*
 * windowed - the common part of all published schemes, which judge windows.
 *
 * Flows are summed over a window, by path, and judged when it is full; the named parts
 * stay named until the next window is full. A passage is one direction of one flow, or
 * both if the direction of a loss is not known. The first parameter of every such
 * scheme is its window in seconds.
 *
 * A flow is left out if its source or destination was excused in the whole window.
 * R-Pingmesh has this filter (for a host that uploaded nothing in the window).
 */
#ifndef TESTS_SIM_WINDOWED_H
#define TESTS_SIM_WINDOWED_H

#include "tests/sim/scheme.h"

#define PASSAGE_LINKS (2 * CLOS_MAX_HOPS)

struct passage {
	/* RNICs of the flow, in this order also in the reverse direction */
	uint32_t src, dst;
	/* the reverse direction: the packets sent are counted in the forward direction
	 */
	bool back;
	uint32_t sent, lost;
	uint8_t count; /* number of links; 0: the path is not known */
	uint32_t links[PASSAGE_LINKS];
};

struct window; /* the sums of the flows so far */
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

/* The following functions are for the tables of the schemes. */
void windowed_free(struct scheme *scheme);
int windowed_report(struct scheme *scheme, const struct seen *seen);
int windowed_judge(struct scheme *scheme, const struct scheme_named **ret);

/* Names the RNIC instead of its cable, because probes cannot distinguish them. */
int windowed_name(struct windowed *w, uint32_t part, double confidence);
/* Names a switch instead of its cables if at least this number, and this share, of its
 * cables was named. */
int windowed_gather_devices(struct windowed *w, double share, double least);

#endif
