/*
 * alert_body - what receivers of alerts are sent, as JSON. Pure.
 */
#ifndef RACKMESH_INCIDENT_ALERT_BODY_H
#define RACKMESH_INCIDENT_ALERT_BODY_H

#include <jansson.h>

#include "rackmesh/incident/alert_sink.h"

/* Of an array of rm_alert_json's objects, which they take; new reference. */
json_t *alert_body_alertmanager(json_t *alerts, enum alert_news news);
json_t *alert_body_webhook(json_t *alerts, enum alert_news news);

#endif
