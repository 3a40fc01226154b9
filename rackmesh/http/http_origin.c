#include "rackmesh/http/http_origin.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/core/file.h"

struct rm_http_origins {
	struct origin {
		char *base;
		size_t base_len; /* without a slash at its end */
		struct rm_http_origin is;
	} list[RM_HTTP_SITES];
	size_t count;
};

static bool
is_set(const char *option)
{
	return option != NULL && option[0] != '\0';
}

static int
check_secret(
    const char *file, const char *prefix, const char *option, struct rm_error *error)
{
	char secret[RM_HTTP_SECRET_BYTES];
	struct rm_error found = { 0 };
	int r;

	if (!is_set(file))
		return 0;
	r = rm_file_read_password(file, secret, sizeof(secret), &found);
	explicit_bzero(secret, sizeof(secret));
	return r < 0 ? rm_error_set(error, r, "%s.%s: %s", prefix, option, found.text)
		     : r;
}

static int
check_key(const char *file, const char *prefix, struct rm_error *error)
{
	struct rm_error found = { 0 };
	int r = is_set(file) ? rm_file_check_secret(file, &found) : 0;

	return r < 0 ? rm_error_set(error, r, "%s.key: %s", prefix, found.text) : r;
}

static int
both_or_neither(bool has_first, const char *first, const char *second,
    const char *prefix, struct rm_error *error)
{
	return rm_error_set(error, -EINVAL, "%s.%s: give %s.%s, too, or neither",
	    prefix, has_first ? first : second, prefix, has_first ? second : first);
}

int
rm_http_origin_check(
    const struct rm_http_origin *origin, const char *prefix, struct rm_error *error)
{
	int r;

	if (is_set(origin->certificate) != is_set(origin->key))
		return both_or_neither(
		    is_set(origin->certificate), "certificate", "key", prefix, error);
	if (is_set(origin->user) && is_set(origin->token_file))
		return rm_error_set(error, -EINVAL,
		    "%s.token_file: %s.user is set, too; remove one of the two", prefix,
		    prefix);
	if (is_set(origin->user) != is_set(origin->password_file))
		return both_or_neither(
		    is_set(origin->user), "user", "password_file", prefix, error);
	r = check_key(origin->key, prefix, error);
	if (r == 0)
		r = check_secret(origin->password_file, prefix, "password_file", error);
	if (r == 0)
		r = check_secret(origin->token_file, prefix, "token_file", error);
	return r;
}

int
rm_http_origins_new(struct rm_http_origins **ret)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret == NULL ? -ENOMEM : 0;
}

static void
origin_clear(struct origin *origin)
{
	free(origin->base);
	free(origin->is.authorities);
	free(origin->is.certificate);
	free(origin->is.key);
	free(origin->is.user);
	free(origin->is.password_file);
	free(origin->is.token_file);
}

void
rm_http_origins_free(struct rm_http_origins *origins)
{
	if (origins == NULL)
		return;
	for (size_t i = 0; i < origins->count; i++)
		origin_clear(&origins->list[i]);
	free(origins);
}

/* Copies from to *to; *to is NULL if from is not set. False: out of memory. */
static bool
copy(char **to, const char *from)
{
	*to = is_set(from) ? strdup(from) : NULL;
	return !is_set(from) || *to != NULL;
}

static bool
is_known(const struct rm_http_origins *origins, const struct origin *origin)
{
	for (size_t i = 0; i < origins->count; i++)
		if (origins->list[i].base_len == origin->base_len &&
		    strncmp(origins->list[i].base, origin->base, origin->base_len) == 0)
			return true;
	return false;
}

int
rm_http_origins_add(struct rm_http_origins *origins, const char *base,
    const struct rm_http_origin *origin)
{
	struct origin fresh = { .base = strdup(base), .base_len = strlen(base) };

	while (fresh.base_len > 0 && base[fresh.base_len - 1] == '/')
		fresh.base_len--;
	if (fresh.base != NULL && is_known(origins, &fresh)) {
		free(fresh.base);
		return 0;
	}
	if (origins->count == RM_HTTP_SITES) {
		free(fresh.base);
		return -ENOSPC;
	}
	if (fresh.base == NULL || !copy(&fresh.is.authorities, origin->authorities) ||
	    !copy(&fresh.is.certificate, origin->certificate) ||
	    !copy(&fresh.is.key, origin->key) || !copy(&fresh.is.user, origin->user) ||
	    !copy(&fresh.is.password_file, origin->password_file) ||
	    !copy(&fresh.is.token_file, origin->token_file)) {
		origin_clear(&fresh);
		return -ENOMEM;
	}
	origins->list[origins->count++] = fresh;
	return 0;
}

static const struct rm_http_origin *
find(const struct rm_http_origins *origins, const char *url)
{
	for (size_t i = 0; i < origins->count; i++) {
		const struct origin *origin = &origins->list[i];

		if (strncmp(url, origin->base, origin->base_len) == 0 &&
		    strchr("/?", url[origin->base_len]) != NULL)
			return &origin->is;
	}
	return NULL;
}

int
rm_http_origins_meet(const struct rm_http_origins *origins,
    struct rm_http_exchange *exchange, struct rm_http_request_auth *auth)
{
	const struct rm_http_origin *origin = find(origins, exchange->url);
	int r = 0;

	if (origin == NULL)
		return 0;
	if (exchange->tls == NULL) {
		auth->tls = (struct rm_http_tls){
			.authorities = origin->authorities,
			.certificate = origin->certificate,
			.key = origin->key,
		};
		exchange->tls = &auth->tls;
	}
	if (exchange->user != NULL || exchange->bearer != NULL)
		return 0;
	if (origin->token_file != NULL) {
		r = rm_file_read_password(
		    origin->token_file, auth->token, sizeof(auth->token), NULL);
		exchange->bearer = auth->token;
	} else if (origin->user != NULL && origin->password_file != NULL) {
		r = rm_file_read_password(origin->password_file, auth->password,
		    sizeof(auth->password), NULL);
		exchange->user = origin->user;
		exchange->password = auth->password;
	}
	return r;
}
