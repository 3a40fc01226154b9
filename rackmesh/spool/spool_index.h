/*
 * spool_index - which records of a spool wait, and where each of them is. Pure.
 *
 * A ring in order of seq, addressed by positions that only grow. A record is in memory,
 * in a file, or both; in neither if it was dropped from the middle.
 */
#ifndef RACKMESH_SPOOL_SPOOL_INDEX_H
#define RACKMESH_SPOOL_SPOOL_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct spool_file {
	struct spool_file *next;
	uint64_t first_seq, last_seq; /* first_seq is its name */
	uint64_t bytes;               /* on disk */
	uint64_t waiting;             /* records of the index that lie in it */
};

struct spool_record {
	uint64_t seq;
	uint8_t *data;           /* malloc'd; NULL: not in memory */
	struct spool_file *file; /* NULL: not on disk, or not yet */
	uint32_t at;             /* of its head in the file */
	uint32_t len;
};

struct spool_index {
	struct spool_record *slots;
	size_t capacity;      /* a power of two */
	uint64_t first, last; /* positions; empty when equal */
};

void spool_index_clear(struct spool_index *index);

int spool_index_push(struct spool_index *index, const struct spool_record *record);
struct spool_record *spool_index_at(const struct spool_index *index, uint64_t position);
/* The position of the first with a seq >= this one, or last. */
uint64_t spool_index_find(const struct spool_index *index, uint64_t seq);

static inline bool
spool_record_dropped(const struct spool_record *record)
{
	return record->data == NULL && record->file == NULL;
}

#endif
