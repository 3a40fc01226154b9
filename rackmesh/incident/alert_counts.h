/*
 * alert_counts - counts of alerts by outcome, over all receivers.
 */
#ifndef RACKMESH_INCIDENT_ALERT_COUNTS_H
#define RACKMESH_INCIDENT_ALERT_COUNTS_H

#include <stdint.h>

struct rm_alert_counts { /* over all sinks */
	/* refused: answers 4xx */
	uint64_t queued, delivered, failed_attempts, dropped, refused;
	uint64_t withdrawn;
	/* number of alerts (not of messages) whose opening was sent before the incident
	 * was on the disk */
	uint64_t unkept;
};

#endif
