/*
 * damaged_send - sends a message to a daemon in a fake world, sometimes a little
 * damaged.
 */
#ifndef TESTS_FUZZ_DAMAGED_SEND_H
#define TESTS_FUZZ_DAMAGED_SEND_H

#include <stdlib.h>
#include <string.h>

#include "schemas/wire.h"
#include "tests/fuzz/script.h"
#include "tests/support/fake_world.h"

/* r: result of writing the message. After a failure, or without a link, it is not
 * sent. */
static inline void
fuzz_send(struct fuzz_bytes *script, struct rm_link *link, int r,
    const struct wire_bytes *bytes)
{
	uint8_t *copy;

	if (r < 0 || link == NULL)
		return;
	copy = malloc(bytes->len);
	if (copy == NULL)
		return;
	memcpy(copy, bytes->data, bytes->len);
	fuzz_damage(script, copy, bytes->len);
	(void)fake_link_receives(link, copy, bytes->len);
	free(copy);
}

#endif
