#include "host-agent/trace/trace_packet.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/icmp6.h>
#include <netinet/ip_icmp.h>
#include <string.h>

#define IP4_BYTES 20
#define IP6_BYTES 40
#define UDP_BYTES 8
#define ICMP_BYTES 8
#define PROTOCOL_UDP 17
#define PROTOCOL_ICMP 1
#define ECN_CAPABLE 2 /* ECT(0), the same as in probes */
#define DONT_FRAGMENT 0x40

static void
put_u16(uint8_t *at, unsigned value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

static uint16_t
get_u16(const uint8_t *at)
{
	return (uint16_t)(at[0] << 8 | at[1]);
}

static uint32_t
sum_pairs_of_bytes(uint32_t sum, const uint8_t *data, size_t len)
{
	for (size_t i = 0; i + 1 < len; i += 2)
		sum += get_u16(data + i);
	if (len % 2 != 0)
		sum += (uint32_t)data[len - 1] << 8;
	return sum;
}

static uint16_t
fold(uint32_t sum)
{
	while (sum >> 16 != 0)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

static size_t
address_bytes(uint8_t family)
{
	return family == 4 ? 4 : 16;
}

/* The value is derived by splitmix64, which is enough: an attacker sees only few
 * values. */
static uint16_t
seal_of(uint64_t secret, uint16_t token)
{
	uint64_t z = secret + (token + UINT64_C(1)) * UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return (uint16_t)(z ^ z >> 31);
}

/* Writes the UDP header and the payload. The checksum covers all of it: a changed part
 * that it did not cover could not be recognised when a switch quotes the packet. */
static void
put_udp(const struct trace_flow *flow, uint16_t token, uint64_t secret, uint8_t *udp)
{
	static const uint8_t magic[4] = { 'R', 'M', 'T', 'R' };
	size_t bytes = address_bytes(flow->src.family);
	uint32_t sum = PROTOCOL_UDP + UDP_BYTES + TRACE_PAYLOAD_BYTES;
	uint16_t check;

	put_u16(udp, flow->src.port);
	put_u16(udp + 2, flow->dst.port);
	put_u16(udp + 4, UDP_BYTES + TRACE_PAYLOAD_BYTES);
	put_u16(udp + 6, 0);
	memcpy(udp + 8, magic, sizeof(magic));
	put_u16(udp + 12, token);
	put_u16(udp + 14, seal_of(secret, token));
	sum = sum_pairs_of_bytes(sum, flow->src.bytes, bytes);
	sum = sum_pairs_of_bytes(sum, flow->dst.bytes, bytes);
	check = fold(sum_pairs_of_bytes(sum, udp, UDP_BYTES + TRACE_PAYLOAD_BYTES));
	put_u16(udp + 6, check == 0 ? 0xffff : check);
}

size_t
trace_packet_build(const struct trace_flow *flow, uint8_t ttl, uint16_t token,
    uint64_t secret, uint8_t packet[TRACE_PACKET_MAX_BYTES])
{
	const size_t udp_bytes = UDP_BYTES + TRACE_PAYLOAD_BYTES;
	uint8_t class = (uint8_t)(flow->dscp << 2 | ECN_CAPABLE);

	memset(packet, 0, TRACE_PACKET_MAX_BYTES);
	if (flow->src.family == 4) {
		packet[0] = 4 << 4 | IP4_BYTES / 4;
		packet[1] = class;
		put_u16(packet + 2, (unsigned)(IP4_BYTES + udp_bytes));
		put_u16(packet + 4, token);
		packet[6] = DONT_FRAGMENT;
		packet[8] = ttl;
		packet[9] = PROTOCOL_UDP;
		memcpy(packet + 12, flow->src.bytes, 4);
		memcpy(packet + 16, flow->dst.bytes, 4);
		put_udp(flow, token, secret, packet + IP4_BYTES);
		return IP4_BYTES + udp_bytes;
	}
	packet[0] = (uint8_t)(6 << 4 | class >> 4);
	packet[1] = (uint8_t)(class << 4);
	put_u16(packet + 4, (unsigned)udp_bytes);
	packet[6] = PROTOCOL_UDP;
	packet[7] = ttl;
	memcpy(packet + 8, flow->src.bytes, 16);
	memcpy(packet + 24, flow->dst.bytes, 16);
	put_udp(flow, token, secret, packet + IP6_BYTES);
	return IP6_BYTES + udp_bytes;
}

/* Parses the quoted packet: its IP header, and at least the UDP header, which is all
 * that IPv4 switches must quote. */
static int
parse_quote(uint8_t family, const uint8_t *data, size_t len, uint64_t secret,
    struct trace_answer *answer)
{
	struct trace_flow *flow = &answer->flow;
	uint8_t ours[UDP_BYTES + TRACE_PAYLOAD_BYTES];
	size_t header = IP6_BYTES;
	const uint8_t *udp;

	if (len < (family == 4 ? IP4_BYTES : IP6_BYTES) || data[0] >> 4 != family)
		return -EBADMSG;
	if (family == 4)
		header = (size_t)(data[0] & 0xf) * 4;
	if (header < IP4_BYTES || len < header + UDP_BYTES)
		return -EBADMSG;
	if (data[family == 4 ? 9 : 6] != PROTOCOL_UDP)
		return -ENOENT;
	udp = data + header;
	/* IPv6 has no identification field, but its switches quote the whole packet. */
	if (family == 6 && len < header + sizeof(ours))
		return -ENOENT;
	answer->token = get_u16(family == 4 ? data + 4 : udp + 12);
	flow->src.family = flow->dst.family = family;
	memcpy(flow->src.bytes, data + (family == 4 ? 12 : 8), address_bytes(family));
	memcpy(flow->dst.bytes, data + (family == 4 ? 16 : 24), address_bytes(family));
	flow->src.port = get_u16(udp);
	flow->dst.port = get_u16(udp + 2);
	put_udp(flow, answer->token, secret, ours);
	len -= header;
	if (len > sizeof(ours))
		len = sizeof(ours);
	return memcmp(udp, ours, len) == 0 ? 0 : -ENOENT;
}

static bool
same_bytes(const struct wire_address *a, const struct wire_address *b)
{
	return memcmp(a->bytes, b->bytes, sizeof(a->bytes)) == 0;
}

/* The ICMP message, of either family. */
static int
parse_message(uint8_t family, const uint8_t *data, size_t len, uint64_t secret,
    struct trace_answer *answer)
{
	bool v4 = family == 4, nobody;
	int r;

	if (len < ICMP_BYTES || (v4 && fold(sum_pairs_of_bytes(0, data, len)) != 0))
		return -EBADMSG;
	if (data[0] == (v4 ? ICMP_TIME_EXCEEDED : ICMP6_TIME_EXCEEDED)) {
		/* Code 1 is about reassembly of fragments. */
		answer->expired = data[1] == 0;
		nobody = false;
	} else if (data[0] == (v4 ? ICMP_DEST_UNREACH : ICMP6_DST_UNREACH)) {
		nobody = data[1] == (v4 ? ICMP_PORT_UNREACH : ICMP6_DST_UNREACH_NOPORT);
	} else {
		return -ENOENT;
	}
	r = parse_quote(family, data + ICMP_BYTES, len - ICMP_BYTES, secret, answer);
	answer->reached =
	    r == 0 && nobody && same_bytes(&answer->from, &answer->flow.dst);
	return r;
}

int
trace_answer_parse(uint8_t family, const struct wire_address *from, const uint8_t *data,
    size_t len, uint64_t secret, struct trace_answer *ret)
{
	struct trace_answer answer = { 0 };
	size_t header = 0;
	int r;

	if (family == 4) {
		if (len < IP4_BYTES || data[0] >> 4 != 4)
			return -EBADMSG;
		header = (size_t)(data[0] & 0xf) * 4;
		if (header < IP4_BYTES || len < header)
			return -EBADMSG;
		if (data[9] != PROTOCOL_ICMP)
			return -ENOENT;
		memcpy(answer.from.bytes, data + 12, 4);
	} else {
		memcpy(answer.from.bytes, from->bytes, sizeof(answer.from.bytes));
	}
	answer.from.family = family;
	r = parse_message(family, data + header, len - header, secret, &answer);
	if (r == 0)
		*ret = answer;
	return r;
}
