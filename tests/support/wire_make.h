/*
 * wire_make - any message from a fuzzer's bytes: mostly one that a peer could send,
 * sometimes one that the writer must refuse.
 */
#ifndef SUPPORT_WIRE_MAKE_H
#define SUPPORT_WIRE_MAKE_H

#include "schemas/wire.h"
#include "tests/fuzz/bytes.h"

/* Returns the result of wire_write_X, which sets *out. */
int wire_make(enum wire_kind kind, struct fuzz_bytes *bytes, struct wire_writer *writer,
    struct wire_bytes *out);

#endif
