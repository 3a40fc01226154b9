/*
 * wire_make_parts - what messages are made of, for wire_make's files only.
 *
 * What is returned or pointed to lives in a few static places until wire_make_begin:
 * one message at a time.
 */
#ifndef SUPPORT_WIRE_MAKE_PARTS_H
#define SUPPORT_WIRE_MAKE_PARTS_H

#include "tests/support/wire_make.h"

#define MAKE_MAX 6 /* items of a list that is really there */

void wire_make_begin(void);
/* Mostly a word out of few, so that two messages may mean the same; NULL and one that
 * is too long occur. */
const char *make_text(struct fuzz_bytes *bytes);
/* Up to MAKE_MAX; now and then beyond what any message takes: items are then NULL or
 * not, but never looked at. */
size_t make_count(struct fuzz_bytes *bytes, bool *too_many);
struct wire_rnic_id make_id(struct fuzz_bytes *bytes);
struct wire_address make_address(struct fuzz_bytes *bytes);
void make_rnic(struct fuzz_bytes *bytes, struct wire_rnic *ret);
/* Any bytes at all, but for the fields that the writer wants in range. */
void make_raw(struct fuzz_bytes *bytes, void *ret, size_t len);
struct wire_bytes make_blob(struct fuzz_bytes *bytes);
struct wire_lane_head make_head(struct fuzz_bytes *bytes);
/* Of flows, classes or sizes. */
size_t make_numbers(struct fuzz_bytes *bytes, uint16_t numbers[MAKE_MAX]);
size_t make_small(struct fuzz_bytes *bytes, uint8_t numbers[MAKE_MAX]);

/* wire_make_lists.c, wire_make_rows.c */
typedef int wire_make_one(
    struct fuzz_bytes *bytes, struct wire_writer *writer, struct wire_bytes *out);
wire_make_one wire_make_plan, wire_make_pinglist, wire_make_keys, wire_make_summary,
    wire_make_services, wire_make_paths, wire_make_traced;

#endif
