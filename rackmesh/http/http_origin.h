/*
 * http_origin - CA bundle, client certificate and login for another server, chosen by
 * the base of its URLs, so that code that sends requests does not have to handle them.
 *
 * Files with secrets are read for each exchange (rm_file_read_password), so they may be
 * replaced at any time.
 */
#ifndef RACKMESH_HTTP_HTTP_ORIGIN_H
#define RACKMESH_HTTP_HTTP_ORIGIN_H

#include <stddef.h>

#include "rackmesh/config/config.h"
#include "rackmesh/http/http_exchange.h"

#define RM_HTTP_SITES 32
#define RM_HTTP_SECRET_BYTES 4096

/* As options; each may be "" or NULL: none. */
struct rm_http_origin {
	char *authorities, *certificate, *key;
	char *user, *password_file, *token_file;
};

/* clang-format off */
#define RM_HTTP_ORIGIN_TLS(prefix, type, origin)                                               \
	{ prefix ".authorities", RM_STRING, offsetof(type, origin.authorities), "", 0, 1023, 0, \
	  "for https: CA bundle (PEM) that the server must chain to; \"\": the "           \
	  "system's", NULL, NULL, 0 },                                                     \
	{ prefix ".certificate", RM_STRING, offsetof(type, origin.certificate), "", 0, 1023, 0, \
	  "for https: client certificate (PEM); \"\": none", NULL, NULL, 0 },              \
	{ prefix ".key", RM_STRING, offsetof(type, origin.key), "", 0, 1023, 0,              \
	  "private key of the client certificate (PEM, mode 0600)", NULL, NULL, 0 }
#define RM_HTTP_ORIGIN_LOGIN(prefix, type, origin)                                             \
	{ prefix ".user", RM_STRING, offsetof(type, origin.user), "", 0, 255, 0,             \
	  "user name for basic authentication; \"\": none", NULL, NULL, 0 },               \
	{ prefix ".password_file", RM_STRING, offsetof(type, origin.password_file), "", 0, 1023, \
	  0, "file with the user's password (mode 0600)", NULL, NULL, 0 },                 \
	{ prefix ".token_file", RM_STRING, offsetof(type, origin.token_file), "", 0, 1023, 0, \
	  "file with a bearer token, instead of user and password (mode 0600); "           \
	  "\"\": none", NULL, NULL, 0 }
/* clang-format on */

/* Checks that the options do not contradict each other, and that the key, the password
 * and the token can be read from their files. prefix: the names of the options begin
 * with it in the text of error. -EINVAL: a contradiction; else the error of a file. */
int rm_http_origin_check(
    const struct rm_http_origin *origin, const char *prefix, struct rm_error *error);

struct rm_http_origins;

int rm_http_origins_new(struct rm_http_origins **ret);
void rm_http_origins_free(struct rm_http_origins *origins); /* NULL is fine */
/* base: "https://alerts:9093". All is copied. -ENOSPC: too many. */
int rm_http_origins_add(struct rm_http_origins *origins, const char *base,
    const struct rm_http_origin *origin);

struct rm_http_request_auth { /* secrets that an exchange borrows while it is started */
	struct rm_http_tls tls;
	char password[RM_HTTP_SECRET_BYTES], token[RM_HTTP_SECRET_BYTES];
};

/* If the URL of exchange begins with a known base: fills in those fields of exchange
 * that are not set, from the origin of that base. The caller clears the secrets in auth
 * afterwards. -EACCES, -ENOENT, ...: the error of a secret's file. */
int rm_http_origins_meet(const struct rm_http_origins *origins,
    struct rm_http_exchange *exchange, struct rm_http_request_auth *auth);

#endif
