#include "ctl/client/request.h"

#include <curl/curl.h>
#include <errno.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/output/printable.h"
#include "rackmesh/core/error.h"
#include "rackmesh/core/file.h"
#include "rackmesh/identity/identity.h"
#include "rackmesh/identity/viewer_tokens.h"
#include "rackmesh/tls/tls.h"

/* ---- error texts ---- */

static FILE *complaints_to;

void
request_complain_to(FILE *stream)
{
	complaints_to = stream;
}

static FILE *
complaints(void)
{
	return complaints_to == NULL ? stderr : complaints_to;
}

/*
 * ---- https ---- The client uses the certificate of a person, or a token. It accepts a
 * server only if the certificate of the server is that of a Rackmesh daemon; the
 * server's address and name do not matter (docs/security.md). A token is a secret, so
 * it is sent only to a daemon of the expected role: otherwise the key of any host would
 * be enough to collect tokens.
 */

static const char *certificate_file, *key_file, *authorities_file, *token_file;

void
request_tls_files(const char *certificate, const char *key, const char *authorities,
    const char *token)
{
	certificate_file = certificate;
	key_file = key;
	authorities_file = authorities;
	token_file = token;
}

static struct {
	const char *base;
	enum rm_role role;
} places[REQUEST_PLACES];
static size_t place_count;

/* These two are about the running request: the roles that may answer, and why another
 * server was refused. */
static bool wanted[RM_ROLES];
static struct rm_error unknown;

void
request_place(const char *base, enum rm_role role)
{
	if (place_count == REQUEST_PLACES)
		return;
	places[place_count].base = base;
	places[place_count++].role = role;
}

static void
want(const char *base, bool any)
{
	static const enum rm_role daemons[] = { RM_ROLE_AGENT, RM_ROLE_AGGREGATOR,
		RM_ROLE_CONTROLLER, RM_ROLE_ANALYZER };

	memset(wanted, 0, sizeof(wanted));
	for (size_t i = 0; any && i < sizeof(daemons) / sizeof(daemons[0]); i++)
		wanted[daemons[i]] = true;
	for (size_t i = 0; i < place_count; i++)
		if (strcmp(places[i].base, base) == 0)
			wanted[places[i].role] = true;
}

static bool
is_wanted(const X509 *certificate)
{
	char uri[RM_TLS_MAX_IDENTITY];
	struct rm_identity who;

	if (rm_tls_certificate_identity(certificate, uri) < 0 ||
	    rm_identity_parse(uri, &who) < 0)
		return false;
	if (!wanted[who.role])
		rm_error_set(&unknown, 0,
		    "its certificate has the role %s, so it is not the daemon to ask",
		    rm_role_str(who.role));
	return wanted[who.role];
}

/* OpenSSL calls this after its own check of each certificate of the chain; the
 * certificate of the peer is the last one. */
static int
on_certificate(int good, X509_STORE_CTX *context)
{
	if (!good || X509_STORE_CTX_get_error_depth(context) > 0)
		return good;
	if (is_wanted(X509_STORE_CTX_get_current_cert(context)))
		return 1;
	X509_STORE_CTX_set_error(context, X509_V_ERR_APPLICATION_VERIFICATION);
	return 0;
}

static CURLcode
on_context(CURL *curl, void *context, void *arg)
{
	SSL_CTX_set_verify(context, SSL_VERIFY_PEER, on_certificate);
	return CURLE_OK;
}

/* Returns 0, or an error that was printed. */
static int
request_token_set(CURL *curl)
{
	char token[RM_VIEWER_TOKEN_MAX + 1];
	struct rm_error error = { 0 };
	CURLcode code;
	int r = rm_file_read_password(token_file, token, sizeof(token), &error);

	if (r < 0) {
		fprintf(complaints(), "rackmeshctl: --token-file: %s\n", error.text);
		return r;
	}
	code = curl_easy_setopt(curl, CURLOPT_XOAUTH2_BEARER, token);
	explicit_bzero(token, sizeof(token));
	if (code == CURLE_OK)
		code = curl_easy_setopt(curl, CURLOPT_HTTPAUTH, CURLAUTH_BEARER);
	return code == CURLE_OK ? 0 : -ENOMEM;
}

