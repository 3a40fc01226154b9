/*
 * hop_names - finds the name of a switch by the address of one of its interfaces, with
 * the aliases in a plan. Pure. It is needed because a trace finds addresses, and two
 * interfaces of a switch must not look like two switches. Malformed aliases are ignored
 * and counted.
 */
#ifndef TOR_AGGREGATOR_PATHS_HOP_NAMES_H
#define TOR_AGGREGATOR_PATHS_HOP_NAMES_H

#include <stddef.h>
#include <stdint.h>

struct wire_plan_view;

struct hop_names {              /* all zero before the first use */
	struct hop_name *items; /* sorted by address */
	size_t count;
	uint64_t refused; /* number of aliases so far without a valid name or address */
};

/* Replaces the aliases by those of a plan. -ENOMEM: the old aliases stay. */
int hop_names_plan(struct hop_names *names, const struct wire_plan_view *view);
void hop_names_release(struct hop_names *names);

/* address: in network order; an IPv4 address is in the first 4 bytes. NULL: there is no
 * alias for it. */
const char *hop_names_find(
    const struct hop_names *names, uint8_t family, const uint8_t address[16]);

#endif
