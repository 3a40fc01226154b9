/*
 * viewer_tokens - a file of tokens, each of a viewer: for people and scrapers that have
 * no certificate.
 *
 * A token has a line NAME TOKEN [REGION[,REGION...]]; without a region it is for all
 * regions. Empty lines, and lines that begin with '#', are skipped. The file is a
 * secret (mode 0600). It is read for each request: a viewer who is removed from it is
 * refused from then on. The time of a search does not depend on how many characters of
 * a token are right.
 */
#ifndef RACKMESH_IDENTITY_VIEWER_TOKENS_H
#define RACKMESH_IDENTITY_VIEWER_TOKENS_H

#include "rackmesh/tls/tls.h"

/* characters: long enough that a token cannot be guessed */
#define RM_VIEWER_TOKEN_MIN 32
#define RM_VIEWER_TOKEN_MAX 128

/* Finds the owner of a token, and writes the owner's URI to identity. -ENOENT: there is
 * no such token. Another error: the file cannot be used; error has the place and the
 * reason. */
int rm_viewer_tokens_find(const char *path, const char *token,
    char identity[RM_TLS_MAX_IDENTITY], struct rm_error *error);
/* Checks whether the file can be used. */
int rm_viewer_tokens_check(const char *path, struct rm_error *error);

#endif
