#include "host-agent/trace/trace_packet.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "host-agent/packet/stamp.h"

#define SECRET UINT64_C(0x1122334455667788)

static const struct trace_flow flow4 = {
	.src = { 4, { 10, 1, 0, 10 }, 49153 },
	.dst = { 4, { 10, 2, 0, 11 }, 862 },
	.dscp = 26,
};

static const struct trace_flow flow6 = {
	.src = { 6, { 0xfd, 0, 0, 1, [15] = 0x0a }, 49153 },
	.dst = { 6, { 0xfd, 0, 0, 2, [15] = 0x0b }, 862 },
	.dscp = 26,
};

/* Made by scapy: IP(tos=106, id=0x1234, flags="DF", ttl=2)/UDP/payload, without the
 * checksum of the IP header. */
static const uint8_t golden4[] = { 0x45, 0x6a, 0x00, 0x24, 0x12, 0x34, 0x40, 0x00, 0x02,
	0x11, 0x00, 0x00, 0x0a, 0x01, 0x00, 0x0a, 0x0a, 0x02, 0x00, 0x0b, 0xc0, 0x01,
	0x03, 0x5e, 0x00, 0x10, 0xec, 0x39, 'R', 'M', 'T', 'R', 0x12, 0x34, 0x83,
	0x49 };

/* IPv6(tc=106, hlim=3)/UDP/payload */
static const uint8_t golden6[] = { 0x66, 0xa0, 0x00, 0x00, 0x00, 0x10, 0x11, 0x03, 0xfd,
	0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x0a, 0xfd, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x0b, 0xc0, 0x01, 0x03, 0x5e, 0x00, 0x10, 0x06, 0x38,
	'R', 'M', 'T', 'R', 0x12, 0x34, 0x83, 0x49 };

static const uint8_t switch4[] = { 172, 16, 1, 2 };
static const struct wire_address switch6 = { 6, { 0xfd, 1, 2 }, 0 };

struct message {
	uint8_t bytes[256];
	size_t len;
};

static void
seal4(struct message *m)
{
	uint8_t *icmp = m->bytes + 20;
	uint32_t sum = 0;

	icmp[2] = icmp[3] = 0;
	for (size_t i = 0; i < m->len - 20; i += 2)
		sum += (uint32_t)(icmp[i] << 8 | icmp[i + 1]);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	icmp[2] = (uint8_t)(~sum >> 8);
	icmp[3] = (uint8_t)~sum;
}

static struct message
answer4(uint8_t type, uint8_t code, const uint8_t *from, const uint8_t *quote,
    size_t quote_len)
{
	struct message m = { .len = 20 + 8 + quote_len };

	m.bytes[0] = 0x45;
	m.bytes[8] = 60;
	m.bytes[9] = 1;
	memcpy(m.bytes + 12, from, 4);
	m.bytes[20] = type;
	m.bytes[21] = code;
	memcpy(m.bytes + 28, quote, quote_len);
	seal4(&m);
	return m;
}

static struct message
answer6(uint8_t type, uint8_t code, const uint8_t *quote, size_t quote_len)
{
	struct message m = { .len = 8 + quote_len };

	m.bytes[0] = type;
	m.bytes[1] = code;
	memcpy(m.bytes + 8, quote, quote_len);
	return m;
}

/* Parses a copy in a buffer of exact size, so that a sanitizer finds reads beyond
 * it. */
static int
parse(uint8_t family, const struct message *m, size_t len, struct trace_answer *ret)
{
	uint8_t *copy = malloc(len + 1);
	int r;

	assert_non_null(copy);
	memcpy(copy + 1, m->bytes, len);
	r = trace_answer_parse(family, &switch6, copy + 1, len, SECRET, ret);
	free(copy);
	return r;
}

static void
packets_are_those_of_another_implementation(void **state)
{
	uint8_t packet[TRACE_PACKET_MAX_BYTES];

	assert_int_equal(
	    trace_packet_build(&flow4, 2, 0x1234, SECRET, packet), sizeof(golden4));
	assert_memory_equal(packet, golden4, sizeof(golden4));
	assert_int_equal(
	    trace_packet_build(&flow6, 3, 0x1234, SECRET, packet), sizeof(golden6));
	assert_memory_equal(packet, golden6, sizeof(golden6));
}

static void
a_switch_where_the_ttl_ran_out_is_known_by_its_quote(void **state)
{
	/* A switch must quote only the first 8 bytes of the IP payload. */
	struct message m = answer4(11, 0, switch4, golden4, 28);
	struct trace_answer answer;

	assert_int_equal(parse(4, &m, m.len, &answer), 0);
	assert_true(answer.expired);
	assert_false(answer.reached);
	assert_int_equal(answer.token, 0x1234);
	assert_int_equal(answer.from.family, 4);
	assert_memory_equal(answer.from.bytes, switch4, 4);
	assert_memory_equal(&answer.flow.src, &flow4.src, sizeof(flow4.src));
	assert_memory_equal(&answer.flow.dst, &flow4.dst, sizeof(flow4.dst));

	m = answer6(3, 0, golden6, sizeof(golden6));
	assert_int_equal(parse(6, &m, m.len, &answer), 0);
	assert_true(answer.expired);
	assert_int_equal(answer.token, 0x1234);
	assert_memory_equal(answer.from.bytes, switch6.bytes, 16);
	assert_memory_equal(&answer.flow.src, &flow6.src, sizeof(flow6.src));
	assert_memory_equal(&answer.flow.dst, &flow6.dst, sizeof(flow6.dst));
}

