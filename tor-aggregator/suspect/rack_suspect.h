/*
 * rack_suspect - decides which blamed RNICs may be named. Pure.
 *
 * The judge's explanation is the likeliest one, but it may not be certain enough for a
 * verdict. An RNIC is named as dead when nearly all probes in the newest half of the
 * window are lost, and when the likelihoods have decided which RNIC it is, and in which
 * direction. To be named as lossy, it has to be lossy in more windows.
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
	enum rm_kind named;          /* kind of its verdict; 0: there is none */
	enum rm_direction direction; /* direction in that verdict */
	/* Number of consecutive windows in these states. */
	unsigned undecided, lossy;
	unsigned unable, mtu, port_down;
	unsigned late, late_absent; /* consecutive late windows; windows since then, if
				       it is reported */
	rm_wall_t late_since;       /* start of the first of them */
	bool late_alone;            /* the RNIC was reported, not its host */
	unsigned refused; /* windows left in which longer windows contain probes that it
			     refused */
	rm_wall_t port_since;    /* start of the first window with its port down */
	unsigned port_after_tor; /* windows left in which it comes back with its ToR */
	unsigned port_excused;   /* windows left that may show the port down */
	bool port_known;         /* port_falls is valid */
	uint32_t port_falls;     /* its value in the last window */
	struct port_flaps port_flaps;
	unsigned changing;   /* consecutive windows with another kind than `named` */
	unsigned absent;     /* windows since it was last suspected, if it is named */
	unsigned redirected; /* consecutive windows with another direction */
	unsigned stalled;    /* windows in which its host is stalled or restarts */
	struct rack_gaps gaps;
	/* All its probes, and all probes to it, were lost while another RNIC reached
	 * other racks; and none of its probes to other racks was answered since. */
	bool died_first;
};

#define RACK_NO_OTHER SIZE_MAX
#define RACK_OTHER_TOR (SIZE_MAX - 1)

struct rack_suspect {
	size_t member;
	size_t other; /* B of "A or B", if it is not known which of them is at fault */
	enum rm_kind kind;
	enum rm_direction direction;
	double confidence;
	unsigned gap; /* number of windows since the gap before, if it is named because
			 of a gap (see rack_gaps); 0: it is not */
};

/* One member in the explanation. */
struct rack_finding {
	size_t member;
	double gain;         /* as in struct rm_blamed */
	double other_behind; /* ln of how much less likely the best explanation is that
				blames another part instead */
	double third_behind; /* the same, if `other` is not blamed either */
	size_t other;        /* the member that is about as likely (AMBIGUOUS in .c) */
	bool many_others;    /* further members, or other parts, are as likely */
	bool is_last;        /* all other members are known to be dead */
};

/* Collects what the explanation contains about a member that it blames. */
struct rack_finding rack_suspect_find(const struct rack_view *view,
    const struct rm_explanation *explanation, size_t member);
/* behind: ln of the likelihood ratio to the next best explanation. */
double rack_suspect_confidence(double behind);
/* Returns the direction to report. One that was reported changes only when another one
 * is found in several consecutive windows. */
enum rm_direction rack_suspect_settle_direction(
    struct rack_suspect_memory *memory, enum rm_direction direction);

enum rack_state {
	RACK_WORKS,   /* at least partly: single RNICs can be named */
	RACK_FAILING, /* nothing works any more, but not yet for long enough */
	RACK_FAILS,   /* nothing works, and one ToR is likelier at fault than RNICs */
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

/* Sets died_first. Call it in each complete window: a ToR that dies takes all RNICs of
 * its rack at the same time. memories: one per member. */
void rack_suspects_note_first(
    const struct rack_view *view, struct rack_suspect_memory *memories);

/* Call it instead of rack_suspects if a window is no evidence about single RNICs. */
void rack_suspects_forget(
    const struct rack_view *view, struct rack_suspect_memory *memories);

#endif
