/*
 * rack_suspect - decides which blamed RNICs may be named. Pure.
 *
 * An explanation is the likeliest one, but not yet certain enough to act on. An RNIC is
 * reported as dead when all its newest probes are lost, for about half a window; the
 * likelihoods must have decided its direction and its name before. Lossy takes longer
 * still.
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
	enum rm_kind named;          /* 0: there is no verdict */
	enum rm_direction direction; /* direction in that verdict */
	unsigned undecided, lossy;   /* number of windows so far */
	unsigned unable, mtu, port_down;
	unsigned late, late_absent; /* consecutive late windows; windows since then, if
				       it is reported */
	rm_wall_t late_since;       /* start of the first of them */
	bool late_alone;            /* the RNIC was reported, not its host */
	unsigned refused; /* windows left in which longer ones include probes that it
			     refused */
	rm_wall_t port_since;    /* start of the first window with its port down */
	unsigned port_after_tor; /* windows left in which it comes back with its ToR */
	unsigned port_excused;   /* windows left that may show the port down */
	bool port_known;         /* port_falls is valid */
	uint32_t port_falls;     /* its value in the last window */
	struct port_flaps port_flaps;
	/* Windows since it was named: with another kind, not seen. */
	unsigned changing, absent;
	unsigned turning; /* other way */
	unsigned unheard; /* windows without data about it: its host stands still */
	struct rack_gaps gaps;
};

#define RACK_NO_OTHER SIZE_MAX
#define RACK_OTHER_TOR (SIZE_MAX - 1)

struct rack_suspect {
	size_t member;
	size_t other; /* the other one of "A or B", if they cannot be told apart */
	enum rm_kind kind;
	enum rm_direction direction;
	double confidence;
	unsigned gap; /* dead for a moment, this number of windows after the last time;
			 0: not */
};

/* One member in the explanation. */
struct rack_finding {
	size_t member;
	double gain;
	double other_behind; /* distance to the best explanation that blames another
				part instead */
	double third_behind; /* the same, without `other` */
	size_t other;        /* a member within AMBIGUOUS, if there is exactly one */
	/* More than one, or a part that is no RNIC, is within AMBIGUOUS. */
	bool crowded;
};

/* Everything in the explanation about a member that it blames. */
struct rack_finding rack_suspect_find(const struct rack_view *view,
    const struct rm_explanation *explanation, size_t member);
double rack_suspect_confidence(double behind);
/* A direction that was reported changes only for good reasons. */
enum rm_direction rack_suspect_settle_direction(
    struct rack_suspect_memory *memory, enum rm_direction direction);

enum rack_state {
	RACK_WORKS,   /* at least partly: RNICs can be told apart */
	RACK_FAILING, /* nothing works any more, but not for long enough to be sure */
	RACK_FAILS,   /* one ToR explains it better than many RNICs */
};

enum rack_state rack_suspect_tor(
    const struct rack_view *view, const struct rm_explanation *explanation);

/* Fills at most as many suspects as there are members; returns how many. memories:
 * one per member. */
size_t rack_suspects(const struct rack_view *view,
    const struct rm_explanation *explanation, struct rack_suspect_memory *memories,
    struct rack_suspect *suspects);

/* "h1/r0", or "h1/r0 or h2/r0" in alphabetical order. */
void rack_suspect_name(
    const struct rack *rack, const struct rack_suspect *suspect, struct rm_part *part);

/* Call it if this window has no evidence about single RNICs. */
void rack_suspects_forget(
    const struct rack_view *view, struct rack_suspect_memory *memories);

#endif
