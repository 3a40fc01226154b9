#include "tor-aggregator/switch/switch_neighbor.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <strings.h>

bool
switch_neighbor_is_there(const struct switch_neighbor *neighbor)
{
	return neighbor->name[0] != '\0' || neighbor->port[0] != '\0';
}

static bool
is_none(const char *text, size_t len)
{
	static const char *const none_texts[] = { "", "null", "N/A", "not advertised" };

	for (size_t i = 0; i < sizeof(none_texts) / sizeof(none_texts[0]); i++)
		if (len == strlen(none_texts[i]) &&
		    strncasecmp(text, none_texts[i], len) == 0)
			return true;
	return false;
}

int
switch_neighbor_read(const char *text, size_t len, char ret[SWITCH_NEIGHBOR_BYTES])
{
	ret[0] = '\0';
	for (; len > 0 && text[0] == ' '; len--)
		text++;
	while (len > 0 && text[len - 1] == ' ')
		len--;
	if (is_none(text, len))
		return -ENODATA;
	if (len >= SWITCH_NEIGHBOR_BYTES)
		return -EBADMSG;
	for (size_t i = 0; i < len; i++)
		if (text[i] < ' ' || text[i] > '~')
			return -EBADMSG;
	memcpy(ret, text, len);
	ret[len] = '\0';
	return 0;
}

bool
switch_name_is_same(const char *a, const char *b)
{
	const size_t first = strcspn(a, ".");

	if (a[0] == '\0' || b[0] == '\0')
		return false;
	if (a[first] != '\0' && strchr(b, '.') != NULL)
		return strcasecmp(a, b) == 0;
	return strcspn(b, ".") == first && strncasecmp(a, b, first) == 0;
}

/* Length of the part of the name before its first digit; *rest: the text from that
 * digit on. */
static size_t
kind_of_port(const char *port, const char **rest)
{
	const size_t len = strcspn(port, "0123456789");

	*rest = port + len;
	return len;
}

bool
switch_port_is_same(const char *a, const char *b)
{
	const char *number_a, *number_b;
	const size_t kind_a = kind_of_port(a, &number_a),
		     kind_b = kind_of_port(b, &number_b),
		     shorter = kind_a < kind_b ? kind_a : kind_b;

	if (a[0] == '\0' || strcasecmp(a, b) == 0)
		return a[0] != '\0';
	return shorter >= 3 && strncasecmp(a, b, shorter) == 0 && number_a[0] != '\0' &&
	       strcasecmp(number_a, number_b) == 0;
}

bool
switch_neighbor_is_at(const struct switch_neighbor *neighbor, const char *port)
{
	return switch_port_is_same(neighbor->port, port) ||
	       switch_port_is_same(neighbor->description, port);
}

bool
switch_neighbor_mac(const struct switch_neighbor *neighbor, uint64_t *ret)
{
	uint64_t mac = 0;
	size_t digits = 0;

	for (const char *at = neighbor->port; *at != '\0'; at++) {
		const char letter = (char)tolower((unsigned char)*at);

		if (isxdigit((unsigned char)letter)) {
			mac = mac << 4 | (uint64_t)(letter <= '9' ? letter - '0'
								  : letter - 'a' + 10);
			digits++;
		} else if (strchr(":-.", letter) == NULL || digits % 2 != 0) {
			return false;
		}
	}
	if (digits != 12)
		return false;
	*ret = mac;
	return true;
}

bool
switch_mac_is_of_guid(uint64_t mac, uint64_t guid)
{
	const uint64_t maker = guid >> 40, middle = guid >> 24 & 0xffff;

	if (guid >> 48 == 0)
		return guid == mac;
	/* In an EUI-64 the bit "local" is inverted, in some GUIDs it is not; and mlx5
	 * has 0300 where the EUI-64 has fffe. */
	return (middle == 0xfffe || middle == 0x0300) &&
	       (maker == mac >> 24 || (maker ^ 0x020000) == mac >> 24) &&
	       (guid & 0xffffff) == (mac & 0xffffff);
}
