/*
 * crc32c - the Castagnoli checksum (RFC 3720, appendix B.4), for data on disk: it
 * detects damage and incomplete writes. Frames on streams have zlib's CRC-32: see
 * frame.h.
 */
#ifndef RACKMESH_CORE_CRC32C_H
#define RACKMESH_CORE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* crc: 0, or the result for the bytes before these ones. Any thread may call it. */
uint32_t rm_crc32c(uint32_t crc, const uint8_t *data, size_t len);

#endif
