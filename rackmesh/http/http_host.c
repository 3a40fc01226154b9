#include "rackmesh/http/http_host.h"

#include <arpa/inet.h>
#include <string.h>
#include <strings.h>

#include "rackmesh/config/config.h"
#include "rackmesh/http/own_names.h"

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
	inside[strcspn(inside, "%")] = '\0'; /* removes the zone of fe80::1%eth0 */
	return inet_pton(AF_INET6, inside, address) == 1;
}

/* True: the host is this name, or a subdomain of it. */
static bool
is_below(const char *host, const char *name)
{
	const size_t len = strlen(host), tail = strlen(name);

	return strcasecmp(host, name) == 0 ||
	       (len > tail + 1 && host[len - tail - 1] == '.' &&
		   strcasecmp(host + len - tail, name) == 0);
}

/* The names that systemd's resolver always resolves to loopback, whatever /etc/hosts
 * contains. */
static bool
is_local(const char *host)
{
	return is_below(host, "localhost") || is_below(host, "localhost.localdomain");
}

bool
http_host_is_here(
    const char *host, const struct own_names *own, const struct rm_list *names)
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
	if (is_address(name) || is_local(name) || own_names_have(own, name))
		return true;
	for (size_t i = 0; names != NULL && i < names->count; i++)
		if (strcasecmp(name, ((char *const *)names->items)[i]) == 0)
			return true;
	return false;
}
