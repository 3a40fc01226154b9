/*
 * http_token - reads the token of an Authorization header, for clients without a
 * certificate: "Bearer TOKEN", as programs send it, or "Basic NAME:TOKEN" in base64, as
 * browsers send what the user has typed; the name is ignored.
 */
#ifndef RACKMESH_HTTP_HTTP_TOKEN_H
#define RACKMESH_HTTP_HTTP_TOKEN_H

#define RM_HTTP_MAX_TOKEN 256 /* bytes, with its 0 byte */

/* header NULL: the request has none. -ENOKEY: there is no token, or the scheme is
 * another one; -EINVAL: malformed. */
int http_token_of(const char *header, char token[RM_HTTP_MAX_TOKEN]);

#endif
