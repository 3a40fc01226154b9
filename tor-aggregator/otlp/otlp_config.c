#include "tor-aggregator/otlp/otlp_config.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/core/file.h"
#include "rackmesh/http/http_url.h"

static void
cut_slashes(char *url)
{
	size_t len = strlen(url);

	while (len > 0 && url[len - 1] == '/')
		url[--len] = '\0';
}

static void
cut_to_base(char *url)
{
	size_t len;

	cut_slashes(url);
	len = strlen(url);
	if (len > strlen(OTLP_PATH) &&
	    strcmp(url + len - strlen(OTLP_PATH), OTLP_PATH) == 0)
		url[len - strlen(OTLP_PATH)] = '\0';
	cut_slashes(url);
}

int
otlp_config_check(struct otlp_config *config, const char *path, struct rm_error *error)
{
	struct otlp_headers headers;
	int r;

	if (config->url[0] != '\0' && !rm_http_url_valid(config->url))
		return rm_config_refuse(
		    path, error, "expected http://... or https://...", "otlp.url");
	if (strpbrk(config->url, "?#") != NULL)
		return rm_config_refuse(path, error,
		    "expected a base URL: nothing with \"?\" or \"#\"", "otlp.url");
	cut_to_base(config->url);
	r = otlp_headers_read(config->headers_file, &headers, error);
	if (r < 0)
		return r;
	otlp_headers_clear(&headers);
	r = rm_http_origin_check(&config->origin, "otlp", error);
	return r < 0 ? rm_config_locate(path, error, r) : 0;
}

/* ---- headers --------------------------------------------------------------------- */

static bool
is_header(const char *line)
{
	size_t name = 0;

	while (isalnum((unsigned char)line[name]) || line[name] == '-' ||
	       line[name] == '_')
		name++;
	if (name == 0 || line[name] != ':')
		return false;
	for (const char *at = line + name; *at != '\0'; at++)
		if (*at < ' ' || *at > '~')
			return false;
	return true;
}

static int
take_lines(struct otlp_headers *headers, const char *file, struct rm_error *error)
{
	size_t count = 1, number = 0;
	char *rest = headers->text, *line;

	while ((line = strsep(&rest, "\n")) != NULL) {
		number++;
		line[strcspn(line, "\r")] = '\0';
		if (line[0] == '\0')
			continue;
		/* Do not print the line: it may be a secret. */
		if (!is_header(line))
			return rm_error_set(error, -EINVAL,
			    "%s:%zu: expected a header, \"Name: value\"", file, number);
		if (count > OTLP_MAX_HEADERS)
			return rm_error_set(error, -EINVAL, "%s: more than %d headers",
			    file, OTLP_MAX_HEADERS);
		headers->list[count++] = line;
	}
	return 0;
}

int
otlp_headers_read(const char *file, struct otlp_headers *ret, struct rm_error *error)
{
	struct otlp_headers headers = { .list = { "Content-Type: application/json" } };
	int r;

	if (file[0] != '\0') {
		r = rm_file_read_secret(file, OTLP_HEADERS_BYTES,
		    (uint8_t **)&headers.text, &headers.len, error);
		if (r == 0)
			r = take_lines(&headers, file, error);
		if (r < 0) {
			otlp_headers_clear(&headers);
			return r;
		}
	}
	*ret = headers;
	return 0;
}

void
otlp_headers_clear(struct otlp_headers *headers)
{
	if (headers->text != NULL)
		explicit_bzero(headers->text, headers->len);
	free(headers->text);
	headers->text = NULL;
}
