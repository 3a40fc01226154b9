/*
 * hop_names - names of switches by the addresses of their interfaces, from the aliases
 * in a plan. Pure. A trace finds addresses; two interfaces of one switch must not look
 * like two switches. Malformed names are left out and counted.
 */
#ifndef TOR_AGGREGATOR_PATHS_HOP_NAMES_H
#define TOR_AGGREGATOR_PATHS_HOP_NAMES_H

#include <stddef.h>
#include <stdint.h>

struct wire_plan_view;

struct hop_names {              /* all zero before the first use */
	struct hop_name *items; /* sorted by address */
	size_t count;
	uint64_t refused; /* aliases without a valid name or address, so far */
};

/* Replaces the aliases by the plan's. -ENOMEM: the old ones stay. */
int hop_names_plan(struct hop_names *names, const struct wire_plan_view *view);
void hop_names_release(struct hop_names *names);

/* address: network order, IPv4 in the first 4. NULL: no alias names it. */
const char *hop_names_find(
    const struct hop_names *names, uint8_t family, const uint8_t address[16]);

#endif
