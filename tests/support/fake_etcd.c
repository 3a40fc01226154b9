#include "tests/support/fake_etcd.h"

#include <arpa/inet.h>
#include <errno.h>
#include <event2/buffer.h>
#include <event2/http.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "rackmesh/etcd/base64.h"

#define KEYS 512
#define EVENTS 4096
#define STREAMS 32
#define HELD 256
#define TEXT 256   /* maximum length of a key */
#define VALUE 8192 /* maximum length of a value */

struct kv {
	char key[TEXT], value[VALUE];
	int64_t create, mod, version, lease;
	bool deleted; /* for entries of the history */
};

struct fake_etcd_state {
	struct evhttp *http;
	struct kv keys[KEYS], old[KEYS];
	size_t count, old_count;
	int64_t old_revision, last_lease;
	struct kv history[EVENTS];
	size_t history_count;
	struct evhttp_request *streams[STREAMS];
	size_t stream_count;
	struct evhttp_request *held[HELD];
	size_t held_count;
};

/* ---- text ----------------------------------------------------------------- */

static void
add_bytes(struct evbuffer *out, const char *name, const char *text)
{
	char base64[2 * VALUE];
	size_t len = strlen(text);

	rm_base64_encode(text, len, base64);
	evbuffer_add_printf(
	    out, "\"%s\":\"%.*s\"", name, (int)rm_base64_size(len), base64);
}

static void
add_header(struct evbuffer *out, const struct fake_etcd *fake, int64_t revision)
{
	evbuffer_add_printf(out,
	    "\"header\":{\"cluster_id\":\"%" PRIu64
	    "\",\"member_id\":\"1\",\"revision\":\"%" PRId64 "\"}",
	    fake->cluster_id, revision);
}

static void
add_kv(struct evbuffer *out, const struct kv *kv)
{
	evbuffer_add_printf(out, "{");
	add_bytes(out, "key", kv->key);
	if (!kv->deleted) {
		evbuffer_add_printf(out,
		    ",\"create_revision\":\"%" PRId64 "\",\"version\":\"%" PRId64 "\"",
		    kv->create, kv->version);
		if (kv->value[0] != 0) {
			evbuffer_add_printf(out, ",");
			add_bytes(out, "value", kv->value);
		}
		if (kv->lease != 0)
			evbuffer_add_printf(
			    out, ",\"lease\":\"%" PRId64 "\"", kv->lease);
	}
	evbuffer_add_printf(out, ",\"mod_revision\":\"%" PRId64 "\"}", kv->mod);
}

static void
add_event(struct evbuffer *out, const struct fake_etcd *fake, const struct kv *kv,
    int64_t revision)
{
	evbuffer_add_printf(out, "{\"result\":{");
	add_header(out, fake, revision);
	evbuffer_add_printf(
	    out, ",\"events\":[{%s\"kv\":", kv->deleted ? "\"type\":\"DELETE\"," : "");
	add_kv(out, kv);
	evbuffer_add_printf(out, "}]}}\n");
}

static bool
bytes_of(const json_t *object, const char *name, char *text, size_t room)
{
	const char *base64 = json_string_value(json_object_get(object, name));
	char bytes[VALUE];
	size_t len = 0;

	if (base64 == NULL || strlen(base64) / 4 * 3 >= room || room > VALUE ||
	    rm_base64_decode(base64, strlen(base64), bytes, &len) < 0)
		return false;
	memcpy(text, bytes, len);
	text[len] = 0;
	return true;
}

static int64_t
number_of(const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));

	return text != NULL ? strtoll(text, NULL, 10) : 0;
}

/* ---- the store ------------------------------------------------------------ */

static struct kv *
find(struct fake_etcd_state *state, const char *key)
{
	for (size_t i = 0; i < state->count; i++) {
		if (strcmp(state->keys[i].key, key) == 0)
			return &state->keys[i];
	}
	return NULL;
}

