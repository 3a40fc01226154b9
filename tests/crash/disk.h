/*
 * disk - what a disk may hold after a crash at some point of a trace. Pure.
 *
 * Durable is what an fsync of the file (its bytes and size) or of the folder (its
 * names) covers, and nothing else. Of any later write each piece of 512 B or 4 KiB is
 * there, or is not, or has only made the file longer (zeros); of any later change of
 * names each is there or not; in any combination: POSIX promises no order. A rename is
 * one change. What an fsync failed on is never covered by a later one.
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

/* Both are borrowed. before: what was there, durably, when the trace began. */
struct disk *disk_new(const struct image *before, const struct trace *trace);
void disk_free(struct disk *disk);

void disk_apply(struct disk *disk, const struct trace_op *op);
/* After a crash now, if it goes so. grain: 512 or 4096. */
void disk_image(
    const struct disk *disk, struct choices *choices, size_t grain, struct image *ret);

#endif
