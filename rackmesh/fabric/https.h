/*
 * https - the HTTP face of a daemon over TLS: viewers may read, operators may change,
 * nobody else may anything (authority.h).
 */
#ifndef RACKMESH_FABRIC_HTTPS_H
#define RACKMESH_FABRIC_HTTPS_H

#include <stddef.h>

#include "rackmesh/base/config.h"

struct rm_http_server;
struct rm_tls;

/* For a daemon's option table. */
/* clang-format off */
#define RM_HTTPS_OPTION(type, field)                                                       \
	{ "http.tls_listen", RM_STRING, offsetof(type, field), "", 0, 255, 0,              \
	  "where the whole API answers over TLS, to viewers and operators by their "       \
	  "certificates; \"\": nowhere", NULL, NULL, 0 }
/* clang-format on */

/* where: "" is fine and does nothing. region: borrowed, as long as the server lives;
 * NULL: every one. -EINVAL: no address, or there is no TLS; or as the listening goes.
 */
int rm_https_listen(struct rm_http_server *server, const char *where,
    struct rm_tls *tls, const char *region);

#endif
