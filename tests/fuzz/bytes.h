/*
 * bytes - a fuzzer's input as a sequence of small decisions, for targets that build
 * structures which random bytes would not form. Beyond the end each decision is 0.
 */
#ifndef TESTS_FUZZ_BYTES_H
#define TESTS_FUZZ_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fuzz_bytes {
	const uint8_t *at;
	size_t left;
};

static inline uint8_t
fuzz_u8(struct fuzz_bytes *bytes)
{
	if (bytes->left == 0)
		return 0;
	bytes->left--;
	return *bytes->at++;
}

/* Returns 0 to below - 1; below is at most 256. */
static inline unsigned
fuzz_below(struct fuzz_bytes *bytes, unsigned below)
{
	return fuzz_u8(bytes) % below;
}

/* Returns mostly a small number, sometimes a limit of a type, or any number. */
static inline uint64_t
fuzz_number(struct fuzz_bytes *bytes)
{
	static const uint64_t edges[16] = { 0xff, 0x100, 1000, 1001, 0x7fff, 0xffff,
		0x10000, 0xffffff, 0x1000000, 0x7fffffff, 0x80000000, 0xffffffff,
		UINT64_C(1000000000), INT64_MAX, UINT64_C(1) << 63, UINT64_MAX };
	uint8_t first = fuzz_u8(bytes);
	uint64_t number = 0;

	if (first < 0xe0)
		return first;
	if (first >= 0xf0)
		return edges[first & 15];
	for (int i = 0; i <= (first & 7); i++)
		number = number << 8 | fuzz_u8(bytes);
	return number;
}

/* Takes up to most bytes; the first byte is their number. */
static inline struct fuzz_bytes
fuzz_part(struct fuzz_bytes *bytes, size_t most)
{
	size_t len = fuzz_u8(bytes);
	struct fuzz_bytes part;

	len = len < most ? len : most;
	len = len < bytes->left ? len : bytes->left;
	part = (struct fuzz_bytes){ bytes->at, len };
	bytes->at += len;
	bytes->left -= len;
	return part;
}

#endif
