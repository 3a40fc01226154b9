/*
 * localise_find - makes a finding for each part that an explanation blames. The finding
 * has the part to name: this part, another part, or "A or B". Pure. The judge lists
 * alternatives that are almost as likely as a part, called ties here. There is a rule
 * for each case: a switch and its links are ties, or two parts of one type, and so on.
 */
#ifndef ANALYZER_FINDING_LOCALISE_FIND_H
#define ANALYZER_FINDING_LOCALISE_FIND_H

#include "analyzer/finding/localise_case.h"

#define LOCALISE_TIES 16
#define LOCALISE_EITHER 3 /* "A or B or C" */
/* Added to the log prior of a part that is named already: it keeps its name unless
 * another part is clearly likelier. */
#define LOCALISE_NAMED_BONUS 4.0

struct localise_finding {
	const struct localise_suspect *suspect; /* what to name */
	/* the other suspects of "A or B"; NULL: there are none */
	const struct localise_suspect *others[LOCALISE_EITHER - 1];
	struct rm_part part;          /* the part to name, with all names of "A or B" */
	struct localise_suspect path; /* memory for the suspect, if it is a path */
	/* All parts that are equally likely; the blamed part is the first. */
	struct rm_part ties[LOCALISE_TIES];
	/* one suspect for each of `ties` */
	const struct localise_suspect *tied[LOCALISE_TIES];
	size_t tie_count;
	bool has_tor;   /* a ToR is among the ties */
	bool is_clear;  /* there are no ties, and no alternative is nearly as likely */
	bool has_rival; /* other parts, perhaps several, explain the losses as well */
	/* another link of a switch at the part's ends is blamed as well */
	bool has_sibling;
	/* The part is a dead link; the switches at its ends that have other dead links,
	 * too, forward packets: see localise_dead_links. */
	bool is_dead_alone;
	bool is_crowded; /* no rule decides between the ties */
	/* the ties are a switch and some of its cables, and all packets cross both */
	bool or_its_links;
	bool loses_share; /* a share of all packets is lost: more losses will decide */
	bool minutes_contradict; /* see localise_minutes_explain */
	double gain;             /* as in rm_blamed */
	/* ln of the factor by which the likeliest part that is no tie is less likely */
	double behind;
	double loss; /* as in rm_blamed */
};

/* Explains the case. If the first of several blamed parts explains hardly any losses
 * alone (localise_is_faint), explains the case again with fewer parts. Otherwise
 * several parts on the possible paths of replies would share losses that any one of
 * them explains alone. Returns 0, -ENOMEM or -EINVAL. */
int localise_find_parts(struct localise_case *c, struct rm_explanation *ret);

/* True: the nth blamed part explains hardly any losses that the other blamed parts do
 * not explain. */
bool localise_is_faint(const struct localise_case *c,
    const struct rm_explanation *explanation, size_t nth);

/* True: several parts are blamed, and the nth is blamed for a much larger share than
 * its own paths lose: replies that another part loses are missing on many paths, and
 * seem to be lost by this part as well. */
bool localise_is_overstated(const struct localise_case *c,
    const struct localise_map *map, localise_seen *seen,
    const struct rm_explanation *explanation, size_t nth);

/* *ret: the finding of the nth blamed part. It points into the case, and may point into
 * itself: the copy of a path finding is not valid without the original. */
void localise_find(const struct localise_case *c,
    const struct rm_explanation *explanation, size_t nth, struct localise_finding *ret);

/* Replaces the suspect of the finding by another suspect of the case. */
void localise_find_instead(
    struct localise_finding *finding, const struct localise_suspect *suspect);

/* Returns the tied suspect of this part. NULL: the part is no tie. */
const struct localise_suspect *localise_find_tied(
    const struct localise_finding *finding, const struct rm_part *part);

/* The confidence of the finding, 0 .. 1. */
double localise_finding_confidence(const struct localise_finding *finding);

/* True: some blamed part is on this path, and it is no path suspect. */
bool localise_find_explains(const struct localise_case *c,
    const struct rm_explanation *explanation, const struct localise_path *path);

#endif