/* Returns the key's place in the sorted list. */
static struct kv *
find_or_add(struct fake_etcd_state *state, const char *key)
{
	struct kv *kv = find(state, key);
	size_t i = 0;

	if (kv != NULL || state->count == KEYS)
		return kv;
	while (i < state->count && strcmp(state->keys[i].key, key) < 0)
		i++;
	memmove(&state->keys[i + 1], &state->keys[i],
	    (state->count++ - i) * sizeof(struct kv));
	state->keys[i] = (struct kv){ 0 };
	snprintf(state->keys[i].key, TEXT, "%s", key);
	return &state->keys[i];
}

void
fake_etcd_send(struct fake_etcd *fake, const char *text)
{
	struct fake_etcd_state *state = fake->state;

	for (size_t i = 0; i < state->stream_count; i++) {
		struct evbuffer *out = evbuffer_new();

		evbuffer_add(out, text, strlen(text));
		evhttp_send_reply_chunk(state->streams[i], out);
		evbuffer_free(out);
	}
}

static void
report(struct fake_etcd *fake, const struct kv *kv, int64_t header_revision)
{
	struct evbuffer *out = evbuffer_new();

	add_event(out, fake, kv, header_revision);
	evbuffer_add(out, "", 1);
	fake_etcd_send(fake, (const char *)evbuffer_pullup(out, -1));
	evbuffer_free(out);
}

static void
remember(struct fake_etcd *fake, const struct kv *kv)
{
	struct fake_etcd_state *state = fake->state;

	if (fake->no_events)
		return;
	if (state->history_count < EVENTS)
		state->history[state->history_count++] = *kv;
	report(fake, kv, fake->revision);
}

static void
store_put(struct fake_etcd *fake, const char *key, const char *value, int64_t lease)
{
	struct kv *kv = find_or_add(fake->state, key);

	kv->mod = fake->revision;
	if (kv->create == 0)
		kv->create = fake->revision;
	kv->version++;
	kv->lease = lease;
	snprintf(kv->value, VALUE, "%s", value);
	remember(fake, kv);
}

static void
store_delete(struct fake_etcd *fake, const char *key)
{
	struct fake_etcd_state *state = fake->state;
	struct kv *kv = find(state, key), gone;
	size_t i;

	if (kv == NULL)
		return;
	gone = *kv;
	gone.deleted = true;
	gone.mod = fake->revision;
	i = (size_t)(kv - state->keys);
	memmove(kv, kv + 1, (--state->count - i) * sizeof(*kv));
	remember(fake, &gone);
}

void
fake_etcd_put(struct fake_etcd *fake, const char *key, const char *value)
{
	fake->revision++;
	store_put(fake, key, value, 0);
}

void
fake_etcd_delete(struct fake_etcd *fake, const char *key)
{
	fake->revision++;
	store_delete(fake, key);
}

void
fake_etcd_plant(
    struct fake_etcd *fake, const char *key, const char *value, int64_t mod_revision)
{
	struct kv *kv = find_or_add(fake->state, key);

	kv->create = kv->mod = mod_revision;
	kv->version = 1;
	snprintf(kv->value, VALUE, "%s", value);
}

void
fake_etcd_snapshot(struct fake_etcd *fake)
{
	struct fake_etcd_state *state = fake->state;

	memcpy(state->old, state->keys, sizeof(state->old));
	state->old_count = state->count;
	state->old_revision = fake->revision;
}

const char *
fake_etcd_value(const struct fake_etcd *fake, const char *key)
{
	const struct kv *kv = find(fake->state, key);

	return kv != NULL ? kv->value : NULL;
}

/* ---- requests ------------------------------------------------------------- */

static void
hold(struct fake_etcd *fake, struct evhttp_request *req)
{
	struct fake_etcd_state *state = fake->state;

	if (state->held_count == HELD)
		evhttp_send_reply(req, 503, NULL, NULL);
	else
		state->held[state->held_count++] = req;
}

