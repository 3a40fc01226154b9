/*
 * identity - a peer's role and names, read from the URI in its certificate. Pure.
 *
 *   rackmesh://REGION/agent/HOST
 *   rackmesh://REGION/aggregator/NAME/TOR[,TOR...]    the ToRs that it may serve
 *   rackmesh://REGION/controller/NAME
 *   rackmesh://REGION/analyzer/NAME
 *   rackmesh://REGION/operator/NAME                   a person, who may change things
 *   rackmesh://REGION/viewer/NAME                     a person or a scraper, who may
 * only read
 *
 * Or a SPIFFE ID (X.509-SVID of SPIRE), whose trust domain is the region, and whose
 * path is the rest, with one part per ToR:
 *
 *   spiffe://REGION/agent/HOST
 *   spiffe://REGION/aggregator/NAME/TOR[/TOR...]
 *
 * without percent-encoding, as SPIFFE requires, and with exactly one region.
 *
 * The region of an analyzer, operator or viewer may be "*", which means all regions.
 * An operator or viewer may have several regions, "r1,r2". No region has a ',' in it.
 * Names are of [A-Za-z0-9._-] and percent-encoded bytes (RFC 3986), at most
 * RM_IDENTITY_NAME bytes; anything else is refused: an empty part, a query, a
 * fragment, a port, a user, or a part too many.
 */
#ifndef RACKMESH_IDENTITY_IDENTITY_H
#define RACKMESH_IDENTITY_IDENTITY_H

#include <stdbool.h>
#include <stddef.h>

struct rm_error;

#define RM_IDENTITY_NAME 256 /* with its 0 byte */
#define RM_IDENTITY_TORS 64

enum rm_role {
	RM_ROLE_NOBODY = 0,
	RM_ROLE_AGENT,
	RM_ROLE_AGGREGATOR,
	RM_ROLE_CONTROLLER,
	RM_ROLE_ANALYZER,
	RM_ROLE_OPERATOR,
	RM_ROLE_VIEWER,
	RM_ROLES
};

struct rm_identity {
	enum rm_role role;
	char region[RM_IDENTITY_NAME]; /* "*": all regions; "r1,r2": these two */
	char name[RM_IDENTITY_NAME];   /* for an agent: its host name */
	char tors[RM_IDENTITY_TORS][RM_IDENTITY_NAME];
	size_t tor_count; /* number of ToRs of an aggregator, at least 1 */
};

/* -EBADMSG: no identity. */
int rm_identity_parse(const char *uri, struct rm_identity *ret);
/* Writes the URI. -EMSGSIZE: no room; -EINVAL: a name is invalid. */
int rm_identity_format(const struct rm_identity *identity, char *out, size_t len);

/* True: regions is "*", or a list such as "r1,r2" that contains region. */
bool rm_identity_is_of(const char *regions, const char *region);

/* The identity that a daemon's config claims, in the parts that its peers check. */
struct rm_identity_claim {
	enum rm_role role;
	const char *region, *name; /* NULL: peers do not check this part */
	const char *const *tors;   /* the certificate must have all of these */
	size_t tor_count;
};

/* Compares the claim with the URI of the daemon's certificate. If they differ, every
 * peer would refuse the daemon: -EACCES; error: both values. */
int rm_identity_claim_check(
    const char *uri, const struct rm_identity_claim *claim, struct rm_error *error);

const char *rm_role_str(enum rm_role role); /* "agent", ... */

#endif
