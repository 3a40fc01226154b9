#include "rackmesh/spool/spool_segment.h"

#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "rackmesh/core/crc32c.h"

#define VERSION 1
/* limits the time that a hostile file can take, compared to a good one */
#define BUDGET_PER_BYTE 16

static const char magic[8] = { 'R', 'M', 'S', 'P', 'O', 'O', 'L', '\n' };

static void
put_u32(uint8_t *at, uint32_t value)
{
	value = htobe32(value);
	memcpy(at, &value, sizeof(value));
}

static void
put_u64(uint8_t *at, uint64_t value)
{
	value = htobe64(value);
	memcpy(at, &value, sizeof(value));
}

static uint32_t
get_u32(const uint8_t *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return be32toh(value);
}

static uint64_t
get_u64(const uint8_t *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return be64toh(value);
}

static uint32_t
header_checksum(const uint8_t at[SPOOL_HEADER_BYTES])
{
	return rm_crc32c(rm_crc32c(0, at, 12), at + 16, 16);
}

void
spool_header_put(uint8_t at[SPOOL_HEADER_BYTES], const struct spool_header *head)
{
	memcpy(at, magic, sizeof(magic));
	put_u32(at + 8, VERSION);
	put_u64(at + 16, head->identity);
	put_u64(at + 24, head->first_seq);
	put_u32(at + 12, header_checksum(at));
}

static bool
all_zero(const uint8_t *data, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (data[i] != 0)
			return false;
	return true;
}

int
spool_header_take(const uint8_t *data, size_t len, struct spool_header *ret)
{
	struct spool_header head;

	/* After a crash some file systems fill a part that was not written with 0. */
	if (len < SPOOL_HEADER_BYTES || all_zero(data, len))
		return -ENODATA;
	if (memcmp(data, magic, sizeof(magic)) != 0 || get_u32(data + 8) != VERSION ||
	    get_u32(data + 12) != header_checksum(data))
		return -EBADMSG;
	head.identity = get_u64(data + 16);
	head.first_seq = get_u64(data + 24);
	if (head.first_seq == 0 || head.first_seq > SPOOL_MAX_SEQ)
		return -EBADMSG;
	*ret = head;
	return 0;
}

static uint32_t
record_checksum(uint32_t len, uint64_t seq, const uint8_t *data)
{
	uint8_t head[12];

	put_u32(head, len);
	put_u64(head + 4, seq);
	return rm_crc32c(rm_crc32c(0, head, sizeof(head)), data, len);
}

void
spool_record_put(uint8_t *at, uint64_t seq, const uint8_t *data, size_t len)
{
	put_u32(at, (uint32_t)len);
	put_u32(at + 4, record_checksum((uint32_t)len, seq, data));
	put_u64(at + 8, seq);
	memcpy(at + SPOOL_RECORD_BYTES, data, len);
}

int
spool_record_check(const uint8_t *at, size_t bytes, uint64_t seq, size_t len)
{
	return bytes == SPOOL_RECORD_BYTES + len && get_u32(at) == len &&
	       get_u64(at + 8) == seq &&
	       get_u32(at + 4) ==
		   record_checksum((uint32_t)len, seq, at + SPOOL_RECORD_BYTES);
}

void
spool_scan_init(
    struct spool_scan *scan, const uint8_t *data, size_t len, uint64_t first_seq)
{
	*scan = (struct spool_scan){
		.data = data,
		.len = len,
		.at = SPOOL_HEADER_BYTES,
		.last_seq = first_seq - 1,
		.budget = (uint64_t)len * BUDGET_PER_BYTE,
	};
}

/* Reads the header of a record. False: its values are impossible. */
static bool
plausible(const struct spool_scan *scan, size_t at, struct spool_found *ret)
{
	const uint8_t *head = scan->data + at;

	if (scan->len - at < SPOOL_RECORD_BYTES)
		return false;
	ret->at = at;
	ret->len = get_u32(head);
	ret->seq = get_u64(head + 8);
	ret->bytes = SPOOL_RECORD_BYTES + ret->len;
	ret->data = head + SPOOL_RECORD_BYTES;
	return ret->len > 0 && ret->len <= SPOOL_SEGMENT_MAX_RECORD_BYTES &&
	       ret->seq > scan->last_seq && ret->seq <= SPOOL_MAX_SEQ;
}

static bool
whole(const struct spool_scan *scan, size_t at, struct spool_found *ret)
{
	return plausible(scan, at, ret) && ret->bytes <= scan->len - at &&
	       spool_record_check(scan->data + at, ret->bytes, ret->seq, ret->len);
}

/* Returns where the damage that begins at scan->at ends: at the next whole record, or
 * at the end of the file. */
static size_t
damage_end(struct spool_scan *scan)
{
	struct spool_found found;

	for (size_t at = scan->at + 1; at + SPOOL_RECORD_BYTES < scan->len; at++) {
		if (!plausible(scan, at, &found) || found.bytes > scan->len - at)
			continue;
		if (found.bytes > scan->budget)
			break;
		scan->budget -= found.bytes;
		if (whole(scan, at, &found))
			return at;
	}
	return scan->len;
}

/*
 * No whole record begins in the rest of the file. True: the writing of a record was
 * interrupted there. The rest is too short for a record, or has only zeros, or begins
 * with a record whose length goes beyond the end of the file, and which is not a whole
 * record with a damaged length.
 */
static bool
torn(const struct spool_scan *scan)
{
	size_t rest = scan->len - scan->at, len;
	const uint8_t *head = scan->data + scan->at;
	struct spool_found found;

	if (rest < SPOOL_RECORD_BYTES || all_zero(head, rest))
		return true;
	if (!plausible(scan, scan->at, &found) || found.bytes <= rest)
		return false;
	len = rest - SPOOL_RECORD_BYTES;
	return get_u32(head + 4) !=
	       record_checksum((uint32_t)len, found.seq, head + SPOOL_RECORD_BYTES);
}

enum spool_scan_status
spool_scan_next(struct spool_scan *scan, struct spool_found *ret)
{
	size_t end;

	if (scan->at >= scan->len)
		return SPOOL_END;
	if (whole(scan, scan->at, ret)) {
		scan->at += ret->bytes;
		scan->last_seq = ret->seq;
		return SPOOL_RECORD;
	}
	end = damage_end(scan);
	*ret = (struct spool_found){ .at = scan->at, .bytes = end - scan->at };
	if (end == scan->len && torn(scan)) {
		scan->at = scan->len;
		return SPOOL_TORN;
	}
	scan->at = end;
	return SPOOL_DAMAGE;
}
