/*
 * file_save - replaces a file by a copy of some bytes, on the worker.
 *
 * For state that a daemon has again after a restart. The file has the old or the new
 * content, also after a crash (rackmesh/core/file.h). Saves of one worker are written
 * in their order.
 */
#ifndef RACKMESH_LOOP_FILE_SAVE_H
#define RACKMESH_LOOP_FILE_SAVE_H

#include <stddef.h>

struct rm_worker;

/* done runs on the loop: r is 0, -errno of the write, or -ECANCELED when the worker was
 * freed before. -ENOMEM, -ENAMETOOLONG, -EAGAIN (the worker is full): nothing will be
 * written, and done is not called. */
int rm_file_save(struct rm_worker *worker, const char *path, const void *data,
    size_t len, void (*done)(void *arg, int r), void *arg);
/* The same of a file of mode 0600; the copy is wiped. */
int rm_file_save_secret(struct rm_worker *worker, const char *path, const void *data,
    size_t len, void (*done)(void *arg, int r), void *arg);

#endif
