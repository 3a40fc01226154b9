#include "rackmesh/etcd/etcd_call.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/etcd/base64.h"
#include "rackmesh/etcd/etcd_json.h"
#include "rackmesh/http/http_client.h"

#define REQUEST_MAX_BYTES (1500u << 10) /* etcd takes 1.5 MiB in one request */

static int call_begin(struct rm_etcd_call *call);

/* Closes the stream; *text is what was written to it. */
static int
request_close(FILE *out, char **text, int r, char **ret)
{
	if (ferror(out) && r == 0)
		r = -ENOMEM;
	if (fclose(out) != 0 && r == 0)
		r = -ENOMEM;
	if (r < 0) {
		free(*text);
		return r;
	}
	*ret = *text;
	return 0;
}

/* Writes "name":"base64". */
static int
put_bytes(FILE *out, const char *name, const void *data, size_t len)
{
	char *text = malloc(rm_base64_size(len) + 1);
	int r;

	if (text == NULL)
		return -ENOMEM;
	r = rm_base64_encode(data, len, text);
	if (r == 0)
		fprintf(out, "\"%s\":\"%s\"", name, text);
	free(text);
	return r;
}

/* Writes the end of the range of keys with this prefix: the prefix with its last byte
 * increased; bytes of 0xff at its end are left out. "\0" means the end of all keys. */
static int
put_range_end(FILE *out, const char *prefix, size_t len)
{
	char *end;
	int r;

	while (len > 0 && (unsigned char)prefix[len - 1] == 0xff)
		len--;
	if (len == 0)
		return put_bytes(out, "range_end", "", 1);
	end = malloc(len);
	if (end == NULL)
		return -ENOMEM;
	memcpy(end, prefix, len);
	end[len - 1]++;
	r = put_bytes(out, "range_end", end, len);
	free(end);
	return r;
}

/* An empty prefix begins at "\0", the first of all keys. */
static int
put_range_key(FILE *out, const char *key, size_t len)
{
	return put_bytes(out, "key", len > 0 ? key : "", len > 0 ? len : 1);
}

int
rm_etcd_json_range(const struct rm_etcd_range_request *request, char **ret)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	int r;

	if (out == NULL)
		return -ENOMEM;
	fputc('{', out);
	r = put_range_key(out, request->key, request->key_len);
	if (r == 0 && request->prefix) {
		fputc(',', out);
		r = put_range_end(out, request->key, request->prefix_len);
	}
	if (request->revision > 0)
		fprintf(out, ",\"revision\":\"%" PRId64 "\"", request->revision);
	if (request->limit > 0)
		fprintf(out, ",\"limit\":\"%" PRId64 "\"", request->limit);
	if (request->serializable)
		fputs(",\"serializable\":true", out);
	if (request->keys_only)
		fputs(",\"keys_only\":true", out);
	fputc('}', out);
	return request_close(out, &text, r, ret);
}

static int
put_compare(FILE *out, const struct rm_etcd_compare *compare)
{
	static const struct {
		const char *target, *field;
	} terms[] = {
		[RM_ETCD_CREATE_REVISION] = { "CREATE", "create_revision" },
		[RM_ETCD_MOD_REVISION] = { "MOD", "mod_revision" },
		[RM_ETCD_LEASE] = { "LEASE", "lease" },
	};
	int r;

	fputc('{', out);
	r = put_bytes(out, "key", compare->key, strlen(compare->key));
	fprintf(out, ",\"target\":\"%s\",\"result\":\"EQUAL\",\"%s\":\"%" PRId64 "\"}",
	    terms[compare->target].target, terms[compare->target].field,
	    compare->equals);
	return r;
}

static int
put_op(FILE *out, const struct rm_etcd_op *op)
{
	int r;

	fprintf(out, "{\"%s\":{",
	    op->value != NULL ? "request_put" : "request_delete_range");
	r = put_bytes(out, "key", op->key, strlen(op->key));
	if (r == 0 && op->value != NULL) {
		fputc(',', out);
		r = put_bytes(out, "value", op->value, op->value_len);
		fprintf(out, ",\"lease\":\"%" PRId64 "\"", op->lease);
	}
	fputs("}}", out);
	return r;
}

