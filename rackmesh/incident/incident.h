/*
 * incident - a suspected fault, from the first verdict on it to its resolution. Pure.
 *
 * A verdict on a part that has no open incident opens one, and later verdicts update
 * it. It resolves when there was evidence that the part works for resolve_after_ns in
 * all since the last sign of the fault; time without evidence does not count.
 *
 * A part that falls for the third time within half an hour is flapping: that is one
 * incident, which counts how often the fault has returned, and lasts until the part was
 * good for three times the longest gap between two falls (recurrence.h has the rule).
 * Faults of another class (enum rm_fault) and of other links are counted apart. While a
 * flapping part is good (good_since), its incident is open, but only the next fall of
 * the same part or of the same links updates it: it is neither narrowed nor widened;
 * verdicts on its links are not suppressed; and time without evidence counts as good.
 *
 * The incident of a flapping part ends, and another one opens, at a later fall
 * - of another class, unless the part is flapping with faults of that class, too: then
 *   the incident continues as one of that class;
 * - that is more severe than the incident was at its opening;
 * - at which no packet passes the part for the first time, after falls with a partial
 *   loss.
 *
 * A verdict may name "A or B" if it cannot decide between two parts. The part of an
 * incident (verdict.part) never changes: an incident on "A or B" stays that when a
 * later verdict is on A alone, and an incident on A stays that when a later verdict is
 * on "A or B", because one fault is one incident. Once a verdict was on A, the incident
 * on "A or B" is known to be A (evidence.narrowed). Later verdicts on "A or B" then
 * update its kind, its counts and, if that is worse, its impact; its confidence and
 * ruled-out list stay those of A. B replaces A as the known part when verdicts have
 * named B for RM_INCIDENT_RECONSIDER_NS in all, and none has named A since the first of
 * these. Each replacement doubles the time that the next one needs, up to
 * RM_INCIDENT_RECONSIDER_MAX_NS. If one judgement has a verdict on "A or B" and one on
 * A, both are on the same fault, and the first one opens no incident, unless one is on
 * losses and the other one on delays (link-late, switch-late).
 *
 * A verdict on several links of one switch (rm_kind_is_links) takes the place of the
 * verdicts on these links. If one of the links has an open incident, the oldest such
 * incident is updated instead of opening one on the switch: it keeps its part, and is
 * widened to the switch (evidence.widened). Incidents of the other links end: their
 * faults continue in that one. A later verdict on one of its links alone means that the
 * fault lasts, and opens no incident either. If the verdict's list has no room for all
 * of its links, this also holds for other links of the switch whose fault began with
 * these, or until RM_LINKS_TOGETHER_NS after the last verdict on several links. An
 * incident on "A or B" that is not narrowed ends when A becomes one of several links
 * only if its fault began with theirs, because otherwise B may be at fault. A delay
 * (link-late) is another fault: a verdict on it has its own incident, which is not
 * widened.
 *
 * The falls of links that fail together are counted together, whichever of them is seen
 * first: an incident of one link that is widened counts those of the links from then on
 * (rm_incident.links). If they flap, the next fall may begin with a verdict on one of
 * them (see RM_INCIDENT_JOIN_NS), unless its fault is worse than the incident. A fall
 * at which no other of the links fails is one of that link alone: the incident of
 * several does not count it, and does not wait longer for it. The third such fall of a
 * link within the time for flapping opens the link's own incident.
 */
#ifndef RACKMESH_INCIDENT_INCIDENT_H
#define RACKMESH_INCIDENT_INCIDENT_H

#include <jansson.h>
#include <stdbool.h>

#include "rackmesh/judge/recurrence.h"
#include "rackmesh/judge/severity.h"
#include "rackmesh/judge/verdict.h"

struct rm_incidents;

/* A part that falls more often than its quiet time is this long counts as bad all the
 * time; its falls are noted at most once in the second time. */
