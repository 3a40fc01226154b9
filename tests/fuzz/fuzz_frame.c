/*
 * fuzz_frame - any bytes, cut at random, through rm_frame_take.
 *
 * Frames that came out are written to another stream and read from there again, with
 * and without a checksum. The byte of seed also selects the allocation that fails.
 *
 * Input: one byte of mode, one byte of seed for the cuts, the stream. With mode bit 0
 * the checksums in the stream are corrected first, since no fuzzer guesses one. Each
 * frame that comes out must consist of the stream's bytes with a right checksum, be
 * aligned, and be within the limit.
 */
#include <errno.h>
#include <event2/buffer.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "rackmesh/net/frame.h"
#include "tests/support/failing_malloc.h"

#define FUZZ_MAX_FRAME 1024

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static uint32_t
fuzz_u32(const uint8_t *at)
{
	return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 |
	       at[3];
}

static void
fuzz_require(int truth)
{
	if (!truth)
		abort();
}

static void
fuzz_mend(uint8_t *stream, size_t len)
{
	size_t at = 0;

	while (len - at >= RM_FRAME_HEADER_BYTES) {
		uint32_t frame_len = fuzz_u32(stream + at);
		uint32_t crc;

		if (frame_len > len - at - RM_FRAME_HEADER_BYTES)
			return;
		crc =
		    (uint32_t)crc32(0, stream + at + RM_FRAME_HEADER_BYTES, frame_len);
		for (int i = 0; i < 4; i++)
			stream[at + 4 + i] = (uint8_t)(crc >> (24 - 8 * i));
		at += RM_FRAME_HEADER_BYTES + frame_len;
	}
}

/* The same length and content. A stream without checksums has zeros in their place. */
static void
check_round_trip(const struct rm_frame *frame, int sealed)
{
	struct evbuffer *out = evbuffer_new();
	struct rm_frame back;
	int r;

	fuzz_require(out != NULL);
	r = sealed ? rm_frame_put_sealed(out, frame->data, frame->len)
		   : rm_frame_put(out, frame->data, frame->len);
	fuzz_require(r == 0);
	fuzz_require(evbuffer_get_length(out) == RM_FRAME_HEADER_BYTES + frame->len);
	r = rm_frame_take_sealed(out, frame->len - 1, &back);
	fuzz_require(r == -EMSGSIZE);
	r = sealed ? rm_frame_take_sealed(out, frame->len, &back)
		   : rm_frame_take(out, frame->len, &back);
	fuzz_require(r == 0 && back.len == frame->len);
	fuzz_require(memcmp(back.data, frame->data, frame->len) == 0);
	fuzz_require(evbuffer_get_length(out) == 0);
	fuzz_require(rm_frame_put(out, frame->data, 0) == -EMSGSIZE);
	free(back.data);
	evbuffer_free(out);
}

/* Takes all frames. at: offset of the next frame in the stream. Returns -EAGAIN, or
 * the error that ended the stream. */
static int
fuzz_take_all(struct evbuffer *in, const uint8_t *stream, size_t len, size_t *at)
{
	struct rm_frame frame;
	int r;

	while ((r = rm_frame_take(in, FUZZ_MAX_FRAME, &frame)) == 0) {
		fuzz_require(frame.len > 0 && frame.len <= FUZZ_MAX_FRAME);
		fuzz_require(((uintptr_t)frame.data & 7) == 0);
		fuzz_require(*at + RM_FRAME_HEADER_BYTES + frame.len <= len);
		fuzz_require(fuzz_u32(stream + *at) == frame.len);
		fuzz_require(fuzz_u32(stream + *at + 4) ==
			     (uint32_t)crc32(0, frame.data, (uInt)frame.len));
		*at += RM_FRAME_HEADER_BYTES;
		fuzz_require(memcmp(frame.data, stream + *at, frame.len) == 0);
		*at += frame.len;
		check_round_trip(&frame, (int)(frame.len & 1));
		free(frame.data);
	}
	fuzz_require(r == -EAGAIN || r == -EMSGSIZE || r == -EBADMSG || r == -ENOMEM);
	return r;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct evbuffer *in;
	uint8_t *stream;
	size_t at = 0, fed = 0;
	uint32_t seed;
	int r = -EAGAIN;

	if (len < 2)
		return 0;
	seed = data[1];
	len -= 2;
	in = evbuffer_new();
	stream = malloc(len + 1);
	fuzz_require(in != NULL && stream != NULL);
	memcpy(stream, data + 2, len);
	if (data[0] & 1)
		fuzz_mend(stream, len);
	while (r == -EAGAIN && fed < len) {
		size_t cut;

		seed = seed * 1664525u + 1013904223u;
		cut = 1 + (seed >> 16) % (data[0] & 2 ? 7 : 700);
		if (cut > len - fed)
			cut = len - fed;
		fuzz_require(evbuffer_add(in, stream + fed, cut) == 0);
		fed += cut;
		failing_malloc_arm(data[1] % 7 == 6 ? 1 : 0);
		r = fuzz_take_all(in, stream, len, &at);
		if (!failing_malloc_disarm() && data[1] % 7 == 6) {
			/* The failed allocation lost no data. */
			fuzz_require(r == -ENOMEM);
			r = fuzz_take_all(in, stream, len, &at);
		}
		/* At most one unfinished frame is held back. */
		fuzz_require(
		    r != -EAGAIN ||
		    evbuffer_get_length(in) < RM_FRAME_HEADER_BYTES + FUZZ_MAX_FRAME);
	}
	free(stream);
	evbuffer_free(in);
	return 0;
}
