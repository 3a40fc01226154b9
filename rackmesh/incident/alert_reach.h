/*
 * alert_reach - checks whether a receiver accepts alerts, before there is an alert to
 * send.
 *
 * The result of the last exchange counts. After every_ns without an exchange, a request
 * without alerts is sent. Its answer is good unless it is a server error (5xx, except
 * 501), or the status with which an alert was last refused (for example 401 for a wrong
 * password). For a question with a body, redirects and 4xx are bad too. A failure is
 * logged once, and the recovery once. After an alert was refused for good, only an
 * accepted alert is a recovery. The module also keeps the receiver's time of day, from
 * its last answer.
 */
#ifndef RACKMESH_INCIDENT_ALERT_REACH_H
#define RACKMESH_INCIDENT_ALERT_REACH_H

#include <stdbool.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"

struct alert_reach;
struct rm_http_answer;
struct rm_http_client;
struct rm_loop;

#define ALERT_REACH_DATE_NS (90 * RM_NS_PER_S)

/* url: copied. name: the receiver's name in the log, copied. body: body of the request
 * without alerts, a literal; NULL: that request is a GET. every_ns 0: no such requests
 * are sent. */
int alert_reach_new(struct rm_loop *loop, struct rm_http_client *http, const char *url,
    const char *name, const char *body, int64_t every_ns, struct alert_reach **ret);
void alert_reach_free(struct alert_reach *reach);

/* True: the answer accepts the alerts. Any 2xx does so, but an Alertmanager's web page
 * does not. */
bool alert_reach_took(
    const struct alert_reach *reach, const struct rm_http_answer *answer);

/* Reports the end of an exchange with alerts. taken: they are not sent again, as they
 * were accepted, or refused for good. */
void alert_reach_note(
    struct alert_reach *reach, const struct rm_http_answer *answer, bool taken);
/* True if the last exchange succeeded, or if there was no exchange yet. */
bool alert_reach_is_good(const struct alert_reach *reach);
/* "" while the receiver accepts alerts; else "http://am:9093/api/v2/alerts answers 404:
 * ..." */
const char *alert_reach_trouble(const struct alert_reach *reach);
/* True: something was received since then, even an error or a refused connection, so
 * the network path works. False: nothing was received, and a request is sent every few
 * seconds. */
bool alert_reach_answered(struct alert_reach *reach, rm_mono_t since);
/* The receiver's time of day, to a second or two. False: it was not received in the
 * last ALERT_REACH_DATE_NS, so a clock may have been set since. */
bool alert_reach_date(const struct alert_reach *reach, rm_mono_t now, rm_wall_t *ret);

#endif
