/*
 * store_plan - writes the plan of one ToR as JSON for etcd, and reads it. Pure; the
 * bytes of etcd are not trusted, so the reader is fuzzed.
 *
 * The JSON is readable and compact. Entries have the indexes of members and remote
 * RNICs in their lists, and share mixes of classes and sizes; RNICs share common values
 * ("of" is an index in "shared"). A plan that was written is read as an equal plan with
 * an equal digest. A plan that was changed by hand is refused, since its digest is
 * wrong.
 */
#ifndef REGION_CONTROLLER_STORE_STORE_PLAN_H
#define REGION_CONTROLLER_STORE_STORE_PLAN_H

#include <stddef.h>
#include <stdint.h>

struct rm_error;
struct wire_bytes;
struct wire_writer;

/* Writes a plan. plan: a message, whose version is ignored. base: its version will be
 * base plus the revision of the key. The caller frees *text. */
int store_plan_write(const struct wire_bytes *plan, uint64_t digest, uint64_t base,
    char **text, size_t *len);

struct store_plan_read {
	char tor[64];
	uint64_t version, digest;
};

/* Reads a plan. *out is valid until the writer's next message. The version is base +
 * revision. -EBADMSG, with error: it is no plan, or its contents do not have its
 * digest. -ENOMEM. */
int store_plan_read(const char *text, size_t len, uint64_t revision,
    struct wire_writer *writer, struct store_plan_read *ret, struct wire_bytes *out,
    struct rm_error *error);

#endif
