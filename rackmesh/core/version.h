/*
 * version - checks the text of a peer's release, so that it is safe to store and print.
 */
#ifndef RACKMESH_CORE_VERSION_H
#define RACKMESH_CORE_VERSION_H

#include <stdbool.h>

#define RM_VERSION_BYTES 48 /* with the 0 byte */

/* Letters, digits and ". + ~ : _ -", as in a package's version; not empty. */
bool rm_version_valid(const char *version);

/* Copies version if it is valid, else "", which means that the peer reports none. */
void rm_version_take(char out[RM_VERSION_BYTES], const char *version);

/* Returns "unknown" for "". */
const char *rm_version_show(const char *version);

#endif
