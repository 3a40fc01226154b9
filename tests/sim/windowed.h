/*
 * windowed - what all published schemes have in common: they look at windows.
 *
 * Flows are summed up over a window, by way, and judged when it is full; what was
 * named then stays named until the next one is. A passage is one way of one flow, or
 * there and back where nobody knows which way a packet was lost. The first parameter
 * of every such scheme is its window in seconds.
 *
 * A flow is left out when its source, or destination, was excused throughout: that is
 * the filter that R-Pingmesh describes (a host that uploaded nothing in the window).
 */
#ifndef TESTS_SIM_WINDOWED_H
#define TESTS_SIM_WINDOWED_H

#include "tests/sim/scheme.h"

#define PASSAGE_LINKS (2 * CLOS_MAX_HOPS)

struct passage {
	uint32_t src, dst; /* RNICs of the flow, also of its way back */
	bool back; /* the way back: what was sent was counted on the way there */
	uint32_t sent, lost;
	uint8_t count; /* 0: the way is not known */
	uint32_t links[PASSAGE_LINKS];
};

struct window; /* flows summed up so far */
struct windowed;

/* Names whom it holds to be at fault, by windowed_name(). -ENOMEM. */
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

/* An RNIC's cable is named as that RNIC: from outside they are one. */
int windowed_name(struct windowed *w, uint32_t part, double confidence);
/* Where the cables that are named are at least so many of a switch's, and at least that
 * share of them, the switch is named in their place. */
int windowed_gather_devices(struct windowed *w, double share, double least);

#endif
