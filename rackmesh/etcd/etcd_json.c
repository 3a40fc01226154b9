#include "rackmesh/etcd/etcd_json.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/etcd/base64.h"

struct rm_etcd_error {
	int r;
	bool token_refused; /* the server has refused the token: authenticate again */
	bool login_unknown; /* this cluster has no authentication */
	bool rotate;        /* another member may succeed */
	char text[160];     /* printable text */
};

enum code { /* status code of gRPC */
	CODE_CANCELED = 1,
	CODE_UNKNOWN = 2,
	CODE_INVALID = 3,
	CODE_DEADLINE = 4,
	CODE_NOT_FOUND = 5,
	CODE_DENIED = 7,
	CODE_EXHAUSTED = 8,
	CODE_PRECONDITION = 9,
	CODE_OUT_OF_RANGE = 11,
	CODE_UNAVAILABLE = 14,
	CODE_UNAUTHENTICATED = 16,
};

struct meaning {
	int code;         /* status code; 0: any */
	const char *part; /* a part of the server's message; "": any message */
	int r;
};

/* The first row that matches decides. */
/* clang-format off */
static const struct meaning meanings[] = {
	{ 0,                    "invalid auth token",            -EACCES },
	{ 0,                    "user name is empty",            -EACCES },
	{ 0,                    "revision of auth store is old", -EACCES },
	{ CODE_INVALID,         "authentication failed",         -EACCES },
	{ CODE_INVALID,         "request is too large",          -EMSGSIZE },
	{ CODE_INVALID,         "too many operations",           -EMSGSIZE },
	{ CODE_INVALID,         "",                              -EINVAL },
	{ CODE_DEADLINE,        "",                              -ETIMEDOUT },
	{ CODE_NOT_FOUND,       "",                              -ENOENT },
	{ CODE_DENIED,          "",                              -EACCES },
	{ CODE_EXHAUSTED,       "database space exceeded",       -ENOSPC },
	{ CODE_EXHAUSTED,       "larger than max",               -EMSGSIZE },
	{ CODE_EXHAUSTED,       "",                              -EAGAIN },
	{ CODE_PRECONDITION,    "",                              -EINVAL },
	{ CODE_OUT_OF_RANGE,    "has been compacted",            -ESTALE },
	{ CODE_OUT_OF_RANGE,    "",                              -EAGAIN },
	{ CODE_UNAVAILABLE,     "timed out",                     -ETIMEDOUT },
	{ CODE_UNAVAILABLE,     "no leader",                     -EAGAIN },
	{ CODE_UNAUTHENTICATED, "",                              -EACCES },
	{ CODE_UNKNOWN,         "deadline exceeded",             -ETIMEDOUT },
	{ 0,                    "",                              -EIO },
};
/* clang-format on */

static void
set_text(struct rm_etcd_error *error, const char *text, size_t len)
{
	size_t n = 0;

	for (size_t i = 0; i < len && n < sizeof(error->text) - 1; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c == 0)
			break;
		error->text[n++] = c >= ' ' && c < 127 ? (char)c : '?';
	}
	error->text[n] = 0;
}

static void
set_meaning(struct rm_etcd_error *error, int code)
{
	const struct meaning *m = meanings;

	while (
	    (m->code != 0 && m->code != code) || strstr(error->text, m->part) == NULL)
		m++;
	error->r = m->r;
	error->token_refused =
	    code == CODE_UNAUTHENTICATED || (m->r == -EACCES && m->code == 0);
	error->login_unknown = strstr(error->text, "authentication is not enabled");
	error->rotate = m->r == -EIO || m->r == -ETIMEDOUT || m->r == -EAGAIN;
}

/* Sets the error for an HTTP status of the gateway, or of a proxy in front of etcd. */
static void
set_status(struct rm_etcd_error *error, long status)
{
	if (status == 401 || status == 403)
		error->r = -EACCES;
	else if (status == 413)
		error->r = -EMSGSIZE;
	else if (status == 429)
		error->r = -EAGAIN;
	/* The gateway's error for a client certificate that contains a common name. */
	else if (status == 400 && strstr(error->text, "CommonName") != NULL)
		error->r = -EACCES;
	else if (status >= 500)
		error->r = -EIO;
	else
		error->r = -EPROTO;
	error->rotate = true;
}

