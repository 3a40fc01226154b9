/*
 * links - links of one switch that are at fault together, as a text of a verdict's
 * evidence. Pure. In "spine3--tor1, spine3->tor2" the first link fails in both
 * directions, or in one that is not known, and the second one only from spine3 to tor2.
 */
#ifndef RACKMESH_JUDGE_LINKS_H
#define RACKMESH_JUDGE_LINKS_H

#include <stdbool.h>
#include <stddef.h>

#include "rackmesh/core/clock.h"
#include "rackmesh/judge/part.h"

#define RM_LINKS_BYTES 1024
#define RM_LINK_BYTES (2 * RM_NAME_BYTES + 2)
/* Links of one switch have one fault if theirs began within this time. */
#define RM_LINKS_TOGETHER_NS (30 * RM_NS_PER_S)

struct rm_link {
	char name[RM_LINK_BYTES]; /* name of the link's part: "spine3--tor2" */
	bool one_way;             /* the link fails only from `from` to `to` */
	char from[RM_NAME_BYTES], to[RM_NAME_BYTES]; /* of one_way only */
};

/* Reads the link at *at, and sets *at to the next one. False: there are no more. */
bool rm_links_next(const char **at, struct rm_link *ret);
/* Appends a link. False: there is no room for it, and nothing has changed. */
bool rm_links_add(char links[RM_LINKS_BYTES], const struct rm_link *link);
/* True: the part is one of these links, or "A or B" with one of them. */
bool rm_links_have(const char *links, const struct rm_part *part);
size_t rm_links_count(const char *links);
/* True: one end of the link is this switch or ToR; of "A or B": one end of each. */
bool rm_links_end_at(const struct rm_part *part, const char *node);

#endif
