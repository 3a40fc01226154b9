/*
 * wire - every message the daemons exchange, as plain C.
 *
 * FlatBuffers stays behind this header: callers see C structs and bytes, never a
 * generated type. Nothing here does I/O, logs or throws. Functions return 0 or
 * a negative errno.
 *
 * Strings and arrays in a struct are borrowed. Bytes from a writer live until
 * its next message. A view lives as long as the bytes it was opened on. Strings
 * in a view are never NULL.
 *
 * wire_open_X checks the whole message once (identifier, structure, exact
 * length, every string shorter than WIRE_MAX_STRING, every vector within the
 * WIRE_MAX_* below, data aligned to 8, enums of our own in range) and copies
 * nothing. -EINVAL: misaligned. -EBADMSG: malformed. -EMSGSIZE: well formed, but
 * a string or vector beyond its limit (far beyond may be -EBADMSG). On failure
 * *view is untouched. Well formed is not yet sensible: ranges of times and counts
 * are the receiver's to check.
 *
 * wire_write_X makes nothing that wire_open_X refuses. -EMSGSIZE: a string, a vector
 * or the whole message beyond its limit. -EINVAL: an enum, index or address family out
 * of range, or NULL with a count. -ENOMEM. A NULL string is "". On failure *out is
 * untouched.
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
