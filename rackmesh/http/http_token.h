/*
 * http_token - reads the token of an Authorization header, for clients without a
 * certificate: "Bearer TOKEN", as programs send it, or "Basic NAME:TOKEN", as a browser
 * sends what its user has typed; the name is ignored.
 */
#ifndef RACKMESH_HTTP_HTTP_TOKEN_H
#define RACKMESH_HTTP_HTTP_TOKEN_H

#define RM_HTTP_MAX_TOKEN 256 /* bytes, with its 0 byte */

/* header: NULL: the request has none. -ENOKEY: no token, or another scheme; -EINVAL:
 * malformed. */
int http_token_of(const char *header, char token[RM_HTTP_MAX_TOKEN]);

#endif
