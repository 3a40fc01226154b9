/*
 * alert_reach - whether a receiver of alerts takes anything, known before there is an
 * alert.
 *
 * What became of the last exchange counts. While there is none for a while, a question
 * that harms nobody is asked. Any answer but a server's own trouble (5xx, but 501) will
 * do, and but the very status that an exchange was last turned away with (401 where the
 * password is wrong). To a question with a body neither a redirect nor 4xx will do.
 *
 * That a receiver takes nothing is logged once, and once that it takes alerts again.
 * After an alert was refused for good, only one that is taken says so.
 *
 * It also knows what time of day it is there, by what it last said.
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

/* url, copied. name: of the receiver in logs, copied. body: of the question, a literal;
 * NULL: it is a GET. every_ns 0: nothing is asked. */
int alert_reach_new(struct rm_loop *loop, struct rm_http_client *http, const char *url,
    const char *name, const char *body, int64_t every_ns, struct alert_reach **ret);
void alert_reach_free(struct alert_reach *reach);

/* Was what was sent taken? By any 2xx; of an Alertmanager not by one with a web page.
 */
bool alert_reach_took(
    const struct alert_reach *reach, const struct rm_http_answer *answer);

/* An exchange of others' has ended: taken: nothing of it will be sent again, since it
 * was taken or refused for good. */
void alert_reach_note(
    struct alert_reach *reach, const struct rm_http_answer *answer, bool taken);
/* Until something has failed, it does. */
bool alert_reach_is_good(const struct alert_reach *reach);
/* "" while it takes alerts; else "http://am:9093/api/v2/alerts answers 404: ..." */
const char *alert_reach_trouble(const struct alert_reach *reach);
/* Has it answered anything since then, however badly, or refused to be connected with:
 * is the way to it good? If not, it is asked, every few seconds. */
bool alert_reach_answered(struct alert_reach *reach, rm_mono_t since);
/* Its time of day, to a second or two. False: it has not said for ALERT_REACH_DATE_NS:
 * all clocks may have been set since. */
bool alert_reach_date(const struct alert_reach *reach, rm_mono_t now, rm_wall_t *ret);

#endif