/* root: the body if it is JSON, else NULL. */
static void
rm_etcd_error_read(long status, const json_t *root, const char *text, size_t len,
    struct rm_etcd_error *ret)
{
	const json_t *nested = json_object_get(root, "error");
	const json_t *from = json_is_object(nested) ? nested : root;
	const json_t *code = json_object_get(from, "code");
	const json_t *message = json_object_get(from, "message");

	*ret = (struct rm_etcd_error){ 0 };
	if (code == NULL)
		code = json_object_get(from, "grpc_code");
	if (json_is_integer(code) && json_integer_value(code) > 0 &&
	    json_integer_value(code) <= CODE_UNAUTHENTICATED) {
		set_text(ret, json_string_value(message), json_string_length(message));
		set_meaning(ret, (int)json_integer_value(code));
	} else {
		set_text(ret, text, len);
		set_status(ret, status);
	}
	if (ret->text[0] == 0)
		snprintf(ret->text, sizeof(ret->text), "HTTP status %ld", status);
}

static void
rm_etcd_error_of_cancel(
    const char *reason, int64_t compacted, struct rm_etcd_error *ret)
{
	*ret = (struct rm_etcd_error){ .r = -ECANCELED };
	if (reason != NULL)
		set_text(ret, reason, strlen(reason));
	if (compacted > 0 || strstr(ret->text, "compacted") != NULL) {
		ret->r = -ESTALE;
	} else if (strstr(ret->text, "ermission") != NULL ||
		   strstr(ret->text, "auth") != NULL) {
		/* etcd gives the same error for a token that has expired. */
		ret->r = -EACCES;
		ret->token_refused = true;
	}
	if (ret->text[0] == 0)
		snprintf(ret->text, sizeof(ret->text), "%s",
		    ret->r == -ESTALE ? "compacted" : "canceled");
}

/* Reads a number as the gateway writes it: as a string, and not at all if it is 0;
 * plain numbers are accepted, too. It never becomes a double: lease ids are larger than
 * 2^53.
 */
static bool
read_number(const json_t *object, const char *name, bool may_be_negative, int64_t *ret)
{
	const json_t *field = json_object_get(object, name);
	const char *text;
	int64_t number;
	char *end;

	if (field == NULL) {
		*ret = 0;
		return true;
	}
	if (json_is_integer(field)) {
		number = json_integer_value(field);
	} else {
		text = json_string_value(field);
		if (text == NULL || strchr("-0123456789", text[0]) == NULL)
			return false;
		errno = 0;
		number = strtoimax(text, &end, 10);
		if (end == text || *end != 0 || errno != 0)
			return false;
	}
	if (number < 0 && !may_be_negative)
		return false;
	*ret = number;
	return true;
}

static bool
read_cluster(const json_t *header, uint64_t *ret)
{
	const char *text = json_string_value(json_object_get(header, "cluster_id"));
	uint64_t number;
	char *end;

	if (text == NULL || text[0] < '0' || text[0] > '9')
		return false;
	errno = 0;
	number = strtoumax(text, &end, 10);
	if (*end != 0 || errno != 0)
		return false;
	*ret = number;
	return true;
}

static bool
read_header(const json_t *object, uint64_t *cluster_id, int64_t *revision)
{
	const json_t *header = json_object_get(object, "header");

	return json_is_object(header) && read_cluster(header, cluster_id) &&
	       read_number(header, "revision", false, revision);
}

/* Decodes bytes to *at, terminated, and moves *at behind them. An absent field has no
 * bytes. */
