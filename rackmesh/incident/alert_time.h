/*
 * alert_time - times of an incident as its receivers are told them. Pure.
 *
 * Alertmanager goes by endsAt and by its own clock: where ours was set ahead an end
 * would lie in its future and the alert go on, where ours was set back it would be over
 * at once. So ages count, by a clock that nobody sets, and the time of day is that of
 * whoever is told.
 */
#ifndef RACKMESH_INCIDENT_ALERT_TIME_H
#define RACKMESH_INCIDENT_ALERT_TIME_H

#include <stdbool.h>

#include "rackmesh/core/clock.h"

#define ALERT_TIME_STEP_NS (5 * RM_NS_PER_S) /* more is no drift */

struct rm_incident;

struct alert_time {
	rm_mono_t now;
	rm_wall_t wall; /* ours */
	rm_wall_t sent; /* the receivers'; ours where that is about right, or unknown */
	bool known;
	/* When the alert first left, and our time of day then. ns 0: in an earlier life
	 * of ours, if ever. */
	rm_mono_t since;
	rm_wall_t since_wall;
};

void alert_time_mend(struct rm_incident *incident, const struct alert_time *time);

#endif
