/*
 * alert_label - labels of an alert, a JSON object of strings, as Alertmanager writes
 * them. Pure.
 */
#ifndef RACKMESH_INCIDENT_ALERT_LABEL_H
#define RACKMESH_INCIDENT_ALERT_LABEL_H

#include <jansson.h>

#define ALERT_LABELS_MAX 32
#define ALERT_LABEL_NAME 64 /* bytes of a name of the operator's own, with its 0 */
#define ALERT_LABEL_VALUE 256
#define ALERT_FINGERPRINT_TEXT 17

/* "team=fabric": one of the operator's own; NULL, or what was expected. */
const char *alert_label_expected(const char *text);

/* The number of a label set, as Alertmanager shows it: FNV-1a 64 over names and values
 * in the order of the names, each ended by 0xff. More than ALERT_LABELS_MAX: of some.
 */
void alert_label_fingerprint(
    const json_t *labels, char ret[static ALERT_FINGERPRINT_TEXT]);

/* The key of an alert group with exactly these labels: {}:{alertname="RackmeshRnic",
 * part="h1/r0"}. To be freed; NULL: no memory. */
char *alert_label_group(const json_t *labels);

#endif
