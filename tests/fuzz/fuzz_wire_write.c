/*
 * A message that a writer makes can be opened, whatever values it was given; otherwise
 * the writer returns an error. Then the message is damaged in a few places, which only
 * the checks after the verifier may find.
 *
 * Input: a kind; the writer's allocation that fails, if any; a message; the damage,
 * each a position and a byte.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/failing_new.h"
#include "tests/support/wire_make.h"
#include "tests/support/wire_walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

#define KINDS (WIRE_COUNTER_REPORT + 1)

static void
damage(enum wire_kind kind, struct fuzz_bytes *bytes, uint8_t *message, size_t len)
{
	while (bytes->left > 0) {
		size_t at = (size_t)fuzz_number(bytes);

		message[at % len] = fuzz_u8(bytes);
	}
	(void)wire_is_newer(message, len);
	(void)wire_walk(wire_kind_of(message, len), message, len);
	/* It does not open as any other kind. */
	for (enum wire_kind other = WIRE_HELLO; other < KINDS; other++)
		if (other != kind && wire_kind_of(message, len) != other &&
		    wire_walk(other, message, len) == 0)
			abort();
}

static void
after(enum wire_kind kind, struct fuzz_bytes *bytes, const struct wire_bytes *out)
{
	uint8_t *copy = malloc(out->len + 8); /* aligned, as a frame's data is */

	if (copy == NULL)
		return;
	memcpy(copy + 1, out->data, out->len);
	if (wire_walk(kind, copy + 1, out->len) != -EINVAL)
		abort();
	copy = realloc(copy, out->len);
	if (copy == NULL)
		return;
	memcpy(copy, out->data, out->len);
	if (wire_kind_of(copy, out->len) != kind || wire_is_newer(copy, out->len) ||
	    wire_walk(kind, copy, out->len) != 0)
		abort();
	damage(kind, bytes, copy, out->len);
	free(copy);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct fuzz_bytes bytes = { data, len };
	enum wire_kind kind = (enum wire_kind)fuzz_below(&bytes, KINDS);
	unsigned fails = fuzz_below(&bytes, 64);
	struct wire_writer *writer;
	struct wire_bytes out = { 0 };
	bool failed = false;
	int r;

	failing_new_arm(fails);
	writer = wire_writer_new();
	if (writer == NULL && fails != 1)
		abort();
	if (writer == NULL)
		return 0;
	r = wire_make(kind, &bytes, writer, &out);
	failed = !failing_new_disarm() && fails > 0;
	if (r == 0)
		after(kind, &bytes, &out);
	else if (out.data != NULL ||
		 (r != -EMSGSIZE && r != -EINVAL && (r != -ENOMEM || !failed)))
		abort();
	wire_writer_free(writer);
	return 0;
}
