/*
 * alert_time - times of an incident as sent to a receiver. Pure.
 *
 * Alertmanager compares endsAt with its own clock. If this host's clock is ahead, an
 * end would lie in the future and the alert would go on; if it is behind, the alert
 * would end at once. So the age is measured by the monotonic clock, and is subtracted
 * from the receiver's time of day.
 */
#ifndef RACKMESH_INCIDENT_ALERT_TIME_H
#define RACKMESH_INCIDENT_ALERT_TIME_H

#include <stdbool.h>

#include "rackmesh/core/clock.h"

/* a larger difference of two clocks is not caused by drift */
#define ALERT_TIME_STEP_NS (5 * RM_NS_PER_S)

struct rm_incident;

struct alert_time {
	rm_mono_t now;
	rm_wall_t wall; /* this host's clock */
	/* the time by the receivers' clock; by this host's if that is about right, or
	 * if the receivers' is not known */
	rm_wall_t sent;
	bool known;
	/* When the alert was first sent, and this host's time of day then. since.ns 0:
	 * before the restart, or never. */
	rm_mono_t since;
	rm_wall_t since_wall;
};

void alert_time_mend(struct rm_incident *incident, const struct alert_time *time);

#endif
