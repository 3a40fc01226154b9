#include "tests/crash/oracle.h"

#include <stdlib.h>
#include <string.h>

#include "rackmesh/core/fnv.h"
#include "tests/crash/choices.h"

void
oracle_clear(struct oracle *oracle)
{
	free(oracle->records);
	*oracle = (struct oracle){ 0 };
}

void
oracle_bytes(uint32_t id, uint8_t *bytes, size_t len)
{
	uint64_t state = id, bits = 0;

	memcpy(bytes, &id, sizeof(id));
	for (size_t i = sizeof(id); i < len; i++) {
		if (i % 8 == 0 || i == sizeof(id))
			bits = choices_random(&state);
		bytes[i] = (uint8_t)(bits >> i % 8 * 8);
	}
}

void
oracle_copy_one(struct oracle *oracle, const struct oracle_record *record)
{
	if (oracle->count == oracle->capacity) {
		oracle->capacity = oracle->capacity == 0 ? 64 : oracle->capacity * 2;
		oracle->records = realloc(
		    oracle->records, oracle->capacity * sizeof(*oracle->records));
		if (oracle->records == NULL)
			abort();
	}
	oracle->records[oracle->count++] = *record;
}

void
oracle_append(struct oracle *oracle, uint64_t identity, uint64_t seq, size_t len,
    size_t when, uint8_t bytes[ORACLE_MAX_BYTES])
{
	struct oracle_record record = { identity, seq, ++oracle->next_id, (uint32_t)len,
		when, ORACLE_NEVER, ORACLE_NEVER };

	oracle_copy_one(oracle, &record);
	oracle_bytes(record.id, bytes, len);
}

void
oracle_append_failed(struct oracle *oracle)
{
	oracle->count--;
}

void
oracle_promised(struct oracle *oracle, uint64_t identity, uint64_t seq, size_t when)
{
	for (size_t i = 0; i < oracle->count; i++) {
		struct oracle_record *record = &oracle->records[i];

		if (record->identity == identity && record->seq <= seq &&
		    record->promised == ORACLE_NEVER && record->excused == ORACLE_NEVER)
			record->promised = when;
	}
}

void
oracle_excused(struct oracle *oracle, uint64_t identity, uint64_t seq, size_t when)
{
	for (size_t i = 0; i < oracle->count; i++) {
		struct oracle_record *record = &oracle->records[i];

		if (record->identity == identity && record->seq <= seq &&
		    record->excused == ORACLE_NEVER)
			record->excused = when;
	}
}

/* The ids are in ascending order. */
struct oracle_record *
oracle_find(struct oracle *oracle, uint32_t id)
{
	size_t low = 0, high = oracle->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (oracle->records[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low < oracle->count && oracle->records[low].id == id
		   ? &oracle->records[low]
		   : NULL;
}

bool
oracle_requires(const struct oracle_record *record, size_t when)
{
	return record->promised != ORACLE_NEVER && record->promised <= when &&
	       record->excused >= when;
}

bool
oracle_allows(const struct oracle_record *record, size_t when)
{
	return record->appended <= when;
}

uint64_t
oracle_hash(const struct oracle *oracle, size_t when)
{
	uint64_t hash = RM_FNV1A;

	for (size_t i = 0; i < oracle->count; i++) {
		const struct oracle_record *record = &oracle->records[i];

		if (oracle_requires(record, when))
			hash = rm_fnv1a(hash, &record->id, sizeof(record->id));
	}
	return hash;
}

void
oracle_after(const struct oracle *oracle, size_t when, struct oracle *ret)
{
	ret->count = 0;
	ret->next_id = oracle->next_id;
	for (size_t i = 0; i < oracle->count; i++) {
		struct oracle_record record = oracle->records[i];

		if (!oracle_allows(&record, when))
			continue;
		record.promised = oracle_requires(&record, when) ? 0 : ORACLE_NEVER;
		record.excused = record.excused < when ? 0 : ORACLE_NEVER;
		record.appended = 0;
		oracle_copy_one(ret, &record);
	}
}
