/*
 * oracle - what was appended, what was promised, and what may be missing; kept beside
 * the spool, and never read from it.
 *
 * Pure. A time is the number of calls in the trace before it.
 */
#ifndef TESTS_CRASH_ORACLE_H
#define TESTS_CRASH_ORACLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ORACLE_MIN_BYTES 9
#define ORACLE_MAX_BYTES 8000
#define ORACLE_NEVER SIZE_MAX

struct oracle_record {
	uint64_t identity, seq;
	uint32_t id, len;
	size_t appended, promised, excused; /* the times */
};

struct oracle {
	struct oracle_record *records;
	size_t count, capacity;
	uint32_t next_id;
};

void oracle_clear(struct oracle *oracle);
/* Makes up len bytes for a new record, and notes it. */
void oracle_append(struct oracle *oracle, uint64_t identity, uint64_t seq, size_t len,
    size_t when, uint8_t bytes[ORACLE_MAX_BYTES]);
void oracle_bytes(uint32_t id, uint8_t *bytes, size_t len);
void oracle_append_failed(struct oracle *oracle); /* number of the last record */
/* All records up to seq. */
void oracle_promised(
    struct oracle *oracle, uint64_t identity, uint64_t seq, size_t when);
void oracle_excused(
    struct oracle *oracle, uint64_t identity, uint64_t seq, size_t when);
void oracle_copy_one(struct oracle *oracle, const struct oracle_record *record);
struct oracle_record *oracle_find(struct oracle *oracle, uint32_t id);

/* The record must exist after a crash at that time; it may exist. */
bool oracle_requires(const struct oracle_record *record, size_t when);
bool oracle_allows(const struct oracle_record *record, size_t when);
/* Equal requirements give an equal hash. */
uint64_t oracle_hash(const struct oracle *oracle, size_t when);
/* *ret: the records that may exist after a crash at the time `when`, for the
 * run that begins then.
 */
void oracle_after(const struct oracle *oracle, size_t when, struct oracle *ret);

#endif
