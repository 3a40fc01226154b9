#include "rackmesh/spool/spool_names.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME_DIGITS 16
#define MAX_FILES (1u << 20)

static bool
ends_with(const char *name, const char *end)
{
	size_t len = strlen(name), end_len = strlen(end);

	return len >= end_len && strcmp(name + len - end_len, end) == 0;
}

static bool
segment_name(const char *name, uint64_t *first_seq)
{
	for (int i = 0; i < NAME_DIGITS; i++)
		if (!isxdigit((unsigned char)name[i]) ||
		    isupper((unsigned char)name[i]))
			return false;
	if (strcmp(name + NAME_DIGITS, ".spool") != 0)
		return false;
	*first_seq = strtoull(name, NULL, 16);
	return true;
}

static int
add(struct spool_names *names, uint64_t first_seq)
{
	if (names->count == names->capacity) {
		size_t capacity = names->capacity == 0 ? 16 : names->capacity * 2;
		uint64_t *grown;

		if (capacity > MAX_FILES)
			return -ENOMEM;
		grown = realloc(names->first_seqs, capacity * sizeof(*grown));
		if (grown == NULL)
			return -ENOMEM;
		names->first_seqs = grown;
		names->capacity = capacity;
	}
	names->first_seqs[names->count++] = first_seq;
	return 0;
}

static int
by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static int
look_at(int dir, const char *name, struct spool_names *names, uint64_t *aside)
{
	uint64_t first_seq;
	struct stat st;

	if (segment_name(name, &first_seq))
		return add(names, first_seq);
	if (ends_with(name, ".new"))
		unlinkat(dir, name, 0);
	else if (ends_with(name, SPOOL_CORRUPT) &&
		 fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
		*aside += (uint64_t)st.st_size;
	return 0;
}

int
spool_names_list(const char *folder, struct spool_names *ret, uint64_t *aside)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	int r = 0;

	if (dir == NULL)
		return -errno;
	for (;;) {
		errno = 0;
		entry = readdir(dir);
		if (entry == NULL || r < 0)
			break;
		r = look_at(dirfd(dir), entry->d_name, ret, aside);
	}
	if (r == 0 && errno != 0)
		r = -errno; /* not all of them */
	closedir(dir);
	if (ret->count > 0)
		qsort(ret->first_seqs, ret->count, sizeof(*ret->first_seqs), by_number);
	return r;
}

void
spool_names_clear(struct spool_names *names)
{
	free(names->first_seqs);
	*names = (struct spool_names){ 0 };
}
