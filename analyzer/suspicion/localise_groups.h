/*
 * localise_groups - makes one verdict, on the switch, for several of its links that
 * fail together. Pure. A line card, or a group of ports, may take some links of a
 * switch with it while the others work: that is one fault, and not one fault per link.
 */
#ifndef ANALYZER_SUSPICION_LOCALISE_GROUPS_H
#define ANALYZER_SUSPICION_LOCALISE_GROUPS_H

#include "analyzer/suspicion/localise_standings.h"
#include "rackmesh/judge/verdict.h"

/* A group is formed by at least so many links of one switch or ToR */
#define LOCALISE_GROUP_LINKS 3
/* whose faults began within this time. */
#define LOCALISE_GROUP_NS RM_LINKS_TOGETHER_NS

/* maximum number of groups at once; further groups are not formed */
#define LOCALISE_GROUPS 64

struct localise_group;

struct localise_groups {
	struct localise_group **groups;
	size_t count;
};

void localise_groups_release(struct localise_groups *groups);

/*
 * verdicts: those of this round, with room for LOCALISE_GROUPS at least. Replaces the
 * verdicts on links of a group by one on its switch, of kind links-down or links-lossy.
 * A group forms if at least LOCALISE_GROUP_LINKS links of one switch or ToR carry
 * nothing or lose packets and others do not, at least one of them has a verdict of
 * seconds, and each other one has such a verdict too, or has been proven dead for a
 * second (see localise_dead_links_proven). Links that fail later join their switch's
 * group. Links of a group for which its verdict has no room are counted there. A group
 * ends when all its links have been without a fault for two seconds. While the switch
 * itself has a verdict from windows of seconds, its group has none. A verdict on the
 * switch from windows of minutes is removed instead. So is one from windows of seconds
 * if LOCALISE_GROUP_LINKS links are proven dead and explain all of its losses: it then
 * counts as a verdict on these links. A verdict that the switch forwards nothing is
 * removed also before these proofs have lasted for a second. Returns the number of
 * verdicts then.
 */
size_t localise_groups_join(struct localise_groups *groups,
    const struct localise_standings *standings, const struct localise_now *now,
    struct rm_verdict *verdicts, size_t count);

#endif