static bool
read_bytes(const json_t *kv, const char *name, char **at, const char **ret, size_t *len)
{
	const json_t *field = json_object_get(kv, name);

	*ret = *at;
	*len = 0;
	if (field != NULL) {
		if (!json_is_string(field) ||
		    rm_base64_decode(json_string_value(field),
			json_string_length(field), *at, len) < 0)
			return false;
	}
	(*at)[*len] = 0;
	*at += *len + 1;
	return true;
}

/* *whole: false if the key contains a zero byte, so that it is no string. */
static bool
read_kv(const json_t *kv, char **at, struct rm_etcd_value *ret, bool *whole)
{
	size_t key_len;

	if (!json_is_object(kv) || !read_bytes(kv, "key", at, &ret->key, &key_len) ||
	    !read_bytes(kv, "value", at, &ret->value, &ret->value_len) ||
	    !read_number(kv, "create_revision", false, &ret->create_revision) ||
	    !read_number(kv, "mod_revision", false, &ret->mod_revision) ||
	    !read_number(kv, "version", false, &ret->version) ||
	    !read_number(kv, "lease", true, &ret->lease))
		return false;
	*whole = strlen(ret->key) == key_len;
	return true;
}

/* Memory for all keys and values of a text of this length, with their terminators. */
static char *
memory_for(size_t text_len, size_t count)
{
	return malloc(text_len + 2 * count + 1);
}

static int
read_values(const json_t *root, size_t text_len, struct rm_etcd_reply *ret)
{
	const json_t *kvs = json_object_get(root, "kvs");
	size_t count = json_array_size(kvs);
	char *at;

	if (kvs != NULL && !json_is_array(kvs))
		return -EPROTO;
	if (count == 0)
		return 0;
	if (count > RM_ETCD_MAX_EVENTS)
		return -EPROTO;
	ret->values = calloc(count, sizeof(*ret->values));
	ret->memory = at = memory_for(text_len, count);
	if (ret->values == NULL || ret->memory == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		bool whole;

		if (!read_kv(json_array_get(kvs, i), &at,
			&ret->values[ret->answer.count], &whole))
			return -EPROTO;
		if (whole)
			ret->answer.count++;
		else
			ret->left_out++;
	}
	ret->answer.values = ret->values;
	return 0;
}

static int
read_reply(const json_t *root, size_t text_len, struct rm_etcd_reply *ret)
{
	const char *token = json_string_value(json_object_get(root, "token"));
	struct rm_etcd_answer *answer = &ret->answer;

	if (!read_header(root, &answer->cluster_id, &answer->revision) ||
	    !read_number(root, "ID", true, &answer->lease) ||
	    !read_number(root, "TTL", true, &answer->ttl_s))
		return -EPROTO;
	if (answer->ttl_s < 0)
		answer->ttl_s = 0;
	answer->succeeded = json_is_true(json_object_get(root, "succeeded"));
	ret->more = json_is_true(json_object_get(root, "more"));
	if (token != NULL && snprintf(ret->token, sizeof(ret->token), "%s", token) >=
				 (int)sizeof(ret->token))
		return -EPROTO;
	return read_values(root, text_len, ret);
}

static void
reply_fail(struct rm_etcd_reply *ret, const struct rm_etcd_error *error)
{
	rm_etcd_reply_clear(ret);
	*ret = (struct rm_etcd_reply){ .answer.r = error->r };
	ret->token_refused = error->token_refused;
	ret->login_unknown = error->login_unknown;
	ret->rotate = error->rotate;
	memcpy(ret->answer.error, error->text, sizeof(ret->answer.error));
}

void
rm_etcd_json_answer(
    long status, const char *text, size_t len, struct rm_etcd_reply *ret)
{
	json_t *root = json_loadb(text, len, 0, NULL);
	const json_t *stream_error = json_object_get(root, "error");
	const json_t *result = json_object_get(root, "result");
	struct rm_etcd_error error;
	int r;

	*ret = (struct rm_etcd_reply){ 0 };
	if (status != 200 || stream_error != NULL) {
		rm_etcd_error_read(status, root, text, len, &error);
		reply_fail(ret, &error);
		goto out;
	}
	r = json_is_object(root) ? read_reply(result != NULL ? result : root, len, ret)
				 : -EPROTO;
	if (r < 0) {
		error = (struct rm_etcd_error){
			.r = r, .rotate = r == -EPROTO, .text = "a malformed answer"
		};
		reply_fail(ret, &error);
	}
out:
	json_decref(root);
}