static int
txn_check(const struct rm_etcd_compare *compares, size_t compare_count,
    const struct rm_etcd_op *ops, size_t op_count)
{
	size_t bytes = 0;

	if (op_count > RM_ETCD_MAX_OPS || compare_count > RM_ETCD_MAX_OPS)
		return -EMSGSIZE;
	for (size_t i = 0; i < compare_count; i++) {
		if (compares[i].key[0] == 0)
			return -EINVAL;
		bytes += strlen(compares[i].key);
	}
	for (size_t i = 0; i < op_count; i++) {
		if (ops[i].key[0] == 0)
			return -EINVAL;
		if (ops[i].value != NULL && ops[i].value_len > RM_ETCD_MAX_VALUE_BYTES)
			return -EMSGSIZE;
		bytes +=
		    strlen(ops[i].key) + (ops[i].value != NULL ? ops[i].value_len : 0);
	}
	return bytes > REQUEST_MAX_BYTES ? -EMSGSIZE : 0;
}

int
rm_etcd_json_txn(const struct rm_etcd_compare *compares, size_t compare_count,
    const struct rm_etcd_op *ops, size_t op_count, char **ret)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out;
	int r;

	r = txn_check(compares, compare_count, ops, op_count);
	if (r < 0)
		return r;
	out = open_memstream(&text, &len);
	if (out == NULL)
		return -ENOMEM;
	fputs("{\"compare\":[", out);
	for (size_t i = 0; r == 0 && i < compare_count; i++) {
		if (i > 0)
			fputc(',', out);
		r = put_compare(out, &compares[i]);
	}
	fputs("],\"success\":[", out);
	for (size_t i = 0; r == 0 && i < op_count; i++) {
		if (i > 0)
			fputc(',', out);
		r = put_op(out, &ops[i]);
	}
	fputs("]}", out);
	return request_close(out, &text, r, ret);
}

int
rm_etcd_json_number(const char *field, int64_t number, char **ret)
{
	char *text;

	if (asprintf(&text, "{\"%s\":\"%" PRId64 "\"}", field, number) < 0)
		return -ENOMEM;
	*ret = text;
	return 0;
}

int
rm_etcd_json_watch(const char *prefix, int64_t from, char **ret)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	int r;

	if (out == NULL)
		return -ENOMEM;
	fputs("{\"create_request\":{", out);
	r = put_range_key(out, prefix, strlen(prefix));
	fputc(',', out);
	if (r == 0)
		r = put_range_end(out, prefix, strlen(prefix));
	fprintf(out, ",\"start_revision\":\"%" PRId64 "\",\"progress_notify\":true}}",
	    from);
	return request_close(out, &text, r, ret);
}

static int
rm_etcd_json_login(const char *user, const char *password, char **ret)
{
	json_t *root = json_pack(
	    "{s:s, s:s}", "name", user, "password", password != NULL ? password : "");
	char *text = root != NULL ? json_dumps(root, JSON_COMPACT) : NULL;

	json_decref(root);
	if (text == NULL)
		return -EINVAL; /* maximum number of likely not UTF-8 */
	*ret = text;
	return 0;
}

struct rm_etcd_call {
	struct rm_etcd *etcd;
	struct rm_etcd_call *next; /* list of all calls that have not ended */
	struct rm_etcd_ask ask;    /* the body of the request belongs to the call */
	struct rm_http_call *http; /* NULL: the call waits for a token */
	size_t endpoint;           /* the endpoint to which this call was sent */
	uint64_t token; /* the number of the token with which this call was sent */
	bool is_login, repeated;
};

static int call_begin(struct rm_etcd_call *call);

