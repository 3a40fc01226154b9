#include "forge.h"

#include <stdlib.h>
#include <string.h>

#undef NDEBUG
#include <assert.h>

#define SLOT_BYTES 24 /* each field gets the size of the largest struct */
#define HEAD_BYTES 16 /* length, offset of the root, identifier, padding */

static void
put_u16(struct forge *forge, size_t at, size_t value)
{
	uint16_t v = (uint16_t)value;

	assert(value <= UINT16_MAX);
	memcpy(forge->data + at, &v, sizeof(v));
}

static void
put_u32(struct forge *forge, size_t at, size_t value)
{
	uint32_t v = (uint32_t)value;

	assert(value <= UINT32_MAX);
	memcpy(forge->data + at, &v, sizeof(v));
}

static size_t
reserve(struct forge *forge, size_t bytes)
{
	size_t at = forge->len;

	assert(bytes <= forge->room - forge->len);
	forge->len += bytes;
	return at;
}

/* Continues at `shift` bytes after a multiple of 8. */
static void
align(struct forge *forge, size_t shift)
{
	while (forge->len % 8 != shift % 8)
		reserve(forge, 1);
}

void
forge_init(struct forge *forge, const char *identifier, size_t room)
{
	assert(strlen(identifier) == 4 && room > HEAD_BYTES);
	forge->data = calloc(1, room);
	assert(forge->data != NULL);
	forge->room = room;
	forge->len = HEAD_BYTES;
	forge->root = 0;
	memcpy(forge->data + 8, identifier, 4);
}

void
forge_clear(struct forge *forge)
{
	free(forge->data);
	forge->data = NULL;
}

size_t
forge_table(struct forge *forge, unsigned fields)
{
	size_t vtable, table;

	align(forge, 0);
	vtable = reserve(forge, 4 + 2 * fields);
	put_u16(forge, vtable, 4 + 2 * fields);
	put_u16(forge, vtable + 2, 8 + SLOT_BYTES * fields);
	align(forge, 0);
	table = reserve(forge, 8 + SLOT_BYTES * fields);
	put_u32(forge, table, table - vtable);
	if (forge->root == 0)
		forge->root = table;
	return table;
}

/* Returns the place of the field's value, and marks the field as present. */
static size_t
slot(struct forge *forge, size_t table, unsigned field)
{
	size_t offset = 8 + SLOT_BYTES * field;
	uint32_t back;

	memcpy(&back, forge->data + table, sizeof(back));
	put_u16(forge, table - back + 4 + 2 * field, offset);
	return table + offset;
}

void
forge_number(struct forge *forge, size_t table, unsigned field, uint64_t value)
{
	memcpy(forge->data + slot(forge, table, field), &value, sizeof(value));
}

uint8_t *
forge_struct(struct forge *forge, size_t table, unsigned field)
{
	return forge->data + slot(forge, table, field);
}

size_t
forge_text(struct forge *forge, const char *text, size_t len)
{
	size_t at;

	align(forge, 0);
	at = reserve(forge, 4 + len + 1);
	put_u32(forge, at, len);
	memcpy(forge->data + at + 4, text, len);
	return at;
}

size_t
forge_vector(struct forge *forge, size_t count, size_t element_bytes, size_t shift)
{
	size_t at;

	align(forge, shift + 4);
	at = reserve(forge, 4 + count * element_bytes);
	put_u32(forge, at, count);
	return at;
}

uint8_t *
forge_element(struct forge *forge, size_t vector, size_t byte)
{
	return forge->data + vector + 4 + byte;
}

void
forge_refer(struct forge *forge, size_t table, unsigned field, size_t to)
{
	size_t from = slot(forge, table, field);

	assert(to > from);
	put_u32(forge, from, to - from);
}

void
forge_refer_all(struct forge *forge, size_t vector, size_t count, size_t to)
{
	for (size_t i = 0; i < count; i++) {
		size_t from = vector + 4 + 4 * i;

		assert(to > from);
		put_u32(forge, from, to - from);
	}
}

void
forge_finish(struct forge *forge)
{
	align(forge, 0);
	put_u32(forge, 0, forge->len - 4);
	put_u32(forge, 4, forge->root - 4);
}
