#include "rackmesh/core/crc32c.h"

#include <pthread.h>

#define POLYNOMIAL 0x82f63b78u /* reflected */
#define SLICES 8

/* tables[k][b]: what byte b does to the checksum k bytes later ("slicing by 8",
 * Kounavis and Berry 2005). */
static uint32_t tables[SLICES][256];

static void
crc32c_fill(void)
{
	for (uint32_t b = 0; b < 256; b++) {
		uint32_t crc = b;

		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? POLYNOMIAL : 0);
		tables[0][b] = crc;
	}
	for (int k = 1; k < SLICES; k++)
		for (int b = 0; b < 256; b++)
			tables[k][b] =
			    tables[k - 1][b] >> 8 ^ tables[0][tables[k - 1][b] & 0xff];
}

uint32_t
rm_crc32c(uint32_t crc, const uint8_t *data, size_t len)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, crc32c_fill);
	crc = ~crc;
	for (; len >= SLICES; len -= SLICES, data += SLICES) {
		crc ^= (uint32_t)data[0] | (uint32_t)data[1] << 8 |
		       (uint32_t)data[2] << 16 | (uint32_t)data[3] << 24;
		crc = tables[7][crc & 0xff] ^ tables[6][crc >> 8 & 0xff] ^
		      tables[5][crc >> 16 & 0xff] ^ tables[4][crc >> 24] ^
		      tables[3][data[4]] ^ tables[2][data[5]] ^ tables[1][data[6]] ^
		      tables[0][data[7]];
	}
	for (; len > 0; len--, data++)
		crc = crc >> 8 ^ tables[0][(crc ^ *data) & 0xff];
	return ~crc;
}
