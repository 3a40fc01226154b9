/*
 * wire_walk - opens any message and touches every byte that its view can reach.
 *
 * For damaged bytes: a sanitizer then sees whatever opening failed to refuse, and
 * what wire.h promises of an opened message is asserted.
 */
#ifndef SUPPORT_WIRE_WALK_H
#define SUPPORT_WIRE_WALK_H

#include <stddef.h>
#include <stdint.h>

#include "schemas/wire.h"

/* What wire_open_X said. Aborts when an opened message breaks a promise. */
int wire_walk(enum wire_kind kind, const uint8_t *data, size_t len);

#endif
