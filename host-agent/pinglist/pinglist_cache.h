/*
 * pinglist_cache - the last good pinglist of each ToR on disk, so that a host can probe
 * after a restart without any aggregator.
 *
 * The worker writes one file per ToR; of several versions that wait to be written, only
 * the newest is. A file that fails its checks is renamed to *.damaged and is never read
 * again.
 *
 * File: "RMPC" 0 0 0 1 | u64 CLOCK_REALTIME ns when it was valid | u32 CRC-32 of that
 * and of the pinglist | u32 0 | the wire's pinglist. Integers are big endian.
 */
#ifndef HOST_AGENT_PINGLIST_PINGLIST_CACHE_H
#define HOST_AGENT_PINGLIST_PINGLIST_CACHE_H

#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"
#include "schemas/wire.h"

#define PINGLIST_CACHE_HEADER_BYTES 24
#define PINGLIST_CACHE_MAX_BYTES (8u << 20) /* largest pinglist */
/* A file that is older than this is not used. */
#define PINGLIST_CACHE_LIFE_NS (90 * 24 * 3600 * RM_NS_PER_S)
/* A time in a file may be this far in the future, since the clock may have been set
 * back. */
#define PINGLIST_CACHE_AHEAD_NS (7 * 24 * 3600 * RM_NS_PER_S)

struct pinglist_cache;
struct rm_worker;

struct pinglist_cache_counts {
	uint64_t loaded, expired, damaged, saved;
	uint64_t save_failed;  /* the disk reported an error */
	uint64_t save_skipped; /* not written: out of memory, or the worker's queue is
				  full */
};

/* Checks the bytes of a file. Pure. *age_ns: time since the pinglist was valid; 0 if
 * the clock was set back. -EBADMSG: damaged, of another ToR, or too far in the future;
 * -ESTALE: too old. *ret borrows from data, which must be aligned to 8 bytes. */
int pinglist_cache_open(const char *tor, const uint8_t *data, size_t len, rm_wall_t now,
    int64_t *age_ns, struct wire_pinglist_view *ret);
/* Writes the bytes of a file. Pure. *ret has *len bytes, and the caller frees it.
 * -ENOMEM. */
int pinglist_cache_seal(
    const struct wire_bytes *pinglist, rm_wall_t now, uint8_t **ret, size_t *len);

/* folder: copied. worker: free it before the cache, which its jobs use. */
int pinglist_cache_new(
    const char *folder, struct rm_worker *worker, struct pinglist_cache **ret);
void pinglist_cache_free(struct pinglist_cache *cache);

/* Reads the file of a ToR. Blocks: call it before the loop runs. *file is the memory
 * from which *ret borrows: the caller frees it, also on failure. -ENOENT: no file; else
 * as pinglist_cache_open. tor: a valid name. */
int pinglist_cache_load(struct pinglist_cache *cache, const char *tor, rm_wall_t now,
    uint8_t **file, int64_t *age_ns, struct wire_pinglist_view *ret);

/* Copies the pinglist; the worker writes it. A failure is only counted; the old file
 * stays. */
void pinglist_cache_save(struct pinglist_cache *cache, const char *tor,
    const struct wire_bytes *pinglist, rm_wall_t now);

const struct pinglist_cache_counts *pinglist_cache_counts(
    const struct pinglist_cache *cache);

#endif
