/*
 * endpoint - where a peer listens, as a config gives it: "agg1.rack7.example:7471", or
 * numeric as in rackmesh/core/address.h.
 *
 * A name is kept as it is, and looked up when somebody dials: its addresses may change.
 * Own addresses to listen on are numeric: rm_address_parse.
 */
#ifndef RACKMESH_CORE_ENDPOINT_H
#define RACKMESH_CORE_ENDPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/address.h"

struct rm_error;

#define RM_ENDPOINT_NAME \
	255 /* a DNS name has 253 letters at most, and may end with a dot */
#define RM_ENDPOINT_TEXT (RM_ENDPOINT_NAME + 8)
#define RM_ENDPOINT_EXPECTED "expected name:port or address:port"
#define RM_ENDPOINT_ADDRESSES 16 /* of one name; further ones are not tried */

struct rm_endpoint {
	char name[RM_ENDPOINT_NAME]; /* "": the address is numeric */
	uint16_t port;               /* of the name */
	struct rm_address address;   /* without a name */
};

/* -EINVAL: neither name:port nor a numeric address with its port. A last label of
 * digits alone is no name, so that "10.0.0.300:7471" is refused. */
int rm_endpoint_parse(const char *text, struct rm_endpoint *ret);
void rm_endpoint_format(
    const struct rm_endpoint *endpoint, char text[RM_ENDPOINT_TEXT]);
/* The same text; two names of one host differ. Letters in either case are the same. */
bool rm_endpoint_equal(const struct rm_endpoint *a, const struct rm_endpoint *b);

/*
 * Its addresses, IPv4 and IPv6, in the order of getaddrinfo (hosts file, DNS: by
 * nsswitch.conf); of a numeric one that itself. Blocks, for as long as the resolver
 * pleases: on a loop use rackmesh/net/lookup.h. -ENXIO: there is no such name, or it
 * has no address; -EAGAIN: no server answered; -ENOMEM, -EIO. error: the name and the
 * resolver's words; may be NULL.
 */
int rm_endpoint_resolve(const struct rm_endpoint *endpoint,
    struct rm_address addresses[RM_ENDPOINT_ADDRESSES], size_t *count,
    struct rm_error *error);

#endif
