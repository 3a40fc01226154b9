/*
 * config_value - one scalar option: from text to field, and what it accepts.
 *
 * Shared by the parts of config; a daemon needs config.h only.
 */
#ifndef RACKMESH_CONFIG_CONFIG_VALUE_H
#define RACKMESH_CONFIG_CONFIG_VALUE_H

#include "rackmesh/config/config.h"

/*
 * Reads text into the field of a RM_UINT, RM_BOOL, RM_STRING or RM_ENUM option
 * (and one text of a RM_LIST into a char *). quoted: it stood in quotes. On
 * failure what->text says what was expected.
 */
int rm_config_value(const struct rm_option *option, const char *text, bool quoted,
    void *field, struct rm_why *what);

#define RM_CONFIG_ACCEPTS 256

/* "a whole number between 10 and 60000 (ms)"; returns out. */
const char *rm_config_accepts(
    const struct rm_option *option, char out[RM_CONFIG_ACCEPTS]);

/* The bottom of the range: what is required is not empty. */
uint64_t rm_config_min(const struct rm_option *option);

/* The top of the range; a table's 0 means that there is none. */
uint64_t rm_config_max(const struct rm_option *option);

#endif
