#include "rackmesh/core/endpoint.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "rackmesh/core/error.h"

#define ENDPOINT_LABEL 63
#define ENDPOINT_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define ENDPOINT_DIGITS "0123456789"

/* '_' is allowed, because names of services have it, and also some names of hosts,
 * although the standard forbids it there. */
static bool
endpoint_label_valid(const char *label, size_t len)
{
	return len > 0 && len <= ENDPOINT_LABEL && label[0] != '-' &&
	       label[len - 1] != '-' &&
	       strspn(label, ENDPOINT_LETTERS ENDPOINT_DIGITS "-_") >= len;
}

static bool
endpoint_name_valid(const char *name, size_t len)
{
	const char *end = name + len;
	bool digits = true;

	if (len > 0 && end[-1] == '.')
		end--;
	if (end - name > RM_ENDPOINT_NAME - 2)
		return false;
	for (const char *label = name;; label++) {
		const char *dot = memchr(label, '.', (size_t)(end - label));
		size_t label_len = (size_t)((dot == NULL ? end : dot) - label);

		if (!endpoint_label_valid(label, label_len))
			return false;
		digits = strspn(label, ENDPOINT_DIGITS) >= label_len;
		if (dot == NULL)
			return !digits;
		label = dot;
	}
}

static int
endpoint_port(const char *text, uint16_t *ret)
{
	size_t len = strlen(text);
	unsigned port = 0;

	if (len == 0 || len > 5 || strspn(text, ENDPOINT_DIGITS) != len)
		return -EINVAL;
	for (; *text != '\0'; text++)
		port = port * 10 + (unsigned)(*text - '0');
	if (port == 0 || port > UINT16_MAX)
		return -EINVAL;
	*ret = (uint16_t)port;
	return 0;
}

int
rm_endpoint_parse(const char *text, struct rm_endpoint *ret)
{
	struct rm_endpoint endpoint = { .port = 0 };
	const char *colon = strchr(text, ':');
	size_t len;

	if (rm_address_parse(text, -1, &endpoint.address) == 0) {
		*ret = endpoint;
		return 0;
	}
	if (colon == NULL || endpoint_port(colon + 1, &endpoint.port) < 0)
		return -EINVAL;
	len = (size_t)(colon - text);
	if (!endpoint_name_valid(text, len))
		return -EINVAL;
	memcpy(endpoint.name, text, len);
	*ret = endpoint;
	return 0;
}

void
rm_endpoint_format(const struct rm_endpoint *endpoint, char text[RM_ENDPOINT_TEXT])
{
	if (endpoint->name[0] == '\0')
		rm_address_format(&endpoint->address, text);
	else
		snprintf(
		    text, RM_ENDPOINT_TEXT, "%s:%u", endpoint->name, endpoint->port);
}

bool
rm_endpoint_equal(const struct rm_endpoint *a, const struct rm_endpoint *b)
{
	if (a->name[0] == '\0' && b->name[0] == '\0')
		return rm_address_equal(&a->address, &b->address);
	return strcasecmp(a->name, b->name) == 0 && a->port == b->port;
}

/* ---- name look-up ---- */

static int
endpoint_failed(const struct rm_endpoint *endpoint, int gai, struct rm_error *error)
{
	const char *text = gai == EAI_SYSTEM ? strerror(errno) : gai_strerror(gai);
	int r = -EIO;

	switch (gai) {
	case EAI_NONAME:
	case EAI_NODATA:
	case EAI_ADDRFAMILY:
		r = -ENXIO;
		break;
	case EAI_AGAIN:
		r = -EAGAIN;
		break;
	case EAI_MEMORY:
		r = -ENOMEM;
		break;
	}
	return rm_error_set(error, r, "cannot resolve %s: %s", endpoint->name, text);
}

static bool
endpoint_take(const struct addrinfo *info, const struct rm_endpoint *endpoint,
    struct rm_address *ret)
{
	struct sockaddr_in *in = (struct sockaddr_in *)&ret->storage;
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&ret->storage;

	if ((info->ai_family != AF_INET && info->ai_family != AF_INET6) ||
	    info->ai_addrlen > sizeof(ret->storage))
		return false;
	memset(ret, 0, sizeof(*ret));
	memcpy(&ret->storage, info->ai_addr, info->ai_addrlen);
	ret->len = info->ai_addrlen;
	if (info->ai_family == AF_INET)
		in->sin_port = htons(endpoint->port);
	else
		in6->sin6_port = htons(endpoint->port);
	return true;
}

int
rm_endpoint_resolve(const struct rm_endpoint *endpoint,
    struct rm_address addresses[RM_ENDPOINT_ADDRESSES], size_t *count,
    struct rm_error *error)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
	struct addrinfo *list = NULL;
	size_t found = 0;
	int gai;

	if (endpoint->name[0] == '\0') {
		addresses[0] = endpoint->address;
		*count = 1;
		return 0;
	}
	gai = getaddrinfo(endpoint->name, NULL, &hints, &list);
	if (gai != 0)
		return endpoint_failed(endpoint, gai, error);
	for (const struct addrinfo *info = list;
	     info != NULL && found < RM_ENDPOINT_ADDRESSES; info = info->ai_next)
		found += endpoint_take(info, endpoint, &addresses[found]);
	freeaddrinfo(list);
	if (found == 0)
		return endpoint_failed(endpoint, EAI_NODATA, error);
	*count = found;
	return 0;
}