static void
call_remove(struct rm_etcd_call *call)
{
	struct rm_etcd *etcd = call->etcd;
	struct rm_etcd_call **at = &etcd->calls;

	while (*at != call)
		at = &(*at)->next;
	*at = call->next;
	etcd->call_count--;
	if (etcd->login == call)
		etcd->login = NULL;
}

static void
call_free(struct rm_etcd_call *call)
{
	free(call->ask.takes_body);
	free(call);
}

void
rm_etcd_call_cancel(struct rm_etcd_call *call)
{
	call_remove(call);
	if (call->http != NULL)
		rm_http_call_cancel(call->http);
	if (call->ask.drop != NULL)
		call->ask.drop(call->ask.arg);
	call_free(call);
}

void
rm_etcd_calls_forget(struct rm_etcd *etcd, const void *arg)
{
	struct rm_etcd_call *call = etcd->calls, *next;

	for (; call != NULL; call = next) {
		next = call->next;
		if (call->ask.owner == arg && !call->is_login)
			rm_etcd_call_cancel(call);
	}
}

/* Removes the call from the client, reports its end to its owner, and frees it. */
static void
call_finish(struct rm_etcd_call *call, struct rm_etcd_reply *reply)
{
	struct rm_etcd *etcd = call->etcd;

	call_remove(call);
	if (reply->answer.r < 0)
		etcd->counts.failed++;
	if (reply->answer.r == -EPROTO)
		etcd->counts.bad_answers++;
	call->ask.done(reply, call->ask.arg);
	rm_etcd_reply_clear(reply);
	call_free(call);
}

/* Chooses an error that says whether the request may have reached the server, by
 * libcurl's result. */
static void
reply_of_transport(int r, const char *reason, struct rm_etcd_reply *ret)
{
	*ret = (struct rm_etcd_reply){ .rotate = r != -ECANCELED };
	switch (r) {
	case -ETIMEDOUT:
	case -ECONNREFUSED:
	case -EHOSTUNREACH:
	case -ENETUNREACH:
	case -EINVAL:
	case -ECANCELED:
		ret->answer.r = r;
		break;
	default:
		ret->answer.r = -EIO;
		break;
	}
	/* Keeps the text, too: an errno is not precise enough for an error of TLS, for
	 * example. */
	snprintf(ret->answer.error, sizeof(ret->answer.error), "%s",
	    reason[0] != '\0' ? reason : strerror(-r));
}

static void
call_on_answer(const struct rm_http_answer *answer, void *arg)
{
	struct rm_etcd_call *call = arg;
	struct rm_etcd *etcd = call->etcd;
	struct rm_etcd_reply reply;

	call->http = NULL;
	if (answer->r == -EMSGSIZE) {
		reply = (struct rm_etcd_reply){ .answer.r = -EMSGSIZE, .cut = true };
		snprintf(reply.answer.error, sizeof(reply.answer.error),
		    "the answer is too large");
	} else if (answer->r < 0) {
		reply_of_transport(answer->r, answer->reason, &reply);
	} else {
		rm_etcd_json_answer(
		    answer->status, answer->body, answer->body_len, &reply);
		reply.size = answer->body_len;
	}
	if (reply.rotate)
		rm_etcd_rotate(etcd, call->endpoint);
	if (reply.token_refused && etcd->user != NULL && !call->repeated &&
	    !call->is_login) {
		call->repeated = true;
		if (etcd->token_number == call->token)
			rm_etcd_token_refused(etcd);
		if (call_begin(call) == 0) {
			rm_etcd_reply_clear(&reply);
			return;
		}
	}
	call_finish(call, &reply);
}