static void
answer(struct evhttp_request *req, int status, const char *format, ...)
{
	struct evbuffer *out = evbuffer_new();
	va_list args;

	va_start(args, format);
	evbuffer_add_vprintf(out, format, args);
	va_end(args);
	evhttp_send_reply(req, status, "x", out);
	evbuffer_free(out);
}

static void
serve_range(struct fake_etcd *fake, struct evhttp_request *req, const json_t *body)
{
	struct fake_etcd_state *state = fake->state;
	char key[TEXT], end[TEXT] = "";
	int64_t limit = number_of(body, "limit"), given = 0;
	bool list = bytes_of(body, "range_end", end, TEXT), more = false, comma = false;
	bool old = list && fake->behind > 0, behind_it;
	const struct kv *keys = old ? state->old : state->keys;
	size_t count = old ? state->old_count : state->count;
	struct evbuffer *out = evbuffer_new();

	*(list ? &fake->lists : &fake->reads) += 1;
	if (old)
		fake->behind--;
	/* A key that ends in a zero byte: the list begins after that key. */
	memset(key, 1, sizeof(key));
	bytes_of(body, "key", key, TEXT);
	behind_it = list && key[0] != 0 && key[strlen(key) + 1] == 0;
	evbuffer_add_printf(out, "{");
	add_header(
	    out, fake, old ? state->old_revision : fake->revision - fake->shown_less);
	evbuffer_add_printf(out, ",\"kvs\":[");
	for (size_t i = 0; i < count; i++) {
		if (list ? strcmp(keys[i].key, key) < (behind_it ? 1 : 0) ||
			       strcmp(keys[i].key, end) >= 0
			 : strcmp(keys[i].key, key) != 0)
			continue;
		if (limit > 0 && given == limit) {
			more = true;
			break;
		}
		if (comma)
			evbuffer_add_printf(out, ",");
		comma = true;
		add_kv(out, &keys[i]);
		given++;
	}
	evbuffer_add_printf(out, "]%s}", more ? ",\"more\":true" : "");
	evhttp_send_reply(req, 200, "OK", out);
	evbuffer_free(out);
}

static bool
compare_holds(const json_t *compare, const char *target, const struct kv *kv)
{
	if (strcmp(target, "CREATE") == 0)
		return number_of(compare, "create_revision") == (kv ? kv->create : 0);
	if (strcmp(target, "LEASE") == 0)
		return number_of(compare, "lease") == (kv ? kv->lease : 0);
	return number_of(compare, "mod_revision") == (kv ? kv->mod : 0);
}

static bool
compares_hold(struct fake_etcd *fake, const json_t *compares)
{
	const json_t *compare;
	char key[TEXT];
	size_t i;

	json_array_foreach (compares, i, compare) {
		const char *target =
		    json_string_value(json_object_get(compare, "target"));
		const struct kv *kv;

		bytes_of(compare, "key", key, TEXT);
		kv = find(fake->state, key);
		if (!compare_holds(compare, target, kv))
			return false;
	}
	return true;
}

static void
serve_txn(struct fake_etcd *fake, struct evhttp_request *req, const json_t *body)
{
	bool held = compares_hold(fake, json_object_get(body, "compare"));
	const json_t *op;
	size_t i;

	fake->txns++;
	fake->revision += held;
	json_array_foreach (json_object_get(body, "success"), i, op) {
		const json_t *put = json_object_get(op, "request_put");
		char key[TEXT], value[VALUE] = "";

		bytes_of(
		    put != NULL ? put : json_object_get(op, "request_delete_range"),
		    "key", key, TEXT);
		if (held && put != NULL) {
			bytes_of(put, "value", value, VALUE);
			store_put(fake, key, value, number_of(put, "lease"));
		} else if (held) {
			store_delete(fake, key);
		}
	}
	if (fake->silent_txn) {
		hold(fake, req);
		return;
	}
	answer(req, 200,
	    "{\"header\":{\"cluster_id\":\"%" PRIu64 "\",\"revision\":\"%" PRId64
	    "\"}%s}",
	    fake->cluster_id, fake->revision, held ? ",\"succeeded\":true" : "");
}

