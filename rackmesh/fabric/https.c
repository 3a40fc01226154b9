#include "rackmesh/fabric/https.h"

#include <errno.h>

#include "rackmesh/base/address.h"
#include "rackmesh/base/http_server.h"
#include "rackmesh/fabric/authority.h"

static bool
allows(const char *identity, enum rm_http_verb verb, char *why, size_t len, void *arg)
{
	const struct rm_request request = {
		.verb = verb == RM_HTTP_READ ? RM_VERB_READ : RM_VERB_CHANGE,
		.region = arg,
	};

	/* Over TLS there is always one. */
	return identity[0] != '\0' && rm_authority_admits(identity, &request, why, len);
}

int
rm_https_listen(struct rm_http_server *server, const char *where, struct rm_tls *tls,
    const char *region)
{
	struct rm_address address;
	int r;

	if (where[0] == '\0')
		return 0;
	if (tls == NULL)
		return -EINVAL;
	r = rm_address_parse(where, -1, &address);
	if (r < 0)
		return -EINVAL;
	rm_http_server_authorise(server, allows, (void *)region);
	return rm_http_server_listen_tls(server, &address, tls);
}
