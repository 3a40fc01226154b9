#include "rackmesh/http/http_url.h"

#include <stdio.h>
#include <string.h>

bool
rm_http_url_valid(const char *text)
{
	size_t scheme = strncmp(text, "http://", 7) == 0    ? 7
			: strncmp(text, "https://", 8) == 0 ? 8
							    : 0;

	if (scheme == 0)
		return false;
	for (const char *at = text; *at != '\0'; at++)
		if (*at <= ' ' || *at > '~' || *at == '"' || *at == '\\')
			return false;
	return strchr("/?#", text[scheme]) ==
	       NULL; /* also true for "": there is a host */
}

void
rm_http_url_show(
    const char *url, bool whole, char shown[static RM_HTTP_URL_SHOWN_BYTES])
{
	const char *scheme = strstr(url, "://");
	const char *host = scheme != NULL ? scheme + 3 : url, *path, *at;

	path = host + strcspn(host, "/?#");
	at = memrchr(host, '@', (size_t)(path - host));
	snprintf(shown, RM_HTTP_URL_SHOWN_BYTES, "%.*s%.*s%s", (int)(host - url), url,
	    (int)(path - (at != NULL ? at + 1 : host)), at != NULL ? at + 1 : host,
	    whole || strlen(path) <= 1 ? path : "/...");
}