static void
serve_lease(struct fake_etcd *fake, struct evhttp_request *req, const char *verb,
    const json_t *body)
{
	struct fake_etcd_state *state = fake->state;
	int64_t lease = number_of(body, "ID");
	char header[128];

	snprintf(header, sizeof(header),
	    "\"header\":{\"cluster_id\":\"%" PRIu64 "\",\"revision\":\"%" PRId64 "\"}",
	    fake->cluster_id, fake->revision);
	if (strcmp(verb, "grant") == 0) {
		fake->grants++;
		/* A double cannot represent the difference to the next number. */
		state->last_lease += (INT64_C(1) << 60) + 1;
		answer(req, 200, "{%s,\"ID\":\"%" PRId64 "\",\"TTL\":\"%" PRId64 "\"}",
		    header, state->last_lease, number_of(body, "TTL"));
	} else if (strcmp(verb, "keepalive") == 0) {
		fake->keepalives++;
		if (fake->keepalive_lost)
			hold(fake, req);
		else
			answer(req, 200, "{\"result\":{%s,\"ID\":\"%" PRId64 "\"%s}}\n",
			    header, lease, fake->lease_dead ? "" : ",\"TTL\":\"2\"");
	} else {
		fake->revokes++;
		fake->revision++;
		for (size_t i = 0; i < state->count; i++) {
			if (state->keys[i].lease == lease)
				store_delete(fake, state->keys[i--].key);
		}
		answer(req, 200, "{%s}", header);
	}
}

static void
serve_watch(struct fake_etcd *fake, struct evhttp_request *req, const json_t *body)
{
	const json_t *create = json_object_get(body, "create_request");
	struct fake_etcd_state *state = fake->state;
	struct evbuffer *out = evbuffer_new();

	fake->watches++;
	fake->watched_from = number_of(create, "start_revision");
	if (fake->silent_watch) {
		evbuffer_free(out);
		hold(fake, req);
		return;
	}
	evhttp_send_reply_start(req, 200, "OK");
	evbuffer_add_printf(out, "{\"result\":{");
	add_header(out, fake, fake->revision);
	evbuffer_add_printf(out, ",\"created\":true}}\n");
	if (fake->compacted) {
		evbuffer_add_printf(out, "{\"result\":{");
		add_header(out, fake, fake->revision);
		evbuffer_add_printf(
		    out, ",\"canceled\":true,\"compact_revision\":\"7\"}}\n");
	}
	for (size_t i = 0; i < state->history_count && !fake->compacted; i++) {
		if (state->history[i].mod >= fake->watched_from)
			add_event(out, fake, &state->history[i], fake->revision);
	}
	evhttp_send_reply_chunk(req, out);
	evbuffer_free(out);
	if (state->stream_count < STREAMS)
		state->streams[state->stream_count++] = req;
}

static bool
is_let_in(struct fake_etcd *fake, struct evhttp_request *req)
{
	const char *token =
	    evhttp_find_header(evhttp_request_get_input_headers(req), "Authorization");

	if (fake->token == NULL || (token != NULL && strcmp(token, fake->token) == 0))
		return true;
	if (token == NULL)
		answer(req, 400,
		    "{\"error\":\"x\",\"message\":\"etcdserver: user name is "
		    "empty\",\"code\":3}");
	else
		answer(req, 401,
		    "{\"error\":\"x\",\"message\":\"etcdserver: invalid auth "
		    "token\",\"code\":16}");
	return false;
}

