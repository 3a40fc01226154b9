#include "rackmesh/identity/identity.h"

#include <errno.h>
#include <string.h>

#include "rackmesh/core/error.h"

#define IDENTITY_SCHEME "rackmesh://"
#define SPIFFE_SCHEME "spiffe://"

static const struct {
	const char *name;
	bool any_region; /* its region may be "*" */
	bool regions;    /* it may have several regions */
	bool tors;       /* a list of ToRs follows the name */
} roles[RM_ROLES] = {
	[RM_ROLE_NOBODY] = { "nobody", false, false, false },
	[RM_ROLE_AGENT] = { "agent", false, false, false },
	[RM_ROLE_AGGREGATOR] = { "aggregator", false, false, true },
	[RM_ROLE_CONTROLLER] = { "controller", false, false, false },
	[RM_ROLE_ANALYZER] = { "analyzer", true, false, false },
	[RM_ROLE_OPERATOR] = { "operator", true, true, false },
	[RM_ROLE_VIEWER] = { "viewer", true, true, false },
};

static const char hex[] = "0123456789ABCDEF";

/* RFC 3986's unreserved characters, without '~': they are not encoded. */
static bool
is_plain(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
}

static int
hex_digit(char c)
{
	const char *at = c == '\0' ? NULL : strchr(hex, c);

	return at == NULL ? -1 : (int)(at - hex);
}

/*
 * Reads one name, up to a character that no name has, and moves *at behind it. So that
 * each name has only one spelling, plain characters must not be encoded, and hex digits
 * must be upper case.
 */
static int
take_name(const char **at, char ret[RM_IDENTITY_NAME])
{
	const char *from = *at;
	size_t len = 0;

	for (; is_plain(*from) || *from == '%'; from++) {
		char c = *from;

		if (c == '%') {
			int high = hex_digit(from[1]);
			int low = high < 0 ? -1 : hex_digit(from[2]);

			if (low < 0)
				return -EBADMSG;
			c = (char)(high << 4 | low);
			if (is_plain(c) || (unsigned char)c <= ' ' || c == 0x7f)
				return -EBADMSG;
			from += 2;
		}
		if (len == RM_IDENTITY_NAME - 1)
			return -EBADMSG;
		ret[len++] = c;
	}
	if (len == 0)
		return -EBADMSG;
	ret[len] = '\0';
	*at = from;
	return 0;
}

/* Reads one name, or several with ',' between them, and keeps their spelling. */
static int
take_region(const char **at, char ret[RM_IDENTITY_NAME])
{
	char name[RM_IDENTITY_NAME];
	size_t len = 0;

	if ((*at)[0] == '*') {
		memcpy(ret, "*", 2);
		(*at)++;
		return 0;
	}
	for (;;) {
		size_t more;

		if (take_name(at, name) < 0 || strchr(name, ',') != NULL)
			return -EBADMSG;
		more = strlen(name);
		if (len + more + 1 >= RM_IDENTITY_NAME)
			return -EBADMSG;
		memcpy(ret + len, name, more + 1);
		len += more;
		if (**at != ',')
			return 0;
		(*at)++;
		ret[len++] = ',';
	}
}

static int
take_role(const char **at, enum rm_role *ret)
{
	char name[RM_IDENTITY_NAME];
	int r;

	r = take_name(at, name);
	if (r < 0)
		return r;
	for (int role = RM_ROLE_AGENT; role < RM_ROLES; role++) {
		if (strcmp(name, roles[role].name) == 0) {
			*ret = role;
			return 0;
		}
	}
	return -EBADMSG;
}

/* between: the character between two ToRs. */
static int
take_tors(const char **at, char between, struct rm_identity *identity)
{
	char before = '/';

	while (**at == before) {
		int r;

		if (identity->tor_count == RM_IDENTITY_TORS)
			return -EBADMSG;
		(*at)++;
		r = take_name(at, identity->tors[identity->tor_count]);
		if (r < 0)
			return r;
		identity->tor_count++;
		before = between;
	}
	return identity->tor_count > 0 ? 0 : -EBADMSG;
}

static int
take_slash(const char **at)
{
	if (**at != '/')
		return -EBADMSG;
	(*at)++;
	return 0;
}

int
rm_identity_parse(const char *uri, struct rm_identity *ret)
{
	const bool spiffe = strncmp(uri, SPIFFE_SCHEME, strlen(SPIFFE_SCHEME)) == 0;
	const char *scheme = spiffe ? SPIFFE_SCHEME : IDENTITY_SCHEME;
	const char *at = uri + strlen(scheme);
	struct rm_identity identity;

	memset(&identity, 0, sizeof(identity));
	if (strncmp(uri, scheme, strlen(scheme)) != 0)
		return -EBADMSG;
	/* A SPIFFE ID has only plain characters: no "*", no encoding, and no list. */
	if (spiffe && strpbrk(uri, "*%,") != NULL)
		return -EBADMSG;
	if (take_region(&at, identity.region) < 0 || take_slash(&at) < 0 ||
	    take_role(&at, &identity.role) < 0 || take_slash(&at) < 0 ||
	    take_name(&at, identity.name) < 0)
		return -EBADMSG;
	if (identity.region[0] == '*' && !roles[identity.role].any_region)
		return -EBADMSG;
	if (strchr(identity.region, ',') != NULL && !roles[identity.role].regions)
		return -EBADMSG;
	if (roles[identity.role].tors &&
	    take_tors(&at, spiffe ? '/' : ',', &identity) < 0)
		return -EBADMSG;
	if (*at != '\0')
		return -EBADMSG;
	*ret = identity;
	return 0;
}

