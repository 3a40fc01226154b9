/*
 * http_url - URLs of other servers: checks them in a config, and shortens them for a
 * log.
 */
#ifndef RACKMESH_HTTP_HTTP_URL_H
#define RACKMESH_HTTP_HTTP_URL_H

#include <stdbool.h>

#define RM_HTTP_URL_SHOWN_BYTES 200

/* True: the URL is http:// or https://, has a host, and consists of printable ASCII
 * without blanks, quotes and backslashes. */
bool rm_http_url_valid(const char *text);

/* Cuts a long URL and removes user and password. whole: keep path and query, which may
 * be a secret in a webhook's URL. */
void rm_http_url_show(
    const char *url, bool whole, char shown[static RM_HTTP_URL_SHOWN_BYTES]);

#endif
