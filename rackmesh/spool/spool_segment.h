/*
 * spool_segment - the bytes of one file of a spool. Pure.
 *
 *   header  "RMSPOOL\n" | u32 version | u32 CRC-32C | u64 identity | u64 first seq
 *   record  u32 length | u32 CRC-32C | u64 seq | length bytes
 *
 * Big endian. The checksum of a header covers its other fields; that of a record covers
 * its length, seq and bytes. Seqs increase, with gaps. The scan never returns a changed
 * record, and finds the whole records after a damaged part.
 */
#ifndef RACKMESH_SPOOL_SPOOL_SEGMENT_H
#define RACKMESH_SPOOL_SPOOL_SEGMENT_H

#include <stddef.h>
#include <stdint.h>

/* a longer record counts as damage */
#define SPOOL_SEGMENT_MAX_RECORD_BYTES (17u << 20)

#define SPOOL_HEADER_BYTES 32
#define SPOOL_RECORD_BYTES 16 /* header of a record */
#define SPOOL_MAX_SEQ (UINT64_MAX >> 1)

struct spool_header {
	uint64_t identity, first_seq;
};

void spool_header_put(uint8_t at[SPOOL_HEADER_BYTES], const struct spool_header *head);
/* -ENODATA: the header is incomplete, so none of the records was ever acknowledged.
 * -EBADMSG: damaged, or not a segment. */
int spool_header_take(const uint8_t *data, size_t len, struct spool_header *ret);

/* at: room for SPOOL_RECORD_BYTES + len. */
void spool_record_put(uint8_t *at, uint64_t seq, const uint8_t *data, size_t len);

struct spool_found {
	/* offset and size of the record in the file, with its header */
	size_t at, bytes;
	uint64_t seq;
	const uint8_t *data; /* borrowed, unaligned */
	size_t len;
};

enum spool_scan_status {
	SPOOL_RECORD,
	SPOOL_DAMAGE, /* a damaged part: see at and bytes of *ret */
	SPOOL_TORN,   /* an interrupted write, from at to the end of the file */
	SPOOL_END,
};

struct spool_scan {
	const uint8_t *data;
	size_t len, at;
	uint64_t last_seq; /* the next record must have a larger number */
	/* number of bytes that may still be checked to find records after damage */
	uint64_t budget;
};

/* data: the bytes of a segment with its header, which is not checked. */
void spool_scan_init(
    struct spool_scan *scan, const uint8_t *data, size_t len, uint64_t first_seq);
enum spool_scan_status spool_scan_next(
    struct spool_scan *scan, struct spool_found *ret);

/* True (not 0): exactly this record is there. */
int spool_record_check(const uint8_t *at, size_t bytes, uint64_t seq, size_t len);

#endif
