/*
 * rack_suspect - from blamed parts to RNICs that may be named. Pure.
 *
 * An explanation is the likeliest there is, not yet one to act on. An RNIC is called
 * dead when all that is newest is lost, for about half a window; its direction and its
 * name must be decided by likelihood first. Lossy takes longer still.
 */
#ifndef TOR_AGGREGATOR_SUSPECT_RACK_SUSPECT_H
#define TOR_AGGREGATOR_SUSPECT_RACK_SUSPECT_H

#include <stdbool.h>
#include <stddef.h>

#include "rackmesh/judge/verdict.h"
#include "tor-aggregator/suspect/port_flaps.h"
#include "tor-aggregator/suspect/rack_gaps.h"
#include "tor-aggregator/suspect/suspect_view.h"

struct rack;
struct rm_explanation;

struct rack_suspect_memory { /* of one member, from window to window */
	struct rm_rnic_id rnic;
	rm_wall_t
	    since; /* start of the first window that blamed it; ns 0: not blamed */
	enum rm_kind named;          /* 0: no verdict stands */
	enum rm_direction direction; /* that stands with it */
	unsigned undecided, lossy;   /* windows so far */
	unsigned unable, mtu, port_down;
	unsigned late, late_absent; /* windows in a row; since it was, if it is told */
	rm_wall_t late_since;       /* start of the first of them */
	bool late_alone;            /* it was told of the RNIC, and not of its host */
	unsigned refused; /* windows left in which longer ones hold probes it refused */
	rm_wall_t port_since;    /* start of the first window with its port down */
	unsigned port_after_tor; /* windows left in which it comes back with its ToR */
	unsigned port_excused;   /* windows left that may show it down */
	bool port_known;         /* port_falls is of it */
	uint32_t port_falls;     /* as it was in the last window */
	struct port_flaps port_flaps;
	unsigned changing, absent; /* since it was named: other kind, not seen */
	unsigned turning;          /* other way */
	unsigned unheard;          /* nothing is told of it, its host stands still */
	struct rack_gaps gaps;
};

#define RACK_NO_OTHER SIZE_MAX
#define RACK_OTHER_TOR (SIZE_MAX - 1)

struct rack_suspect {
	size_t member;
	size_t other; /* the other of "A or B", if nothing tells them apart */
	enum rm_kind kind;
	enum rm_direction direction;
	double confidence;
	unsigned
	    gap; /* dead for a moment, so many windows after the last time; 0: not */
};

/* One member as the explanation sees it. */
struct rack_finding {
	size_t member;
	double gain;
	double other_behind; /* nearest that blames somebody else in its place */
	double third_behind; /* nearest but for `other` */
	size_t other;        /* a member within AMBIGUOUS, if there is exactly one */
	bool crowded;        /* more than that, or what is no RNIC, within AMBIGUOUS */
};

/* All that the explanation says of a member that it blames. */
struct rack_finding rack_suspect_find(const struct rack_view *view,
    const struct rm_explanation *explanation, size_t member);
double rack_suspect_confidence(double behind);
/* A way that was told changes only for good reasons. */
enum rm_direction rack_suspect_settle_direction(
    struct rack_suspect_memory *memory, enum rm_direction direction);

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

/* "h1/r0", or "h1/r0 or h2/r0" in the order of the alphabet whoever was found first. */
void rack_suspect_name(
    const struct rack *rack, const struct rack_suspect *suspect, struct rm_part *part);

/* This window says nothing of single RNICs. */
void rack_suspects_forget(
    const struct rack_view *view, struct rack_suspect_memory *memories);

#endif
