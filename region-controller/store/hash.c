#include "region-controller/store/hash.h"

#include <string.h>

#include "rackmesh/core/fnv.h"

uint64_t
hash_bytes(const void *data, size_t len)
{
	uint64_t hash = rm_fnv1a(RM_FNV1A, data, len);

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
