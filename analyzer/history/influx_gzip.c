#include "analyzer/history/influx_gzip.h"

#include <errno.h>
#include <stdlib.h>
#include <zlib.h>

#define GZIP_LEVEL 1   /* points repeat themselves: more would cost time for little */
#define GZIP_WINDOW 15 /* 32 KiB */
#define GZIP_HEADER 16 /* added to the window: gzip's framing, not zlib's */
#define GZIP_MEMORY 8

int
influx_gzip(const char *text, size_t len, uint8_t **out, size_t *out_len)
{
	z_stream stream = { 0 };
	uint8_t *packed;
	uLong room;
	int r = -EIO;

	if (deflateInit2(&stream, GZIP_LEVEL, Z_DEFLATED, GZIP_WINDOW + GZIP_HEADER,
		GZIP_MEMORY, Z_DEFAULT_STRATEGY) != Z_OK)
		return -ENOMEM;
	room = deflateBound(&stream, len);
	packed = malloc(room);
	if (packed == NULL) {
		r = -ENOMEM;
		goto out;
	}
	stream.next_in = (Bytef *)(uintptr_t)text;
	stream.avail_in = (uInt)len;
	stream.next_out = packed;
	stream.avail_out = (uInt)room;
	if (deflate(&stream, Z_FINISH) != Z_STREAM_END) {
		free(packed);
		goto out;
	}
	*out = packed;
	*out_len = stream.total_out;
	r = 0;
out:
	deflateEnd(&stream);
	return r;
}
