/*
 * wire_walk - opens any message and reads every byte that its view can reach.
 *
 * For damaged bytes: a sanitizer then finds reads that opening the message should have
 * prevented, and what wire.h guarantees for an opened message is checked.
 */
#ifndef SUPPORT_WIRE_WALK_H
#define SUPPORT_WIRE_WALK_H

#include <stddef.h>
#include <stdint.h>

#include "schemas/wire.h"

/* Returns the result of wire_open_X. Aborts when an opened message violates such a
 * guarantee. */
int wire_walk(enum wire_kind kind, const uint8_t *data, size_t len);

#endif
