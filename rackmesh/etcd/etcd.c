#include "rackmesh/etcd/etcd.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/core/clock.h"
#include "rackmesh/etcd/etcd_call.h"
#include "rackmesh/http/http_client.h"

#define ETCD_MAX_URL 512
#define ETCD_TIMEOUT_NS (2500 * RM_NS_PER_MS)

const struct rm_etcd_counts *
rm_etcd_counts(const struct rm_etcd *etcd)
{
	return &etcd->counts;
}

const char *
rm_etcd_endpoint(const struct rm_etcd *etcd)
{
	return etcd->endpoints[etcd->endpoint];
}

void
rm_etcd_rotate(struct rm_etcd *etcd, size_t from)
{
	/* Many calls fail at once with their endpoint: that is one reason, not many. */
	if (etcd->endpoint != from || etcd->endpoint_count < 2)
		return;
	etcd->endpoint = (from + 1) % etcd->endpoint_count;
	etcd->counts.rotations++;
}

void
rm_etcd_token_refused(struct rm_etcd *etcd)
{
	etcd->has_token = false;
}

void
rm_etcd_hurry(struct rm_etcd *etcd, int64_t timeout_ns)
{
	etcd->hurry_ns = timeout_ns;
}

static int
etcd_exchange(struct rm_etcd *etcd, size_t endpoint, const char *path,
    struct rm_http_exchange *exchange, struct rm_http_call **ret, bool now)
{
	char url[ETCD_MAX_URL], token[RM_ETCD_TOKEN + 32];
	const char *headers[] = { "Content-Type: application/json", NULL, NULL };

	if (snprintf(url, sizeof(url), "%s%s", etcd->endpoints[endpoint], path) >=
	    (int)sizeof(url))
		return -EINVAL;
	if (etcd->token[0] != 0 && etcd->has_token) {
		snprintf(token, sizeof(token), "Authorization: %s", etcd->token);
		headers[1] = token;
	}
	exchange->url = url;
	exchange->headers = headers;
	return now ? rm_http_client_now(etcd->http, exchange)
		   : rm_http_client_start(etcd->http, exchange, ret);
}

int
rm_etcd_http(struct rm_etcd *etcd, size_t endpoint, const char *path,
    struct rm_http_exchange *exchange, struct rm_http_call **ret)
{
	return etcd_exchange(etcd, endpoint, path, exchange, ret, false);
}

int
rm_etcd_http_now(
    struct rm_etcd *etcd, const char *path, struct rm_http_exchange *exchange)
{
	return etcd_exchange(etcd, etcd->endpoint, path, exchange, NULL, true);
}

static int
etcd_set_endpoints(struct rm_etcd *etcd, const struct rm_etcd_options *options)
{
	if (options->endpoint_count == 0 ||
	    options->endpoint_count > RM_ETCD_MAX_ENDPOINTS)
		return -EINVAL;
	for (size_t i = 0; i < options->endpoint_count; i++) {
		const char *url = options->endpoints[i];
		size_t len = strlen(url);

		if ((strncmp(url, "http://", 7) != 0 &&
			strncmp(url, "https://", 8) != 0) ||
		    len > ETCD_MAX_URL / 2)
			return -EINVAL;
		while (url[len - 1] == '/')
			len--;
		etcd->endpoints[i] = strndup(url, len);
		if (etcd->endpoints[i] == NULL)
			return -ENOMEM;
		etcd->endpoint_count++;
	}
	/* Not everybody to the first one. */
	etcd->endpoint = options->random_seed % etcd->endpoint_count;
	return 0;
}

int
rm_etcd_new(struct rm_loop *loop, struct rm_http_client *http,
    const struct rm_etcd_options *options, struct rm_etcd **ret)
{
	struct rm_etcd *etcd = calloc(1, sizeof(*etcd));
	int r;

	if (etcd == NULL)
		return -ENOMEM;
	etcd->loop = loop;
	etcd->http = http;
	etcd->timeout_ns =
	    options->timeout_ns > 0 ? options->timeout_ns : ETCD_TIMEOUT_NS;
	r = etcd_set_endpoints(etcd, options);
	if (r == 0 && options->user != NULL) {
		etcd->user = strdup(options->user);
		etcd->password =
		    strdup(options->password != NULL ? options->password : "");
		if (etcd->user == NULL || etcd->password == NULL)
			r = -ENOMEM;
	}
	if (r < 0) {
		rm_etcd_free(etcd);
		return r;
	}
	*ret = etcd;
	return 0;
}

void
rm_etcd_free(struct rm_etcd *etcd)
{
	if (etcd == NULL)
		return;
	while (etcd->calls != NULL)
		rm_etcd_call_cancel(etcd->calls);
	for (size_t i = 0; i < etcd->endpoint_count; i++)
		free(etcd->endpoints[i]);
	free(etcd->user);
	free(etcd->password);
	free(etcd);
}
