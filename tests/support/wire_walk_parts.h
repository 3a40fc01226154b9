/*
 * wire_walk_parts - the parts that wire_walk reads in messages: texts, arrays, RNICs.
 *
 * Private to wire_walk. Aborts when a guarantee of wire.h is violated.
 */
#ifndef SUPPORT_WIRE_WALK_PARTS_H
#define SUPPORT_WIRE_WALK_PARTS_H

#include <stdio.h>
#include <stdlib.h>

#include "schemas/wire.h"

#define PROMISE(what)                                                   \
	do {                                                            \
		if (!(what)) {                                          \
			fprintf(stderr, "broken promise: %s\n", #what); \
			abort();                                        \
		}                                                       \
	} while (0)

void walk_bytes(const void *bytes, size_t len);
void walk_text(const char *text);
void walk_elements(
    const void *elements, size_t count, size_t size, size_t align, size_t max);
void walk_address(const struct wire_address *address);
void walk_rnic(const struct wire_rnic *rnic);

#define WALK(array, count, max) \
	walk_elements(          \
	    array, count, sizeof(*(array)), _Alignof(__typeof__(*(array))), max)

/* Returns the result of wire_open_X. */
int wire_walk_resolve(const uint8_t *data, size_t len);
int wire_walk_resolved(const uint8_t *data, size_t len);
int wire_walk_drill(const uint8_t *data, size_t len);
int wire_walk_drilled(const uint8_t *data, size_t len);
int wire_walk_place(const uint8_t *data, size_t len);
int wire_walk_placed(const uint8_t *data, size_t len);
int wire_walk_join(const uint8_t *data, size_t len);
int wire_walk_paths(const uint8_t *data, size_t len);
int wire_walk_traced(const uint8_t *data, size_t len);
int wire_walk_services(const uint8_t *data, size_t len);

#endif
