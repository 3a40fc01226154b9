/*
 * file - whole files, read within a bound and replaced atomically.
 */
#ifndef RACKMESH_CORE_FILE_H
#define RACKMESH_CORE_FILE_H

#include <stddef.h>
#include <stdint.h>

struct rm_error;

/* *ret is malloc'd, with a 0 byte behind it that *len does not count; the caller
 * frees it. -EFBIG: more than max_bytes. */
int rm_file_read(const char *path, size_t max_bytes, uint8_t **ret, size_t *len);

/* For keys and passwords: a plain file, owned by the process's user or root, with mode
 * 0600 or 0400. -EACCES: others may read it, -EINVAL: not a plain file. error: the
 * file, and what is wrong with it.
 */
int rm_file_read_secret(const char *path, size_t max_bytes, uint8_t **ret, size_t *len,
    struct rm_error *error);
/* A password or token: one line, without its end. -EINVAL also: empty, or more lines.
 */
int rm_file_read_password(
    const char *path, char *password, size_t size, struct rm_error *error);
/* Tells whether rm_file_read would work, for files that a library reads. */
int rm_file_check_secret(const char *path, struct rm_error *error);

/* Temporary file, fsync, rename, fsync of the folder: a reader sees the old or
 * the new content, also after a crash. Blocks: call it on the worker. */
int rm_file_replace(const char *path, const uint8_t *data, size_t len);
/* The same of a file of 0600. */
int rm_file_replace_secret(const char *path, const uint8_t *data, size_t len);

#endif
