/*
 * http_url - URLs of other servers: what a config may give, and what a log may show.
 */
#ifndef RACKMESH_HTTP_HTTP_URL_H
#define RACKMESH_HTTP_HTTP_URL_H

#include <stdbool.h>

#define RM_HTTP_URL_SHOWN_BYTES 200

/* http:// or https://, with a host, and of printable ASCII without blanks, quotes and
 * backslashes. */
bool rm_http_url_valid(const char *text);

/* Cut where it is too long, and without user and password. whole: with its path and
 * query; a webhook's may be a secret. */
void rm_http_url_show(
    const char *url, bool whole, char shown[static RM_HTTP_URL_SHOWN_BYTES]);

#endif