bool
rm_identity_is_of(const char *regions, const char *region)
{
	const size_t len = strlen(region);

	if (strcmp(regions, "*") == 0)
		return true;
	for (;;) {
		const size_t one = strcspn(regions, ",");

		if (one == len && memcmp(regions, region, len) == 0)
			return true;
		if (regions[one] == '\0')
			return false;
		regions += one + 1;
	}
}

struct text {
	char *out;
	size_t len, room;
};

static int
put(struct text *text, const char *bytes, size_t len)
{
	if (len >= text->room - text->len)
		return -EMSGSIZE;
	memcpy(text->out + text->len, bytes, len);
	text->len += len;
	text->out[text->len] = '\0';
	return 0;
}

static int
put_name(struct text *text, char before, const char *name)
{
	int r;

	if (name[0] == '\0')
		return -EINVAL;
	r = before == '\0' ? 0 : put(text, &before, 1);
	for (; r == 0 && *name != '\0'; name++) {
		unsigned char c = (unsigned char)*name;
		const char encoded[3] = { '%', hex[c >> 4], hex[c & 15] };

		if (c <= ' ' || c == 0x7f)
			return -EINVAL;
		r = is_plain(*name) ? put(text, name, 1) : put(text, encoded, 3);
	}
	return r;
}

/* Visits each name of a list with ','. */
static int
put_regions(struct text *text, const char *regions, bool several)
{
	char name[RM_IDENTITY_NAME];
	int r = 0;

	for (char before = '\0'; r == 0; before = ',') {
		const size_t len = strcspn(regions, ",");

		if (len >= sizeof(name) || (regions[len] == ',' && !several))
			return -EINVAL;
		memcpy(name, regions, len);
		name[len] = '\0';
		r = put_name(text, before, name);
		if (regions[len] == '\0')
			break;
		regions += len + 1;
	}
	return r;
}

int
rm_identity_format(const struct rm_identity *identity, char *out, size_t len)
{
	struct text text = { out, 0, len };
	bool any = strcmp(identity->region, "*") == 0;
	int r;

	if (identity->role <= RM_ROLE_NOBODY || identity->role >= RM_ROLES ||
	    (any && !roles[identity->role].any_region) ||
	    (identity->tor_count > 0) != roles[identity->role].tors ||
	    identity->tor_count > RM_IDENTITY_TORS)
		return -EINVAL;
	if (len == 0)
		return -EMSGSIZE;
	r = put(&text, IDENTITY_SCHEME, strlen(IDENTITY_SCHEME));
	if (r == 0)
		r = any ? put(&text, "*", 1)
			: put_regions(
			      &text, identity->region, roles[identity->role].regions);
	if (r == 0)
		r = put_name(&text, '/', roles[identity->role].name);
	if (r == 0)
		r = put_name(&text, '/', identity->name);
	for (size_t i = 0; r == 0 && i < identity->tor_count; i++)
		r = put_name(&text, i == 0 ? '/' : ',', identity->tors[i]);
	return r;
}

static bool
has_tor(const struct rm_identity *identity, const char *tor)
{
	for (size_t i = 0; i < identity->tor_count; i++)
		if (strcmp(identity->tors[i], tor) == 0)
			return true;
	return false;
}

int
rm_identity_claim_check(
    const char *uri, const struct rm_identity_claim *claim, struct rm_error *error)
{
	struct rm_identity identity;

	if (rm_identity_parse(uri, &identity) < 0)
		return rm_error_set(error, -EACCES,
		    "the certificate's URI is not an identity of Rackmesh: '%s'; "
		    "expected rackmesh://REGION/%s/NAME",
		    uri, rm_role_str(claim->role));
	if (identity.role != claim->role)
		return rm_error_set(error, -EACCES,
		    "the certificate is of role '%s', and this daemon's is '%s' (%s)",
		    rm_role_str(identity.role), rm_role_str(claim->role), uri);
	if (claim->region != NULL && strcmp(identity.region, "*") != 0 &&
	    strcmp(identity.region, claim->region) != 0)
		return rm_error_set(error, -EACCES,
		    "the certificate is of region '%s', and the config says region "
		    "'%s' (%s)",
		    identity.region, claim->region, uri);
	if (claim->name != NULL && strcmp(identity.name, claim->name) != 0)
		return rm_error_set(error, -EACCES,
		    "the certificate is of '%s', and the config says '%s': peers would "
		    "refuse this daemon (%s)",
		    identity.name, claim->name, uri);
	for (size_t i = 0; i < claim->tor_count; i++)
		if (!has_tor(&identity, claim->tors[i]))
			return rm_error_set(error, -EACCES,
			    "the certificate does not name ToR '%s', which the config "
			    "lists (%s)",
			    claim->tors[i], uri);
	return 0;
}

const char *
rm_role_str(enum rm_role role)
{
	return role >= RM_ROLE_NOBODY && role < RM_ROLES ? roles[role].name : "?";
}
