/*
 * request - one HTTP exchange with a daemon, by libcurl, blocking.
 */
#ifndef CTL_CLIENT_REQUEST_H
#define CTL_CLIENT_REQUEST_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "rackmesh/identity/identity.h"

/*
 * base: "http://host:port", "https://host:port", "host:port" or "unix:/path". path:
 * begins with '/', already escaped. Returns 0 and *ret (new reference; NULL unless JSON
 * came), or a negative errno after it has printed on stderr what failed, where, and
 * what to try. The error text of an HTTP answer is shown as it is.
 */
int request_get(const char *base, const char *path, json_t **ret);
/* -EPROTO, printed as well: the answer has no such list. */
int request_get_list(
    const char *base, const char *path, const char *list, json_t **ret);
int request_post(const char *base, const char *path, json_t **ret);
/* A body that is sent as it is, or comes as it is: *ret is terminated, the caller frees
 * it. */
int request_post_text(
    const char *base, const char *path, const char *text, json_t **ret);
int request_get_text(const char *base, const char *path, char **ret);

/* text with everything but unreserved characters escaped (RFC 3986); NULL: memory.
 * The caller frees it. */
char *request_escape(const char *text);

/* Appends "?key=text", behind another one "&key=text", to *path, which is malloc'd and
 * may move. -ENOMEM: it stays. */
int request_add_filter(char **path, const char *key, const char *text);

/* Where errors are printed; NULL: stderr, the default. */
void request_complain_to(FILE *stream);

/* How long an answer may take, from now on; 10 s at first. */
void request_patience(long seconds);

/* Files, PEM; borrowed for ever. NULL: none. https is to be had with authorities, and
 * with a certificate and its key, or else with a viewer's token. */
void request_tls_files(const char *certificate, const char *key,
    const char *authorities, const char *token);

#define REQUEST_PLACES 8

/* A daemon of this role is expected at base (borrowed for ever; more than
 * REQUEST_PLACES are ignored): a token is sent to no other daemon. One base may be
 * given with several roles.
 */
void request_place(const char *base, enum rm_role role);

#endif
