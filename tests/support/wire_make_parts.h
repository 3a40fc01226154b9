/*
 * wire_make_parts - the parts of messages, for wire_make's files only.
 *
 * Results and pointers are in static memory until wire_make_begin, so there is one
 * message at a time.
 */
#ifndef SUPPORT_WIRE_MAKE_PARTS_H
#define SUPPORT_WIRE_MAKE_PARTS_H

#include "tests/support/wire_make.h"

#define MAKE_MAX 6 /* maximum number of items in a list that exists */

void wire_make_begin(void);
/* Returns mostly one of a few words, so that values may be equal in two messages.
 * NULL and a word that is too long occur. */
const char *make_text(struct fuzz_bytes *bytes);
/* Returns up to MAKE_MAX, sometimes more than a message may contain. The items may
 * then be NULL, and are never read. */
size_t make_count(struct fuzz_bytes *bytes, bool *too_many);
struct wire_rnic_id make_id(struct fuzz_bytes *bytes);
struct wire_address make_address(struct fuzz_bytes *bytes);
void make_rnic(struct fuzz_bytes *bytes, struct wire_rnic *ret);
/* Any bytes; fields for which the writer requires a range are set in range. */
void make_raw(struct fuzz_bytes *bytes, void *ret, size_t len);
struct wire_bytes make_blob(struct fuzz_bytes *bytes);
struct wire_lane_head make_head(struct fuzz_bytes *bytes);
/* Numbers of flows, classes or sizes. */
size_t make_numbers(struct fuzz_bytes *bytes, uint16_t numbers[MAKE_MAX]);
size_t make_small(struct fuzz_bytes *bytes, uint8_t numbers[MAKE_MAX]);

/* wire_make_lists.c, wire_make_rows.c */
typedef int wire_make_one(
    struct fuzz_bytes *bytes, struct wire_writer *writer, struct wire_bytes *out);
wire_make_one wire_make_plan, wire_make_pinglist, wire_make_keys, wire_make_summary,
    wire_make_services, wire_make_paths, wire_make_traced;

#endif
