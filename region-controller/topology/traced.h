/*
 * traced - switches and links that the traces of racks have found, besides those in the
 * topology file. Pure.
 *
 * A trace has the addresses of interfaces in the order of its path. The aliases of the
 * topology give the switch of each address; the first address belongs to the rack's own
 * ToR, even without an alias. Two hops in a row are a link. A hop without an answer
 * ends the chain: no link is assumed across it. A link that was not seen for
 * TRACED_KEEP_NS is forgotten.
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

#define TRACED_MAX_LINKS 65536 /* most links; each direction counts as one */
#define TRACED_KEEP_NS (INT64_C(7) * 86400 * RM_NS_PER_S)
#define TRACED_NODE_BYTES 80 /* room for a switch's name, or "?" and an address */

struct rm_topology;
struct traced;

struct traced_link {
	/* The name of a switch, or "?address" for an interface that no alias names. */
	char from[TRACED_NODE_BYTES], to[TRACED_NODE_BYTES];
	/* address of the interface of `to` at which the link arrives */
	char address[WIRE_ADDRESS_TEXT];
	char by[RM_NAME_BYTES]; /* the ToR whose trace found it first */
	rm_wall_t first_seen, last_seen;
};

struct traced_counts {
	uint64_t learned; /* number of paths that were reported */
	uint64_t found;   /* links that were seen for the first time */
	uint64_t silent;  /* hops without an answer in these paths */
	/* links that were not kept: beyond the limit, or out of memory */
	uint64_t refused;
	uint64_t forgotten;
	uint64_t folded; /* links that got a new name by a later alias */
};

int traced_new(size_t max_links, struct traced **ret);
void traced_free(struct traced *traced); /* NULL is fine */

/* Called for each link that is new, or that was last reported more than an hour ago. */
typedef void traced_on_link(const struct traced_link *link, void *arg);

/* Learns the links of one path that begins in the rack of tor. topology NULL: no
 * address has a name yet. */
void traced_learn(struct traced *traced, const struct rm_topology *topology,
    const char *tor, const struct wire_path *path, rm_wall_t now,
    traced_on_link *on_link, void *arg);

/* True: the link's names, address and reporting ToR are valid. */
bool traced_link_valid(const struct traced_link *link);
/* Adds a link from the store. If the link is known already, the earlier first_seen is
 * kept. -EINVAL: not valid. -ENOSPC, -ENOMEM. */
int traced_restore(struct traced *traced, const struct traced_link *link);
/* Forgets old links, once a minute at most. Calls on_link for each of them. */
void traced_age(
    struct traced *traced, rm_wall_t now, traced_on_link *on_link, void *arg);
/* Call it after a change of the topology. Its aliases may give "?address" a name, or an
 * interface another switch. on_gone is called with the old names for each link whose
 * names have changed; on_link is called with the new names, unless both ends are the
 * same switch now. */
void traced_fold(struct traced *traced, const struct rm_topology *topology,
    traced_on_link *on_gone, traced_on_link *on_link, void *arg);
void traced_drop(struct traced *traced, const char *from, const char *to);

/* Makes a list of all links, sorted by from and to. The caller frees *ret; the links
 * are borrowed. -ENOMEM. */
int traced_sorted(
    const struct traced *traced, const struct traced_link ***ret, size_t *count);
size_t traced_links(const struct traced *traced);
const struct traced_counts *traced_counts(const struct traced *traced);

#endif
