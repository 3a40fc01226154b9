#include "tests/crash/disk.h"

#include <err.h>
#include <stdlib.h>
#include <string.h>

#define MAX_PENDING 1024
#define MAX_BYTES (64u << 20)

struct pending { /* an operation on a file: written or cut, perhaps not durable */
	const struct trace_op *op;
	bool durable; /* durable itself, but an operation before it is not */
	bool failed;  /* never becomes durable */
};

struct inode {
	uint8_t *data; /* durable length */
	size_t len;
	struct pending *pending;
	size_t count, capacity;
};

struct disk {
	struct inode *inodes;
	int inode_count;
	struct {
		char name[TRACE_NAME];
		int inode;
	} names[IMAGE_MAX_FILES]; /* number of durable names */
	size_t name_count;
	/* Changes of names that are not durable. */
	const struct trace_op *changes[MAX_PENDING];
	size_t change_count;
	bool folder, made; /* durable; not durable */
};

static void *
must(void *allocated)
{
	if (allocated == NULL)
		err(2, "memory");
	return allocated;
}

struct disk *
disk_new(const struct image *before, const struct trace *trace)
{
	struct disk *disk = must(calloc(1, sizeof(*disk)));

	disk->inode_count = trace->inodes;
	disk->inodes = must(calloc((size_t)trace->inodes + 1, sizeof(*disk->inodes)));
	disk->folder = before->folder;
	for (size_t i = 0; i < before->count; i++) {
		const struct image_file *file = &before->files[i];

		disk->inodes[i].data = must(malloc(file->len + 1));
		disk->inodes[i].len = file->len;
		if (file->len > 0)
			memcpy(disk->inodes[i].data, file->data, file->len);
		memcpy(disk->names[i].name, file->name, TRACE_NAME);
		disk->names[i].inode = (int)i;
	}
	disk->name_count = before->count;
	return disk;
}

void
disk_free(struct disk *disk)
{
	if (disk == NULL)
		return;
	for (int i = 0; i < disk->inode_count; i++) {
		free(disk->inodes[i].data);
		free(disk->inodes[i].pending);
	}
	free(disk->inodes);
	free(disk);
}

static void
wait_for_sync(struct inode *inode, const struct trace_op *op)
{
	if (inode->count == inode->capacity) {
		inode->capacity = inode->capacity == 0 ? 8 : inode->capacity * 2;
		inode->pending = must(
		    realloc(inode->pending, inode->capacity * sizeof(*inode->pending)));
	}
	inode->pending[inode->count++] = (struct pending){ .op = op };
}

static void
grow(uint8_t *data, size_t *len, size_t to)
{
	if (to > *len) {
		memset(data + *len, 0, to - *len);
		*len = to;
	}
}

/* data has room for the result. */
static void
put(uint8_t *data, size_t *len, size_t at, const uint8_t *from, size_t bytes)
{
	grow(data, len, at + bytes);
	memcpy(data + at, from, bytes);
}

static void
cut(uint8_t *data, size_t *len, size_t at)
{
	grow(data, len, at);
	*len = at;
}

static void
make_durable(struct inode *inode, const struct trace_op *op)
{
	size_t end = op->at + op->len;

	if (end > MAX_BYTES)
		errx(2, "a file of %zu bytes", end);
	inode->data =
	    must(realloc(inode->data, (end > inode->len ? end : inode->len) + 1));
	if (op->kind == TRACE_CUT)
		cut(inode->data, &inode->len, op->at);
	else
		put(inode->data, &inode->len, op->at, op->data, op->len);
}

static void
sync_file(struct inode *inode)
{
	size_t first = 0;

	for (size_t i = 0; i < inode->count; i++)
		inode->pending[i].durable = !inode->pending[i].failed;
	while (first < inode->count && inode->pending[first].durable)
		make_durable(inode, inode->pending[first++].op);
	inode->count -= first;
	if (inode->count > 0)
		memmove(inode->pending, inode->pending + first,
		    inode->count * sizeof(*inode->pending));
}

static void
sync_failed(struct inode *inode)
{
	for (size_t i = 0; i < inode->count; i++)
		if (!inode->pending[i].durable)
			inode->pending[i].failed = true;
}

/* A set of names that changes: the disk's, or that of an image in construction. */
struct names {
	char name[IMAGE_MAX_FILES][TRACE_NAME];
	int inode[IMAGE_MAX_FILES];
	size_t count;
};

static size_t
names_find(const struct names *names, const char *name)
{
	size_t i = 0;

	while (i < names->count && strcmp(names->name[i], name) != 0)
		i++;
	return i;
}

static void
names_set(struct names *names, const char *name, int inode)
{
	size_t i = names_find(names, name);

	if (i == IMAGE_MAX_FILES)
		errx(2, "too many files");
	memcpy(names->name[i], name, TRACE_NAME);
	names->inode[i] = inode;
	if (i == names->count)
		names->count++;
}