static void
a_quote_with_fields_changed_on_the_path_still_matches(void **state)
{
	struct message m;
	struct trace_answer answer;
	uint8_t quote[sizeof(golden4)];

	memcpy(quote, golden4, sizeof(quote));
	quote[1] = 0;                 /* a switch cleared the traffic class */
	quote[8] = 0;                 /* the TTL has expired */
	quote[10] = quote[11] = 0xab; /* checksum of the quoted header */
	m = answer4(11, 0, switch4, quote, sizeof(quote));
	assert_int_equal(parse(4, &m, m.len, &answer), 0);
}

static void
only_the_destination_itself_ends_a_path(void **state)
{
	struct trace_answer answer;
	struct message m = answer4(3, 3, flow4.dst.bytes, golden4, 28);

	assert_int_equal(parse(4, &m, m.len, &answer), 0);
	assert_true(answer.reached);
	assert_false(answer.expired);
	/* A port unreachable from an address other than the destination. */
	m = answer4(3, 3, switch4, golden4, 28);
	assert_int_equal(parse(4, &m, m.len, &answer), 0);
	assert_false(answer.reached);
	/* Code: no route to the destination. */
	m = answer4(3, 0, flow4.dst.bytes, golden4, 28);
	assert_int_equal(parse(4, &m, m.len, &answer), 0);
	assert_false(answer.reached || answer.expired);
	/* Code: fragment reassembly time exceeded. */
	m = answer4(11, 1, switch4, golden4, 28);
	assert_int_equal(parse(4, &m, m.len, &answer), 0);
	assert_false(answer.reached || answer.expired);
}

static void
quotes_of_other_packets_are_ignored(void **state)
{
	static const size_t at4[] = { 4, 9, 12, 16, 20, 22, 24, 26, 28, 32, 35 };
	static const size_t at6[] = { 6, 8, 24, 40, 42, 44, 46, 48, 52, 55 };
	struct trace_answer answer;
	struct message m;

	for (size_t i = 0; i < sizeof(at4) / sizeof(at4[0]); i++) {
		m = answer4(11, 0, switch4, golden4, sizeof(golden4));
		m.bytes[28 + at4[i]] ^= 0x10;
		seal4(&m);
		assert_int_equal(parse(4, &m, m.len, &answer), -ENOENT);
	}
	for (size_t i = 0; i < sizeof(at6) / sizeof(at6[0]); i++) {
		m = answer6(3, 0, golden6, sizeof(golden6));
		m.bytes[8 + at6[i]] ^= 0x10;
		assert_int_equal(parse(6, &m, m.len, &answer), -ENOENT);
	}
	m = answer4(8, 0, switch4, golden4, sizeof(golden4)); /* an echo request */
	assert_int_equal(parse(4, &m, m.len, &answer), -ENOENT);
}

/* The attacker may know addresses, ports and how tokens are numbered. */
static void
an_answer_cannot_be_forged_without_seeing_the_packet(void **state)
{
	uint8_t packet[TRACE_PACKET_MAX_BYTES];
	struct trace_answer answer;
	struct message m;
	unsigned taken = 0;
	size_t len;

	for (uint64_t guess = 0; guess < 1000; guess++) {
		trace_packet_build(&flow4, 0, 0x1234, SECRET ^ (guess + 1), packet);
		m = answer4(11, 0, switch4, packet, 28);
		taken += parse(4, &m, m.len, &answer) == 0;
		len =
		    trace_packet_build(&flow6, 0, 0x1234, SECRET ^ (guess + 1), packet);
		m = answer6(3, 0, packet, len);
		taken += parse(6, &m, m.len, &answer) == 0;
	}
	assert_true(taken <= 1); /* one of 30 such tests accepts one by chance */
	/* A packet that the attacker has seen does not help to forge an answer to
	 * another. */
	memcpy(packet, golden4, sizeof(golden4));
	packet[5]++;
	packet[33]++;
	packet[27]--;
	m = answer4(11, 0, switch4, packet, 28);
	assert_int_equal(parse(4, &m, m.len, &answer), -ENOENT);
}

static void
truncated_and_damaged_answers_are_refused(void **state)
{
	struct message m = answer4(11, 0, switch4, golden4, sizeof(golden4));
	struct trace_answer answer;

	for (size_t len = 0; len < 28 + 28; len++)
		assert_int_equal(parse(4, &m, len, &answer), -EBADMSG);
	m.bytes[60] ^= 1; /* the checksum is wrong */
	assert_int_equal(parse(4, &m, m.len, &answer), -EBADMSG);
	m = answer4(11, 0, switch4, golden4, sizeof(golden4));
	m.bytes[0] = 0x44; /* a header length of 16 bytes */
	assert_int_equal(parse(4, &m, m.len, &answer), -EBADMSG);
	m = answer4(11, 0, switch4, golden4, sizeof(golden4));
	m.bytes[28] = 0x4f; /* a header length of 60 bytes */
	seal4(&m);
	assert_int_equal(parse(4, &m, m.len, &answer), -EBADMSG);
	m = answer6(3, 0, golden6, sizeof(golden6));
	for (size_t len = 0; len < 8 + 40 + 8; len++)
		assert_int_equal(parse(6, &m, len, &answer), -EBADMSG);
}

static void
no_probe_is_that_short(void **state)
{
	assert_true(TRACE_PAYLOAD_BYTES < STAMP_BASE_BYTES);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packets_are_those_of_another_implementation),
		cmocka_unit_test(a_switch_where_the_ttl_ran_out_is_known_by_its_quote),
		cmocka_unit_test(a_quote_with_fields_changed_on_the_path_still_matches),
		cmocka_unit_test(only_the_destination_itself_ends_a_path),
		cmocka_unit_test(quotes_of_other_packets_are_ignored),
		cmocka_unit_test(an_answer_cannot_be_forged_without_seeing_the_packet),
		cmocka_unit_test(truncated_and_damaged_answers_are_refused),
		cmocka_unit_test(no_probe_is_that_short),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