#define RM_INCIDENT_QUIET_NS (15 * RM_NS_PER_S)
#define RM_INCIDENT_NOTED_NS (60 * RM_NS_PER_S)
#define RM_INCIDENT_RECONSIDER_NS (10 * RM_NS_PER_S)
#define RM_INCIDENT_RECONSIDER_MAX_NS (160 * RM_NS_PER_S)
/* If only the list of services changes, on_event is called at most once in this
 * time. */
#define RM_INCIDENT_SERVICES_NS (10 * RM_NS_PER_S)
/* A fault of several links changes if their list, their number or the confidence
 * changes, or if the kind changes to or from such a fault. on_event is called at once
 * for the first change, and then at most once in RM_INCIDENT_LINKS_NS. This time
 * doubles with each call, up to RM_INCIDENT_LINKS_MAX_NS, so links that go down and
 * come up again do not cause a notice each time. After RM_INCIDENT_LINKS_QUIET_NS
 * without a call, it is RM_INCIDENT_LINKS_NS again. If the whole switch is at fault
 * instead, on_event is called at once. */
#define RM_INCIDENT_LINKS_NS (10 * RM_NS_PER_S)
#define RM_INCIDENT_LINKS_MAX_NS (160 * RM_NS_PER_S)
#define RM_INCIDENT_LINKS_QUIET_NS (600 * RM_NS_PER_S)
/* For this time after a verdict on several links of a switch, a verdict on one link
 * that has failed with them opens no incident: a link that is not listed any more was
 * up for a moment, and has failed again. If the links flap together, and one of them
 * was seen before the others at earlier falls, the same holds for this time after the
 * begin of a fall, because the verdict on several links may follow. A link with its own
 * verdict beside that on the others may follow until RM_LINKS_TOGETHER_NS after the
 * begin. */
#define RM_INCIDENT_JOIN_NS (10 * RM_NS_PER_S)
#define RM_INCIDENT_FLAP_TEXT 160 /* bytes */

enum rm_incident_event {
	RM_INCIDENT_OPENED = 1,
	RM_INCIDENT_UPDATED,
	RM_INCIDENT_RESOLVED,
	/* A flapping part has fallen again, or is good now. The analyzer and the other
	 * aggregator of the pair need this at once. Receivers of alerts get no notice
	 * of it, but the next repetition of the alert has it. */
	RM_INCIDENT_NOTED
};
/* Classes of faults that have different causes. */
enum rm_fault {
	RM_FAULT_UNSET,
	RM_FAULT_LOSSES, /* packets are lost, or something is silent */
	RM_FAULT_DELAYS,
	RM_FAULT_LINKS, /* of several links of a switch */
	RM_FAULT_MTU,
	RM_FAULT_CONTRADICTED,
	RM_FAULT_CERTIFICATE,
	RM_FAULT_REWRITTEN,
	RM_FAULTS
};
enum rm_health {
	RM_HEALTH_UNKNOWN,
	RM_HEALTH_GOOD,
	RM_HEALTH_BAD,
	/* An operator has removed the part: only as the answer of health(). Its
	 * incident ends as if the part were good, even if it was flapping. */
	RM_HEALTH_GONE
};

/* Links of one switch that have failed together. */
struct rm_incident_links {
	struct rm_part of;          /* the switch or ToR; type 0: none */
	char names[RM_LINKS_BYTES]; /* as rm_evidence.links; of all falls so far */
	bool apart; /* at a fall, one of them was seen before the others */
};

