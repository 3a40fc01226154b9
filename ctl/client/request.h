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
 * begins with '/', already escaped. Returns 0 and *ret (new reference; NULL: the answer
 * is not JSON), or a negative errno, after the error was printed on stderr: what
 * failed, where, and what to try. The error text in an HTTP answer is printed as it is.
 */
int request_get(const char *base, const char *path, json_t **ret);
/* Like request_get. -EPROTO: the answer has no such list; this error was printed, too.
 */
int request_get_list(
    const char *base, const char *path, const char *list, json_t **ret);
int request_post(const char *base, const char *path, json_t **ret);
/* The first sends a text; the second gets the answer as text: *ret is terminated, and
 * the caller frees it. */
int request_post_text(
    const char *base, const char *path, const char *text, json_t **ret);
int request_get_text(const char *base, const char *path, char **ret);

/* Escapes all characters but the unreserved ones of RFC 3986. The caller frees the
 * result. NULL: out of memory. */
char *request_escape(const char *text);

/* Appends "?key=text", or "&key=text" after another filter, to *path, which is malloc'd
 * and may move. -ENOMEM: *path is unchanged. */
int request_add_filter(char **path, const char *key, const char *text);

/* Sets where errors are printed; NULL: stderr, which is the default. */
void request_complain_to(FILE *stream);

/* Sets the time limit of later requests; the default is 10 s. */
void request_patience(long seconds);

/* Sets files in PEM, borrowed for ever; NULL: none. https needs authorities, and either
 * a certificate with its key or a viewer's token. */
void request_tls_files(const char *certificate, const char *key,
    const char *authorities, const char *token);

#define REQUEST_PLACES 8

/* Stores that a daemon of this role is expected at base, which is borrowed for ever. A
 * token is sent only to such daemons. One base may have several roles. At most
 * REQUEST_PLACES are kept. */
void request_place(const char *base, enum rm_role role);

#endif
