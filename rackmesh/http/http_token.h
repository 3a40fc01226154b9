/*
 * http_token - the token in an Authorization header, of who shows no certificate.
 *
 * "Bearer TOKEN", as programs send it, or "Basic NAME:TOKEN", as a browser does that
 * has asked its user; the name is whatever the user has typed, and says nothing.
 */
#ifndef RACKMESH_HTTP_HTTP_TOKEN_H
#define RACKMESH_HTTP_HTTP_TOKEN_H

#define RM_HTTP_MAX_TOKEN 256 /* bytes, with its 0 byte */

/* header: NULL: none came. -ENOKEY: none, or of another kind; -EINVAL: malformed. */
int http_token_of(const char *header, char token[RM_HTTP_MAX_TOKEN]);

#endif
