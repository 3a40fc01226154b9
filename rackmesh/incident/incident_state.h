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
	rm_mono_t services_at; /* when they were announced; ns 0: at its opening */
	bool good;             /* when it was last judged, at good_at */
	rm_mono_t good_at;
	int64_t good_ns; /* in all, since the last sign of its fault */
	rm_mono_t resolved;
	/* For an incident of "A or B" that is known to be A: the other part that
	 * verdicts named since the last verdict on A ("": none), and the time for which
	 * they did, in all. */
	char rival[RM_PART_NAME_BYTES];
	int64_t rival_ns;
	int64_t reconsider_ns; /* so long is needed to replace A; 0: not replaced yet */
	bool judged;           /* has its verdict of this judgement */
	bool held; /* the other one of our pair ends it, see incident_adopt */
	/* this daemon sent it, and is standby now; see incident_adopt */
	bool owed;
	bool former;    /* of a former run */
	bool confirmed; /* the other one has reported it since rm_incidents_doubt */
};

struct rm_incidents {
	struct rm_incident_options options;
	struct incident_entry **open; /* oldest first */
	size_t open_count;
	struct incident_entry *
	    *closed; /* a ring of max_closed, closed_next is written next */
	size_t closed_count, closed_next;
	rm_mono_t judged_at; /* the last judgement; ns 0: there was none */
	uint64_t made;
	struct rm_incident_counts counts;
};

struct incident_impact {
	enum rm_impact impact;
	char services[RM_EVIDENCE_TEXT];
};

/* Of an incident, before and now. The worst so far is kept: a probe of a service is not
 * lost in each window, and a service that the fault has ended uses the part no more. */
struct incident_impact incident_worst_impact(
    const struct rm_evidence *before, const struct rm_evidence *now);

/* One of the two is "A or B", and the other is A or B. */
bool incident_is_narrowing(const struct rm_part *a, const struct rm_part *b);

/* Takes the entry; the oldest is forgotten for it. Only where max_closed is not 0. */
void incident_remember(struct rm_incidents *incidents, struct incident_entry *entry);

#endif
