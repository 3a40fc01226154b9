/*
 * topology_read - functions that read parts of a topology file; private to
 * topology_read.c and topology_links.c.
 *
 * All return 0, or a negative errno with error filled.
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
	    *joined; /* hash set of the links so far, as a << 32 | b; 0: a free slot */
	int *joined_line;
	size_t joined_slots;
	int *rack_line; /* line of each switch's entry in racks; 0: none */
};

/* Checks that a map has no keys besides those of the table, of which only .name is
 * used. what: "a switch", for the error. */
int topology_map(const struct topology_read *read, const struct rm_yaml_node *node,
    const char *what, const struct rm_option *keys);
/* -ENOENT: the key is missing. */
int topology_required(const struct topology_read *read, const struct rm_yaml_node *map,
    const char *what, const char *key, const char *help,
    const struct rm_yaml_node **ret);
/* *ret is NULL if the key is missing or has an empty list. */
int topology_list(const struct topology_read *read, const struct rm_yaml_node *map,
    const char *key, size_t max, const struct rm_yaml_node **ret);
/* If the key is missing, *ret is not changed. */
int topology_uint(const struct topology_read *read, const struct rm_yaml_node *map,
    const char *key, uint64_t max, uint32_t *ret);
/* default_port < 0: the address needs a port; 0: it must not have one. */
int topology_address(const struct topology_read *read, const struct rm_yaml_node *node,
    int default_port, struct rm_address *ret);
/* name:port or address:port of a listener. */
int topology_endpoint(const struct topology_read *read, const struct rm_yaml_node *node,
    struct rm_endpoint *ret);
/* -ENOENT: no switch has this name. */
int topology_switch_named(
    const struct topology_read *read, const struct rm_yaml_node *node, size_t *ret);

int topology_read_links(struct topology_read *read, const struct rm_yaml_node *root);
int topology_read_racks(struct topology_read *read, const struct rm_yaml_node *root);

#endif
