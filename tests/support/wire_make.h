/*
 * wire_make - any message from a fuzzer's bytes: mostly one that a peer could send, now
 * and then one that the writer has to refuse.
 */
#ifndef SUPPORT_WIRE_MAKE_H
#define SUPPORT_WIRE_MAKE_H

#include "schemas/wire.h"
#include "tests/fuzz/bytes.h"

/* What wire_write_X said; *out as it leaves it. */
int wire_make(enum wire_kind kind, struct fuzz_bytes *bytes, struct wire_writer *writer,
    struct wire_bytes *out);

#endif
