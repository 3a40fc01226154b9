#include "region-controller/hash.h"

#include <string.h>

uint64_t
hash_bytes(const void *data, size_t len)
{
	const uint8_t *bytes = data;
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
	return hash != 0 ? hash : 1;
}

/* The finaliser of splitmix64 (Steele, Lea, Flood, 2014). */
uint64_t
hash_mix(uint64_t a, uint64_t b)
{
	uint64_t z = a + UINT64_C(0x9e3779b97f4a7c15) * (b + 1);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

uint64_t
hash_names(const char *a, const char *b)
{
	return hash_mix(hash_bytes(a, strlen(a)), hash_bytes(b, strlen(b)));
}
