/*
 * crc32c - the Castagnoli checksum (RFC 3720, appendix B.4), which finds what disks
 * and torn writes do. Streams carry zlib's CRC-32 instead: see frame.
 */
#ifndef RACKMESH_CORE_CRC32C_H
#define RACKMESH_CORE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* crc: 0, or the result for the bytes before these. May be called by any thread. */
uint32_t rm_crc32c(uint32_t crc, const uint8_t *data, size_t len);

#endif