/* Returns 0, or -ENOENT: a file is missing, which was printed. */
static int
request_tls_set(CURL *curl, const char *base)
{
	const bool shows = certificate_file != NULL && key_file != NULL;

	if (authorities_file == NULL || (!shows && token_file == NULL)) {
		fprintf(complaints(),
		    "rackmeshctl: https needs --certificate, --key and --authorities "
		    "(or $RACKMESH_CERTIFICATE, $RACKMESH_KEY, "
		    "$RACKMESH_AUTHORITIES), or --token-file and --authorities\n");
		return -ENOENT;
	}
	want(base, shows);
	if (!shows) {
		int r = request_token_set(curl);

		if (r < 0)
			return r;
	}
	if (curl_easy_setopt(curl, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_3) !=
		CURLE_OK ||
	    curl_easy_setopt(curl, CURLOPT_CAINFO, authorities_file) != CURLE_OK ||
	    (shows &&
		(curl_easy_setopt(curl, CURLOPT_SSLCERT, certificate_file) !=
			CURLE_OK ||
		    curl_easy_setopt(curl, CURLOPT_SSLKEY, key_file) != CURLE_OK)) ||
	    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 1L) != CURLE_OK ||
	    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 0L) != CURLE_OK ||
	    curl_easy_setopt(curl, CURLOPT_SSL_CTX_FUNCTION, on_context) != CURLE_OK)
		return -ENOMEM;
	return 0;
}

/* ---- requests ---- */

#define REQUEST_MAX_BYTES (64u << 20)
#define REQUEST_CONNECT_S 3L

static long patience_s = 10;

void
request_patience(long seconds)
{
	patience_s = seconds;
}

struct body {
	char *data;
	size_t len;
};

static size_t
on_data(char *data, size_t size, size_t count, void *arg)
{
	struct body *body = arg;
	size_t len = size * count;
	char *grown;

	if (body->len + len > REQUEST_MAX_BYTES)
		return 0;
	grown = realloc(body->data, body->len + len + 1);
	if (grown == NULL)
		return 0;
	memcpy(grown + body->len, data, len);
	body->data = grown;
	body->len += len;
	body->data[body->len] = '\0';
	return len;
}

static int
request_address(CURL *curl, const char *base, const char *path)
{
	const char *unix_path = strncmp(base, "unix:", 5) == 0 ? base + 5 : NULL;
	const char *scheme = strstr(base, "://") != NULL ? "" : "http://";
	char url[2048];
	int n;

	if (unix_path != NULL)
		n = snprintf(url, sizeof url, "http://localhost%s", path);
	else
		n = snprintf(url, sizeof url, "%s%s%s", scheme, base, path);
	if (n < 0 || (size_t)n >= sizeof url)
		return -ENAMETOOLONG;
	if (unix_path != NULL)
		curl_easy_setopt(curl, CURLOPT_UNIX_SOCKET_PATH, unix_path);
	return curl_easy_setopt(curl, CURLOPT_URL, url) == CURLE_OK ? 0 : -ENOMEM;
}

/* Prints the error text of the daemon, or else the status. */
static int
report_refused(const char *base, const char *path, long status, const json_t *answer)
{
	const char *error = json_string_value(json_object_get(answer, "error"));

	if (error != NULL)
		fprintf(complaints(), "rackmeshctl: %s\n", error);
	else
		fprintf(complaints(), "rackmeshctl: %s answered %s with status %ld\n",
		    base, path, status);
	return status == 404 ? -ENOENT : -EPROTO;
}

static int
request_perform(CURL *curl, const char *base, const char *path, struct body *body)
{
	char reason[CURL_ERROR_SIZE] = "";
	json_t *answer = NULL;
	long status = 0, error = 0;
	CURLcode code;
	int r = 0;

	unknown.text[0] = '\0';
	curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, reason);
	code = curl_easy_perform(curl);
	curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, NULL);
	if (code != CURLE_OK) {
		/* For a Unix socket curl's texts of errors name port 80, which is
		 * misleading. */
		curl_easy_getinfo(curl, CURLINFO_OS_ERRNO, &error);
		if (strncmp(base, "unix:", 5) == 0 && error != 0)
			snprintf(reason, sizeof(reason), "%s", strerror((int)error));
		if (unknown.text[0] != '\0')
			snprintf(reason, sizeof(reason), "%.200s", unknown.text);
		fprintf(complaints(),
		    "rackmeshctl: cannot ask %s: %s; is the daemon running there? "
		    "(see --aggregator, --controller, --analyzer, --agent)\n",
		    base, reason[0] != '\0' ? reason : curl_easy_strerror(code));
		return -ECONNREFUSED;
	}
	curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
	if (status >= 200 && status < 300)
		return 0;
	if (body->data != NULL)
		answer = json_loadb(body->data, body->len, 0, NULL);
	r = answer == NULL ? 0 : printable_json(answer);
	r = report_refused(base, path, status, r == 0 ? answer : NULL);
	json_decref(answer);
	return r;
}

