/*
 * plan_copy - a plan with arrays of its own, to be written again. Pure.
 */
#ifndef REGION_CONTROLLER_STORE_PLAN_COPY_H
#define REGION_CONTROLLER_STORE_PLAN_COPY_H

#include "schemas/wire.h"

struct plan_copy_mix { /* room for the flows, classes and sizes of an entry */
	uint16_t flows[WIRE_MAX_FLOWS], sizes[WIRE_MAX_SIZES];
	uint8_t dscps[WIRE_MAX_CLASSES];
};

struct plan_copy {
	struct wire_plan plan; /* points at what follows, and borrows its texts */
	struct wire_rnic *members, *remotes;
	struct wire_plan_entry *entries;
	struct wire_alias *aliases;
	struct plan_copy_mix *mixes; /* one for each entry, or NULL */
};

/* Room for so many of each, as ret->plan says; zeroed. -ENOMEM. */
int plan_copy_make(struct plan_copy *ret, bool with_mixes);
/* Borrows from the view. */
int plan_copy_view(struct plan_copy *ret, const struct wire_plan_view *view);
void plan_copy_clear(struct plan_copy *copy);

/* The digest that a plan has by what is in it, whatever its version. */
int plan_copy_digest(
    struct plan_copy *copy, struct wire_writer *writer, uint64_t *digest);
/* The same message under another version and digest. -EBADMSG: it is none. */
int plan_copy_stamp(const struct wire_bytes *plan, uint64_t version, uint64_t digest,
    struct wire_writer *writer, struct wire_bytes *out);

#endif
