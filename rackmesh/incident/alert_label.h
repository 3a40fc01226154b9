/*
 * alert_label - labels of an alert, a JSON object of strings, as Alertmanager writes
 * them. Pure.
 */
#ifndef RACKMESH_INCIDENT_ALERT_LABEL_H
#define RACKMESH_INCIDENT_ALERT_LABEL_H

#include <jansson.h>

#define ALERT_LABELS_MAX 32
#define ALERT_LABEL_NAME 64 /* bytes of the name of an operator's label, with its 0 */
#define ALERT_LABEL_VALUE 256
#define ALERT_FINGERPRINT_TEXT 17

/* Checks a label of the operator's, "team=fabric". NULL: it is valid; else a text on
 * what was expected. */
const char *alert_label_expected(const char *text);

/* The fingerprint of a label set, as Alertmanager shows it: FNV-1a 64 over names and
 * values in the order of the names, each followed by 0xff. If there are more than
 * ALERT_LABELS_MAX labels, some are ignored. */
void alert_label_fingerprint(
    const json_t *labels, char ret[static ALERT_FINGERPRINT_TEXT]);

/* The key of an alert group that has exactly these labels:
 * {}:{alertname="RackmeshRnic", part="h1/r0"}. The caller frees it. NULL: no memory. */
char *alert_label_group(const json_t *labels);

#endif
