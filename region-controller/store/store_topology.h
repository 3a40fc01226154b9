/*
 * store_topology - a topology and the text it was read from. Pure.
 */
#ifndef REGION_CONTROLLER_STORE_STORE_TOPOLOGY_H
#define REGION_CONTROLLER_STORE_STORE_TOPOLOGY_H

#include <stddef.h>

struct rm_topology;
struct rm_error;

#define STORE_TOPOLOGY_MAX_BYTES (16u << 20)

struct store_topology {
	struct rm_topology *topology; /* NULL: none */
	char *text;                   /* terminated */
	size_t len;
};

/* name: what sentences call it. A topology of another region is an error, as is a
 * malformed one. -EFBIG, -ENOMEM. */
int store_topology_read(struct store_topology *ret, const char *name,
    const char *region, const char *text, size_t len, struct rm_error *error);
void store_topology_clear(struct store_topology *topology);

/* A traced link as it stands in etcd, below topology/traced/<from>/<to>. Pure; foreign
 * bytes. */
struct traced_link;

#define STORE_KEY_TRACED "topology/traced/"

/* *text is malloc'd. -ENOMEM. */
int store_traced_write(const struct traced_link *link, char **text);
/* name: of the key, "<from>/<to>". -EBADMSG: and error says what is wrong. */
int store_traced_read(const char *name, const char *text, size_t len,
    struct traced_link *ret, struct rm_error *error);

#endif