struct rm_incident {
	/* id of this incident, unique in a deployment with high probability */
	uint64_t id;
	/* the latest verdict, with window start and lateness of the first */
	struct rm_verdict verdict;
	/* The severity at the opening. It does not change later, because it is a label
	 * of the alert. RM_SEVERITY_UNSET: not given. */
	enum rm_severity severity;
	rm_wall_t opened, changed, resolved; /* resolved.ns 0: open */
	uint64_t reopened; /* times that this part failed again within flap_memory_ns */
	/* class of the verdict that opened it, or fell last; RM_FAULT_LINKS also since
	 * the incident of one link was widened */
	enum rm_fault fault;
	struct rm_incident_links links; /* of RM_FAULT_LINKS */
	/* a verdict of this incident was on more than a share of the packets */
	bool is_total;
	/* The falls of the part with this class of faults, on the monotonic clock of
	 * this process. at[0].ns 0: this daemon has not counted one yet. */
	struct rm_recurrence recurrence;
	/* For a flapping part: since when it flaps (ns 0: it does not), how often the
	 * fault has returned since then, and when it returned last. */
	rm_wall_t flaps_since, returned;
	uint64_t returns;
	/* For a flapping part: the time since which it is good, between two of its
	 * falls. The incident is open then, but it explains no losses. ns 0: it is bad
	 * now, or it falls so often that it counts as bad all the time. */
	rm_wall_t good_since;
	/* Every receiver of alerts has accepted the notice of the opening, or of the
	 * resolution. */
	bool notified_opened, notified_resolved;
};

struct rm_incident_options {
	/* maximum number of open incidents; further verdicts are refused and counted */
	size_t max_open;
	size_t max_closed; /* maximum number of closed incidents that are kept; the
			      newest stay */
	/* ns for which a part must be good; the daemons' default is 2 s */
	int64_t resolve_after_ns;
	/* a part flaps if its third fall is within so many ns after the first one; 0:
	 * RM_RECURRENCE_WITHIN_NS, which is also the maximum */
	int64_t flap_within_ns;
	int64_t flap_memory_ns; /* ns for which reopened counts; 0: an hour */
	uint64_t id_seed;       /* random per process */
};

struct rm_incident_counts {
	uint64_t opened, updated, resolved, refused;
	/* parts whose last falls were forgotten, because there was no room for them */
	uint64_t forgotten;
	/* how often the other part of "A or B" has replaced the named one */
	uint64_t reconsidered;
};

int rm_incidents_new(
    const struct rm_incident_options *options, struct rm_incidents **ret);
void rm_incidents_free(struct rm_incidents *incidents);

/*
 * Makes one judgement. verdicts: all that are true now. health(verdict, arg): the state
 * of a part that has an open incident but no verdict now. on_event is called for each
 * opening, for each resolution, and for each change of: kind, direction, impact,
 * services, links, the ruled-out list, whether the evidence has a text, or confidence
 * by more than 0.1; and with RM_INCIDENT_NOTED for a flapping part. It is not called if
 * only counts change.
 */
void rm_incidents_judge(struct rm_incidents *incidents, rm_mono_t now, rm_wall_t wall,
    const struct rm_verdict *verdicts, size_t count,
    enum rm_health (*health)(const struct rm_verdict *verdict, void *arg),
    void (*on_event)(
	enum rm_incident_event event, const struct rm_incident *incident, void *arg),
    void *arg);

/* The i-th incident: first the open ones, then the closed ones, each the newest first.
 * NULL: there are no more. */
const struct rm_incident *rm_incidents_get(
    const struct rm_incidents *incidents, size_t i);
size_t rm_incidents_open(const struct rm_incidents *incidents);
/* Notes that all receivers have got the opening of the incident, or its resolution.
 * False: that was known already, or there is no such incident. */
bool rm_incidents_notified(struct rm_incidents *incidents, uint64_t id, bool resolved);
const struct rm_incident_counts *rm_incidents_counts(
    const struct rm_incidents *incidents);

json_t *rm_incident_json(const struct rm_incident *incident); /* new reference */
/* "it came back 7 times within 64 s, about every 9 s, and works now"; "": the part is
 * not flapping. */
void rm_incident_flapping(
    const struct rm_incident *incident, char ret[RM_INCIDENT_FLAP_TEXT]);
/* The sentence of the verdict, with the rate if the part is flapping. */
void rm_incident_sentence(const struct rm_incident *incident, char *out, size_t len);

#endif
