/*
 * forge - FlatBuffers made by hand, for what no writer of ours would ever send.
 *
 * Knows the format and no schema. A reference only points forward, so make whatever
 * refers before what it refers to. Everything asserts; places are byte offsets.
 */
#ifndef UNIT_FORGE_H
#define UNIT_FORGE_H

#include <stddef.h>
#include <stdint.h>

struct forge {
	uint8_t *data; /* malloc'd */
	size_t len, room;
	size_t root;
};

/* Bytes for a message of at most room bytes, zeroed. */
void forge_init(struct forge *forge, const char *identifier, size_t room);
void forge_clear(struct forge *forge);

/* A table of so many fields, all absent. The first one is the root. */
size_t forge_table(struct forge *forge, unsigned fields);
void forge_number(struct forge *forge, size_t table, unsigned field, uint64_t value);
/* Room for an inline struct of at most 24 bytes, aligned to 8. */
uint8_t *forge_struct(struct forge *forge, size_t table, unsigned field);

size_t forge_text(struct forge *forge, const char *text, size_t len);
/* Zeroed elements, the first at shift bytes after a multiple of 8. */
size_t forge_vector(
    struct forge *forge, size_t count, size_t element_bytes, size_t shift);
uint8_t *forge_element(struct forge *forge, size_t vector, size_t byte);

/* Makes the field, or every element of the vector, refer to the place. */
void forge_refer(struct forge *forge, size_t table, unsigned field, size_t to);
void forge_refer_all(struct forge *forge, size_t vector, size_t count, size_t to);

/* Sets the lengths that make it a whole message. */
void forge_finish(struct forge *forge);

#endif
