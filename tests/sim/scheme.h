/*
 * scheme - an algorithm that judges, ours or another one, with the same input.
 *
 * Every second of simulated time, a scheme gets the observations of every flow and
 * returns the parts that it holds to be at fault. It knows the fabric and the traced
 * paths, and nothing of the truth. score.h scores what it names.
 */
#ifndef TESTS_SIM_SCHEME_H
#define TESTS_SIM_SCHEME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/sim/clos.h"

struct seen_flow {         /* packets of one second, by time sent */
	uint32_t src, dst; /* RNICs */
	uint16_t port;     /* UDP source port */
	uint8_t dscp;
	bool large;
	bool traced; /* links are known, from the last whole trace */
	uint8_t out_count, back_count;
	uint32_t out[CLOS_MAX_HOPS], back[CLOS_MAX_HOPS];
	uint32_t sent;
	/* Lost on the way out, on the way back, and in an unknown direction. */
	uint32_t forward, reverse, unknown;
	uint32_t slow; /* answered, network RTT above the scenario's `slow_us` */
	bool src_stalled, dst_stalled; /* heartbeats excuse losses of the host */
};

struct seen {
	int64_t end_ns; /* of the second, from the run's start */
	const struct seen_flow *flows;
	size_t count;
};

struct scheme_named {
	uint32_t part;  /* clos part; a link: directed */
	uint32_t other; /* "A or B": the other one; CLOS_NONE */
	uint32_t third; /* "A or B or C", of switches; 0, which is none: no third */
	bool both_directions; /* of a link: its twin as well */
	double confidence;    /* 0 .. 1; 1 where a scheme has none */
	const char
	    *kind;      /* a text of rm_kind_str, or NULL if the scheme has no kinds */
	bool one_class; /* only packets with this DSCP are lost */
	uint8_t dscp;
	int64_t since_ns; /* since when it is named without interruption */
};

#define SCHEME_PARAMETERS 6
#define SCHEME_WINDOW 0 /* of all of them: the window's seconds */

struct scheme_parameter { /* parameters, tuned on the development seeds only */
	const char *name;
	double value;   /* the published value, or the result of tuning */
	double grid[8]; /* values that tuning tries */
	size_t grid_count;
};

struct scheme;

struct scheme_type {
	const char *name;   /* "flock", "007", ... */
	const char *source; /* the paper, and our additions to it, in one line */
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
    scheme_ten_percent; /* the rule of 10 % loss of an RNIC in one window */
extern const struct scheme_type scheme_vote; /* R-Pingmesh, unweighted */
extern const struct scheme_type scheme_007;
extern const struct scheme_type scheme_netbouncer;
extern const struct scheme_type scheme_pll; /* deTector */
extern const struct scheme_type scheme_flock;
extern const struct scheme_type scheme_ours_flows; /* our judge on flows, no racks */

#endif
