/*
 * alert_reach - whether a receiver of alerts takes anything, known before there is an
 * alert.
 *
 * What became of the last exchange counts. While there is none for a while, a question
 * that harms nobody is asked. Any answer but a server's own trouble (5xx) will do, and
 * but the very status that an exchange was last turned away with (401 where the
 * password is wrong). To a question with a body nothing of 4xx will do.
 */
#ifndef RACKMESH_FABRIC_ALERT_REACH_H
#define RACKMESH_FABRIC_ALERT_REACH_H

#include <stdbool.h>
#include <stdint.h>

struct alert_reach;
struct rm_http_client;
struct rm_loop;

/* url, copied. body: of the question, a literal; NULL: it is a GET. every_ns 0: nothing
 * is asked. */
int alert_reach_new(struct rm_loop *loop, struct rm_http_client *http, const char *url,
    const char *body, int64_t every_ns, struct alert_reach **ret);
void alert_reach_free(struct alert_reach *reach);

/* An exchange of others' has ended: it took something, or not. status: HTTP's, 0 if
 * there was none. */
void alert_reach_note(struct alert_reach *reach, bool taken, long status);
/* Until something has failed, it does. */
bool alert_reach_is_good(const struct alert_reach *reach);

#endif