static int
call_send(struct rm_etcd_call *call)
{
	struct rm_etcd *etcd = call->etcd;
	struct rm_http_exchange exchange = {
		.body = call->ask.takes_body,
		.body_len = strlen(call->ask.takes_body),
		.max_body_bytes = call->ask.max_answer,
		.whole = true,
		.timeout_ns = call->ask.timeout_ns,
		.done = call_on_answer,
		.arg = call,
	};

	call->endpoint = call->ask.pinned ? call->ask.endpoint : etcd->endpoint;
	call->token = etcd->token_number;
	return rm_etcd_http(
	    etcd, call->endpoint, call->ask.path, &exchange, &call->http);
}

static int
call_new(struct rm_etcd *etcd, const struct rm_etcd_ask *ask, struct rm_etcd_call **ret)
{
	struct rm_etcd_call *call = calloc(1, sizeof(*call));

	if (call == NULL) {
		free(ask->takes_body);
		return -ENOMEM;
	}
	call->etcd = etcd;
	call->ask = *ask;
	if (ask->timeout_ns == 0)
		call->ask.timeout_ns =
		    etcd->hurry_ns > 0 ? etcd->hurry_ns : etcd->timeout_ns;
	call->next = etcd->calls;
	etcd->calls = call;
	etcd->call_count++;
	*ret = call;
	return 0;
}

static struct rm_etcd_call *
first_waiting(struct rm_etcd *etcd, uint64_t number)
{
	struct rm_etcd_call *call = etcd->calls;

	while (call != NULL && (call->http != NULL || call->token > number))
		call = call->next;
	return call;
}

static void
login_on_answer(struct rm_etcd_reply *reply, void *arg)
{
	struct rm_etcd *etcd = arg;
	uint64_t number = etcd->token_number++;
	struct rm_etcd_call *call;

	etcd->has_token =
	    reply->login_unknown || (reply->answer.r == 0 && reply->token[0] != 0);
	if (etcd->has_token) {
		memcpy(etcd->token, reply->token, sizeof(etcd->token));
		etcd->counts.authentications++;
	} else if (reply->answer.r == 0) {
		reply->answer.r = -EPROTO;
	}
	/* Handles the calls that waited for this token. Other calls may begin to wait
	 * meanwhile. */
	while ((call = first_waiting(etcd, number)) != NULL) {
		struct rm_etcd_reply copy = { .answer = reply->answer };
		int r = etcd->has_token ? call_send(call) : reply->answer.r;

		if (r == 0)
			continue;
		copy.answer.r = r;
		call_finish(call, &copy);
	}
}

static int
login_begin(struct rm_etcd *etcd)
{
	struct rm_etcd_ask ask = {
		.path = "/v3/auth/authenticate",
		.done = login_on_answer,
		.arg = etcd,
	};
	struct rm_etcd_call *call;
	int r;

	if (etcd->login != NULL)
		return 0;
	r = rm_etcd_json_login(etcd->user, etcd->password, &ask.takes_body);
	if (r == 0)
		r = call_new(etcd, &ask, &call);
	if (r < 0)
		return r;
	call->is_login = true;
	r = call_send(call);
	if (r < 0) {
		call_remove(call);
		call_free(call);
		return r;
	}
	etcd->login = call;
	return 0;
}

/* Sends the call, or lets it wait for a token. */
static int
call_begin(struct rm_etcd_call *call)
{
	struct rm_etcd *etcd = call->etcd;

	if (etcd->user == NULL || etcd->has_token)
		return call_send(call);
	call->token = etcd->token_number;
	return login_begin(etcd);
}

int
rm_etcd_call(
    struct rm_etcd *etcd, const struct rm_etcd_ask *ask, struct rm_etcd_call **ret)
{
	struct rm_etcd_call *call;
	int r;

	if (etcd->call_count >= RM_ETCD_MAX_CALLS + (etcd->login != NULL)) {
		free(ask->takes_body);
		return -EAGAIN;
	}
	r = call_new(etcd, ask, &call);
	if (r < 0)
		return r;
	r = call_begin(call);
	if (r < 0) {
		call_remove(call);
		call_free(call);
		return r;
	}
	etcd->counts.calls++;
	if (ret != NULL)
		*ret = call;
	return 0;
}
