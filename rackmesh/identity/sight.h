/*
 * sight - the regions about which a request over HTTP may be answered. Over TLS the
 * identity decides: the certificate or token of a viewer or operator may be for some
 * regions only. Otherwise, all regions. With "?region=" only that one.
 */
#ifndef RACKMESH_IDENTITY_SIGHT_H
#define RACKMESH_IDENTITY_SIGHT_H

#include <stdbool.h>

#include "rackmesh/identity/identity.h"

struct rm_http_request;

struct rm_sight {
	const char *asked;              /* "?region="; NULL: not given; borrowed */
	char regions[RM_IDENTITY_NAME]; /* "*": all, else as rm_identity_is_of has them
					 */
};

void rm_sight_of(struct rm_sight *sight, const struct rm_http_request *request);
/* NULL: all regions. */
bool rm_sight_shows(const struct rm_sight *sight, const char *region);
/* May not see all regions that there may be? */
bool rm_sight_is_limited(const struct rm_sight *sight);

#endif
