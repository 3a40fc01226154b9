#include "analyzer/history/influx_target.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/history/influx_config.h"
#include "rackmesh/core/file.h"

/* Appends text, with all characters but the unreserved ones of RFC 3986
 * percent-encoded. False: there is no room. */
static bool
put_escaped(char *url, const char *text)
{
	static const char unreserved[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
					 "abcdefghijklmnopqrstuvwxyz0123456789-._~";
	size_t at = strlen(url);

	for (; *text != '\0'; text++) {
		if (at + 4 > INFLUX_URL_BYTES)
			return false;
		if (strchr(unreserved, *text) != NULL)
			url[at++] = *text;
		else
			at += (size_t)sprintf(url + at, "%%%02X", (unsigned char)*text);
		url[at] = '\0';
	}
	return true;
}

static bool
put(char *url, const char *text)
{
	if (strlen(url) + strlen(text) >= INFLUX_URL_BYTES)
		return false;
	strcat(url, text);
	return true;
}

static bool
put_pair(char *url, const char *name, const char *value)
{
	return value[0] == '\0' || (put(url, name) && put_escaped(url, value));
}

static void
cut_end(char *url, const char *end)
{
	const size_t len = strlen(url), cut = strlen(end);

	if (len > cut && strcmp(url + len - cut, end) == 0)
		url[len - cut] = '\0';
}

static void
cut_slashes(char *url)
{
	while (url[0] != '\0' && url[strlen(url) - 1] == '/')
		url[strlen(url) - 1] = '\0';
}

void
influx_target_cut(char *url)
{
	static const char *const pasted[] = { "/api/v2/write", "/write", "/query" };

	cut_slashes(url);
	for (size_t i = 0; i < sizeof(pasted) / sizeof(pasted[0]); i++)
		cut_end(url, pasted[i]);
	cut_slashes(url);
}

static bool
put_base(char *url, const struct influx_config *config)
{
	bool fits;

	url[0] = '\0';
	fits = put(url, config->url);
	cut_slashes(url);
	return fits;
}

int
influx_target_ask(const struct influx_config *config, const char *statement,
    char url[INFLUX_URL_BYTES])
{
	bool fits =
	    put_base(url, config) && put(url, "/query?epoch=ns") &&
	    put_pair(url,
		"&db=", config->version == 2 ? config->bucket : config->database) &&
	    put_pair(url, "&q=", statement);

	return fits ? 0 : -ENAMETOOLONG;
}

int
influx_target_kind(const struct influx_config *config, char url[INFLUX_URL_BYTES])
{
	bool fits = put_base(url, config) && put(url, "/api/v1/status/buildinfo");

	return fits ? 0 : -ENAMETOOLONG;
}

/* Appends a time in seconds, rounded down to ms. The range of a query includes its end.
 */
static bool
put_time(char *url, const char *name, int64_t ns)
{
	const int64_t ms = ns / RM_NS_PER_MS;
	char text[64];

	snprintf(
	    text, sizeof(text), "%s%" PRId64 ".%03" PRId64, name, ms / 1000, ms % 1000);
	return put(url, text);
}

int
influx_target_export(const struct influx_config *config, const char *const *selectors,
    rm_wall_t from, rm_wall_t to, char url[INFLUX_URL_BYTES])
{
	bool fits = put_base(url, config) && put(url, "/api/v1/export") &&
		    put_time(url, "?start=", from.ns) &&
		    put_time(url, "&end=", to.ns - 1);

	for (; fits && *selectors != NULL; selectors++)
		fits = put_pair(url, "&match[]=", *selectors);
	return fits ? 0 : -ENAMETOOLONG;
}

static int
write_url(const struct influx_config *config, const char *policy, char *url)
{
	bool fits = put_base(url, config);

	if (config->version == 2)
		fits = fits && put(url, "/api/v2/write?precision=ns") &&
		       put_pair(url, "&org=", config->org) &&
		       put_pair(url, "&bucket=", config->bucket);
	else
		fits = fits && put(url, "/write?precision=ns") &&
		       put_pair(url, "&db=", config->database) &&
		       put_pair(url, "&rp=", policy);
	return fits ? 0 : -ENAMETOOLONG;
}

/* "" without a file. */
static int
read_secret(const char *path, char secret[INFLUX_SECRET_BYTES], struct rm_error *error)
{
	if (path[0] == '\0') {
		secret[0] = '\0';
		return 0;
	}
	return rm_file_read_password(path, secret, INFLUX_SECRET_BYTES, error);
}

int
influx_target_reread(struct influx_target *target, const struct influx_config *config,
    struct rm_error *error)
{
	char token[INFLUX_SECRET_BYTES], password[INFLUX_SECRET_BYTES];
	int r;

	r = read_secret(config->token_file, token, error);
	if (r == 0)
		r = read_secret(config->password_file, password, error);
	if (r < 0)
		return r;
	target->authorization[0] = '\0';
	if (token[0] != '\0')
		snprintf(target->authorization, sizeof(target->authorization),
		    "Authorization: Token %s", token);
	snprintf(target->user, sizeof(target->user), "%s", config->user);
	memcpy(target->password, password, sizeof(password));
	return 0;
}

int
influx_target_init(struct influx_target *target, const struct influx_config *config,
    struct rm_error *error)
{
	int r;

	r = write_url(config, config->retention_policy, target->url[WIRE_LANE_SUMMARY]);
	if (r == 0)
		r = write_url(config, config->incident_retention_policy,
		    target->url[WIRE_LANE_INCIDENT]);
	if (r < 0)
		return rm_error_set(error, r, "influx.url and its names are too long");
	return influx_target_reread(target, config, error);
}
