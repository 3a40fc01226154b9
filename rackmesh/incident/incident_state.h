/*
 * incident_state - the struct of incidents; private to the files that judge and save
 * them.
 */
#ifndef RACKMESH_INCIDENT_INCIDENT_STATE_H
#define RACKMESH_INCIDENT_INCIDENT_STATE_H

#include <stdbool.h>

#include "rackmesh/incident/incident.h"
#include "rackmesh/judge/recurrence.h"

/* maximum number of parts without an open incident whose last falls are known */
#define INCIDENT_FALLS_MAX 1024

/* The last falls of a part that has no open incident on such a fault. */
struct incident_falls {
	struct rm_part part; /* of RM_FAULT_LINKS: the switch of the links */
	enum rm_fault fault;
	struct rm_incident_links links; /* of RM_FAULT_LINKS */
	struct rm_recurrence recurrence;
};

struct incident_entry {
	struct rm_incident incident;
	double announced_confidence;
	char announced_services[RM_EVIDENCE_TEXT];
	/* when announced_services were announced; ns 0: when the incident opened */
	rm_mono_t services_at;
	/* For a kind of several links: the links as they were last announced; the time
	 * of that announcement (ns 0: when the incident opened); and the time after
	 * which they may be announced again. */
	struct {
		enum rm_kind kind;
		char names[RM_LINKS_BYTES];
		unsigned down, lossy;
	} announced_links;
	rm_mono_t links_at;
	int64_t links_wait_ns;
	/* time of the last verdict of such a kind; ns 0: not known, since a restart */
	rm_wall_t links_seen;
	rm_mono_t links_judged; /* the same on this clock, or the time of the opening */
	bool good; /* the part was good when it was last judged, at good_at */
	rm_mono_t good_at;
	/* ns for which the part was good since the last sign of the fault, in all */
	int64_t good_ns;
	rm_mono_t resolved;
	bool was_good;   /* for resolve_after_ns in all since the last verdict */
	bool fell_again; /* since it was opened */
	/* for flapping links: at this fall, there was no verdict on several of them yet
	 */
	bool is_apart;
	/* For flapping links: the link that failed alone at this fall (type 0: no link
	 * failed alone), and the recurrence and good_ns before that. */
	struct rm_part alone;
	struct rm_recurrence before_alone;
	int64_t good_before_ns;
	rm_mono_t noted_at; /* when receivers of RM_INCIDENT_NOTED got the last fall */
	/* For an incident of "A or B" that is known to be A: the other part, B, if
	 * verdicts have named B since the last verdict on A (else ""), and for how long
	 * they have named it in all. */
	char rival[RM_PART_NAME_BYTES];
	int64_t rival_ns;
	/* ns for which B must be named to replace A; 0: there was no replacement yet */
	int64_t reconsider_ns;
	bool judged; /* this judgement has a verdict on the part */
	/* only the other aggregator of the pair resolves it: see incident_adopt.h */
	bool held;
	/* this daemon sent the alert's opening, and is standby now; see incident_adopt
	 */
	bool owed;
	bool former; /* restored from a former run */
	/* the other aggregator has reported it since rm_incidents_doubt */
	bool confirmed;
};

struct rm_incidents {
	struct rm_incident_options options;
	struct incident_entry **open; /* oldest first */
	size_t open_count;
	struct incident_entry **closed; /* a ring of max_closed entries; the next one is
					   written at closed_next */
	size_t closed_count, closed_next;
	struct incident_falls *falls[INCIDENT_FALLS_MAX];
	size_t falls_count;
	/* the same moment on both clocks, as last known */
	rm_mono_t clock_mono;
	rm_wall_t clock_wall;
	rm_mono_t judged_at; /* time of the last judgement; ns 0: there was none */
	uint64_t made;
	struct rm_incident_counts counts;
};

struct incident_impact {
	enum rm_impact impact;
	char services[RM_EVIDENCE_TEXT];
};

/* Compares the earlier evidence with the present one, and returns the worse impact with
 * its services. A service loses no probe in some windows, and a service that the fault
 * has ended does not use the part any more. */
struct incident_impact incident_worst_impact(
    const struct rm_evidence *before, const struct rm_evidence *now);

/* Notes that the incident is announced as it is now. */
void incident_note_announced(struct incident_entry *entry);

/* True: one of the two parts is "A or B", and the other part is A or B. */
bool incident_is_narrowing(const struct rm_part *a, const struct rm_part *b);

/* Takes ownership of the entry, and frees the oldest closed entry to make room. Call it
 * only if max_closed is not 0. */
void incident_remember(struct rm_incidents *incidents, struct incident_entry *entry);

enum rm_fault incident_fault_of(enum rm_kind kind);
/* False: only a share of the packets is lost, or only one of several paths is cut. */
bool incident_kind_is_total(enum rm_kind kind);
/* True: both are faults of the same class, and for several links, of a link that both
 * list; or the verdict is on one of the incident's links. */
bool incident_is_same_fault(
    const struct rm_incident *incident, const struct rm_verdict *verdict);
/* True: the incident is on several links of that switch, and one of them is listed. */
bool incident_has_links(
    const struct rm_incident *incident, const struct rm_verdict *links);
/* Notes the links of a verdict on several, or those of the incident's own verdict if it
 * was saved by an older version. */
void incident_add_links(struct rm_incident *incident, const struct rm_verdict *links);
void incident_guess_links(struct rm_incident *incident);
/* The incident on one link continues as one on the several links of the verdict. */
void incident_falls_widen(struct rm_incidents *incidents, struct rm_incident *incident,
    const struct rm_verdict *links, rm_mono_t now);
/* Counts a fall of one link that has no open incident, and works again. */
void incident_falls_count(struct rm_incidents *incidents, const struct rm_part *link,
    rm_mono_t at, rm_mono_t up_since);
/* The last fall of the link was not one of the link alone. */
void incident_falls_uncount(struct rm_incident *incident);
/* The remembered falls of the part with such a fault; NULL: none are. Valid until the
 * next call that keeps or takes falls. */
const struct rm_recurrence *incident_falls_find(const struct rm_incidents *incidents,
    const struct rm_part *part, enum rm_fault fault, const char *links);
/* Moves the remembered falls of the incident's part to the incident, if there are any.
 */
void incident_falls_take(struct rm_incidents *incidents, struct rm_incident *incident);
/* Remembers the falls of an incident that ends, or goes on with another class. If there
 * is no room, those whose last fall is the oldest are forgotten. */
void incident_falls_keep(
    struct rm_incidents *incidents, const struct rm_incident *incident, rm_mono_t now);
void incident_falls_free(struct rm_incidents *incidents);
/* Fills the members of a flapping incident that follow from its falls. */
void incident_falls_show(struct rm_incident *incident, rm_mono_t now, rm_wall_t wall);
/* For an incident that an older version has saved without its falls. */
void incident_falls_guess(struct rm_incident *incident, rm_mono_t now, rm_wall_t wall);
/* The falls that are remembered. A new reference; NULL: out of memory. */
json_t *incident_falls_save(const struct rm_incidents *incidents);
/* Restores one item of that list. NULL, or the name of the wrong key. */
const char *incident_falls_restore(
    struct rm_incidents *incidents, const json_t *saved, rm_mono_t now, rm_wall_t wall);
#endif
