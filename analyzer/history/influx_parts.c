#include "analyzer/history/influx_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

void
influx_parts_init(struct influx_parts *parts, const char *text, size_t len)
{
	parts->text = text;
	parts->start = 0;
	parts->ends[0] = len;
	parts->depth = 1;
	parts->halved = 0;
}

const char *
influx_parts_text(const struct influx_parts *parts, size_t *len)
{
	*len = parts->ends[parts->depth - 1] - parts->start;
	return parts->text + parts->start;
}

uint64_t
influx_parts_points(const struct influx_parts *parts)
{
	size_t len;
	const char *at = influx_parts_text(parts, &len), *end = at + len;
	uint64_t points = 0;

	while (at < end && (at = memchr(at, '\n', (size_t)(end - at))) != NULL) {
		points++;
		at++;
	}
	return points;
}

bool
influx_parts_next(struct influx_parts *parts)
{
	parts->start = parts->ends[--parts->depth];
	return parts->depth > 0;
}

bool
influx_parts_halve(struct influx_parts *parts)
{
	size_t len, half;
	const char *text = influx_parts_text(parts, &len), *at;

	if (parts->halved >= INFLUX_MAX_HALVES || parts->depth == INFLUX_MAX_DEPTH)
		return false;
	/* Cuts at the line that contains the middle, or at the one before it. */
	half = len / 2;
	at = memchr(text + half, '\n', len - half);
	if (at == NULL || at + 1 == text + len)
		at = memrchr(text, '\n', half);
	if (at == NULL)
		return false;
	parts->ends[parts->depth++] = parts->start + (size_t)(at - text) + 1;
	parts->halved++;
	return true;
}

/* Points are similar to each other: a higher level costs time and saves little. */
#define GZIP_LEVEL 1
#define GZIP_WINDOW 15 /* 32 KiB */
/* Added to the window bits, this selects gzip's format instead of zlib's. */
#define GZIP_HEADER 16
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
