/*
 * fuzz_spool_segment - any bytes as a file of a spool.
 *
 * Bit 0 of the first byte: the header is corrected first, since no fuzzer guesses a
 * checksum. Each record that comes out must have a right checksum and a growing number,
 * and be within the bytes. The ranges that the scan reports must cover the file without
 * a gap.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/spool/spool_segment.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void
fuzz_require(int truth)
{
	if (!truth)
		abort();
}

static void
fuzz_scan(const uint8_t *data, size_t len, uint64_t first_seq)
{
	enum spool_scan_status status;
	struct spool_found found;
	struct spool_scan scan;
	size_t at = SPOOL_HEADER_BYTES;
	uint64_t last = first_seq - 1;

	spool_scan_init(&scan, data, len, first_seq);
	while ((status = spool_scan_next(&scan, &found)) != SPOOL_END) {
		fuzz_require(found.at == at && found.bytes > 0);
		at += found.bytes;
		fuzz_require(at <= len);
		if (status == SPOOL_TORN)
			fuzz_require(at == len);
		if (status != SPOOL_RECORD)
			continue;
		fuzz_require(found.seq > last);
		last = found.seq;
		fuzz_require(found.data == data + found.at + SPOOL_RECORD_BYTES);
		fuzz_require(spool_record_check(
		    data + found.at, found.bytes, found.seq, found.len));
	}
	fuzz_require(at == len || len < SPOOL_HEADER_BYTES);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct spool_header head = { 1, 1 };
	uint8_t *copy;

	if (len < 1)
		return 0;
	copy = malloc(len);
	fuzz_require(copy != NULL);
	memcpy(copy, data + 1, len - 1);
	if (data[0] & 1 && len - 1 >= SPOOL_HEADER_BYTES)
		spool_header_put(copy, &head);
	if (spool_header_take(copy, len - 1, &head) == 0)
		fuzz_scan(copy, len - 1, head.first_seq);
	free(copy);
	return 0;
}
