/* store_topology - a topology, and the text from which it was read. Pure. */
#ifndef REGION_CONTROLLER_STORE_STORE_TOPOLOGY_H
#define REGION_CONTROLLER_STORE_STORE_TOPOLOGY_H

#include <stddef.h>

struct rm_topology;
struct rm_error;

#define STORE_TOPOLOGY_MAX_BYTES (16u << 20)

struct store_topology {
	struct rm_topology *topology; /* NULL: none */
	char *text;                   /* with a terminating 0 */
	size_t len;
};

/* Reads a topology. name: its name in texts of errors. A topology that is malformed, or
 * of another region, is an error. -EFBIG, -ENOMEM. */
int store_topology_read(struct store_topology *ret, const char *name,
    const char *region, const char *text, size_t len, struct rm_error *error);
void store_topology_clear(struct store_topology *topology);

/* A traced link in etcd, whose key is topology/traced/<from>/<to>. Pure; the bytes are
 * not trusted. */
struct traced_link;

#define STORE_KEY_TRACED "topology/traced/"

/* The caller frees *text. -ENOMEM. */
int store_traced_write(const struct traced_link *link, char **text);
/* name: the end of the key, "<from>/<to>". -EBADMSG: error has the reason. */
int store_traced_read(const char *name, const char *text, size_t len,
    struct traced_link *ret, struct rm_error *error);

#endif
