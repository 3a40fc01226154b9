/*
 * say - a message that a daemon in a fake world hears, a little damaged perhaps.
 */
#ifndef TESTS_FUZZ_REPORT_H
#define TESTS_FUZZ_REPORT_H

#include <stdlib.h>
#include <string.h>

#include "schemas/wire.h"
#include "tests/fuzz/script.h"
#include "tests/support/fake_world.h"

/* r: of writing it; nothing is said if that failed, or without a link. */
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
