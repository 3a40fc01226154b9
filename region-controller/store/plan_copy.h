/*
 * plan_copy - a copy of a plan whose arrays can be changed before it is written again.
 * Pure.
 */
#ifndef REGION_CONTROLLER_STORE_PLAN_COPY_H
#define REGION_CONTROLLER_STORE_PLAN_COPY_H

#include "schemas/wire.h"

struct plan_copy_mix { /* room for the flows, classes and sizes of an entry */
	uint16_t flows[WIRE_MAX_FLOWS], sizes[WIRE_MAX_SIZES];
	uint8_t dscps[WIRE_MAX_CLASSES];
};

struct plan_copy {
	/* its arrays are in the members below; its texts are borrowed */
	struct wire_plan plan;
	struct wire_rnic *members, *remotes;
	struct wire_plan_entry *entries;
	struct wire_alias *aliases;
	struct plan_copy_mix *mixes; /* one entry per plan entry; NULL: none */
};

/* Allocates arrays of the lengths in ret->plan, all zeros. -ENOMEM. */
int plan_copy_make(struct plan_copy *ret, bool with_mixes);
/* Copies the arrays of view, and borrows its texts. */
int plan_copy_view(struct plan_copy *ret, const struct wire_plan_view *view);
void plan_copy_clear(struct plan_copy *copy);

/* Computes the digest of a plan from its contents, without its version. */
int plan_copy_digest(
    struct plan_copy *copy, struct wire_writer *writer, uint64_t *digest);
/* Writes the plan again, with another version and digest. -EBADMSG: plan is not a
 * plan. */
int plan_copy_stamp(const struct wire_bytes *plan, uint64_t version, uint64_t digest,
    struct wire_writer *writer, struct wire_bytes *out);

#endif