static void
names_unset(struct names *names, const char *name)
{
	size_t i = names_find(names, name);

	if (i == names->count)
		return;
	names->count--;
	memcpy(names->name[i], names->name[names->count], TRACE_NAME);
	names->inode[i] = names->inode[names->count];
}

static void
names_change(struct names *names, const struct trace_op *op)
{
	if (op->kind == TRACE_CREATE) {
		names_set(names, op->name, op->inode);
		return;
	}
	if (op->kind == TRACE_RENAME || op->kind == TRACE_LINK)
		names_set(names, op->other, op->inode);
	/* If the name belongs to another file by now, it is not removed. */
	if (op->kind != TRACE_LINK && names_find(names, op->name) < names->count &&
	    names->inode[names_find(names, op->name)] == op->inode)
		names_unset(names, op->name);
}

static void
names_of(const struct disk *disk, struct names *ret)
{
	ret->count = disk->name_count;
	for (size_t i = 0; i < disk->name_count; i++) {
		memcpy(ret->name[i], disk->names[i].name, TRACE_NAME);
		ret->inode[i] = disk->names[i].inode;
	}
}

static void
sync_folder(struct disk *disk)
{
	struct names names;

	names_of(disk, &names);
	for (size_t i = 0; i < disk->change_count; i++)
		names_change(&names, disk->changes[i]);
	disk->change_count = 0;
	disk->name_count = names.count;
	for (size_t i = 0; i < names.count; i++) {
		memcpy(disk->names[i].name, names.name[i], TRACE_NAME);
		disk->names[i].inode = names.inode[i];
	}
}

void
disk_apply(struct disk *disk, const struct trace_op *op)
{
	switch (op->kind) {
	case TRACE_MKDIR:
		disk->made = true;
		break;
	case TRACE_SYNC_PARENT:
		disk->folder |= disk->made;
		break;
	case TRACE_SYNC_FOLDER:
		sync_folder(disk);
		break;
	case TRACE_SYNC:
		sync_file(&disk->inodes[op->inode]);
		break;
	case TRACE_SYNC_FAILED:
		sync_failed(&disk->inodes[op->inode]);
		break;
	case TRACE_WRITE:
	case TRACE_CUT:
		wait_for_sync(&disk->inodes[op->inode], op);
		break;
	default:
		if (disk->change_count == MAX_PENDING)
			errx(2, "too many names change without an fsync");
		disk->changes[disk->change_count++] = op;
	}
}

static size_t
most_bytes(const struct inode *inode)
{
	size_t most = inode->len;

	for (size_t i = 0; i < inode->count; i++) {
		const struct trace_op *op = inode->pending[i].op;

		if (op->at + op->len > most)
			most = op->at + op->len;
	}
	return most;
}

static void
write_pieces(const struct trace_op *op, struct choices *choices, size_t grain,
    uint8_t *data, size_t *len)
{
	size_t at = op->at, end = op->at + op->len;

	while (at < end) {
		size_t next = (at / grain + 1) * grain;
		unsigned choice = choose(choices, 3);

		if (next > end)
			next = end;
		if (choice == 0)
			put(data, len, at, op->data + (at - op->at), next - at);
		else if (choice == 2)
			grow(data, len, next);
		at = next;
	}
}

static void
file_image(const struct inode *inode, struct choices *choices, size_t grain,
    uint8_t *data, size_t *len)
{
	if (inode->len > 0)
		memcpy(data, inode->data, inode->len);
	*len = inode->len;
	for (size_t i = 0; i < inode->count; i++) {
		const struct pending *pending = &inode->pending[i];
		const struct trace_op *op = pending->op;

		if (op->kind == TRACE_CUT) {
			if (pending->durable || choose(choices, 2) == 0)
				cut(data, len, op->at);
		} else if (pending->durable) {
			put(data, len, op->at, op->data, op->len);
		} else {
			write_pieces(op, choices, grain, data, len);
		}
	}
}

void
disk_image(
    const struct disk *disk, struct choices *choices, size_t grain, struct image *ret)
{
	struct names names;

	ret->count = 0;
	ret->folder = disk->folder || (disk->made && choose(choices, 2) == 0);
	if (!ret->folder)
		return;
	names_of(disk, &names);
	for (size_t i = 0; i < disk->change_count; i++)
		if (choose(choices, 2) == 0)
			names_change(&names, disk->changes[i]);
	for (size_t i = 0; i < names.count; i++) {
		const struct inode *inode = &disk->inodes[names.inode[i]];
		struct image_file *file = &ret->files[i];

		memcpy(file->name, names.name[i], TRACE_NAME);
		image_reserve(ret, i, most_bytes(inode) + 1);
		file_image(inode, choices, grain, file->data, &file->len);
	}
	ret->count = names.count;
}
