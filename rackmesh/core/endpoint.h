/*
 * endpoint - the place where a peer listens, as a config gives it:
 * "agg1.rack7.example:7471", or numeric as in rackmesh/core/address.h.
 *
 * A name is kept as text and is looked up for each connection, since its addresses may
 * change. Addresses to listen on are numeric: rm_address_parse.
 */
#ifndef RACKMESH_CORE_ENDPOINT_H
#define RACKMESH_CORE_ENDPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackmesh/core/address.h"

struct rm_error;

/* a DNS name has 253 letters at most, and may end with a dot */
#define RM_ENDPOINT_NAME 255
#define RM_ENDPOINT_TEXT (RM_ENDPOINT_NAME + 8)
#define RM_ENDPOINT_EXPECTED \
	"expected name:port or address:port, IPv6 as [fd00::1]:port"
/* maximum number of addresses of one name; further addresses are ignored */
#define RM_ENDPOINT_ADDRESSES 16

struct rm_endpoint {
	char name[RM_ENDPOINT_NAME]; /* "": the endpoint is a numeric address */
	uint16_t port;               /* port, if there is a name */
	struct rm_address address;   /* used if there is no name */
};

/* -EINVAL: neither name:port nor a numeric address with its port. A name whose last
 * label has only digits is refused, and so is "10.0.0.300:7471". */
int rm_endpoint_parse(const char *text, struct rm_endpoint *ret);
void rm_endpoint_format(
    const struct rm_endpoint *endpoint, char text[RM_ENDPOINT_TEXT]);
/* Compares the texts, ignoring case: two names of the same host are not equal. */
bool rm_endpoint_equal(const struct rm_endpoint *a, const struct rm_endpoint *b);

/*
 * Looks up the IPv4 and IPv6 addresses, in the order of getaddrinfo (hosts file, DNS:
 * by nsswitch.conf); a numeric endpoint gives its own address. Blocks without a time
 * limit: on a loop use rackmesh/net/lookup.h. -ENXIO: no such name, or it has no
 * address; -EAGAIN: no server answered; -ENOMEM, -EIO. error: the name and the
 * resolver's message; may be NULL.
 */
int rm_endpoint_resolve(const struct rm_endpoint *endpoint,
    struct rm_address addresses[RM_ENDPOINT_ADDRESSES], size_t *count,
    struct rm_error *error);

#endif
