/*
 * disk - the possible contents of a disk after a crash at some point of a trace.
 *
 * Pure. The bytes and the size of a file are durable only after an fsync of the file,
 * and names only after an fsync of the folder. Each piece of 512 B or 4 KiB of a later
 * write is there, or is missing, or has only made the file longer (zeros). Each later
 * change of names is there or missing. All combinations are possible, because POSIX
 * promises no order. A rename is one change. Data that a failed fsync should have
 * covered is never covered by a later one.
 */
#ifndef TESTS_CRASH_DISK_H
#define TESTS_CRASH_DISK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/crash/choices.h"
#include "tests/crash/image.h"
#include "tests/crash/trace.h"

struct disk;

/* Both are borrowed. before: the durable content when the trace began. */
struct disk *disk_new(const struct image *before, const struct trace *trace);
void disk_free(struct disk *disk);

void disk_apply(struct disk *disk, const struct trace_op *op);
/* The content after a crash now, with these choices. grain: 512 or 4096. */
void disk_image(
    const struct disk *disk, struct choices *choices, size_t grain, struct image *ret);

#endif
