/*
 * store_file - the store of a single controller: a topology file, which is read at the
 * start and at reloads.
 *
 * Its controller always leads. A new plan gets the time in ms as its version, or a
 * larger one; a plan that an aggregator holds already keeps its version. The brake is
 * in memory only.
 */
#ifndef REGION_CONTROLLER_STORE_STORE_FILE_H
#define REGION_CONTROLLER_STORE_STORE_FILE_H

#include "region-controller/store/store.h"

/* Reads the file. path, name (of the controller) and region are copied. A topology that
 * is malformed, or of another region, is an error. */
int store_file_new(const char *path, const char *name, const char *region,
    struct store **ret, struct rm_error *error);

#endif
