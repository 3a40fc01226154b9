/*
 * spool_segment - the bytes of one file of a spool. Pure.
 *
 *   header  "RMSPOOL\n" | u32 version | u32 CRC-32C | u64 identity | u64 first seq
 *   record  u32 length | u32 CRC-32C | u64 seq | length bytes
 *
 * Big endian. A header's checksum covers its other fields, a record's the length, the
 * seq and the bytes. Seqs rise; they may skip. The scan never returns an altered
 * record, and finds the whole records behind a damaged place.
 */
#ifndef RACKMESH_SPOOL_SPOOL_SEGMENT_H
#define RACKMESH_SPOOL_SPOOL_SEGMENT_H

#include <stddef.h>
#include <stdint.h>

#define SPOOL_SEGMENT_MAX_RECORD_BYTES (17u << 20) /* a longer one is damage */

#define SPOOL_HEADER_BYTES 32
#define SPOOL_RECORD_BYTES 16 /* before its bytes */
#define SPOOL_MAX_SEQ (UINT64_MAX >> 1)

struct spool_header {
	uint64_t identity, first_seq;
};

void spool_header_put(uint8_t at[SPOOL_HEADER_BYTES], const struct spool_header *head);
/* -ENODATA: cut off, so none of its records was ever acknowledged. -EBADMSG: damaged,
 * or not a segment. */
int spool_header_take(const uint8_t *data, size_t len, struct spool_header *ret);

/* at: room for SPOOL_RECORD_BYTES + len. */
void spool_record_put(uint8_t *at, uint64_t seq, const uint8_t *data, size_t len);

struct spool_found {
	size_t at, bytes; /* of the file, with the record's head */
	uint64_t seq;
	const uint8_t *data; /* borrowed, unaligned */
	size_t len;
};

enum spool_scan_status {
	SPOOL_RECORD,
	SPOOL_DAMAGE, /* at and bytes of *ret say where */
	SPOOL_TORN,   /* an unfinished write; at and bytes again. The end */
	SPOOL_END,
};

struct spool_scan {
	const uint8_t *data;
	size_t len, at;
	uint64_t last_seq; /* only larger ones are records */
	uint64_t budget;   /* bytes that looking for records behind damage may check */
};

/* data: a segment's, with its header, which is not looked at. */
void spool_scan_init(
    struct spool_scan *scan, const uint8_t *data, size_t len, uint64_t first_seq);
enum spool_scan_status spool_scan_next(
    struct spool_scan *scan, struct spool_found *ret);

/* Whether exactly this record lies there. */
int spool_record_check(const uint8_t *at, size_t bytes, uint64_t seq, size_t len);

#endif
