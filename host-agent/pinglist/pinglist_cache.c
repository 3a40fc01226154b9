#include "host-agent/pinglist/pinglist_cache.h"

#include <endian.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "rackmesh/core/file.h"
#include "rackmesh/loop/file_save.h"

static const uint8_t cache_magic[8] = { 'R', 'M', 'P', 'C', 0, 0, 0, 1 };

struct pinglist_cache {
	char *folder;
	struct rm_worker *worker;
	struct pinglist_cache_counts counts;
};

static uint32_t
checksum(const uint8_t valid[8], const uint8_t *pinglist, size_t len)
{
	uint32_t crc = (uint32_t)crc32(0, valid, 8);

	return (uint32_t)crc32_z(crc, pinglist, len);
}

int
pinglist_cache_seal(
    const struct wire_bytes *pinglist, rm_wall_t now, uint8_t **ret, size_t *len)
{
	uint64_t valid = htobe64((uint64_t)now.ns);
	uint8_t *data;
	uint32_t crc;

	if (pinglist->len > PINGLIST_CACHE_MAX_BYTES)
		return -EMSGSIZE;
	data = calloc(1, PINGLIST_CACHE_HEADER_BYTES + pinglist->len);
	if (data == NULL)
		return -ENOMEM;
	memcpy(data, cache_magic, 8);
	memcpy(data + 8, &valid, 8);
	crc = htobe32(checksum(data + 8, pinglist->data, pinglist->len));
	memcpy(data + 16, &crc, 4);
	memcpy(data + PINGLIST_CACHE_HEADER_BYTES, pinglist->data, pinglist->len);
	*ret = data;
	*len = PINGLIST_CACHE_HEADER_BYTES + pinglist->len;
	return 0;
}

int
pinglist_cache_open(const char *tor, const uint8_t *data, size_t len, rm_wall_t now,
    int64_t *age_ns, struct wire_pinglist_view *ret)
{
	struct wire_pinglist_view view;
	const uint8_t *pinglist;
	size_t pinglist_len;
	uint64_t valid;
	uint32_t crc, zero;
	int64_t age;

	if (len <= PINGLIST_CACHE_HEADER_BYTES || memcmp(data, cache_magic, 8) != 0)
		return -EBADMSG;
	pinglist = data + PINGLIST_CACHE_HEADER_BYTES;
	pinglist_len = len - PINGLIST_CACHE_HEADER_BYTES;
	memcpy(&valid, data + 8, 8);
	memcpy(&crc, data + 16, 4);
	memcpy(&zero, data + 20, 4);
	valid = be64toh(valid);
	if (zero != 0 || be32toh(crc) != checksum(data + 8, pinglist, pinglist_len))
		return -EBADMSG;
	if (valid > INT64_MAX ||
	    wire_open_pinglist(&view, pinglist, pinglist_len) < 0 ||
	    strcmp(view.pinglist.tor, tor) != 0)
		return -EBADMSG;
	/* A pinglist with a time far in the future would never expire. */
	if (now.ns < 0 || (int64_t)valid - now.ns > PINGLIST_CACHE_AHEAD_NS)
		return -EBADMSG;
	age = now.ns - (int64_t)valid;
	if (age > PINGLIST_CACHE_LIFE_NS)
		return -ESTALE;
	*age_ns = age > 0 ? age : 0;
	*ret = view;
	return 0;
}

int
pinglist_cache_new(
    const char *folder, struct rm_worker *worker, struct pinglist_cache **ret)
{
	struct pinglist_cache *cache = calloc(1, sizeof(*cache));

	if (cache == NULL)
		return -ENOMEM;
	cache->folder = strdup(folder);
	cache->worker = worker;
	if (cache->folder == NULL) {
		free(cache);
		return -ENOMEM;
	}
	*ret = cache;
	return 0;
}

void
pinglist_cache_free(struct pinglist_cache *cache)
{
	if (cache == NULL)
		return;
	free(cache->folder);
	free(cache);
}

static int
cache_path(const struct pinglist_cache *cache, const char *tor, char path[PATH_MAX])
{
	int n = snprintf(path, PATH_MAX, "%s/pinglist-%s", cache->folder, tor);

	return n < 0 || n >= PATH_MAX ? -ENAMETOOLONG : 0;
}

static void
cache_put_aside(const char *path)
{
	char aside[PATH_MAX];
	int n = snprintf(aside, sizeof(aside), "%s.damaged", path);

	/* If the rename fails, too, the next good pinglist replaces the file. */
	if (n > 0 && (size_t)n < sizeof(aside) && rename(path, aside) < 0)
		return;
}

int
pinglist_cache_load(struct pinglist_cache *cache, const char *tor, rm_wall_t now,
    uint8_t **file, int64_t *age_ns, struct wire_pinglist_view *ret)
{
	char path[PATH_MAX];
	uint8_t *data;
	size_t len;
	int r;

	r = cache_path(cache, tor, path);
	if (r < 0)
		return r;
	r = rm_file_read(
	    path, PINGLIST_CACHE_HEADER_BYTES + PINGLIST_CACHE_MAX_BYTES, &data, &len);
	if (r == 0) {
		r = pinglist_cache_open(tor, data, len, now, age_ns, ret);
		if (r < 0)
			free(data);
		else
			*file = data;
	}
	if (r == 0)
		cache->counts.loaded++;
	else if (r == -ESTALE)
		cache->counts.expired++;
	if (r == -EBADMSG || r == -EFBIG) {
		cache->counts.damaged++;
		cache_put_aside(path);
	}
	return r;
}

static void
save_done(void *arg, int r)
{
	struct pinglist_cache *cache = arg;

	if (r == 0)
		cache->counts.saved++;
	else
		cache->counts.save_failed++;
}

void
pinglist_cache_save(struct pinglist_cache *cache, const char *tor,
    const struct wire_bytes *pinglist, rm_wall_t now)
{
	char path[PATH_MAX];
	uint8_t *data = NULL;
	size_t len;
	int r;

	r = cache_path(cache, tor, path);
	if (r == 0)
		r = pinglist_cache_seal(pinglist, now, &data, &len);
	if (r == 0)
		r = rm_file_save(cache->worker, path, data, len, save_done, cache);
	if (r < 0)
		cache->counts.save_skipped++;
	free(data);
}

const struct pinglist_cache_counts *
pinglist_cache_counts(const struct pinglist_cache *cache)
{
	return &cache->counts;
}
