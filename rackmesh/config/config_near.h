/*
 * config_near - the option that a mistyped name was probably meant to be.
 */
#ifndef RACKMESH_CONFIG_CONFIG_NEAR_H
#define RACKMESH_CONFIG_CONFIG_NEAR_H

#include <stdbool.h>

#include "rackmesh/config/config.h"

#define RM_CONFIG_NAME 160 /* longest dotted name, with its 0 */

/* name: dotted, within the table. False when nothing is similar enough. */
bool rm_config_near(
    const struct rm_option *options, const char *name, char ret[RM_CONFIG_NAME]);

#endif
