/*
 * file_save - replaces a file by a copy of some bytes, on the worker.
 *
 * It is for state that a daemon needs after a restart. The file has the old or the new
 * content, also after a crash (rackmesh/core/file.h). Saves on one worker are written
 * in order.
 */
#ifndef RACKMESH_LOOP_FILE_SAVE_H
#define RACKMESH_LOOP_FILE_SAVE_H

#include <stddef.h>

struct rm_worker;

/* Copies data, and calls done on the loop. r: 0, -errno of the write, or -ECANCELED:
 * the worker was freed first. Returns -ENOMEM, -ENAMETOOLONG or -EAGAIN (the worker is
 * full): nothing is written, and done is not called. */
int rm_file_save(struct rm_worker *worker, const char *path, const void *data,
    size_t len, void (*done)(void *arg, int r), void *arg);
/* The same for a file of mode 0600; the copy in memory is wiped. */
int rm_file_save_secret(struct rm_worker *worker, const char *path, const void *data,
    size_t len, void (*done)(void *arg, int r), void *arg);

#endif
