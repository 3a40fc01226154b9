/*
 * host_name - names of daemons that are usually the system's host name: texts for names
 * that cannot be used, with what to do. Pure, except that errors read the config again
 * to find the line.
 */
#ifndef RACKMESH_CONFIG_HOST_NAME_H
#define RACKMESH_CONFIG_HOST_NAME_H

#include "rackmesh/core/error.h"

/* For a name that is malformed, e.g. because the system's host name has 64 characters.
 * expected: what a name has to be. option: the option of the name. Returns -EINVAL. */
int rm_host_name_refuse(const char *path, struct rm_error *error, const char *option,
    const char *name, const char *expected);

/* Returns -EINVAL for the names of systems that nobody named (localhost and the like,
 * with any domain): many hosts may have such a name at the same time. Otherwise 0. */
int rm_host_name_check(
    const char *path, struct rm_error *error, const char *option, const char *name);

#endif
