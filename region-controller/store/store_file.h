/*
 * store_file - the embedded store: one topology file, read at start and on reload.
 *
 * Who opens it leads. Versions of plans begin at the clock in ms, and grow: a plan that
 * somebody holds already keeps its version. The brake is kept in memory only.
 */
#ifndef REGION_CONTROLLER_STORE_STORE_FILE_H
#define REGION_CONTROLLER_STORE_STORE_FILE_H

#include "region-controller/store/store.h"

/* Reads the file; path, name (of the controller) and region are copied. A topology of
 * another region is an error, as is a malformed one. */
int store_file_new(const char *path, const char *name, const char *region,
    struct store **ret, struct rm_error *error);

#endif
