#include "host-agent/probe/target_filter.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

const char *
target_refusal_str(enum target_refusal refusal)
{
	static const char *const names[TARGET_REFUSALS] = {
		[TARGET_FINE] = "none",
		[TARGET_UNSPECIFIED] = "unspecified",
		[TARGET_MULTICAST] = "multicast",
		[TARGET_BROADCAST] = "broadcast",
		[TARGET_LOOPBACK] = "loopback",
		[TARGET_LINK_LOCAL] = "link_local",
		[TARGET_SELF] = "self",
		[TARGET_OTHER_PORT] = "other_port",
		[TARGET_MALFORMED] = "malformed",
		[TARGET_TOO_FAST] = "too_fast",
		[TARGET_TOO_LARGE] = "too_large",
		[TARGET_TOO_MANY] = "too_many",
	};

	return names[refusal];
}

/* An IPv4-mapped IPv6 address is checked by the rules of IPv4. */
static struct wire_address
plain(const struct wire_address *address)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	struct wire_address ret = *address;

	if (address->family != 6 || memcmp(address->bytes, mapped, 12) != 0)
		return ret;
	ret.family = 4;
	memset(ret.bytes, 0, sizeof(ret.bytes));
	memcpy(ret.bytes, address->bytes + 12, 4);
	return ret;
}

/* ---- kinds of addresses ---------------------------------------------------------- */

static enum target_refusal
ipv4_kind(const uint8_t *b)
{
	if (b[0] == 0)
		return TARGET_UNSPECIFIED; /* "this network" */
	if (b[0] == 255 && b[1] == 255 && b[2] == 255 && b[3] == 255)
		return TARGET_BROADCAST;
	if (b[0] >= 224)
		return TARGET_MULTICAST;
	if (b[0] == 127)
		return TARGET_LOOPBACK;
	if (b[0] == 169 && b[1] == 254)
		return TARGET_LINK_LOCAL;
	return TARGET_FINE;
}

static enum target_refusal
ipv6_kind(const uint8_t *b)
{
	static const uint8_t zeros[16];

	if (memcmp(b, zeros, 15) == 0)
		return b[15] == 0   ? TARGET_UNSPECIFIED
		       : b[15] == 1 ? TARGET_LOOPBACK
				    : TARGET_FINE;
	if (b[0] == 0xff)
		return TARGET_MULTICAST;
	if (b[0] == 0xfe && (b[1] & 0xc0) == 0x80)
		return TARGET_LINK_LOCAL;
	return TARGET_FINE;
}

static enum target_refusal
kind_of(const struct wire_address *address)
{
	if (address->family == 4)
		return ipv4_kind(address->bytes);
	if (address->family == 6)
		return ipv6_kind(address->bytes);
	return TARGET_UNSPECIFIED;
}

/* ---- how an address is related to the RNIC ---- */

static bool
same_address(const struct wire_address *a, const struct wire_address *b)
{
	return a->family == b->family &&
	       memcmp(a->bytes, b->bytes, a->family == 4 ? 4 : 16) == 0;
}

static uint32_t
ipv4_number(const struct wire_address *address)
{
	const uint8_t *b = address->bytes;

	return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

/* True: the last address of the RNIC's subnet, or the first; /31 and /32 have
 * neither. */
static bool
is_broadcast(const struct wire_address *address, const struct wire_address *own,
    uint8_t prefix_bits)
{
	uint32_t hosts, a, o;

	if (address->family != 4 || own->family != 4 || prefix_bits == 0 ||
	    prefix_bits > 30)
		return false;
	hosts = UINT32_MAX >> prefix_bits;
	a = ipv4_number(address);
	o = ipv4_number(own);
	return (a & ~hosts) == (o & ~hosts) && ((a & hosts) == hosts || !(a & hosts));
}

enum target_refusal
target_address_check(
    const struct wire_address *address, const struct own_rnic *own_rnic)
{
	struct wire_address to = plain(address);
	enum target_refusal kind = kind_of(&to);
	bool near = kind == TARGET_LOOPBACK || kind == TARGET_LINK_LOCAL;
	bool known = false, like_us = false;

	if (kind != TARGET_FINE && !near)
		return kind;
	for (size_t i = 0; i < OWN_RNIC_ADDRESSES; i++) {
		const struct wire_address *own = &own_rnic->addresses[i];

		if (own->family == 0)
			continue;
		known = true;
		like_us |= own->family == to.family && kind_of(own) == kind;
		if (same_address(own, &to))
			return TARGET_SELF;
		if (is_broadcast(&to, own, own_rnic->prefix_bits[i]))
			return TARGET_BROADCAST;
	}
	return near && known && !like_us ? kind : TARGET_FINE;
}
