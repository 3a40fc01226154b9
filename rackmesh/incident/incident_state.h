/*
 * incident_state - the struct of incidents; private to the files that judge and save
 * them.
 */
#ifndef RACKMESH_INCIDENT_INCIDENT_STATE_H
#define RACKMESH_INCIDENT_INCIDENT_STATE_H

#include <stdbool.h>

#include "rackmesh/incident/incident.h"

struct incident_entry {
	struct rm_incident incident;
	double announced_confidence;
	char announced_services[RM_EVIDENCE_TEXT];
	/* when announced_services were announced; ns 0: when the incident opened */
	rm_mono_t services_at;
	/* Of a kind of several links: as they were last announced, and when (ns 0: when
	 * the incident opened), and after how long they may be announced again. */
	struct {
		enum rm_kind kind;
		char names[RM_LINKS_BYTES];
		unsigned down, lossy;
	} announced_links;
	rm_mono_t links_at;
	int64_t links_wait_ns;
	/* time of the last verdict of such a kind; ns 0: not known, since a restart */
	rm_wall_t links_seen;
	bool good; /* the part was good when it was last judged, at good_at */
	rm_mono_t good_at;
	/* ns for which the part was good since the last sign of the fault, in all */
	int64_t good_ns;
	rm_mono_t resolved;
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

#endif
