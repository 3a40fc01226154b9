/*
 * wire - every message that the daemons exchange, as plain C structs.
 *
 * Callers see C structs and bytes, never types that FlatBuffers generates. Functions do
 * no I/O, write no log and throw no exceptions. They return 0 or a negative errno.
 *
 * Strings and arrays in a struct are borrowed. Bytes from a writer are valid until its
 * next message. A view is valid as long as the bytes from which it was opened. Strings
 * in a view are never NULL.
 *
 * wire_open_X checks the whole message once, and copies nothing. It checks the
 * identifier, the structure, the exact length, strings (shorter than WIRE_MAX_STRING),
 * vectors (limits WIRE_MAX_*), the alignment of data to 8 bytes, and enums that no
 * newer peer extends. -EINVAL: data is not aligned. -EBADMSG: the message is malformed.
 * -EMSGSIZE: it is well formed, but a string or a vector is beyond its limit (far
 * beyond the limit it may be -EBADMSG). On failure *view is not changed. The caller
 * must check ranges of times and counts.
 *
 * wire_write_X never writes a message that wire_open_X refuses. -EMSGSIZE: a string, a
 * vector or the whole message is beyond its limit. -EINVAL: an enum, an index or an
 * address family is out of range, or an array is NULL with a count above 0. -ENOMEM. A
 * NULL string is written as "". On failure *out is not changed.
 */
#ifndef SCHEMAS_WIRE_H
#define SCHEMAS_WIRE_H

#include "schemas/wire/agent.h"
#include "schemas/wire/identity.h"
#include "schemas/wire/keys.h"
#include "schemas/wire/message.h"
#include "schemas/wire/pinglist.h"
#include "schemas/wire/place.h"
#include "schemas/wire/results.h"
#include "schemas/wire/services.h"
#include "schemas/wire/session.h"
#include "schemas/wire/summary.h"

#endif
