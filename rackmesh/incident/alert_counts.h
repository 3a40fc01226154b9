/*
 * alert_counts - counts of alerts by outcome, over all receivers.
 */
#ifndef RACKMESH_INCIDENT_ALERT_COUNTS_H
#define RACKMESH_INCIDENT_ALERT_COUNTS_H

#include <stdint.h>

struct rm_alert_counts { /* over all sinks */
	uint64_t queued, delivered, failed_attempts, dropped, refused /* 4xx */;
	uint64_t withdrawn;
	uint64_t unkept; /* alerts, not per receiver: sent before their incident was on
			    the disk */
};

#endif