void
rm_etcd_reply_clear(struct rm_etcd_reply *reply)
{
	free(reply->values);
	free(reply->memory);
	reply->values = NULL;
	reply->memory = NULL;
	reply->answer.values = NULL;
	reply->answer.count = 0;
}

static int
read_event(const json_t *event, char **at, struct rm_etcd_line *ret)
{
	const char *type = json_string_value(json_object_get(event, "type"));
	struct rm_etcd_event *to = &ret->events[ret->count];
	bool whole;

	if (!json_is_object(event) ||
	    !read_kv(json_object_get(event, "kv"), at, &to->value, &whole) ||
	    to->value.mod_revision == 0)
		return -EPROTO;
	if (type != NULL && strcmp(type, "PUT") != 0 && strcmp(type, "DELETE") != 0)
		return -EPROTO;
	to->is_delete = type != NULL && type[0] == 'D';
	if (to->value.mod_revision > ret->last)
		ret->last = to->value.mod_revision;
	if (whole)
		ret->count++;
	else
		ret->left_out++;
	return 0;
}

static int
read_events(const json_t *result, size_t text_len, struct rm_etcd_line *ret)
{
	const json_t *events = json_object_get(result, "events");
	size_t count = json_array_size(events);
	char *at;
	int r = 0;

	if (events != NULL && !json_is_array(events))
		return -EPROTO;
	if (count == 0)
		return 0;
	if (count > RM_ETCD_MAX_EVENTS)
		return -EPROTO;
	ret->events = calloc(count, sizeof(*ret->events));
	ret->memory = at = memory_for(text_len, count);
	if (ret->events == NULL || ret->memory == NULL)
		return -ENOMEM;
	for (size_t i = 0; r == 0 && i < count; i++)
		r = read_event(json_array_get(events, i), &at, ret);
	return r;
}

static int
read_line(const json_t *root, size_t text_len, struct rm_etcd_line *ret)
{
	const json_t *result = json_object_get(root, "result");
	struct rm_etcd_error error;
	int64_t compacted;

	if (json_object_get(root, "error") != NULL) {
		rm_etcd_error_read(200, root, "", 0, &error);
		ret->r = error.r;
		ret->token_refused = error.token_refused;
		memcpy(ret->error, error.text, sizeof(ret->error));
		return 0;
	}
	if (!json_is_object(result) ||
	    !read_header(result, &ret->cluster_id, &ret->revision) ||
	    !read_number(result, "compact_revision", true, &compacted))
		return -EPROTO;
	ret->created = json_is_true(json_object_get(result, "created"));
	if (json_is_true(json_object_get(result, "canceled"))) {
		rm_etcd_error_of_cancel(
		    json_string_value(json_object_get(result, "cancel_reason")),
		    compacted, &error);
		ret->r = error.r;
		ret->token_refused = error.token_refused;
		memcpy(ret->error, error.text, sizeof(ret->error));
		return 0;
	}
	return read_events(result, text_len, ret);
}

int
rm_etcd_json_line(const char *text, size_t len, struct rm_etcd_line *ret)
{
	json_t *root = json_loadb(text, len, 0, NULL);
	struct rm_etcd_line line = { 0 };
	int r;

	if (root == NULL)
		return -EPROTO;
	r = read_line(root, len, &line);
	json_decref(root);
	if (r < 0) {
		rm_etcd_line_clear(&line);
		return r;
	}
	*ret = line;
	return 0;
}

void
rm_etcd_line_clear(struct rm_etcd_line *line)
{
	free(line->events);
	free(line->memory);
	line->events = NULL;
	line->memory = NULL;
	line->count = 0;
}
