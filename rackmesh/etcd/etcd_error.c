#include "rackmesh/etcd/etcd_error.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum code { /* gRPC's */
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
	int code;          /* 0: any */
	const char *words; /* within the message; "": any */
	int r;
};

/* The first that fits counts. */
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
	    (m->code != 0 && m->code != code) || strstr(error->text, m->words) == NULL)
		m++;
	error->r = m->r;
	error->token_refused =
	    code == CODE_UNAUTHENTICATED || (m->r == -EACCES && m->code == 0);
	error->login_unknown = strstr(error->text, "authentication is not enabled");
	error->rotate = m->r == -EIO || m->r == -ETIMEDOUT || m->r == -EAGAIN;
}

/* Something on the way to etcd, or its gateway alone, has said it. */
static void
set_status(struct rm_etcd_error *error, long status)
{
	if (status == 401 || status == 403)
		error->r = -EACCES;
	else if (status == 413)
		error->r = -EMSGSIZE;
	else if (status == 429)
		error->r = -EAGAIN;
	/* The gateway's own sentence about a client certificate with a name. */
	else if (status == 400 && strstr(error->text, "CommonName") != NULL)
		error->r = -EACCES;
	else if (status >= 500)
		error->r = -EIO;
	else
		error->r = -EPROTO;
	error->rotate = true;
}

void
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

void
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
		/* Of a token that is no longer good etcd says the same. */
		ret->r = -EACCES;
		ret->token_refused = true;
	}
	if (ret->text[0] == 0)
		snprintf(ret->text, sizeof(ret->text), "%s",
		    ret->r == -ESTALE ? "compacted" : "canceled");
}
