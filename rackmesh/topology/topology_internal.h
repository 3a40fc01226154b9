/*
 * topology_internal - the topology's structs; private to topology_read.c and
 * topology.c.
 */
#ifndef RACKMESH_TOPOLOGY_TOPOLOGY_INTERNAL_H
#define RACKMESH_TOPOLOGY_TOPOLOGY_INTERNAL_H

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "rackmesh/topology/topology.h"

struct topology_name {
	UT_hash_handle hh;
	size_t index;
	char name[RM_NAME_BYTES];
};

/* An address without its port, all other bytes 0, so that equal addresses are equal
 * bytes. */
struct topology_alias_key {
	uint8_t family; /* 4 or 6 */
	uint8_t bytes[16];
};

struct topology_alias {
	UT_hash_handle hh;
	size_t owner; /* switch */
	int line;
	struct topology_alias_key key;
};

struct rm_topology {
	char *file;
	char region[RM_NAME_BYTES];
	char (*planes)[RM_NAME_BYTES];
	size_t plane_count;
	struct rm_switch *switches;
	size_t switch_count, switches_allocated;
	struct rm_topology_link *links;
	size_t link_count, links_allocated;
	size_t member_count; /* of all racks */
	struct topology_name *names;
	struct topology_alias *aliases;
	char *warnings[RM_TOPOLOGY_MAX_WARNINGS];
	size_t warning_count, warnings_beyond;
};

void topology_alias_key(
    const struct rm_address *address, struct topology_alias_key *ret);
/* -EEXIST: the switch *owner has this address. */
int topology_add_alias(struct rm_topology *topology, const struct rm_address *address,
    size_t owner, int line, const struct topology_alias **holder);
/* Takes ownership of all that the switch owns, also on failure. */
int topology_add_switch(struct rm_topology *topology, struct rm_switch *takes);
int topology_add_link(
    struct rm_topology *topology, const struct rm_topology_link *link);
/* Makes the list of warnings, once the whole file was read. -ENOMEM. */
int topology_find_warnings(struct rm_topology *topology);

#endif
