#include "host-agent/packet/gid.h"

#include <errno.h>
#include <string.h>

static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

bool
gid_is_zero(const uint8_t gid[GID_BYTES])
{
	static const uint8_t zero[GID_BYTES];

	return memcmp(gid, zero, GID_BYTES) == 0;
}

void
gid_to_address(const uint8_t gid[GID_BYTES], struct wire_address *ret)
{
	*ret = (struct wire_address){ .family = 6 };
	if (memcmp(gid, mapped, sizeof(mapped)) == 0) {
		ret->family = 4;
		memcpy(ret->bytes, gid + sizeof(mapped), 4);
	} else {
		memcpy(ret->bytes, gid, GID_BYTES);
	}
}

int
gid_from_address(const struct wire_address *address, uint8_t ret[GID_BYTES])
{
	if (address->family == 4) {
		memcpy(ret, mapped, sizeof(mapped));
		memcpy(ret + sizeof(mapped), address->bytes, 4);
	} else if (address->family == 6) {
		memcpy(ret, address->bytes, GID_BYTES);
	} else {
		return -EAFNOSUPPORT;
	}
	return 0;
}

static bool
ipv4_is_global(const uint8_t bytes[4])
{
	return bytes[0] != 127 && bytes[0] != 0 && bytes[0] < 224 &&
	       !(bytes[0] == 169 && bytes[1] == 254);
}

bool
gid_is_global(const uint8_t gid[GID_BYTES])
{
	static const uint8_t loopback[GID_BYTES] = { [15] = 1 };
	struct wire_address address;

	gid_to_address(gid, &address);
	if (address.family == 4)
		return ipv4_is_global(address.bytes);
	return !gid_is_zero(gid) && memcmp(gid, loopback, GID_BYTES) != 0 &&
	       gid[0] != 0xff && !(gid[0] == 0xfe && (gid[1] & 0xc0) == 0x80);
}
