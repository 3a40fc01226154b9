#include "rackmesh/http/http_host.h"

#include <arpa/inet.h>
#include <string.h>
#include <strings.h>

#include "rackmesh/config/config.h"

#define HOST_MAX 256

static bool
is_address(const char *host)
{
	unsigned char address[16];
	char inside[HOST_MAX];
	size_t len = strlen(host);

	if (inet_pton(AF_INET, host, address) == 1)
		return true;
	if (len < 2 || host[0] != '[' || host[len - 1] != ']')
		return false;
	memcpy(inside, host + 1, len - 2);
	inside[len - 2] = '\0';
	inside[strcspn(inside, "%")] = '\0'; /* its zone */
	return inet_pton(AF_INET6, inside, address) == 1;
}

static bool
is_local(const char *host)
{
	static const char local[] = ".localhost";
	const size_t len = strlen(host), tail = strlen(local);

	return strcasecmp(host, local + 1) == 0 ||
	       (len > tail && strcasecmp(host + len - tail, local) == 0);
}

/* Its own name, or the short one of that. */
static bool
is_own(const char *host, const char *own)
{
	const size_t first = strcspn(own, ".");

	return own[0] != '\0' &&
	       (strcasecmp(host, own) == 0 ||
		   (strlen(host) == first && strncasecmp(host, own, first) == 0));
}

bool
http_host_is_here(const char *host, const char *own, const struct rm_list *names)
{
	char name[HOST_MAX];
	size_t len;

	if (host == NULL || host[0] == '\0')
		return true;
	len = strlen(host);
	if (len >= sizeof(name))
		return false;
	memcpy(name, host, len + 1);
	if (name[len - 1] == '.')
		name[len - 1] = '\0';
	if (is_address(name) || is_local(name) || is_own(name, own))
		return true;
	for (size_t i = 0; names != NULL && i < names->count; i++)
		if (strcasecmp(name, ((char *const *)names->items)[i]) == 0)
			return true;
	return false;
}
