#include "analyzer/history/history_batch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/spool/spool.h"

uint64_t
history_batch_lines(const char *text, size_t len)
{
	const char *end = text + len;
	uint64_t lines = 0;

	while (text < end) {
		const char *line = memchr(text, '\n', (size_t)(end - text));

		if (line == NULL)
			break;
		lines++;
		text = line + 1;
	}
	return lines;
}

static int
batch_room(struct history_batch *batch, size_t len)
{
	size_t capacity = batch->capacity == 0 ? 64 << 10 : batch->capacity;
	char *text;

	while (capacity < batch->len + len)
		capacity *= 2;
	if (capacity == batch->capacity)
		return 0;
	text = realloc(batch->text, capacity);
	if (text == NULL)
		return -ENOMEM;
	batch->text = text;
	batch->capacity = capacity;
	return 0;
}

int
history_batch_fill(struct history_batch *batch, struct rm_spool *spool,
    uint64_t max_points, size_t max_bytes)
{
	struct rm_spool_item item;

	while (batch->points < max_points) {
		uint64_t points;
		int r = rm_spool_get(spool, batch->last_seq + 1, &item);

		/* -ENOENT, -EAGAIN: this record cannot be read now, nor can a later one
		 */
		if (r < 0)
			return 0;
		points = history_batch_lines((const char *)item.data, item.len);
		if (batch->len > 0 && (batch->points + points > max_points ||
					  batch->len + item.len > max_bytes))
			return 1;
		r = batch_room(batch, item.len);
		if (r < 0)
			return r;
		memcpy(batch->text + batch->len, item.data, item.len);
		batch->len += item.len;
		batch->points += points;
		batch->last_seq = item.seq;
	}
	return 1;
}

void
history_batch_empty(struct history_batch *batch)
{
	batch->len = 0;
	batch->points = 0;
}

void
history_batch_clear(struct history_batch *batch)
{
	free(batch->text);
	*batch = (struct history_batch){ 0 };
}

size_t
history_batch_piece(const char *text, size_t len, uint64_t max_points, size_t max_bytes)
{
	size_t at = 0;

	for (uint64_t points = 0; at < len && points < max_points; points++) {
		const char *end = memchr(text + at, '\n', len - at);
		/* text ends with a line break */
		size_t next = (size_t)(end - text) + 1;

		if (at > 0 && next > max_bytes)
			break;
		at = next;
	}
	return at;
}
