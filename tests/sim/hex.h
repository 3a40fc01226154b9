/*
 * hex - reads and writes bytes as pairs of hexadecimal digits, for recordings.
 */
#ifndef TESTS_SIM_HEX_H
#define TESTS_SIM_HEX_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct hex_bytes { /* all zero at first; free(bytes) at the end */
	uint8_t *bytes;
	size_t len, room;
};

void hex_write(FILE *out, const uint8_t *data, size_t len);
/* Replaces the content of *ret by the bytes of the text. -EINVAL: malformed text;
 * -ENOMEM. */
int hex_read(const char *text, struct hex_bytes *ret);

#endif
