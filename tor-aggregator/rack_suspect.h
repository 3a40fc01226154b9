/*
 * rack_suspect - from blamed parts to RNICs that may be named. Pure.
 *
 * An explanation is the likeliest there is, not yet one to act on. An RNIC is called
 * dead when all that is newest is lost, for about half a window; its direction and its
 * name must be decided by likelihood first. Lossy takes longer still.
 */
#ifndef TOR_AGGREGATOR_RACK_SUSPECT_H
#define TOR_AGGREGATOR_RACK_SUSPECT_H

#include <stdbool.h>
#include <stddef.h>

#include "rackmesh/fabric/verdict.h"

struct rack;
struct rack_blame;
struct rack_legs;
struct rack_tally;
struct rm_explanation;

struct rack_view { /* one window */
	const struct rack *rack;
	const struct rack_legs *legs;
	const struct rack_blame *blame;
	const struct rack_tally *tallies;
	rm_wall_t start;
};

struct rack_suspect_memory { /* of one member, from window to window */
	rm_wall_t
	    since; /* start of the first window that blamed it; ns 0: not blamed */
	enum rm_kind named;        /* 0: no verdict stands */
	unsigned undecided, lossy; /* windows so far */
	unsigned changing, absent; /* since it was named: other kind, not seen */
};

#define RACK_NO_OTHER SIZE_MAX
#define RACK_OTHER_TOR (SIZE_MAX - 1)

struct rack_suspect {
	size_t member;
	size_t other; /* the other of "A or B", if nothing tells them apart */
	enum rm_kind kind;
	double confidence;
};

enum rack_state {
	RACK_WORKS,   /* at least in part: RNICs can be told apart */
	RACK_FAILING, /* nothing works any more, for less than it takes to be sure */
	RACK_FAILS,   /* one ToR explains it better than many RNICs */
};

enum rack_state rack_suspect_tor(
    const struct rack_view *view, const struct rm_explanation *explanation);

/* Fills at most as many suspects as there are members; returns how many. memories:
 * one per member. */
size_t rack_suspects(const struct rack_view *view,
    const struct rm_explanation *explanation, struct rack_suspect_memory *memories,
    struct rack_suspect *suspects);

/* This window says nothing of single RNICs. */
void rack_suspects_forget(
    const struct rack_view *view, struct rack_suspect_memory *memories);

#endif
