/*
 * frame - the form of a message on a byte stream.
 *
 *   u32 length (big endian) | u32 CRC-32 of the payload (big endian) | payload
 *
 * The checksum is zlib's crc32, since TCP's is weak. Within TLS, which has a stronger
 * one, the field is 0 and is not checked: see the *_sealed functions.
 */
#ifndef RACKMESH_NET_FRAME_H
#define RACKMESH_NET_FRAME_H

#include <stddef.h>
#include <stdint.h>

struct evbuffer;

#define RM_FRAME_HEADER_BYTES 8
#define RM_FRAME_MAX_BYTES (16u << 20) /* upper bound for any limit given below */

struct rm_frame {
	uint8_t *data; /* malloc'd, so 16-byte aligned; the caller frees it */
	size_t len;
};

/*
 * Takes one whole frame from the buffer. -EAGAIN: it has not arrived completely.
 * -EMSGSIZE: it is longer than max_bytes, or empty. -EBADMSG: wrong checksum. -ENOMEM.
 * After any error but -EAGAIN close the stream: its position is lost.
 */
int rm_frame_take(struct evbuffer *in, size_t max_bytes, struct rm_frame *ret);

int rm_frame_take_sealed(struct evbuffer *in, size_t max_bytes, struct rm_frame *ret);

/* Appends one frame; copies data. */
int rm_frame_put(struct evbuffer *out, const uint8_t *data, size_t len);
int rm_frame_put_sealed(struct evbuffer *out, const uint8_t *data, size_t len);

#endif
