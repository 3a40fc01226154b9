/*
 * scheme - a judging algorithm, ours or a published one; all schemes get the same
 * input.
 *
 * Every second of simulated time, a scheme gets the observations of every flow and
 * returns the parts that are at fault in its judgement. It knows the fabric and the
 * traced paths, but not the real faults. score.h compares its result with these.
 */
#ifndef TESTS_SIM_SCHEME_H
#define TESTS_SIM_SCHEME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/sim/clos.h"

struct seen_flow {         /* packets that were sent in one second */
	uint32_t src, dst; /* RNICs */
	uint16_t port;     /* UDP source port */
	uint8_t dscp;
	bool large;
	bool traced; /* the links are known, from the last complete trace */
	uint8_t out_count, back_count;
	uint32_t out[CLOS_MAX_HOPS], back[CLOS_MAX_HOPS];
	uint32_t sent;
	/* Packets lost on the way to the destination, on the way back, and in an
	 * unknown direction. */
	uint32_t forward, reverse, unknown;
	/* answered packets whose network RTT is above the scenario's `slow_us` */
	uint32_t slow;
	/* by heartbeats, the losses of the host are excused */
	bool src_stalled, dst_stalled;
};

struct seen {
	int64_t end_ns; /* end of the second, from the run's start */
	const struct seen_flow *flows;
	size_t count;
};

struct scheme_named {
	uint32_t part;  /* number of the part in clos; a link is directed */
	uint32_t other; /* for "A or B": the other part; CLOS_NONE */
	/* for "A or B or C": a switch, or a cable of the first; 0 (which is neither):
	 * there is no third */
	uint32_t third;
	bool both_directions; /* for a link: its twin, too */
	double confidence;    /* 0 .. 1; always 1 if the scheme has no confidence */
	const char *kind;     /* a text of rm_kind_str; NULL: the scheme has no kinds */
	bool one_class;       /* only packets with this DSCP are lost */
	uint8_t dscp;
	int64_t since_ns; /* time since which it has been named without interruption */
};

#define SCHEME_PARAMETERS 6
/* index of the first parameter of all schemes: the window in seconds */
#define SCHEME_WINDOW 0

/* The parameters of a scheme, tuned on the development seeds only. */
struct scheme_parameter {
	const char *name;
	double value;   /* the published value, or the result of tuning */
	double grid[8]; /* values that tuning tries */
	size_t grid_count;
};

struct scheme;

struct scheme_type {
	const char *name; /* "flock", "007", ... */
	/* the paper, and what we added to its method, in one line */
	const char *source;
	struct scheme_parameter parameters[SCHEME_PARAMETERS];
	size_t parameter_count;
	/* values: one for each parameter. -ENOMEM. */
	int (*new)(const struct clos *clos, const double *values, struct scheme **ret);
	void (*free)(struct scheme *scheme);
	int (*report)(struct scheme *scheme, const struct seen *seen);
	/* The named parts; valid until the next call. Returns their number, or -ENOMEM.
	 */
	int (*judge)(struct scheme *scheme, const struct scheme_named **ret);
};

/* The first member of every scheme's object is its type. */
struct scheme {
	const struct scheme_type *type;
};

extern const struct scheme_type
    scheme_ten_percent; /* the rule that an RNIC with 10 % loss in one window is bad */
extern const struct scheme_type scheme_vote; /* R-Pingmesh, unweighted */
extern const struct scheme_type scheme_007;
extern const struct scheme_type scheme_netbouncer;
extern const struct scheme_type scheme_pll; /* deTector */
extern const struct scheme_type scheme_flock;
/* our judge, fed with flows, without racks */
extern const struct scheme_type scheme_ours_flows;

#endif
