/*
 * fnv - the 64-bit FNV-1a hash (Fowler, Noll, Vo), in steps. Pure.
 *
 * It is for tables, digests, and numbers that must be the same in every run. It is not
 * for secrets, and not for keys that an attacker can choose, because such keys could
 * be made to collide.
 */
#ifndef RACKMESH_CORE_FNV_H
#define RACKMESH_CORE_FNV_H

#include <stddef.h>
#include <stdint.h>

/* The hash of no bytes: the initial value. */
#define RM_FNV1A UINT64_C(0xcbf29ce484222325)

/* hash: RM_FNV1A, or the hash of the bytes before these ones. */
static inline uint64_t
rm_fnv1a(uint64_t hash, const void *data, size_t len)
{
	const uint8_t *bytes = data;

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
	return hash;
}

#endif
