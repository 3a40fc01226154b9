/*
 * rack_suspect - decides which blamed RNICs may be named. Pure.
 *
 * The judge's explanation is the likeliest one, but it may not be certain enough for a
 * verdict. An RNIC is named as dead if nearly all probes in the newest half of the
 * window are lost, and if no other explanation is nearly as likely. If the doubt
 * remains for some windows, the RNIC is named without a sure direction, or as "A or B".
 * It is also named as dead after two short gaps (see rack_gaps). It is named as lossy
 * only if it is lossy in several consecutive windows.
 */
#ifndef TOR_AGGREGATOR_SUSPECT_RACK_SUSPECT_H
#define TOR_AGGREGATOR_SUSPECT_RACK_SUSPECT_H

#include <stdbool.h>
#include <stddef.h>

#include "rackmesh/judge/recurrence.h"
#include "rackmesh/judge/verdict.h"
#include "tor-aggregator/suspect/rack_gaps.h"
#include "tor-aggregator/suspect/suspect_view.h"

struct rack;
struct rm_explanation;

struct rack_suspect_memory { /* the state of one member, kept from window to window */
	struct rm_rnic_id rnic;
	rm_wall_t since; /* start of the first window that blamed the member; ns 0: it
			    is not blamed */
	enum rm_kind named;          /* kind of its verdict; 0: there is none */
	enum rm_direction direction; /* direction in that verdict */
	/* These are numbers of consecutive windows. undecided: the member looks dead.
	 */
	unsigned undecided; /* it looks dead */
	unsigned lossy;     /* it loses a share of all packets */
	unsigned unable;    /* the member's host cannot send */
	unsigned mtu;       /* the member loses large packets */
	unsigned port_down; /* the member's port is down; counted up to a limit */
	/* late: windows in which the member was late; late_absent: windows since then,
	 * if it is named as late. */
	unsigned late, late_absent;
	rm_wall_t late_since; /* start of the first late window */
	/* The RNIC was named as late, not its host, or the RNIC has a worse fault, too.
	 */
	bool late_alone;
	/* Number of windows for which windows of several seconds may still contain
	 * probes that it refused. */
	unsigned refused;
	rm_wall_t port_since; /* start of the first window with its port down */
	/* Number of windows for which its port is not reported as down, because all
	 * ports of the ToR were down: they come up one by one. */
	unsigned port_after_tor;
	/* Number of windows for which the member's results are no evidence, because its
	 * port is or was down. */
	unsigned port_excused;
	bool port_known;     /* port_falls is valid */
	uint32_t port_falls; /* the value of port_falls in the last window */
	struct rm_recurrence port_flaps;
	unsigned changing; /* consecutive windows with another kind than `named` */
	/* windows in which the member was not found again, if it is named */
	unsigned absent;
	unsigned redirected; /* consecutive windows with another direction */
	unsigned stalled; /* consecutive windows with its host stalled or restarting */
	struct rack_gaps gaps;
	/* All probes from and to the member were lost while another RNIC reached other
	 * racks, and none of its probes to other racks has been answered since then. So
	 * the RNIC is dead, and not only its ToR. */
	bool died_first;
};

#define RACK_NO_OTHER SIZE_MAX
#define RACK_OTHER_TOR (SIZE_MAX - 1)

struct rack_suspect {
	size_t member;
	/* index of B in "A or B", if it is not known which of them is at fault: a
	 * member, or RACK_OTHER_TOR; otherwise RACK_NO_OTHER */
	size_t other;
	enum rm_kind kind;
	enum rm_direction direction;
	double confidence;
	/* number of windows since the gap before, if the member is named because of a
	 * gap (see rack_gaps); otherwise 0 */
	unsigned gap;
};

/* What the explanation contains about one member. */
struct rack_finding {
	size_t member;
	double gain; /* the same as in struct rm_blamed */
	/* ln of the factor by which the best explanation that blames another part
	 * instead is less likely */
	double other_behind;
	double third_behind; /* the same factor, if `other` is not blamed either */
	/* the member that is about as likely (less than 20 to 1), or RACK_NO_OTHER */
	size_t other;
	bool many_others; /* further members, or other parts, are equally likely */
	bool is_last;     /* all other members are known to be dead */
};

/* Collects what the explanation contains about a member that it blames. */
struct rack_finding rack_suspect_find(const struct rack_view *view,
    const struct rm_explanation *explanation, size_t member);
/* behind: ln of the likelihood ratio to the next best explanation */
double rack_suspect_confidence(double behind);
/* Returns the direction to report. A reported direction changes only when another one
 * is found in several consecutive windows. */
enum rm_direction rack_suspect_settle_direction(
    struct rack_suspect_memory *memory, enum rm_direction direction);

enum rack_state {
	/* the ToR works at least partly, or that is not known: single RNICs can be
	   named */
	RACK_WORKS,
	/* nearly nothing works, and the ToR is at least as likely to be the cause as
	   the blamed parts, but this has not lasted long enough yet */
	RACK_FAILING,
	RACK_FAILS, /* as RACK_FAILING, for long enough */
};

/* Decides whether the rack's ToR, and not single RNICs, is the cause of the losses.
 * memories: one per member, from the windows before. */
enum rack_state rack_suspect_tor(const struct rack_view *view,
    const struct rm_explanation *explanation,
    const struct rack_suspect_memory *memories);

/* Fills at most as many suspects as there are members, and returns their number.
 * memories: one per member. */
size_t rack_suspects(const struct rack_view *view,
    const struct rm_explanation *explanation, struct rack_suspect_memory *memories,
    struct rack_suspect *suspects);

/* Writes "h1/r0", or "h1/r0 or h2/r0" in alphabetical order. */
void rack_suspect_name(
    const struct rack *rack, const struct rack_suspect *suspect, struct rm_part *part);

/* Sets died_first for each member. If a ToR fails, all RNICs of its rack fail in the
 * same window: so an RNIC that fails while another one works has a fault of its own.
 * Call it in each complete window. memories: one per member. */
void rack_suspects_note_first(
    const struct rack_view *view, struct rack_suspect_memory *memories);

/* Call it instead of rack_suspects if a window is no evidence about single RNICs. It
 * counts as a window without suspects: after some of these, a named RNIC is forgotten.
 */
void rack_suspects_forget(
    const struct rack_view *view, struct rack_suspect_memory *memories);

#endif
