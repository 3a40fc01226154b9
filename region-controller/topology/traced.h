/*
 * traced - switches and links that racks' traces have found, beside those written down.
 * Pure.
 *
 * A trace tells interface addresses in the order of its way. They are folded to
 * switches by the topology's aliases; the first one is the rack's own ToR, alias or
 * not. Two hops in a row are a link; a silent hop breaks the chain, and nothing is
 * guessed across it. What was not seen again for TRACED_KEEP_NS is forgotten.
 */
#ifndef REGION_CONTROLLER_TOPOLOGY_TRACED_H
#define REGION_CONTROLLER_TOPOLOGY_TRACED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/clock.h"
#include "rackmesh/judge/part.h"
#include "schemas/wire.h"
#include "schemas/wire/text.h"

#define TRACED_MAX_LINKS 65536 /* one direction each */
#define TRACED_KEEP_NS (INT64_C(7) * 86400 * RM_NS_PER_S)
#define TRACED_NODE_BYTES 80 /* a name, or "?" and an address */

struct rm_topology;
struct traced;

struct traced_link {
	/* A switch's name, or "?address" of an interface that no alias names. */
	char from[TRACED_NODE_BYTES], to[TRACED_NODE_BYTES];
	char address[WIRE_ADDRESS_TEXT]; /* of the interface that it comes in by */
	char by[RM_NAME_BYTES];          /* the ToR whose trace found it first */
	rm_wall_t first_seen, last_seen;
};

struct traced_counts {
	uint64_t learned; /* ways that were told */
	uint64_t found;   /* links seen for the first time */
	uint64_t silent;  /* hops without an answer, in those ways */
	uint64_t refused; /* links beyond the bound, or out of memory */
	uint64_t forgotten;
	uint64_t folded; /* links that got a name, or another one, by a later alias */
};

int traced_new(size_t max_links, struct traced **ret);
void traced_free(struct traced *traced); /* NULL is fine */

/* Called for each link that is new, or was not told of for an hour. */
typedef void traced_on_link(const struct traced_link *link, void *arg);

/* One way out of tor's rack. topology: NULL, nothing has a name yet. */
void traced_learn(struct traced *traced, const struct rm_topology *topology,
    const char *tor, const struct wire_path *path, rm_wall_t now,
    traced_on_link *on_link, void *arg);

/* Names, an address and who found it are what they should be. */
bool traced_link_valid(const struct traced_link *link);
/* As another controller or an earlier life has it; what is known already keeps the
 * earlier first_seen. Not valid: -EINVAL. -ENOSPC, -ENOMEM. */
int traced_restore(struct traced *traced, const struct traced_link *link);
/* Once a minute at most; calls on_link for each that is forgotten. */
void traced_age(
    struct traced *traced, rm_wall_t now, traced_on_link *on_link, void *arg);
/* After a change of the topology: by its aliases, "?address" becomes a name, and an
 * interface another switch's. on_gone is called for each link that does not stand under
 * its old names any more, on_link for what has taken its place, unless both ends turn
 * out to be one switch. */
void traced_fold(struct traced *traced, const struct rm_topology *topology,
    traced_on_link *on_gone, traced_on_link *on_link, void *arg);
void traced_drop(struct traced *traced, const char *from, const char *to);

/* All of them, by from and to; *ret is malloc'd, the links are borrowed. -ENOMEM. */
int traced_sorted(
    const struct traced *traced, const struct traced_link ***ret, size_t *count);
size_t traced_links(const struct traced *traced);
const struct traced_counts *traced_counts(const struct traced *traced);

#endif
