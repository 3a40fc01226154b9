/*
 * localise_find - the result of an explanation: one part, "A or B", or not yet decided.
 * Pure. The judge gives the most likely explanation and the ones that are almost as
 * likely. If a switch and its links are equally likely, or two parts of one type, one
 * rule for each case decides which is named.
 */
#ifndef ANALYZER_FINDING_LOCALISE_FIND_H
#define ANALYZER_FINDING_LOCALISE_FIND_H

#include "analyzer/finding/localise_case.h"

#define LOCALISE_TIES 16
#define LOCALISE_EITHER 3 /* "A or B or C" */
/* ln of how much likelier what was named is than by its kind. */
#define LOCALISE_FAVOUR_NAMED 4.0

struct localise_finding {
	const struct localise_suspect *suspect; /* what to name */
	/* "or", one of these: NULL if there is none. */
	const struct localise_suspect *others[LOCALISE_EITHER - 1];
	struct rm_part part;                /* with all names */
	struct localise_suspect path;       /* what the suspect is, if it is a path */
	struct rm_part ties[LOCALISE_TIES]; /* all that are as good, the part too */
	const struct localise_suspect *tied[LOCALISE_TIES]; /* one suspect of each */
	size_t tie_count;
	bool has_tor;      /* among them */
	bool is_clear;     /* nothing else is near */
	bool has_rival;    /* other parts, several for one maybe, explain as much */
	bool has_sibling;  /* another link of a switch of its own is blamed as well */
	bool is_crowded;   /* no rule decides between them */
	bool or_its_links; /* a switch, or some of its cables: all packets cross both */
	bool loses_share;  /* all packets are lost alike: more losses will decide */
	bool is_anothers;  /* minutes blame others for it: see localise_minutes */
	double gain, behind, loss;
};

/* Explains the case by fewer parts where the first of several is faint: of a chain of
 * links and switches, each of which a reply may have crossed, several share what any
 * one of them explains. -ENOMEM, -EINVAL. */
int localise_find_parts(struct localise_case *c, struct rm_explanation *ret);

/* The nth blamed part adds too little to what the others explain. */
bool localise_is_faint(const struct localise_case *c,
    const struct rm_explanation *explanation, size_t nth);

/* The nth blamed part, besides others, is said to lose much more than was sent over it:
 * replies that another part loses are missing on all paths, and fit this one as well.
 */
bool localise_is_overstated(const struct localise_case *c,
    const struct localise_map *map, localise_seen *seen,
    const struct rm_explanation *explanation, size_t nth);

/* Of the nth blamed part. *ret points into itself and the case: do not copy it. */
void localise_find(const struct localise_case *c,
    const struct rm_explanation *explanation, size_t nth, struct localise_finding *ret);

/* Names this suspect of the case instead of the one that was found. */
void localise_find_instead(
    struct localise_finding *finding, const struct localise_suspect *suspect);

/* The tied suspect that is this part: NULL if there is none. */
const struct localise_suspect *localise_find_tied(
    const struct localise_finding *finding, const struct rm_part *part);

/* How sure the finding is, from 0 to 1. */
double localise_finding_confidence(const struct localise_finding *finding);

/* Some blamed part that is no whole path is on this path. */
bool localise_find_explains(const struct localise_case *c,
    const struct rm_explanation *explanation, const struct localise_path *path);

#endif
