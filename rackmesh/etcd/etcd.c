#include "rackmesh/etcd/etcd.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/core/clock.h"
#include "rackmesh/etcd/etcd_call.h"
#include "rackmesh/http/http_client.h"
#include "rackmesh/http/http_url.h"

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
	/* Changes the endpoint once, even if many calls to it fail at the same time. */
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
rm_etcd_forget(struct rm_etcd *etcd, const void *arg)
{
	rm_etcd_calls_forget(etcd, arg);
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

/* Sends one request to the current endpoint and waits until it has ended. */
static int
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

		if (!rm_http_url_valid(url) || len > ETCD_MAX_URL / 2)
			return -EINVAL;
		while (url[len - 1] == '/')
			len--;
		etcd->endpoints[i] = strndup(url, len);
		if (etcd->endpoints[i] == NULL)
			return -ENOMEM;
		etcd->endpoint_count++;
	}
	/* so that the controllers of a region do not all begin with the same endpoint
	 */
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

/* ---- the calls: ranges page by page, transactions, leases ---- */

/* Number of keys in the first page, and the most in any page. A later page has as many
 * as the size of the values allows. */
#define OPS_FIRST_KEYS 16
#define OPS_PAGE_KEYS 512
#define OPS_SMALL_PAGE_BYTES (1u << 20)
/* An answer of this size is parsed in one turn, which blocks the loop for that time. */
#define OPS_PAGE_BYTES (16u << 20)
#define OPS_RANGE_BYTES (512u << 20)
#define OPS_MAX_PAGES 4096
#define OPS_GOODBYE_NS (300 * RM_NS_PER_MS)

struct range {
	struct rm_etcd *etcd;
	char *prefix;
	struct rm_etcd_range_request request;
	char *from; /* key of the next page; request.key points to it */
	/* the pages that were read; they own the memory of the values */
	struct rm_etcd_reply *pages;
	size_t page_count, count, size;
	rm_etcd_done *done;
	void *arg;
};

static int range_ask(struct range *range);

static void
range_free(void *arg)
{
	struct range *range = arg;

	for (size_t i = 0; i < range->page_count; i++)
		rm_etcd_reply_clear(&range->pages[i]);
	free(range->pages);
	free(range->from);
	free(range->prefix);
	free(range);
}

static void
range_finish(struct range *range, int r, const char *error)
{
	struct rm_etcd_answer answer = { .r = r };
	struct rm_etcd_value *values = NULL;
	size_t count = 0;

	if (r == 0) {
		answer = range->pages[0].answer;
		values = calloc(range->count + 1, sizeof(*values));
		for (size_t i = 0; values != NULL && i < range->page_count; i++) {
			if (range->pages[i].answer.count > 0)
				memcpy(values + count, range->pages[i].values,
				    range->pages[i].answer.count * sizeof(*values));
			count += range->pages[i].answer.count;
		}
		answer.r = values == NULL ? -ENOMEM : 0;
		answer.values = values;
		answer.count = count;
	}
	snprintf(answer.error, sizeof(answer.error), "%s", error);
	range->done(&answer, range->arg);
	free(values);
	range_free(range);
}

/* The next page begins directly after the last key of this page: at that key with a
 * zero byte appended. All pages are read at the revision of the first one. */
static int
range_turn(struct range *range, const struct rm_etcd_reply *page)
{
	const char *last =
	    page->answer.count > 0 ? page->values[page->answer.count - 1].key : NULL;
	size_t len = last != NULL ? strlen(last) : 0;

	/* A page that does not advance would repeat for ever. */
	if (last == NULL || strncmp(last, range->prefix, strlen(range->prefix)) != 0 ||
	    (range->from != NULL && strcmp(last, range->from) <= 0))
		return -EPROTO;
	free(range->from);
	range->from = strdup(last);
	if (range->from == NULL)
		return -ENOMEM;
	range->request.key = range->from;
	range->request.key_len = len + 1;
	if (page->size < OPS_SMALL_PAGE_BYTES && range->request.limit < OPS_PAGE_KEYS)
		range->request.limit *= 2;
	if (range->request.revision == 0)
		range->request.revision = page->answer.revision;
	return range_ask(range);
}

static int
range_keep(struct range *range, struct rm_etcd_reply *reply)
{
	struct rm_etcd_reply *pages;

	if (range->page_count == OPS_MAX_PAGES ||
	    range->size + reply->size > OPS_RANGE_BYTES ||
	    range->count + reply->answer.count > RM_ETCD_MAX_EVENTS)
		return -EMSGSIZE;
	pages = realloc(range->pages, (range->page_count + 1) * sizeof(*pages));
	if (pages == NULL)
		return -ENOMEM;
	range->pages = pages;
	pages[range->page_count++] = *reply;
	range->count += reply->answer.count;
	range->size += reply->size;
	reply->values = NULL; /* ownership has passed */
	reply->memory = NULL;
	return 0;
}

