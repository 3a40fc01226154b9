/*
 * scheme - a way to judge, ours or another's, in the same harness on the same data.
 *
 * Every second of simulated time a scheme is told what was seen of every flow, and
 * asked whom it holds to be at fault. It knows the fabric and the traced ways, and
 * nothing of the truth. What it names is scored by score.h.
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
	bool traced; /* links are known: the last good trace's, maybe an old one */
	uint8_t out_count, back_count;
	uint32_t out[CLOS_MAX_HOPS], back[CLOS_MAX_HOPS];
	uint32_t sent;
	/* Lost on the way out, on the way back, and where nobody knows which way. */
	uint32_t forward, reverse, unknown;
	uint32_t slow; /* answered, network RTT above the scenario's `slow_us` */
	bool src_stalled, dst_stalled; /* a host that its agent's heartbeats excuse */
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
	const char *kind;     /* word of rm_kind_str, or NULL where a scheme has none */
	bool one_class;       /* only packets with this DSCP are lost */
	uint8_t dscp;
	int64_t since_ns; /* first named without interruption */
};

#define SCHEME_PARAMETERS 6
#define SCHEME_WINDOW 0 /* of all of them: the window's seconds */

struct scheme_parameter { /* what is tuned, on the development seeds only */
	const char *name;
	double value;   /* as published, or where tuning has left it */
	double grid[8]; /* that tuning tries */
	size_t grid_count;
};

struct scheme;

struct scheme_type {
	const char *name;   /* "flock", "007", ... */
	const char *source; /* paper and what is ours in it, one line */
	struct scheme_parameter parameters[SCHEME_PARAMETERS];
	size_t parameter_count;
	/* values: one for each parameter. -ENOMEM. */
	int (*new)(const struct clos *clos, const double *values, struct scheme **ret);
	void (*free)(struct scheme *scheme);
	int (*report)(struct scheme *scheme, const struct seen *seen);
	/* Whom it names now; valid until the next call. Returns how many, or -ENOMEM.
	 */
	int (*judge)(struct scheme *scheme, const struct scheme_named **ret);
};

/* Every scheme's object begins with its type. */
struct scheme {
	const struct scheme_type *type;
};

extern const struct scheme_type scheme_ten_percent; /* one-shot 10 % of a RNIC's */
extern const struct scheme_type scheme_vote;        /* R-Pingmesh, unweighted */
extern const struct scheme_type scheme_007;
extern const struct scheme_type scheme_netbouncer;
extern const struct scheme_type scheme_pll; /* deTector */
extern const struct scheme_type scheme_flock;
extern const struct scheme_type scheme_ours_flows; /* our judge on flows, no racks */

#endif
