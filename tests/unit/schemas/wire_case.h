/*
 * wire_case - tests that every kind of message must pass.
 *
 * The test file of a message describes it; wire_case_main runs the common tests, then
 * the file's own. With --write-golden it writes the golden files that are missing
 * instead. A golden file is never rewritten: it stands for peers of an older release.
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
	const char *name; /* name of the golden file, without .bin */
	/* Writes the message with every field set. */
	int (*write)(struct wire_writer *writer, struct wire_bytes *out);
	/* Asserts that the message opens and that every field has the written value. */
	void (*expect)(const uint8_t *data, size_t len);
};

int wire_case_main(const struct wire_case *cases, size_t case_count,
    const struct CMUnitTest *tests, size_t test_count, int argc, char **argv);

#endif
