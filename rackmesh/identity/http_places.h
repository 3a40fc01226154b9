/*
 * http_places - the addresses at which the HTTP server of a daemon listens: on plain
 * TCP for reading; on a Unix socket for the owner of the daemon; and over TLS for
 * viewers, who may read (with a certificate or a token), and for operators, who may
 * also change things (authority.h). Plain TCP on another address than loopback is
 * logged as a warning.
 */
#ifndef RACKMESH_IDENTITY_HTTP_PLACES_H
#define RACKMESH_IDENTITY_HTTP_PLACES_H

#include <stddef.h>

#include "rackmesh/config/config.h"

struct rm_http_regions;
struct rm_http_server;
struct rm_tls;

/* For a daemon's option table. */
/* clang-format off */
#define RM_HTTP_TLS_OPTION(type, field)                                                    \
	{ "http.tls_listen", RM_STRING, offsetof(type, field), "", 0, 255, 0,              \
	  "address:port of the whole API over TLS, for clients with a viewer's or "        \
	  "operator's certificate, or a viewer's token (http.tokens_file); \"\": none",    \
	  NULL, NULL, 0 }

#define RM_HTTP_TOKENS_OPTION(type, field)                                                 \
	{ "http.tokens_file", RM_STRING, offsetof(type, field), "", 0, 1023, 0,            \
	  "file with the tokens of viewers who have no certificate, one NAME TOKEN " \
	  "[REGION,...] per line (mode 0600); it is read for each request over TLS " \
	  "that has a token; \"\": no token is accepted", NULL, NULL, 0 }
/* clang-format on */

/* clang-format off */
#define RM_HTTP_NAMES_OPTION(type, field)                                                  \
	{ "http.names", RM_LIST, offsetof(type, field), "[]", 0, 32, 0,                    \
	  "further host names that requests to http.listen on loopback may contain, " \
	  "besides localhost and this host's own names, e.g. a name that a proxy on " \
	  "this host forwards; requests with other names are refused, because a web " \
	  "page in a browser could send them", NULL, NULL, 0 }
/* clang-format on */

struct rm_http_places { /* each may be "": the server does not listen there */
	const char *tcp, *socket, *tls;
	/* file of viewer_tokens.h; "" or NULL: none. Borrowed for the server's life */
	const char *tokens;
	/* For a daemon of several regions. A viewer of some of them may use only routes
	 * with RM_HTTP_READ_PART; a viewer of all of them may use every route that
	 * reads. NULL: region alone decides. */
	const struct rm_http_regions *regions;
	/* value of http.names; NULL: none. Borrowed for the server's life */
	const struct rm_list *names;
};

struct rm_http_regions {                        /* borrowed for the server's life */
	const char *(*at)(size_t i, void *arg); /* NULL: no more */
	void *arg;
};

/* tls NULL: no TLS; then places->tls must be "" (else -EINVAL). region: borrowed for
 * the server's life; NULL: every region. error: the place, and what is wrong. */
int rm_http_places_listen(struct rm_http_server *server,
    const struct rm_http_places *places, struct rm_tls *tls, const char *region,
    struct rm_error *error);

#endif
