#include "rackmesh/identity/http_places.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "rackmesh/core/address.h"
#include "rackmesh/core/log.h"
#include "rackmesh/http/http_server.h"
#include "rackmesh/identity/authority.h"
#include "rackmesh/identity/viewer_tokens.h"

static bool
allows(
    const char *identity, enum rm_http_verb verb, char *reason, size_t len, void *arg)
{
	const struct rm_request request = {
		.verb = verb == RM_HTTP_CHANGE ? RM_VERB_CHANGE : RM_VERB_READ,
		.region = arg,
	};

	/* Over TLS there is always an identity. */
	return identity[0] != '\0' &&
	       rm_authority_admits(identity, &request, reason, len);
}

static bool
allows_by_region(
    const char *identity, enum rm_http_verb verb, char *reason, size_t len, void *arg)
{
	const struct rm_http_regions *regions = arg;
	const bool some = verb == RM_HTTP_READ_PART;
	const char *region;
	size_t shown = 0, all = 0;

	if (!allows(identity, verb, reason, len, NULL))
		return false;
	for (; (region = regions->at(all, regions->arg)) != NULL; all++)
		shown += allows(identity, verb, reason, len, (void *)region);
	if (shown == all || (some && shown > 0))
		return true;
	if (shown > 0)
		snprintf(reason, len,
		    "this shows all regions, and you may see some of them only");
	return false;
}

static int
finds(const char *token, char identity[RM_TLS_MAX_IDENTITY], void *arg)
{
	struct rm_error error = { 0 };
	int r = rm_viewer_tokens_find(arg, token, identity, &error);

	if (r < 0 && r != -ENOENT)
		rm_log_warn(0,
		    "http.tokens_file: cannot be used, all tokens are refused: %s",
		    error.text);
	return r;
}

static bool
is_for_this_host(const struct rm_address *address)
{
	const struct sockaddr_in *in = (const struct sockaddr_in *)&address->storage;
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)&address->storage;

	if (address->storage.ss_family == AF_INET)
		return ntohl(in->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
	if (address->storage.ss_family == AF_INET6)
		return IN6_IS_ADDR_LOOPBACK(&in6->sin6_addr);
	return true;
}

static int
listen_plain(struct rm_http_server *server, const char *prefix, const char *where,
    struct rm_error *error)
{
	struct rm_address address;
	char text[512];
	int r;

	if (where[0] == '\0')
		return 0;
	snprintf(text, sizeof(text), "%s%s", prefix, where);
	r = rm_address_parse(text, -1, &address);
	if (r == 0 && !is_for_this_host(&address))
		rm_log_warn(0,
		    "http.listen: opened without TLS: every host that reaches %s can "
		    "read; use http.tls_listen for other hosts, and 127.0.0.1 here",
		    text);
	if (r == 0)
		r = rm_http_server_listen(server, &address);
	return r < 0 ? rm_error_set(
			   error, r, "cannot serve HTTP on %s: %s", text, strerror(-r))
		     : 0;
}

static int
listen_tls(struct rm_http_server *server, const struct rm_http_places *places,
    struct rm_tls *tls, const char *region, struct rm_error *error)
{
	const char *where = places->tls;
	struct rm_address address;
	int r;

	if (where[0] == '\0')
		return 0;
	if (places->tokens != NULL && places->tokens[0] != '\0') {
		r = rm_viewer_tokens_check(places->tokens, error);
		if (r < 0)
			return r;
		rm_http_server_tokens(server, finds, (void *)places->tokens);
	}
	r = tls == NULL ? -EINVAL : rm_address_parse(where, -1, &address);
	if (r == 0) {
		if (places->regions != NULL)
			rm_http_server_authorise(
			    server, allows_by_region, (void *)places->regions);
		else
			rm_http_server_authorise(server, allows, (void *)region);
		r = rm_http_server_listen_tls(server, &address, tls);
	}
	return r < 0 ? rm_error_set(error, r, "cannot serve HTTPS on %s: %s", where,
			   strerror(-r))
		     : 0;
}

int
rm_http_places_listen(struct rm_http_server *server,
    const struct rm_http_places *places, struct rm_tls *tls, const char *region,
    struct rm_error *error)
{
	int r;

	rm_http_server_names(server, places->names);
	r = listen_plain(server, "", places->tcp, error);
	if (r == 0)
		r = listen_plain(server, "unix:", places->socket, error);
	return r < 0 ? r : listen_tls(server, places, tls, region, error);
}
