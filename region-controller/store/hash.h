/*
 * hash - hashes for planning: they spread like random numbers, but equal input gives
 * equal plans. Not for secrets. Pure.
 */
#ifndef REGION_CONTROLLER_STORE_HASH_H
#define REGION_CONTROLLER_STORE_HASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t hash_bytes(const void *data, size_t len); /* FNV-1a 64; never 0 */
/* The result depends on the order of the names. */
uint64_t hash_names(const char *a, const char *b);
uint64_t hash_mix(uint64_t a, uint64_t b);

#endif