/* post NULL: a GET. *ret: the answer, whose data the caller frees. */
static int
request_send(const char *base, const char *path, const char *post, struct body *ret)
{
	CURL *curl = curl_easy_init();
	int r = -ENOMEM;

	if (curl == NULL)
		return r;
	r = request_address(curl, base, path);
	if (r < 0) {
		fprintf(complaints(), "rackmeshctl: %s%s is too long an address\n",
		    base, path);
		goto out;
	}
	if (strncmp(base, "https://", 8) == 0) {
		r = request_tls_set(curl, base);
		if (r < 0)
			goto out;
	}
	if (post != NULL) {
		curl_easy_setopt(curl, CURLOPT_POST, 1L);
		curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE, (long)strlen(post));
		curl_easy_setopt(curl, CURLOPT_POSTFIELDS, post);
	}
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
	curl_easy_setopt(curl, CURLOPT_TIMEOUT, patience_s);
	curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, REQUEST_CONNECT_S);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_data);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, ret);
	r = request_perform(curl, base, path, ret);
out:
	curl_easy_cleanup(curl);
	return r;
}

static int
request_json(const char *base, const char *path, const char *post, json_t **ret)
{
	struct body body = { NULL, 0 };
	json_t *answer = NULL;
	int r;

	r = request_send(base, path, post, &body);
	if (r == 0 && body.data != NULL)
		answer = json_loadb(body.data, body.len, 0, NULL);
	if (r == 0 && answer == NULL && body.len > 0) {
		fprintf(complaints(),
		    "rackmeshctl: %s answered %s with something that is not "
		    "JSON; is it a Rackmesh daemon?\n",
		    base, path);
		r = -EPROTO;
	}
	free(body.data);
	if (r == 0 && answer != NULL) {
		r = printable_json(answer);
		if (r < 0)
			fprintf(complaints(), "rackmeshctl: out of memory\n");
	}
	if (r < 0 || ret == NULL)
		json_decref(answer);
	else
		*ret = answer;
	return r;
}

int
request_get(const char *base, const char *path, json_t **ret)
{
	return request_json(base, path, NULL, ret);
}

int
request_post(const char *base, const char *path, json_t **ret)
{
	return request_json(base, path, "", ret);
}

int
request_post_text(const char *base, const char *path, const char *text, json_t **ret)
{
	return request_json(base, path, text, ret);
}

int
request_get_text(const char *base, const char *path, char **ret)
{
	struct body body = { NULL, 0 };
	int r;

	r = request_send(base, path, NULL, &body);
	if (r == 0 && body.data == NULL) {
		body.data = strdup("");
		r = body.data == NULL ? -ENOMEM : 0;
	}
	if (r < 0)
		free(body.data);
	else
		*ret = body.data;
	return r;
}

char *
request_escape(const char *text)
{
	CURL *curl = curl_easy_init();
	char *escaped = NULL, *copy = NULL;

	if (curl != NULL)
		escaped = curl_easy_escape(curl, text, 0);
	if (escaped != NULL)
		copy = strdup(escaped);
	curl_free(escaped);
	curl_easy_cleanup(curl);
	return copy;
}

int
request_get_list(const char *base, const char *path, const char *list, json_t **ret)
{
	json_t *answer = NULL;
	int r = request_get(base, path, &answer);

	if (r < 0)
		return r;
	if (!json_is_array(json_object_get(answer, list))) {
		fprintf(stderr,
		    "rackmeshctl: %s%s has no \"%s\": an older release, or another "
		    "daemon?\n",
		    base, path, list);
		json_decref(answer);
		return -EPROTO;
	}
	*ret = answer;
	return 0;
}

int
request_add_filter(char **path, const char *key, const char *text)
{
	char *value = request_escape(text), *longer = NULL;

	if (value == NULL ||
	    asprintf(&longer, "%s%s%s=%s", *path,
		strchr(*path, '?') == NULL ? "?" : "&", key, value) < 0)
		longer = NULL;
	free(value);
	if (longer == NULL)
		return -ENOMEM;
	free(*path);
	*path = longer;
	return 0;
}
