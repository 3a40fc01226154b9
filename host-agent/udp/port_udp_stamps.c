#include "host-agent/udp/port_udp_stamps.h"

#include <string.h>

#define MAX_LINK_HEADER 48
#define UDP_HEADER 8
#define PROTOCOL_UDP 17

uint64_t
port_udp_stamps_key(const uint8_t *payload, size_t len)
{
	uint64_t a, b;

	if (len < PORT_UDP_KEY_BYTES)
		return 0;
	memcpy(&a, payload, sizeof(a));
	memcpy(&b, payload + sizeof(a), sizeof(b));
	a *= UINT64_C(0x9e3779b97f4a7c15);
	b *= UINT64_C(0xc2b2ae3d27d4eb4f);
	a ^= b ^ b >> 29;
	return a != 0 ? a : 1;
}

bool
port_udp_stamps_add(struct port_udp_stamps *stamps, uint64_t key, uint64_t token)
{
	size_t i = stamps->sent++ % PORT_UDP_STAMPS;
	bool pushed_out = stamps->slots[i].key != 0;

	stamps->slots[i].key = key;
	stamps->slots[i].token = token;
	return pushed_out;
}

enum port_udp_stamp
port_udp_stamps_match(
    struct port_udp_stamps *stamps, uint32_t id, uint64_t key, uint64_t *token)
{
	enum port_udp_stamp found = PORT_UDP_MATCHED;
	uint32_t n = id - stamps->shift;

	if (key == 0)
		return PORT_UDP_UNMATCHED;
	if (stamps->slots[n % PORT_UDP_STAMPS].key != key ||
	    stamps->sent - n > PORT_UDP_STAMPS) {
		uint32_t back;

		for (back = 1; back <= PORT_UDP_STAMPS; back++)
			if (stamps->slots[(stamps->sent - back) % PORT_UDP_STAMPS]
				.key == key)
				break;
		if (back > PORT_UDP_STAMPS)
			return PORT_UDP_UNMATCHED;
		n = stamps->sent - back;
		stamps->shift = id - n;
		found = PORT_UDP_RESYNCED;
	}
	*token = stamps->slots[n % PORT_UDP_STAMPS].token;
	stamps->slots[n % PORT_UDP_STAMPS].key = 0;
	if ((int32_t)(n + 1 - stamps->stamped) > 0)
		stamps->stamped = n + 1;
	return found;
}

bool
port_udp_stamps_waiting(const struct port_udp_stamps *stamps)
{
	return stamps->stamped != stamps->sent;
}

/* Returns the length of the IP header at p; 0: no IP header with a UDP header of source
 * port sport behind it. */
static size_t
ip_header(const uint8_t *p, size_t len, uint8_t family, uint16_t sport)
{
	size_t bytes = family == 4 ? 20 : 40;

	if (len < bytes + UDP_HEADER)
		return 0;
	if (family == 4 && (p[0] != 0x45 || p[9] != PROTOCOL_UDP))
		return 0;
	if (family == 6 && (p[0] >> 4 != 6 || p[6] != PROTOCOL_UDP))
		return 0;
	if (p[bytes] != sport >> 8 || p[bytes + 1] != (sport & 0xff))
		return 0;
	return bytes;
}

size_t
port_udp_stamps_payload(
    const uint8_t *packet, size_t len, uint8_t family, uint16_t sport)
{
	/* Lengths of link headers to try first: Ethernet, none, Ethernet with a VLAN
	 * tag. */
	static const uint8_t usual[] = { 14, 0, 18 };
	size_t bytes;

	for (size_t i = 0; i < sizeof(usual); i++) {
		if (usual[i] > len)
			continue;
		bytes = ip_header(packet + usual[i], len - usual[i], family, sport);
		if (bytes != 0)
			return usual[i] + bytes + UDP_HEADER;
	}
	for (size_t at = 0; at <= MAX_LINK_HEADER && at < len; at++) {
		bytes = ip_header(packet + at, len - at, family, sport);
		if (bytes != 0)
			return at + bytes + UDP_HEADER;
	}
	return 0;
}
