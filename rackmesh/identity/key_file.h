/*
 * key_file - keeps a message with keys on disk, so that a daemon that restarts without
 * its peers has the keys. The worker writes the file, with mode 0600; of several
 * messages that wait, the newest is written.
 *
 * File: "RMKF" 0 0 0 1 | u32 CRC-32C of the message, big-endian | u32 0 | the message.
 */
#ifndef RACKMESH_IDENTITY_KEY_FILE_H
#define RACKMESH_IDENTITY_KEY_FILE_H

#include <stddef.h>
#include <stdint.h>

struct rm_worker;

struct rm_key_file_counts {
	/* failed: writes that failed, also if memory was short */
	uint64_t loaded, damaged, saved, failed;
};

struct rm_key_files;

/* folder: copied; "": keys are not kept. worker: free it before the key files, which
 * its jobs use. */
int rm_key_files_new(
    const char *folder, struct rm_worker *worker, struct rm_key_files **ret);
void rm_key_files_free(struct rm_key_files *files); /* NULL is fine */

/* Blocks: call it before the loop runs. *file is the memory from which *ret borrows,
 * and the caller frees it; *ret is the message, aligned to 8 bytes. -ENOENT: no file;
 * -EBADMSG: damaged. tor: a valid name. */
int rm_key_files_load(struct rm_key_files *files, const char *tor, uint8_t **file,
    const uint8_t **ret, size_t *len);
/* Copies the message; the worker writes it. */
void rm_key_files_save(
    struct rm_key_files *files, const char *tor, const uint8_t *data, size_t len);

const struct rm_key_file_counts *rm_key_files_counts(const struct rm_key_files *files);

#endif
