/*
 * forge - makes FlatBuffers by hand, for messages that our writers never produce.
 *
 * It knows the format and no schema. A reference only points forward: make the
 * referring table or vector before the one that it refers to. Everything asserts;
 * places are byte offsets.
 */
#ifndef UNIT_FORGE_H
#define UNIT_FORGE_H

#include <stddef.h>
#include <stdint.h>

struct forge {
	uint8_t *data; /* allocated by forge_init */
	size_t len, room;
	size_t root;
};

/* Allocates zeroed bytes for a message of at most `room` bytes. */
void forge_init(struct forge *forge, const char *identifier, size_t room);
void forge_clear(struct forge *forge);

/* A table with this many fields, all absent. The first table is the root. */
size_t forge_table(struct forge *forge, unsigned fields);
void forge_number(struct forge *forge, size_t table, unsigned field, uint64_t value);
/* Adds an inline struct of at most 24 bytes, aligned to 8, and returns its bytes. */
uint8_t *forge_struct(struct forge *forge, size_t table, unsigned field);

size_t forge_text(struct forge *forge, const char *text, size_t len);
/* A vector of zeroed elements, the first of them at `shift` bytes after a multiple
 * of 8. */
size_t forge_vector(
    struct forge *forge, size_t count, size_t element_bytes, size_t shift);
uint8_t *forge_element(struct forge *forge, size_t vector, size_t byte);

/* Makes the field, or each element of the vector, refer to the place `to`. */
void forge_refer(struct forge *forge, size_t table, unsigned field, size_t to);
void forge_refer_all(struct forge *forge, size_t vector, size_t count, size_t to);

/* Sets the lengths that complete the message. */
void forge_finish(struct forge *forge);

#endif
