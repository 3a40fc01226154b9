/*
 * sight - the regions that the answer to a request over HTTP may show. Over TLS, the
 * identity of the viewer or operator may allow only some regions. Without TLS all
 * regions are allowed. "?region=" restricts the answer to that one.
 */
#ifndef RACKMESH_IDENTITY_SIGHT_H
#define RACKMESH_IDENTITY_SIGHT_H

#include <stdbool.h>

#include "rackmesh/identity/identity.h"

struct rm_http_request;

struct rm_sight {
	const char *asked; /* value of "?region="; NULL: not given; borrowed */
	/* "*": all regions; else a list as for rm_identity_is_of */
	char regions[RM_IDENTITY_NAME];
};

void rm_sight_of(struct rm_sight *sight, const struct rm_http_request *request);
/* True: the answer may show this region. sight NULL: it may show every region. */
bool rm_sight_shows(const struct rm_sight *sight, const char *region);
/* True: there may be a region that must not be shown. */
bool rm_sight_is_limited(const struct rm_sight *sight);

#endif
