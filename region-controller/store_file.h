/*
 * store_file - the embedded store: one topology file, read at start and on reload.
 */
#ifndef REGION_CONTROLLER_STORE_FILE_H
#define REGION_CONTROLLER_STORE_FILE_H

#include "region-controller/store.h"

/* Reads the file; path and region are copied. A topology of another region is an error,
 * as is a malformed one. */
int store_file_new(
    const char *path, const char *region, struct store **ret, struct rm_why *why);

#endif
