/*
 * topology_read - the pieces that the sections of a topology file are read with;
 * private to topology_read.c, topology_links.c and topology_read.c.
 *
 * Everything returns 0, or a negative errno with error filled.
 */
#ifndef RACKMESH_TOPOLOGY_TOPOLOGY_READ_H
#define RACKMESH_TOPOLOGY_TOPOLOGY_READ_H

#include <stdint.h>

#include "rackmesh/config/config.h"
#include "rackmesh/config/yaml.h"
#include "rackmesh/topology/topology_internal.h"

struct topology_read {
	struct rm_topology *topology;
	struct rm_error *error;
	uint64_t
	    *joined; /* hash set of the links that there are: a << 32 | b, 0 free */
	int *joined_line;
	size_t joined_slots;
	int *rack_line; /* of each switch; 0: none */
};

/* A map with no other keys than those of the table (only .name is looked at). what:
 * "a switch", for the error. */
int topology_map(const struct topology_read *read, const struct rm_yaml_node *node,
    const char *what, const struct rm_option *keys);
/* -ENOENT for a key that must be there. */
int topology_required(const struct topology_read *read, const struct rm_yaml_node *map,
    const char *what, const char *key, const char *help,
    const struct rm_yaml_node **ret);
/* *ret: NULL when it is not there, or there is nothing in it. */
int topology_list(const struct topology_read *read, const struct rm_yaml_node *map,
    const char *key, size_t max, const struct rm_yaml_node **ret);
/* Left out: *ret stays. */
int topology_uint(const struct topology_read *read, const struct rm_yaml_node *map,
    const char *key, uint64_t max, uint32_t *ret);
/* default_port < 0: a port is required; 0: none is allowed. */
int topology_address(const struct topology_read *read, const struct rm_yaml_node *node,
    int default_port, struct rm_address *ret);
/* name:port or address:port of a listener. */
int topology_endpoint(const struct topology_read *read, const struct rm_yaml_node *node,
    struct rm_endpoint *ret);
/* The name of a switch that there is. */
int topology_switch_named(
    const struct topology_read *read, const struct rm_yaml_node *node, size_t *ret);

int topology_read_links(struct topology_read *read, const struct rm_yaml_node *root);
int topology_read_racks(struct topology_read *read, const struct rm_yaml_node *root);

#endif
