/*
 * key_file - keeps a message with keys on disk, so that a daemon has them after a
 * restart without its peers. Written on the worker, mode 0600; the newest message wins.
 *
 * File: "RMKF" 0 0 0 1 | u32 CRC-32C of the message, big-endian | u32 0 | the message.
 */
#ifndef RACKMESH_IDENTITY_KEY_FILE_H
#define RACKMESH_IDENTITY_KEY_FILE_H

#include <stddef.h>
#include <stdint.h>

struct rm_worker;

struct rm_key_file_counts {
	uint64_t loaded, damaged, saved, failed; /* failed: also without memory */
};

struct rm_key_files;

/* folder: copied; "": nothing is kept. worker: free it before the key file. */
int rm_key_files_new(
    const char *folder, struct rm_worker *worker, struct rm_key_files **ret);
void rm_key_files_free(struct rm_key_files *files); /* NULL is fine */

/* Blocks: call it before the loop runs. *file is malloc'd, the caller frees it; *ret
 * points to the message in it, aligned to 8. -ENOENT: no file; -EBADMSG: damaged. tor:
 * a valid name. */
int rm_key_files_load(struct rm_key_files *files, const char *tor, uint8_t **file,
    const uint8_t **ret, size_t *len);
/* Copies. */
void rm_key_files_save(
    struct rm_key_files *files, const char *tor, const uint8_t *data, size_t len);

const struct rm_key_file_counts *rm_key_files_counts(const struct rm_key_files *files);

#endif
