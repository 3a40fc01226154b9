/*
 * store_plan - one ToR's whole plan as the JSON that stands in etcd, and back. Pure;
 * foreign bytes are fuzzed.
 *
 * Readable and compact: entries name members and remote RNICs by their place in the
 * lists, and share their mixes of classes and sizes; RNICs share what they have in
 * common ("of" is a place in "shared"). What comes back is equal to what went in,
 * digest and all; what somebody has changed by hand is not a plan.
 */
#ifndef REGION_CONTROLLER_STORE_STORE_PLAN_H
#define REGION_CONTROLLER_STORE_STORE_PLAN_H

#include <stddef.h>
#include <stdint.h>

struct rm_error;
struct wire_bytes;
struct wire_writer;

/* plan: a message, whose own version does not matter. base: what its version is above
 * the revision of the key. *text is malloc'd, the caller frees it. */
int store_plan_write(const struct wire_bytes *plan, uint64_t digest, uint64_t base,
    char **text, size_t *len);

struct store_plan_read {
	char tor[64];
	uint64_t version, digest;
};

/* *out lives until the writer's next message. The version is base + revision. -EBADMSG
 * and error: it is no plan, or not the one its digest speaks of. -ENOMEM. */
int store_plan_read(const char *text, size_t len, uint64_t revision,
    struct wire_writer *writer, struct store_plan_read *ret, struct wire_bytes *out,
    struct rm_error *error);

#endif
