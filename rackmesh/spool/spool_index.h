/*
 * spool_index - the records of a spool that wait, and where each of them is. Pure.
 *
 * The index is a ring in the order of seq. A record has a position, and positions only
 * increase. A record is in memory, in a file, or in both; one that was dropped from the
 * middle is in neither.
 */
#ifndef RACKMESH_SPOOL_SPOOL_INDEX_H
#define RACKMESH_SPOOL_SPOOL_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct spool_file {
	struct spool_file *next;
	/* first and last seq; first_seq is also the name of the file */
	uint64_t first_seq, last_seq;
	uint64_t bytes;   /* on disk */
	uint64_t waiting; /* records of the index that are in this file */
};

struct spool_record {
	uint64_t seq;
	uint8_t *data; /* malloc'd; NULL: not in memory */
	/* the file that has the record; NULL: it is not on disk, or not yet */
	struct spool_file *file;
	uint32_t at; /* offset of the record's header in the file */
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
/* The position of the first record with a number >= seq; last: there is none. */
uint64_t spool_index_find(const struct spool_index *index, uint64_t seq);

static inline bool
spool_record_dropped(const struct spool_record *record)
{
	return record->data == NULL && record->file == NULL;
}

#endif
