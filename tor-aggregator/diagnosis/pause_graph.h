/*
 * pause_graph - which switches and RNICs pause which (PFC), and where that begins.
 * Pure.
 *
 * A pause that a switch receives at a port was sent by the neighbour, which is the slow
 * one; a pause that it sends stops the neighbour. A switch sends pauses because it is
 * paused itself at another port: so each pause is followed upstream, from its victims
 * to its source, a node that pauses and is not paused, or not enough to explain that.
 * An RNIC passes no pauses on, and so always is a source. Pauses without a source form
 * a loop, a deadlock. If a source is behind a port without a known neighbour, or
 * counted by a switch that is not read, it is reported as not known.
 *
 * Add all switches, then their ports; each priority is a graph of its own.
 */
#ifndef TOR_AGGREGATOR_DIAGNOSIS_PAUSE_GRAPH_H
#define TOR_AGGREGATOR_DIAGNOSIS_PAUSE_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"

#define PAUSE_PRIORITIES 8
#define PAUSE_MAX_SWITCHES 128
#define PAUSE_MAX_PORTS 4096   /* with pauses, of all switches; as many links without */
#define PAUSE_MAX_PAUSES 512   /* for one priority: a link in one direction each */
#define PAUSE_MAX_FINDINGS 32  /* of all priorities */
#define PAUSE_NAME_BYTES 132   /* "host/device" */
#define PAUSE_PORT_BYTES 64    /* as named by switch or neighbour */
#define PAUSE_SOURCE_BYTES 512 /* for a loop all its switches */
#define PAUSE_TEXT_BYTES 1024
#define PAUSE_VICTIMS 16 /* named by a finding; the others are counted */
#define PAUSE_STEPS 16   /* likewise */

/* From here on a pause needs an explanation; a weaker one, down to the faint limit,
 * may explain it if no other does. */
#define PAUSE_STRONG_PCT 5
#define PAUSE_STRONG_FRAMES 10 /* per second, where time is not counted */
#define PAUSE_FAINT_PCT 1
#define PAUSE_FAINT_FRAMES 1
#define PAUSE_LOOP_PCT 50 /* each pause of a deadlock, at least */
#define PAUSE_EXPLAINS 4  /* a pause explains at most this factor, in the same unit */

struct evidence;
struct pause_graph;

struct pause_rate {
	bool known;
	bool timed;            /* else value is frames per second */
	double value;          /* per cent of the time */
	rm_mono_t from, until; /* when it was counted; 0: not known */
};

enum pause_neighbor {
	PAUSE_NEIGHBOR_NOT_KNOWN,
	PAUSE_NEIGHBOR_OTHER,    /* has a name, and is none of the following */
	PAUSE_NEIGHBOR_LEFT_OUT, /* the same, but not all RNICs were examined */
	PAUSE_NEIGHBOR_RNIC,
	PAUSE_NEIGHBOR_SWITCH, /* of this graph */
};

struct pause_port {       /* everything is copied */
	const char *name; /* as named by its switch */
	enum pause_neighbor kind;
	/* Its name; not used for a switch or an unknown neighbour. */
	const char *neighbor;
	size_t far;              /* for a switch its index here */
	bool off;                /* it is down, or without PFC */
	const char *far_port[2]; /* and its port's names, as LLDP tells them; or "" */
	struct pause_rate received[PAUSE_PRIORITIES], sent[PAUSE_PRIORITIES];
};

enum pause_kind {
	PAUSE_SOURCE_RNIC,
	PAUSE_SOURCE_SWITCH, /* its own queues are full */
	PAUSE_SOURCE_NOT_KNOWN,
	PAUSE_LOOP,
	PAUSE_KINDS,
};

struct pause_step { /* from: the sender; to: the one that is paused */
	char from[PAUSE_NAME_BYTES], to[PAUSE_NAME_BYTES];
	struct pause_rate rate;
};

struct pause_finding {
	enum pause_kind kind;
	unsigned priority;
	/* Its name; for a loop all switches; if not known: as much as is known, or
	 * "". */
	char source[PAUSE_SOURCE_BYTES];
	/* Where its pauses enter the network; "" if the source is a switch. */
	char at_switch[PAUSE_NAME_BYTES], at_port[PAUSE_PORT_BYTES];
	struct pause_rate rate; /* of the strongest of its pauses */
	char victims[PAUSE_VICTIMS][PAUSE_NAME_BYTES];
	size_t victim_count; /* includes those that are not named */
	/* How they spread: from the source on, each after one that causes it. */
	struct pause_step steps[PAUSE_STEPS];
	size_t step_count; /* includes those that are not listed */
	char sentence[PAUSE_TEXT_BYTES];
};

/* Of one priority, from the evidence's numbers for its time and its frames: by time,
 * but some platforms have that always at 0, and count frames. until: it was read. */
struct pause_rate pause_rate_of(const struct evidence *evidence, unsigned timed,
    unsigned frames, unsigned priority, rm_mono_t until);
/* For a pause that both ends of a link count: the newer one; if their times overlap
 * the stronger one, preferably by time. */
struct pause_rate pause_rate_of_both(
    const struct pause_rate *a, const struct pause_rate *b);

struct pause_graph *pause_graph_new(void);        /* NULL when out of memory */
void pause_graph_free(struct pause_graph *graph); /* NULL is allowed */

/* They get the numbers 0, 1, ... read: its ports follow, from a recent reading.
 * -ENOSPC; -EINVAL: ports have been added already. */
int pause_graph_add_switch(struct pause_graph *graph, const char *name, bool read);
/* of: its switch's number; all ports of one switch follow each other. Ports beyond the
 * limits are counted: pause_graph_left_out. -ENOMEM; -EINVAL. */
int pause_graph_add_port(
    struct pause_graph *graph, size_t of, const struct pause_port *port);

/* Sources from which pauses spread to others, and loops. Returns their number. */
size_t pause_graph_judge(
    struct pause_graph *graph, struct pause_finding found[PAUSE_MAX_FINDINGS]);
/* Ports and pauses beyond the limits, also of the last judgement. */
uint64_t pause_graph_left_out(const struct pause_graph *graph);

const char *pause_kind_str(enum pause_kind kind);  /* "pause-source", ... */
const char *pause_kind_what(enum pause_kind kind); /* a sentence, for display */

#endif
