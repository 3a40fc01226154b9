#include "rackmesh/http/own_names.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

static const char spaces[] = " \t\r\n";

enum whose {
	NOT_OURS,
	LOOPBACK,
	OURS,
};

static enum whose
whose_is(const char *address, const struct ifaddrs *own)
{
	struct in_addr in;
	struct in6_addr in6;
	const bool is_in = inet_pton(AF_INET, address, &in) == 1;

	if (is_in && ntohl(in.s_addr) >> 24 == IN_LOOPBACKNET)
		return LOOPBACK;
	if (!is_in && inet_pton(AF_INET6, address, &in6) != 1)
		return NOT_OURS;
	if (!is_in && IN6_IS_ADDR_LOOPBACK(&in6))
		return LOOPBACK;
	for (; own != NULL; own = own->ifa_next) {
		const struct sockaddr *one = own->ifa_addr;

		if (one == NULL || one->sa_family != (is_in ? AF_INET : AF_INET6))
			continue;
		if (is_in ? ((const struct sockaddr_in *)one)->sin_addr.s_addr ==
				in.s_addr
			  : IN6_ARE_ADDR_EQUAL(
				&((const struct sockaddr_in6 *)one)->sin6_addr, &in6))
			return OURS;
	}
	return NOT_OURS;
}

/* True: the name is this host's name, or the first label of it. */
static bool
is_host(const struct own_names *names, const char *name)
{
	const size_t first = strcspn(names->host, ".");

	return names->host[0] != '\0' &&
	       (strcasecmp(name, names->host) == 0 ||
		   (strlen(name) == first &&
		       strncasecmp(name, names->host, first) == 0));
}

bool
own_names_have(const struct own_names *names, const char *name)
{
	if (is_host(names, name))
		return true;
	for (size_t i = 0; i < names->count; i++)
		if (strcasecmp(name, names->others[i]) == 0)
			return true;
	return false;
}

/* True: the first label of the name is the first label of this host's name. */
static bool
begins_as_host(const struct own_names *names, const char *name)
{
	const size_t first = strcspn(names->host, ".");

	return first > 0 && strcspn(name, ".") == first &&
	       strncasecmp(name, names->host, first) == 0;
}

/* The usual names of localhost in distributions. */
static bool
is_of_loopback(const char *name)
{
	static const char *const dotted[] = { "localhost.localdomain",
		"localhost4.localdomain4", "localhost6.localdomain6" };

	if (strchr(name, '.') == NULL)
		return true;
	for (size_t i = 0; i < sizeof(dotted) / sizeof(dotted[0]); i++)
		if (strcasecmp(name, dotted[i]) == 0)
			return true;
	return false;
}

static void
add(struct own_names *names, const char *name, size_t most)
{
	if (names->count < most && strlen(name) < OWN_NAMES_BYTES &&
	    !own_names_have(names, name))
		strcpy(names->others[names->count++], name);
}

void
own_names_hosts_line(
    struct own_names *names, const struct ifaddrs *addresses, char *line)
{
	char *rest = line, *address, *name;
	enum whose whose;

	line[strcspn(line, "#")] = '\0';
	address = strtok_r(line, spaces, &rest);
	if (address == NULL)
		return;
	whose = whose_is(address, addresses);
	while (whose != NOT_OURS && (name = strtok_r(NULL, spaces, &rest)) != NULL) {
		const size_t len = strlen(name);

		if (name[len - 1] == '.')
			name[len - 1] = '\0';
		if (begins_as_host(names, name))
			add(names, name, OWN_NAMES_MAX);
		else if (name[0] != '\0' && (whose == OURS || is_of_loopback(name)))
			add(names, name, OWN_NAMES_MAX_OTHERS);
	}
}

static void
read_hosts(struct own_names *names, const struct ifaddrs *addresses)
{
	FILE *file = fopen("/etc/hosts", "re");
	char *line = NULL;
	size_t room = 0;

	if (file == NULL)
		return;
	while (getline(&line, &room, file) > 0)
		own_names_hosts_line(names, addresses, line);
	free(line);
	fclose(file);
}

void
own_names_read(struct own_names *names)
{
	struct ifaddrs *addresses;

	memset(names, 0, sizeof(*names));
	if (gethostname(names->host, sizeof(names->host)) < 0)
		names->host[0] = '\0';
	names->host[sizeof(names->host) - 1] = '\0';
	if (getifaddrs(&addresses) < 0)
		addresses = NULL;
	read_hosts(names, addresses);
	if (addresses != NULL)
		freeifaddrs(addresses);
}
