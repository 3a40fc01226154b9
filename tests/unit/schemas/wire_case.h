/*
 * wire_case - what must hold of every message, whatever it says.
 *
 * A family's test file describes its messages; wire_case_main runs the tests that
 * all messages share, then the family's own. With --write-golden it writes the
 * golden files that do not exist yet instead. A golden file is never rewritten: it
 * stands for the peers that are out there.
 */
#ifndef UNIT_WIRE_CASE_H
#define UNIT_WIRE_CASE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "schemas/wire.h"

struct wire_case {
	enum wire_kind kind;
	const char *name; /* of its golden file, without .bin */
	/* Writes the message with every field set. */
	int (*write)(struct wire_writer *writer, struct wire_bytes *out);
	/* Asserts that it opens and that every field is as written. */
	void (*expect)(const uint8_t *data, size_t len);
};

int wire_case_main(const struct wire_case *cases, size_t case_count,
    const struct CMUnitTest *tests, size_t test_count, int argc, char **argv);

#endif
