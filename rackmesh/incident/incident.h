/*
 * incident - a suspected fault: a verdict with a life. Pure.
 *
 * A verdict on a part that has no open incident opens one; later ones update it; it
 * resolves only after positive evidence that the part works, for resolve_after_ns in
 * all since the last sign of the fault: silence is never health, and does not count. A
 * part that comes back for the second time within RM_INCIDENT_FLAP_NS comes and goes:
 * that is one incident, which counts its returns and lasts until the part was good for
 * RM_INCIDENT_QUIET_NS. An incident of "A or B" keeps its name when a later verdict
 * names A alone, and an incident of A keeps its name when a later verdict names "A or
 * B": one fault is one incident. Once a verdict has named A, the incident names A.
 * Verdicts on "A or B" then update its kind, its counts and, if that is worse, its
 * impact; its name, confidence and ruled-out list stay those of A. B replaces A when
 * verdicts have named B for RM_INCIDENT_RECONSIDER_NS in all, and none has named A
 * since the first of them. Each replacement doubles the time that the next one needs,
 * up to RM_INCIDENT_RECONSIDER_MAX_NS.
 */
#ifndef RACKMESH_INCIDENT_INCIDENT_H
#define RACKMESH_INCIDENT_INCIDENT_H

#include <jansson.h>
#include <stdbool.h>

#include "rackmesh/judge/severity.h"
#include "rackmesh/judge/verdict.h"

struct rm_incidents;

#define RM_INCIDENT_FLAP_NS (60 * RM_NS_PER_S)
#define RM_INCIDENT_QUIET_NS (15 * RM_NS_PER_S)
#define RM_INCIDENT_RECONSIDER_NS (10 * RM_NS_PER_S)
#define RM_INCIDENT_RECONSIDER_MAX_NS (160 * RM_NS_PER_S)
/* Other services of the same impact are announced once in so long. */
#define RM_INCIDENT_SERVICES_NS (10 * RM_NS_PER_S)
#define RM_INCIDENT_FLAP_TEXT 64 /* bytes */

enum rm_incident_event {
	RM_INCIDENT_OPENED = 1,
	RM_INCIDENT_UPDATED,
	RM_INCIDENT_RESOLVED
};
enum rm_health { RM_HEALTH_UNKNOWN, RM_HEALTH_GOOD, RM_HEALTH_BAD };

struct rm_incident {
	uint64_t id; /* of this opening: unique per deployment with high probability */
	struct rm_verdict verdict; /* the latest; the window start and lateness of the
				      first */
	/* The severity at the opening, because it is a label of the alert.
	 * RM_SEVERITY_UNSET: not given. */
	enum rm_severity severity;
	rm_wall_t opened, changed, resolved; /* resolved.ns 0 while open */
	uint64_t reopened; /* times this part came back within flap_memory_ns */
	/* It comes and goes: since when (ns 0: it does not), how often it was back
	 * since then and when for the last time. */
	rm_wall_t flaps_since, returned;
	uint64_t returns;
	/* Every receiver of alerts has taken that it opened, that it resolved. */
	bool notified_opened, notified_resolved;
};

struct rm_incident_options {
	size_t max_open;          /* verdicts beyond are refused and counted */
	size_t max_closed;        /* remembered for the API, oldest forgotten first */
	int64_t resolve_after_ns; /* good for so long; 2 s by default of the daemons */
	int64_t flap_memory_ns;   /* 0: an hour */
	uint64_t id_seed;         /* random per process */
};

struct rm_incident_counts {
	uint64_t opened, updated, resolved, refused;
	uint64_t reconsidered; /* the named one of "A or B" was replaced by the other */
};

int rm_incidents_new(
    const struct rm_incident_options *options, struct rm_incidents **ret);
void rm_incidents_free(struct rm_incidents *incidents);

/*
 * One judgement. verdicts: all that hold now. health(part, arg): the state of a part
 * that has an open incident but no verdict now. on_event is called for each opening,
 * each change of kind, direction, impact, services or ruled-out list, of whether there
 * is anything to say in words, or of confidence by more than 0.1 (not for mere counts),
 * and each resolution.
 */
void rm_incidents_judge(struct rm_incidents *incidents, rm_mono_t now, rm_wall_t wall,
    const struct rm_verdict *verdicts, size_t count,
    enum rm_health (*health)(const struct rm_verdict *verdict, void *arg),
    void (*on_event)(
	enum rm_incident_event event, const struct rm_incident *incident, void *arg),
    void *arg);

/* Open ones first, newest first; then closed ones, newest first. NULL past the end. */
const struct rm_incident *rm_incidents_get(
    const struct rm_incidents *incidents, size_t i);
size_t rm_incidents_open(const struct rm_incidents *incidents);
/* All receivers know its opening, or its resolution. False: known already, or the
 * incident is forgotten. */
bool rm_incidents_notified(struct rm_incidents *incidents, uint64_t id, bool resolved);
const struct rm_incident_counts *rm_incidents_counts(
    const struct rm_incidents *incidents);

json_t *rm_incident_json(const struct rm_incident *incident); /* new reference */
/* "it came back 7 times within 64 s", "" where it does not come and go. */
void rm_incident_flapping(
    const struct rm_incident *incident, char ret[RM_INCIDENT_FLAP_TEXT]);

#endif
