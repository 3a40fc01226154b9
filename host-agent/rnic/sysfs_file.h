/*
 * sysfs_file - reads files of sysfs, which have one value each. Paths are given as a
 * format. A read blocks as long as the driver behind the file blocks.
 */
#ifndef HOST_AGENT_RNIC_SYSFS_FILE_H
#define HOST_AGENT_RNIC_SYSFS_FILE_H

#include <stdbool.h>
#include <stddef.h>

#define SYSFS_PATH_BYTES 512

/* Reads the first line, without the white space at its end, and terminates it.
 * -EMSGSIZE: the line, or the path, is too long; else the error of opening or reading.
 */
int sysfs_text(char *text, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The last part of a symbolic link's target. */
int sysfs_link(char *text, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool sysfs_exists(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
