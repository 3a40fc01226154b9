/*
 * alert_counts - what became of alerts, over all their receivers.
 */
#ifndef RACKMESH_INCIDENT_ALERT_COUNTS_H
#define RACKMESH_INCIDENT_ALERT_COUNTS_H

#include <stdint.h>

struct rm_alert_counts { /* over all sinks */
	uint64_t queued, delivered, failed_attempts, dropped, refused /* 4xx */;
	uint64_t withdrawn;
	uint64_t unkept; /* alerts, not per sink: left before they were on the disk */
};

#endif
