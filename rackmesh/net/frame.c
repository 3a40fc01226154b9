#include "rackmesh/net/frame.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <event2/buffer.h>
#include <zlib.h>

static uint32_t
frame_get_u32(const uint8_t *at)
{
	return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 |
	       at[3];
}

static void
frame_put_u32(uint8_t *at, uint32_t value)
{
	at[0] = (uint8_t)(value >> 24);
	at[1] = (uint8_t)(value >> 16);
	at[2] = (uint8_t)(value >> 8);
	at[3] = (uint8_t)value;
}

static int
frame_take(struct evbuffer *in, size_t max_bytes, bool sealed, struct rm_frame *ret)
{
	uint8_t header[RM_FRAME_HEADER_BYTES];
	uint8_t *data;
	size_t len;

	if (evbuffer_copyout(in, header, sizeof(header)) != sizeof(header))
		return -EAGAIN;
	/* The length is checked before the payload arrives, so that a frame that will
	 * be refused is not buffered. */
	len = frame_get_u32(header);
	if (len == 0 || len > max_bytes || len > RM_FRAME_MAX_BYTES)
		return -EMSGSIZE;
	if (evbuffer_get_length(in) < sizeof(header) + len)
		return -EAGAIN;

	/* The payload is copied, because it must be aligned: an evbuffer does not align
	 * data that begins 8 bytes behind its start. */
	data = malloc(len);
	if (data == NULL)
		return -ENOMEM;
	if (evbuffer_drain(in, sizeof(header)) < 0 ||
	    evbuffer_remove(in, data, len) != (int)len) {
		free(data);
		return -EIO;
	}
	if (!sealed && crc32(0, data, (uInt)len) != frame_get_u32(header + 4)) {
		free(data);
		return -EBADMSG;
	}
	ret->data = data;
	ret->len = len;
	return 0;
}

int
rm_frame_take(struct evbuffer *in, size_t max_bytes, struct rm_frame *ret)
{
	return frame_take(in, max_bytes, false, ret);
}

int
rm_frame_take_sealed(struct evbuffer *in, size_t max_bytes, struct rm_frame *ret)
{
	return frame_take(in, max_bytes, true, ret);
}

static int
frame_put(struct evbuffer *out, const uint8_t *data, size_t len, bool sealed)
{
	struct evbuffer_iovec space;
	uint8_t *at;

	if (len == 0 || len > RM_FRAME_MAX_BYTES)
		return -EMSGSIZE;
	/* Header and payload are added as one piece: if only the second of two
	 * allocations failed, half a frame would be on the stream, and the connection
	 * would be lost. */
	if (evbuffer_reserve_space(
		out, (ev_ssize_t)(RM_FRAME_HEADER_BYTES + len), &space, 1) != 1)
		return -ENOMEM;
	at = space.iov_base;
	frame_put_u32(at, (uint32_t)len);
	frame_put_u32(at + 4, sealed ? 0 : (uint32_t)crc32(0, data, (uInt)len));
	memcpy(at + RM_FRAME_HEADER_BYTES, data, len);
	space.iov_len = RM_FRAME_HEADER_BYTES + len;
	return evbuffer_commit_space(out, &space, 1) < 0 ? -EIO : 0;
}

int
rm_frame_put(struct evbuffer *out, const uint8_t *data, size_t len)
{
	return frame_put(out, data, len, false);
}

int
rm_frame_put_sealed(struct evbuffer *out, const uint8_t *data, size_t len)
{
	return frame_put(out, data, len, true);
}
