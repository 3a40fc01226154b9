#include "region-controller/topology/rnic_address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "schemas/wire/text.h"

static int
parse_port(const char *text, uint16_t *ret)
{
	unsigned long port;
	char *end;

	if (text[0] < '1' || text[0] > '9')
		return -EINVAL;
	port = strtoul(text, &end, 10);
	if (*end != '\0' || port > UINT16_MAX)
		return -EINVAL;
	*ret = (uint16_t)port;
	return 0;
}

/* Cuts off the port, if there is one, and the brackets. */
static int
split(char *copy, char **host, uint16_t *port)
{
	char *colon = strchr(copy, ':');
	char *end;

	*host = copy;
	if (copy[0] == '[') {
		end = strchr(copy, ']');
		if (end == NULL || end[1] != ':')
			return -EINVAL;
		*end = '\0';
		*host = copy + 1;
		if (strchr(*host, ':') == NULL)
			return -EINVAL;
		return parse_port(end + 2, port);
	}
	if (colon == NULL || strchr(colon + 1, ':') != NULL)
		return 0;
	*colon = '\0';
	return parse_port(colon + 1, port);
}

int
rnic_address_parse(const char *text, struct wire_address *ret)
{
	struct wire_address address = { 0 };
	char copy[WIRE_ADDRESS_TEXT], *host;
	int r;

	if (strlen(text) >= sizeof(copy))
		return -EINVAL;
	strcpy(copy, text);
	r = split(copy, &host, &address.port);
	if (r < 0)
		return r;
	if (inet_pton(AF_INET, host, address.bytes) == 1)
		address.family = 4;
	else if (inet_pton(AF_INET6, host, address.bytes) == 1)
		address.family = 6;
	else
		return -EINVAL;
	*ret = address;
	return 0;
}

struct rnic_address_key
rnic_address_key(const struct wire_address *address)
{
	struct rnic_address_key key = { .bytes = { [10] = 0xff, [11] = 0xff } };

	if (address->family == 4)
		memcpy(key.bytes + 12, address->bytes, 4);
	else
		memcpy(key.bytes, address->bytes, 16);
	return key;
}
