/*
 * file - whole files, read within a bound and replaced atomically.
 */
#ifndef RACKMESH_BASE_FILE_H
#define RACKMESH_BASE_FILE_H

#include <stddef.h>
#include <stdint.h>

/* *ret is malloc'd, with a 0 byte behind it that *len does not count; the caller
 * frees it. -EFBIG: more than max_bytes. */
int rm_file_read(const char *path, size_t max_bytes, uint8_t **ret, size_t *len);

/* Temporary file, fsync, rename, fsync of the folder: a reader sees the old or
 * the new content, also after a crash. Blocks: call it on the worker. */
int rm_file_replace(const char *path, const uint8_t *data, size_t len);

#endif