static void
serve(struct evhttp_request *req, void *arg)
{
	struct evbuffer *input = evhttp_request_get_input_buffer(req);
	const char *path = evhttp_request_get_uri(req);
	struct fake_etcd *fake = arg;
	json_t *body = json_loadb((const char *)evbuffer_pullup(input, -1),
	    evbuffer_get_length(input), 0, NULL);

	if (fake->silent) {
		hold(fake, req);
	} else if (strcmp(path, "/v3/auth/authenticate") == 0) {
		fake->logins++;
		if (fake->token == NULL)
			answer(req, 412,
			    "{\"message\":\"etcdserver: authentication is not "
			    "enabled\",\"code\":9}");
		else
			answer(req, 200,
			    "{\"header\":{\"cluster_id\":\"1\",\"revision\":\"1\"},"
			    "\"token\":\"%s\"}",
			    fake->token);
	} else if (!is_let_in(fake, req)) {
		;
	} else if (fake->fail_count > 0) {
		fake->fail_count--;
		answer(req, fake->fail_status, "%s", fake->fail_body);
	} else if (strcmp(path, "/v3/kv/range") == 0) {
		serve_range(fake, req, body);
	} else if (strcmp(path, "/v3/kv/txn") == 0) {
		serve_txn(fake, req, body);
	} else if (strcmp(path, "/v3/kv/compaction") == 0) {
		fake->compactions++;
		fake->compacted_to = number_of(body, "revision");
		answer(req, 200,
		    "{\"header\":{\"cluster_id\":\"%" PRIu64
		    "\",\"revision\":\"%" PRId64 "\"}}",
		    fake->cluster_id, fake->revision);
	} else if (strcmp(path, "/v3/watch") == 0) {
		serve_watch(fake, req, body);
	} else if (strncmp(path, "/v3/lease/", 10) == 0) {
		serve_lease(fake, req, path + 10, body);
	} else {
		answer(req, 404, "Not Found");
	}
	json_decref(body);
}

/* ---- other functions ------------------------------------------------------ */

size_t
fake_etcd_streams(const struct fake_etcd *fake)
{
	size_t count = 0;

	for (size_t i = 0; i < fake->state->stream_count; i++)
		count += evhttp_request_get_connection(fake->state->streams[i]) != NULL;
	return count;
}

void
fake_etcd_event(struct fake_etcd *fake, const char *key, const char *value,
    int64_t mod_revision, int64_t header_revision)
{
	struct kv kv = { .create = mod_revision, .mod = mod_revision, .version = 1 };

	snprintf(kv.key, TEXT, "%s", key);
	snprintf(kv.value, VALUE, "%s", value != NULL ? value : "");
	kv.deleted = value == NULL;
	report(fake, &kv, header_revision);
}

void
fake_etcd_cut(struct fake_etcd *fake)
{
	struct fake_etcd_state *state = fake->state;

	while (state->stream_count > 0)
		evhttp_send_reply_end(state->streams[--state->stream_count]);
}

int
fake_etcd_new(struct event_base *base, struct fake_etcd *ret)
{
	struct sockaddr_in address;
	socklen_t len = sizeof(address);
	struct evhttp_bound_socket *bound;

	*ret = (struct fake_etcd){ .cluster_id = 1, .revision = 1 };
	ret->state = calloc(1, sizeof(*ret->state));
	if (ret->state == NULL)
		return -ENOMEM;
	ret->state->http = evhttp_new(base);
	bound = evhttp_bind_socket_with_handle(ret->state->http, "127.0.0.1", 0);
	if (bound == NULL || getsockname(evhttp_bound_socket_get_fd(bound),
				 (void *)&address, &len) < 0) {
		fake_etcd_clear(ret);
		return -EIO;
	}
	evhttp_set_gencb(ret->state->http, serve, ret);
	snprintf(
	    ret->url, sizeof(ret->url), "http://127.0.0.1:%d", ntohs(address.sin_port));
	return 0;
}

void
fake_etcd_replace(struct fake_etcd *fake)
{
	fake->state->count = fake->state->history_count = 0;
	fake->cluster_id++;
	fake->revision = 1;
	fake_etcd_cut(fake);
}

void
fake_etcd_clear(struct fake_etcd *fake)
{
	struct fake_etcd_state *state = fake->state;

	if (state == NULL)
		return;
	fake_etcd_cut(fake);
	while (state->held_count > 0)
		evhttp_send_reply(state->held[--state->held_count], 503, NULL, NULL);
	evhttp_free(state->http);
	free(state);
	fake->state = NULL;
}
