/*
 * brake_file - keeps the last brake on disk, beside the saved pinglists.
 *
 * The worker writes the file; of several brakes that wait to be written, only the
 * newest is.
 */
#ifndef HOST_AGENT_PINGLIST_BRAKE_FILE_H
#define HOST_AGENT_PINGLIST_BRAKE_FILE_H

#include <stdint.h>

struct brake;
struct brake_file;
struct rm_worker;
struct wire_brake;

struct brake_file_counts {
	uint64_t saved;
	uint64_t save_failed;  /* the disk reported an error */
	uint64_t save_skipped; /* not written: out of memory, or the worker's queue is
				  full */
};

/* folder: "": the brake is not kept. worker: free it before the brake_file, which its
 * jobs use. */
int brake_file_new(
    const char *folder, struct rm_worker *worker, struct brake_file **ret);
void brake_file_free(struct brake_file *file);

/* Blocks: call it before the loop runs. -ENOENT: there is no file; else as
 * brake_open. */
int brake_file_load(const struct brake_file *file, struct brake *brake);
void brake_file_save(struct brake_file *file, const struct wire_brake *brake);

const struct brake_file_counts *brake_file_counts(const struct brake_file *file);

#endif
