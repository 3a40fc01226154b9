#include "rackmesh/core/address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

#define ADDRESS_UNIX "unix:"

/* Digits only: strtoul would also take signs and blanks. */
static int
address_number(const char *text, uint32_t max, uint32_t *ret)
{
	uint64_t number = 0;

	if (*text == '\0')
		return -EINVAL;
	for (; *text != '\0'; text++) {
		if (*text < '0' || *text > '9')
			return -EINVAL;
		number = number * 10 + (unsigned)(*text - '0');
		if (number > max)
			return -EINVAL;
	}
	*ret = (uint32_t)number;
	return 0;
}

static int
address_parse_unix(const char *path, struct rm_address *ret)
{
	struct sockaddr_un *un = (struct sockaddr_un *)&ret->storage;
	size_t len = strlen(path);

	if (len == 0 || len >= sizeof(un->sun_path))
		return -EINVAL;
	memset(ret, 0, sizeof(*ret));
	un->sun_family = AF_UNIX;
	memcpy(un->sun_path, path, len + 1);
	ret->len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len + 1);
	return 0;
}

static int
address_set_v4(const char *host, uint32_t port, struct rm_address *ret)
{
	struct sockaddr_in *in = (struct sockaddr_in *)&ret->storage;
	struct in_addr addr;

	if (inet_pton(AF_INET, host, &addr) != 1)
		return -EINVAL;
	memset(ret, 0, sizeof(*ret));
	in->sin_family = AF_INET;
	in->sin_addr = addr;
	in->sin_port = htons((uint16_t)port);
	ret->len = sizeof(*in);
	return 0;
}

/* host may end with a numeric scope, as in "fe80::1%3"; the text is cut at the '%'. */
static int
address_set_v6(char *host, uint32_t port, struct rm_address *ret)
{
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&ret->storage;
	char *scope_text = strchr(host, '%');
	struct in6_addr addr;
	uint32_t scope = 0;

	if (scope_text != NULL) {
		*scope_text = '\0';
		if (address_number(scope_text + 1, UINT32_MAX, &scope) < 0)
			return -EINVAL;
	}
	if (inet_pton(AF_INET6, host, &addr) != 1)
		return -EINVAL;
	memset(ret, 0, sizeof(*ret));
	in6->sin6_family = AF_INET6;
	in6->sin6_addr = addr;
	in6->sin6_port = htons((uint16_t)port);
	in6->sin6_scope_id = scope;
	ret->len = sizeof(*in6);
	return 0;
}

int
rm_address_parse(const char *text, int default_port, struct rm_address *ret)
{
	uint32_t port = default_port < 0 ? 0 : (uint32_t)default_port;
	const char *port_text = NULL;
	char host[RM_ADDRESS_TEXT];
	size_t len = strlen(text);
	char *end;

	if (strncmp(text, ADDRESS_UNIX, strlen(ADDRESS_UNIX)) == 0)
		return address_parse_unix(text + strlen(ADDRESS_UNIX), ret);
	if (len >= sizeof(host))
		return -EINVAL;
	memcpy(host, text, len + 1);

	if (host[0] == '[') {
		end = strchr(host, ']');
		if (end == NULL || (end[1] != '\0' && end[1] != ':'))
			return -EINVAL;
		if (end[1] == ':')
			port_text = end + 2;
		*end = '\0';
	} else {
		end = strchr(host, ':');
		/* More than one colon: an IPv6 address without brackets, so there is no
		 * port. */
		if (end != NULL && strchr(end + 1, ':') == NULL) {
			port_text = end + 1;
			*end = '\0';
		}
	}
	if (port_text == NULL && default_port < 0)
		return -EINVAL;
	if (port_text != NULL && address_number(port_text, UINT16_MAX, &port) < 0)
		return -EINVAL;

	if (host[0] == '[')
		return address_set_v6(host + 1, port, ret);
	if (strchr(host, ':') != NULL)
		return address_set_v6(host, port, ret);
	return address_set_v4(host, port, ret);
}

/* A path from the kernel may have no terminator; an unnamed socket has no path. */
static size_t
address_unix_path(const struct rm_address *address, const char **ret)
{
	const struct sockaddr_un *un = (const struct sockaddr_un *)&address->storage;
	size_t head = offsetof(struct sockaddr_un, sun_path);
	size_t room = address->len > head ? address->len - head : 0;

	*ret = un->sun_path;
	return strnlen(
	    un->sun_path, room < sizeof(un->sun_path) ? room : sizeof(un->sun_path));
}

void
rm_address_format(const struct rm_address *address, char text[RM_ADDRESS_TEXT])
{
	const struct sockaddr_in *in = (const struct sockaddr_in *)&address->storage;
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)&address->storage;
	char host[INET6_ADDRSTRLEN] = "";
	char scope[16] = "";
	const char *path;
	size_t len;

	switch (address->storage.ss_family) {
	case AF_INET:
		inet_ntop(AF_INET, &in->sin_addr, host, sizeof(host));
		snprintf(text, RM_ADDRESS_TEXT, "%s:%u", host, ntohs(in->sin_port));
		return;
	case AF_INET6:
		inet_ntop(AF_INET6, &in6->sin6_addr, host, sizeof(host));
		if (in6->sin6_scope_id != 0)
			snprintf(scope, sizeof(scope), "%%%u", in6->sin6_scope_id);
		snprintf(text, RM_ADDRESS_TEXT, "[%s%s]:%u", host, scope,
		    ntohs(in6->sin6_port));
		return;
	case AF_UNIX:
		len = address_unix_path(address, &path);
		snprintf(text, RM_ADDRESS_TEXT, ADDRESS_UNIX "%.*s", (int)len, path);
		return;
	default:
		snprintf(text, RM_ADDRESS_TEXT, "unknown");
	}
}

bool
rm_address_equal(const struct rm_address *a, const struct rm_address *b)
{
	const struct sockaddr_in *a4 = (const struct sockaddr_in *)&a->storage;
	const struct sockaddr_in *b4 = (const struct sockaddr_in *)&b->storage;
	const struct sockaddr_in6 *a6 = (const struct sockaddr_in6 *)&a->storage;
	const struct sockaddr_in6 *b6 = (const struct sockaddr_in6 *)&b->storage;
	const char *a_path, *b_path;
	size_t len;

	if (a->storage.ss_family != b->storage.ss_family)
		return false;
	switch (a->storage.ss_family) {
	case AF_INET:
		return a4->sin_port == b4->sin_port &&
		       a4->sin_addr.s_addr == b4->sin_addr.s_addr;
	case AF_INET6:
		return a6->sin6_port == b6->sin6_port &&
		       a6->sin6_scope_id == b6->sin6_scope_id &&
		       memcmp(&a6->sin6_addr, &b6->sin6_addr, sizeof(a6->sin6_addr)) ==
			   0;
	case AF_UNIX:
		len = address_unix_path(a, &a_path);
		return len == address_unix_path(b, &b_path) &&
		       memcmp(a_path, b_path, len) == 0;
	default:
		return a->len == b->len &&
		       memcmp(&a->storage, &b->storage, a->len) == 0;
	}
}
