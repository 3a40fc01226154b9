#include <stdlib.h>

#include "rackmesh/spool/spool_segment.h"
#include "rackmesh/spool/spool_state.h"

void
spool_release(struct rm_spool *spool, uint64_t position)
{
	struct spool_record *record = spool_index_at(&spool->index, position);

	if (record->file != NULL) {
		record->file->waiting--;
		if (record->data != NULL)
			spool->cached -= record->len;
	} else if (position >= spool->flying_end) {
		spool->pending_bytes -= spool_cost(spool, record->len);
	}
	free(record->data);
	record->data = NULL;
	record->file = NULL;
	spool->waiting--;
	spool->waiting_bytes -= record->len;
}

static void
at_least(uint64_t *position, uint64_t first)
{
	if (*position < first)
		*position = first;
}

void
spool_trim(struct rm_spool *spool)
{
	struct spool_index *index = &spool->index;

	while (index->first < index->last &&
	       spool_record_dropped(spool_index_at(index, index->first)))
		index->first++;
	at_least(&spool->disk_end, index->first);
	at_least(&spool->flying_end, index->first);
	at_least(&spool->cursor, index->first);
	at_least(&spool->evicted, index->first);
	at_least(&spool->kept_end, index->first);
}

static void
drop(struct rm_spool *spool, uint64_t position)
{
	spool_release(spool, position);
	spool->counts.dropped_full++;
}

void
spool_retire(struct rm_spool *spool)
{
	struct spool_file *file = spool->files, **at = &spool->retired;

	spool->files = file->next;
	if (spool->active == file)
		spool->active = NULL;
	spool->used -= file->bytes;
	/* At the end: a job may be removing the first of them. */
	while (*at != NULL)
		at = &(*at)->next;
	file->next = NULL;
	*at = file;
}

/* What no job writes at the moment: false when there is nothing. */
static bool
drop_pending(struct rm_spool *spool)
{
	for (uint64_t i = spool->flying_end; i < spool->index.last; i++) {
		if (spool_record_dropped(spool_index_at(&spool->index, i)))
			continue;
		drop(spool, i);
		spool_trim(spool);
		return true;
	}
	return false;
}

/* The oldest file that no job writes, or the oldest record. */
static bool
drop_oldest(struct rm_spool *spool)
{
	struct spool_index *index = &spool->index;
	struct spool_file *file = spool->files;

	if (file == NULL || file == spool->flying)
		return drop_pending(spool);
	while (file->waiting > 0) {
		drop(spool, index->first);
		spool_trim(spool);
	}
	spool_retire(spool);
	return true;
}

static bool
set_aside_goes_first(struct rm_spool *spool)
{
	if (spool->quarantine_bytes == 0)
		return false;
	spool->used -= spool->quarantine_bytes;
	spool->quarantine_bytes = 0;
	spool->sweep_due = true; /* until it has succeeded */
	return true;
}

void
spool_make_room(struct rm_spool *spool, uint64_t more)
{
	uint64_t fixed = SPOOL_RESERVE_BYTES + SPOOL_HEADER_BYTES;

	if (spool->folder == NULL) {
		while (spool->pending_bytes + more > spool->max_bytes &&
		       drop_pending(spool))
			;
		return;
	}
	while (fixed + spool->used + spool->pending_bytes + more > spool->max_bytes)
		if (!set_aside_goes_first(spool) && !drop_oldest(spool))
			break;
	while (spool->failing && spool->pending_bytes + more > spool->memory_bytes &&
	       drop_pending(spool))
		;
}
