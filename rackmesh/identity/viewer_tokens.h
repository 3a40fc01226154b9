/*
 * viewer_tokens - a file of tokens, each of a viewer: for people and scrapers that have
 * no certificate.
 *
 * A line for each, NAME TOKEN [REGION[,REGION...]], of every region without the last;
 * empty lines and those that begin with '#' are skipped. The file is a secret (mode
 * 0600). It is read for each request: a viewer who is removed from it is refused from
 * then on. The time of a search does not depend on how many characters of a token are
 * right.
 */
#ifndef RACKMESH_IDENTITY_VIEWER_TOKENS_H
#define RACKMESH_IDENTITY_VIEWER_TOKENS_H

#include "rackmesh/tls/tls.h"

/* characters: long enough that a token cannot be guessed */
#define RM_VIEWER_TOKEN_MIN 32
#define RM_VIEWER_TOKEN_MAX 128

/* Writes the viewer's URI to identity. -ENOENT: unknown token. Other errors: the file
 * cannot be used; error has the place and the reason. */
int rm_viewer_tokens_find(const char *path, const char *token,
    char identity[RM_TLS_MAX_IDENTITY], struct rm_error *error);
/* Can it be used? */
int rm_viewer_tokens_check(const char *path, struct rm_error *error);

#endif