static void
range_on_reply(struct rm_etcd_reply *reply, void *arg)
{
	struct range *range = arg;
	bool more = reply->more && range->request.prefix;
	int r = reply->answer.r;

	if (reply->cut && range->request.limit > 1) {
		range->request.limit /= 8;
		if (range->request.limit < 1)
			range->request.limit = 1;
		r = range_ask(range);
		if (r == 0)
			return;
	}
	if (r == 0)
		r = range_keep(range, reply);
	if (r == 0 && more) {
		r = range_turn(range, &range->pages[range->page_count - 1]);
		if (r == 0)
			return;
	}
	range_finish(range, r, reply->answer.error);
}

static int
range_ask(struct range *range)
{
	struct rm_etcd_ask ask = {
		.path = "/v3/kv/range",
		.max_answer = OPS_PAGE_BYTES,
		.done = range_on_reply,
		.arg = range,
		.drop = range_free,
		.owner = range->arg,
	};
	int r;

	r = rm_etcd_json_range(&range->request, &ask.takes_body);
	if (r < 0)
		return r;
	return rm_etcd_call(range->etcd, &ask, NULL);
}

int
rm_etcd_range(struct rm_etcd *etcd, const char *key, bool prefix, int64_t revision,
    bool stale_ok, rm_etcd_done *done, void *arg)
{
	struct range *range;
	int r = -ENOMEM;

	if (key[0] == 0 && !prefix)
		return -EINVAL;
	range = calloc(1, sizeof(*range));
	if (range == NULL)
		return -ENOMEM;
	range->etcd = etcd;
	range->done = done;
	range->arg = arg;
	range->prefix = strdup(key);
	if (range->prefix == NULL)
		goto out;
	range->request = (struct rm_etcd_range_request){
		.key = range->prefix,
		.key_len = strlen(key),
		.prefix = prefix,
		.prefix_len = strlen(key),
		.revision = revision,
		.limit = prefix ? OPS_FIRST_KEYS : 0,
		.serializable = stale_ok,
	};
	r = range_ask(range);
	if (r == 0)
		return 0;
out:
	range_free(range);
	return r;
}

struct plain {
	rm_etcd_done *done;
	void *arg;
};

static void
plain_on_reply(struct rm_etcd_reply *reply, void *arg)
{
	struct plain *plain = arg;

	plain->done(&reply->answer, plain->arg);
	free(plain);
}

/* A call with one request and one answer. */
static int
ops_call(struct rm_etcd *etcd, const char *path, char *takes_body, rm_etcd_done *done,
    void *arg)
{
	struct plain *plain = malloc(sizeof(*plain));
	struct rm_etcd_ask ask = {
		.path = path,
		.takes_body = takes_body,
		.done = plain_on_reply,
		.arg = plain,
		.drop = free,
		.owner = arg,
	};
	int r;

	if (plain == NULL) {
		free(takes_body);
		return -ENOMEM;
	}
	*plain = (struct plain){ done, arg };
	r = rm_etcd_call(etcd, &ask, NULL);
	if (r < 0)
		free(plain);
	return r;
}

int
rm_etcd_txn(struct rm_etcd *etcd, const struct rm_etcd_compare *compares,
    size_t compare_count, const struct rm_etcd_op *ops, size_t op_count,
    rm_etcd_done *done, void *arg)
{
	char *body;
	int r;

	r = rm_etcd_json_txn(compares, compare_count, ops, op_count, &body);
	if (r < 0)
		return r;
	return ops_call(etcd, "/v3/kv/txn", body, done, arg);
}

static int
ops_number(struct rm_etcd *etcd, const char *path, const char *field, int64_t number,
    rm_etcd_done *done, void *arg)
{
	char *body;
	int r;

	r = rm_etcd_json_number(field, number, &body);
	if (r < 0)
		return r;
	return ops_call(etcd, path, body, done, arg);
}

int
rm_etcd_compact(struct rm_etcd *etcd, int64_t revision, rm_etcd_done *done, void *arg)
{
	return ops_number(etcd, "/v3/kv/compaction", "revision", revision, done, arg);
}

int
rm_etcd_lease_grant(struct rm_etcd *etcd, int64_t ttl_s, rm_etcd_done *done, void *arg)
{
	return ops_number(etcd, "/v3/lease/grant", "TTL", ttl_s, done, arg);
}

int
rm_etcd_lease_keepalive(
    struct rm_etcd *etcd, int64_t lease, rm_etcd_done *done, void *arg)
{
	return ops_number(etcd, "/v3/lease/keepalive", "ID", lease, done, arg);
}

int
rm_etcd_lease_revoke(struct rm_etcd *etcd, int64_t lease, rm_etcd_done *done, void *arg)
{
	return ops_number(etcd, "/v3/lease/revoke", "ID", lease, done, arg);
}

void
rm_etcd_lease_revoke_now(struct rm_etcd *etcd, int64_t lease)
{
	struct rm_http_exchange exchange = { .timeout_ns = OPS_GOODBYE_NS };
	char *body;

	if (rm_etcd_json_number("ID", lease, &body) < 0)
		return;
	exchange.body = body;
	exchange.body_len = strlen(body);
	rm_etcd_http_now(etcd, "/v3/lease/revoke", &exchange);
	free(body);
}
