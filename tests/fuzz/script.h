/*
 * script - values of a script of events from a fuzzer's bytes, besides numbers.
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

/* Takes a text up to its first 0 byte, or as much as fits. */
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

/* Changes up to three bytes of a message, mostly none. */
static inline void
fuzz_damage(struct fuzz_bytes *bytes, uint8_t *data, size_t len)
{
	for (unsigned n = fuzz_below(bytes, 4); n > 0 && len > 0; n--) {
		const size_t place = fuzz_two(bytes) % len;

		data[place] ^= fuzz_u8(bytes);
	}
}

#endif
