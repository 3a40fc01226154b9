/*
 * script - what a script of events takes from a fuzzer's bytes besides numbers.
 */
#ifndef TESTS_FUZZ_SCRIPT_H
#define TESTS_FUZZ_SCRIPT_H

#include <string.h>

#include "tests/fuzz/bytes.h"

static inline uint16_t
fuzz_two(struct fuzz_bytes *bytes)
{
	const uint16_t low = fuzz_u8(bytes);

	return (uint16_t)(low | fuzz_u8(bytes) << 8);
}

/* A part as a text, up to its first 0 or as far as there is room. */
static inline const char *
fuzz_text(struct fuzz_bytes *bytes, char *text, size_t room)
{
	const struct fuzz_bytes part = fuzz_part(bytes, 255);
	const size_t len = part.left < room ? part.left : room - 1;

	if (len > 0)
		memcpy(text, part.at, len);
	text[len] = '\0';
	return text;
}

/* Up to three bytes of a message are changed; most often none. */
static inline void
fuzz_damage(struct fuzz_bytes *bytes, uint8_t *data, size_t len)
{
	for (unsigned n = fuzz_below(bytes, 4); n > 0 && len > 0; n--) {
		const size_t place = fuzz_two(bytes) % len;

		data[place] ^= fuzz_u8(bytes);
	}
}

#endif
