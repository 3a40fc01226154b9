/*
 * file - whole files, read within a bound and replaced atomically.
 */
#ifndef RACKMESH_CORE_FILE_H
#define RACKMESH_CORE_FILE_H

#include <stddef.h>
#include <stdint.h>

struct rm_error;

/* Reads a whole file. *ret has *len bytes and one more, a 0 byte; the caller frees it.
 * -EFBIG: the file has more than max_bytes. */
int rm_file_read(const char *path, size_t max_bytes, uint8_t **ret, size_t *len);

/* Reads a file with a key or password. It must be a regular file, owned by the user of
 * the process or by root, with mode 0600 or 0400. -EACCES: others may read it; -EINVAL:
 * not a regular file. error: the file, and what is wrong. */
int rm_file_read_secret(const char *path, size_t max_bytes, uint8_t **ret, size_t *len,
    struct rm_error *error);
/* Reads a password or token: one line, returned without its line break. -EINVAL: empty,
 * or several lines; else as rm_file_read_secret. */
int rm_file_read_password(
    const char *path, char *password, size_t size, struct rm_error *error);
/* Checks whether rm_file_read_secret would succeed, for files that a library reads. */
int rm_file_check_secret(const char *path, struct rm_error *error);

/* Writes a temporary file, syncs it, renames it, and syncs the folder: a reader sees
 * the old or the new content, also after a crash. Blocks: call it on the worker. */
int rm_file_replace(const char *path, const uint8_t *data, size_t len);
/* The same for a file of mode 0600. */
int rm_file_replace_secret(const char *path, const uint8_t *data, size_t len);

/* Renames a file that cannot be used to path and suffix, or if that exists, to the
 * first name of path, suffix, and ".2" to ".8" that does not. No file is overwritten,
 * provided that one process uses the folder. Logs the new name or the error, with the
 * reason. */
void rm_file_set_aside(const char *path, const char *suffix, const char *reason);

#endif
