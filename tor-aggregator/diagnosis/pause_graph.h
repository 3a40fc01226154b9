/*
 * pause_graph - finds the sources of PFC and global pauses: which switch or RNIC pauses
 * which neighbour, and where the pauses begin. Pure.
 *
 * A pause that a switch receives at a port was sent by the neighbour, which cannot
 * receive more packets; a pause that the switch sends stops the neighbour. A switch
 * usually sends pauses because it is itself paused at another port. So each pause is
 * followed from its victim to its source: a node that sends pauses and receives none,
 * or too few to explain what it sends. An RNIC does not forward pauses, so it is always
 * a source. Pauses without a source form a loop, which is a deadlock. If a source is
 * behind a port without a known neighbour, or is a switch that is not read, it is
 * reported as not known.
 *
 * Add all switches first, then their ports. Each priority is judged as a graph of its
 * own, and so are the global pauses (802.3x) of ports without PFC: they stop all
 * priorities.
 */
#ifndef TOR_AGGREGATOR_DIAGNOSIS_PAUSE_GRAPH_H
#define TOR_AGGREGATOR_DIAGNOSIS_PAUSE_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"

#define PAUSE_PRIORITIES 8
/* The number of the global pauses, where the others are numbers of priorities. */
#define PAUSE_GLOBAL PAUSE_PRIORITIES
#define PAUSE_CLASSES (PAUSE_PRIORITIES + 1)
#define PAUSE_MAX_SWITCHES 128
/* ports with pauses, of all switches; and as many links without pauses */
#define PAUSE_MAX_PORTS 4096
/* maximum number of pauses of one priority, and of global ones; one for each link and
 * direction */
#define PAUSE_MAX_PAUSES 512
#define PAUSE_MAX_FINDINGS 32 /* over all priorities */
#define PAUSE_NAME_BYTES 132  /* "host/device" */
/* size of a port's name, as its switch or its neighbour calls it */
#define PAUSE_PORT_BYTES 64
/* size for a loop's names: those of all its switches */
#define PAUSE_SOURCE_BYTES 512
#define PAUSE_TEXT_BYTES 1024
/* victims that a finding names; further ones are only counted */
#define PAUSE_VICTIMS 16
#define PAUSE_STEPS 16 /* steps that a finding lists; further ones are only counted */

/* A pause of at least this strength needs an explanation. A weaker pause, down to the
 * PAUSE_FAINT limits, can explain it if no strong one does. */
#define PAUSE_STRONG_PCT 5
/* frames per second; used for ports that do not count the paused time */
#define PAUSE_STRONG_FRAMES 10
#define PAUSE_FAINT_PCT 1
#define PAUSE_FAINT_FRAMES 1
#define PAUSE_LOOP_PCT 50 /* least strength of each pause in a deadlock */
/* A pause can explain another one that is up to this many times as strong, in the same
 * unit. */
#define PAUSE_EXPLAINS 4

struct evidence;
struct pause_graph;

struct pause_rate {
	bool known;
	/* true: value is in % of the time; false: in frames per second */
	bool timed;
	double value;
	/* the time in which the pauses were counted; ns 0: not known */
	rm_mono_t from, until;
};

enum pause_neighbor {
	PAUSE_NEIGHBOR_NOT_KNOWN,
	/* known by name, but not an RNIC or a switch of this graph */
	PAUSE_NEIGHBOR_OTHER,
	/* as PAUSE_NEIGHBOR_OTHER, but not all RNICs were examined */
	PAUSE_NEIGHBOR_LEFT_OUT,
	PAUSE_NEIGHBOR_RNIC,
	PAUSE_NEIGHBOR_SWITCH, /* a switch of this graph */
};

struct pause_port {       /* everything is copied */
	const char *name; /* name of the port, as its switch calls it */
	enum pause_neighbor kind;
	/* Name of the neighbour; not used for a switch or an unknown neighbour. */
	const char *neighbor;
	size_t far;              /* for a switch: its number in this graph */
	bool off;                /* the port is down, or PFC is off at it */
	bool global_off;         /* the port is down, or PFC is on at it */
	const char *far_port[2]; /* for a switch: names of its port, from LLDP; or "" */
	struct pause_rate received[PAUSE_CLASSES], sent[PAUSE_CLASSES];
};

enum pause_kind {
	PAUSE_SOURCE_RNIC,
	PAUSE_SOURCE_SWITCH, /* the switch's own queues are full */
	PAUSE_SOURCE_NOT_KNOWN,
	PAUSE_LOOP,
	PAUSE_KINDS,
};

/* from: the node that sends the pauses; to: the node that is paused */
struct pause_step {
	char from[PAUSE_NAME_BYTES], to[PAUSE_NAME_BYTES];
	struct pause_rate rate;
};

struct pause_finding {
	enum pause_kind kind;
	unsigned priority; /* or PAUSE_GLOBAL */
	/* Name of the source; for a loop all its switches; for PAUSE_SOURCE_NOT_KNOWN a
	 * text on what is known about it, or "". */
	char source[PAUSE_SOURCE_BYTES];
	/* The switch and port at which the pauses enter the network; "" if the source
	 * is a switch. */
	char at_switch[PAUSE_NAME_BYTES], at_port[PAUSE_PORT_BYTES];
	struct pause_rate rate; /* rate of the strongest pause that the source sends */
	char victims[PAUSE_VICTIMS][PAUSE_NAME_BYTES];
	size_t victim_count; /* number of all victims, named or not */
	/* How the pauses spread: beginning with the source, each step after one that
	 * causes it. */
	struct pause_step steps[PAUSE_STEPS];
	size_t step_count; /* number of all steps, listed or not */
	char sentence[PAUSE_TEXT_BYTES];
};

/* Returns the pauses of one priority. timed, frames: the evidence's numbers for the
 * paused time and for the frames. The time is used, unless it is 0 although there are
 * frames, as on some platforms. until: when the evidence was read. */
struct pause_rate pause_rate_of(const struct evidence *evidence, unsigned timed,
    unsigned frames, unsigned priority, rm_mono_t until);
/* For a pause that both ends of a link count: returns the newer of the two rates; if
 * their times overlap, the stronger one, where a share of time is preferred to
 * frames. */
struct pause_rate pause_rate_of_both(
    const struct pause_rate *a, const struct pause_rate *b);

struct pause_graph *pause_graph_new(void);        /* NULL when out of memory */
void pause_graph_free(struct pause_graph *graph); /* NULL is allowed */

/* Adds a switch; the switches get the numbers 0, 1, ... read: there is a recent
 * reading, and its ports will be added. -ENOSPC: too many switches; -EINVAL: ports have
 * been added already. */
int pause_graph_add_switch(struct pause_graph *graph, const char *name, bool read);
/* Adds a port of switch number `of`; all ports of a switch must be added one after
 * another. Ports beyond the limits are counted, see pause_graph_left_out. -ENOMEM;
 * -EINVAL: no such switch. */
int pause_graph_add_port(
    struct pause_graph *graph, size_t of, const struct pause_port *port);

/* Finds sources from which pauses spread to others, and loops. Returns their number. */
size_t pause_graph_judge(
    struct pause_graph *graph, struct pause_finding found[PAUSE_MAX_FINDINGS]);
/* The number of ports and pauses beyond the limits, including the last judgement. */
uint64_t pause_graph_left_out(const struct pause_graph *graph);

const char *pause_kind_str(enum pause_kind kind);  /* "pause-source", ... */
const char *pause_kind_what(enum pause_kind kind); /* a sentence, for display */

#endif
