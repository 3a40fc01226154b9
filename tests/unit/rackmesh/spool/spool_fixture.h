/*
 * spool_fixture - a spool in a folder of its own, with the calls of its callbacks. Each
 * record contains its identity, so that altered records are found.
 */
#ifndef TESTS_UNIT_BASE_SPOOL_FIXTURE_H
#define TESTS_UNIT_BASE_SPOOL_FIXTURE_H

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rackmesh/loop/loop.h"
#include "rackmesh/loop/worker.h"
#include "rackmesh/spool/spool.h"
#include "tests/support/loopback.h"

#define FIXTURE_MAX_RECORD 5000
#ifndef FIXTURE_ROOT /* on a disk: its fsyncs are part of the test */
#define FIXTURE_ROOT "/tmp"
#endif

struct fixture {
	struct rm_loop *loop;
	struct rm_worker *worker;
	struct rm_spool *spool;
	struct rm_spool_options options;
	char root[64], folder[80];
	uint64_t durable; /* the last promised record */
	unsigned promises, fetches;
	bool inside_append;
};

static inline void
on_durable(uint64_t seq, void *arg)
{
	struct fixture *f = arg;

	assert_false(f->inside_append);
	assert_true(seq > f->durable);
	f->durable = seq;
	f->promises++;
}

static inline void
on_fetched(void *arg)
{
	struct fixture *f = arg;

	f->fetches++;
}

static inline void
balance(const struct fixture *f)
{
	const struct rm_spool_counts *c = rm_spool_counts(f->spool);

	assert_int_equal(
	    c->in + c->found, c->done + c->dropped_full + rm_spool_waiting(f->spool));
}

static inline int
start(struct fixture *f)
{
	const struct rm_spool_callbacks callbacks = { on_durable, on_fetched, f };
	struct rm_error error = { 0 };
	int r;

	f->durable = 0;
	assert_int_equal(rm_worker_new(f->loop, 16, &f->worker), 0);
	r = rm_spool_new(
	    f->loop, f->worker, &f->options, &callbacks, &f->spool, &error);
	if (r == 0)
		balance(f);
	return r;
}

static inline void
stop(struct fixture *f)
{
	rm_worker_free(f->worker);
	f->worker = NULL;
	rm_spool_free(f->spool);
	f->spool = NULL;
}

/* Adds up the bytes of all files, and counts those with this suffix. */
static inline uint64_t
on_disk(const char *folder, const char *end, unsigned *count)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	uint64_t bytes = 0;

	*count = 0;
	if (dir == NULL)
		return 0;
	while ((entry = readdir(dir)) != NULL) {
		size_t len = strlen(entry->d_name), end_len = strlen(end);
		struct stat st;

		if (len < end_len || strcmp(entry->d_name + len - end_len, end) != 0 ||
		    fstatat(dirfd(dir), entry->d_name, &st, 0) < 0 ||
		    !S_ISREG(st.st_mode))
			continue;
		bytes += (uint64_t)st.st_size;
		*count += 1;
	}
	closedir(dir);
	return bytes;
}

static inline void
empty_folder(const char *folder)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;

	if (dir == NULL)
		return;
	while ((entry = readdir(dir)) != NULL)
		if (entry->d_name[0] != '.')
			unlinkat(dirfd(dir), entry->d_name, 0);
	closedir(dir);
}

static inline int
setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	if (f == NULL || rm_loop_new(&f->loop) < 0)
		return -1;
	snprintf(f->root, sizeof(f->root), FIXTURE_ROOT "/test_spool.XXXXXX");
	if (mkdtemp(f->root) == NULL)
		return -1;
	snprintf(f->folder, sizeof(f->folder), "%s/spool", f->root);
	f->options = (struct rm_spool_options){
		.folder = f->folder, .max_bytes = 1 << 20, .identity = 0x5eed
	};
	*state = f;
	return 0;
}

static inline int
teardown(void **state)
{
	struct fixture *f = *state;

	stop(f);
	rm_loop_free(f->loop);
	empty_folder(f->folder);
	rmdir(f->folder);
	empty_folder(f->root);
	rmdir(f->root);
	free(f);
	return 0;
}

/* Writes the content of the record with this number; it never changes. */
static inline size_t
record_bytes(uint64_t seq, uint8_t bytes[FIXTURE_MAX_RECORD], size_t size)
{
	uint64_t at = seq * UINT64_C(0x9e3779b97f4a7c15);

	for (size_t i = 0; i < size; i++) {
		at = at * 6364136223846793005u + 1442695040888963407u;
		bytes[i] = (uint8_t)(at >> 56);
	}
	return size;
}

static inline void
append(struct fixture *f, size_t size)
{
	uint8_t bytes[FIXTURE_MAX_RECORD];
	uint64_t expected = rm_spool_next(f->spool), seq = 0;

	record_bytes(expected, bytes, size);
	f->inside_append = true;
	assert_int_equal(rm_spool_append(f->spool, bytes, size, &seq), 0);
	f->inside_append = false;
	assert_int_equal(seq, expected);
	balance(f);
}

static inline void
settle(struct fixture *f)
{
	LOOPBACK_WAIT(f->loop, f->durable == rm_spool_next(f->spool) - 1);
}

/* Returns the first record from seq on, fetching it if necessary. False: there is
 * none. */
static inline bool
take(struct fixture *f, uint64_t seq, struct rm_spool_item *item)
{
	uint8_t bytes[FIXTURE_MAX_RECORD];
	int r;

	for (;;) {
		unsigned fetches = f->fetches;

		r = rm_spool_get(f->spool, seq, item);
		balance(f);
		if (r != -EAGAIN)
			break;
		LOOPBACK_WAIT(f->loop, f->fetches > fetches);
	}
	if (r == -ENOENT)
		return false;
	assert_int_equal(r, 0);
	assert_int_equal((uintptr_t)item->data % 8, 0);
	assert_true(item->seq >= seq);
	record_bytes(item->seq, bytes, item->len);
	assert_memory_equal(item->data, bytes, item->len);
	return true;
}

/* Counts the records; sets the numbers of the first and the last. */
static inline uint64_t
walk(struct fixture *f, uint64_t *first, uint64_t *last)
{
	struct rm_spool_item item;
	uint64_t count = 0, next = 0;

	while (take(f, next, &item)) {
		if (count++ == 0 && first != NULL)
			*first = item.seq;
		next = item.seq + 1;
	}
	if (last != NULL)
		*last = next - 1;
	assert_int_equal(count, rm_spool_waiting(f->spool));
	return count;
}

#endif
