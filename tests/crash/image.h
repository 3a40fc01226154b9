/*
 * image - what a crash leaves of a spool's folder: names and bytes.
 */
#ifndef TESTS_CRASH_IMAGE_H
#define TESTS_CRASH_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/crash/trace.h"

#define IMAGE_MAX_FILES 256

struct image_file {
	char name[TRACE_NAME];
	uint8_t *data;
	size_t len, capacity; /* reused for the next image */
};

struct image {
	bool folder; /* the folder exists */
	struct image_file files[IMAGE_MAX_FILES];
	size_t count;
};

void image_clear(struct image *image);
void image_copy(struct image *to, const struct image *from);
/* Makes room for len bytes in file i. */
void image_reserve(struct image *image, size_t i, size_t len);
/* The order of the files does not change the hash. */
uint64_t image_hash(const struct image *image);

/* Replaces this folder, whose parent exists, by the image. */
void image_write(const struct image *image, const char *folder);
void image_remove(const char *folder);
/* Reads the folder's current content. */
void image_read(struct image *image, const char *folder);
void image_print(const struct image *image);

#endif
