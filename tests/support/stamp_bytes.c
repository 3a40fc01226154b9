/*
 * stamp_bytes - our STAMP codec on the command line, for tests that compare it with
 * another implementation.
 *
 *     stamp_bytes probe <seq> <timestamp> <ssid> <dscp> <tx count> <size>
 *         prints the probe in hex
 *     stamp_bytes read-probe <hex>
 *     stamp_bytes read-reply <hex>
 *         prints the fields as JSON, or "refused"
 *     stamp_bytes reply <hex> <receive timestamp> <timestamp> <ttl> <dscp> <ecn>
 *         <rx count> <tx count> <follow-up seq> <follow-up timestamp>
 *         prints the reply to the probe in hex, or "refused"
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host-agent/packet/probe_format.h"
#include "host-agent/packet/stamp.h"

static uint64_t
number(const char *text)
{
	return strtoull(text, NULL, 0);
}

static size_t
from_hex(const char *text, uint8_t out[STAMP_MAX_BYTES])
{
	size_t n = 0;
	unsigned byte;

	while (n < STAMP_MAX_BYTES && sscanf(text + 2 * n, "%2x", &byte) == 1)
		out[n++] = (uint8_t)byte;
	return n;
}

static int
print_hex(const uint8_t *data, size_t len)
{
	for (size_t i = 0; i < len; i++)
		printf("%02x", data[i]);
	printf("\n");
	return EXIT_SUCCESS;
}

static int
refused(void)
{
	printf("refused\n");
	return EXIT_SUCCESS;
}

static int
write_probe(char **argv)
{
	static uint8_t out[STAMP_MAX_BYTES + STAMP_HEAD_BYTES];
	struct probe_ask probe = { .seq = (uint32_t)number(argv[0]),
		.timestamp = number(argv[1]),
		.error_estimate = STAMP_ERROR_ESTIMATE,
		.ssid = (uint16_t)number(argv[2]),
		.dscp = (uint8_t)number(argv[3]),
		.tx_count = (uint32_t)number(argv[4]) };
	size_t size = stamp_format.size(number(argv[5]));

	stamp_format.write_probe(&probe, size, out);
	return print_hex(out, size);
}

static int
read_probe(char **argv)
{
	static uint8_t data[STAMP_MAX_BYTES];
	struct probe_ask probe;

	if (stamp_format.read_probe(data, from_hex(argv[0], data), &probe) < 0)
		return refused();
	printf("{\"seq\": %" PRIu32 ", \"timestamp\": %" PRIu64
	       ", \"error_estimate\": %u, \"ssid\": %u, \"has_class\": %u,"
	       " \"dscp\": %u, \"tx_count\": %" PRIu32 "}\n",
	    probe.seq, probe.timestamp, probe.error_estimate, probe.ssid,
	    probe.has_class, probe.dscp, probe.tx_count);
	return EXIT_SUCCESS;
}

static int
write_reply(char **argv)
{
	static uint8_t data[STAMP_MAX_BYTES];
	size_t len = from_hex(argv[0], data);
	struct probe_answer answer = { .receive_timestamp = number(argv[1]),
		.timestamp = number(argv[2]),
		.ttl = (uint8_t)number(argv[3]),
		.dscp = (uint8_t)number(argv[4]),
		.ecn = (uint8_t)number(argv[5]),
		.rx_count = (uint32_t)number(argv[6]),
		.tx_count = (uint32_t)number(argv[7]),
		.follow_up_seq = (uint32_t)number(argv[8]),
		.follow_up_timestamp = number(argv[9]) };
	struct probe_ask probe;

	if (stamp_format.read_probe(data, len, &probe) < 0)
		return refused();
	stamp_format.write_reply(data, len, &probe, &answer);
	return print_hex(data, len);
}

static int
read_reply(char **argv)
{
	static uint8_t data[STAMP_MAX_BYTES];
	struct probe_reply reply;

	if (stamp_format.read_reply(data, from_hex(argv[0], data), &reply) < 0)
		return refused();
	printf("{\"seq\": %" PRIu32 ", \"timestamp\": %" PRIu64
	       ", \"error_estimate\": %u, \"ssid\": %u, \"receive_timestamp\": %" PRIu64
	       ", \"sender_seq\": %" PRIu32 ", \"sender_timestamp\": %" PRIu64
	       ", \"sender_error_estimate\": %u, \"sender_ttl\": %u",
	    reply.seq, reply.timestamp, reply.error_estimate, reply.ssid,
	    reply.receive_timestamp, reply.sender_seq, reply.sender_timestamp,
	    reply.sender_error_estimate, reply.sender_ttl);
	printf(", \"has_class\": %u, \"dscp\": %u, \"ecn\": %u, \"has_counts\": %u,"
	       " \"tx_count\": %" PRIu32 ", \"rx_count\": %" PRIu32
	       ", \"reflector_tx_count\": %" PRIu32
	       ", \"has_follow_up\": %u, \"follow_up_seq\": %" PRIu32
	       ", \"follow_up_timestamp\": %" PRIu64 "}\n",
	    reply.has_class, reply.dscp, reply.ecn, reply.has_counts, reply.tx_count,
	    reply.rx_count, reply.reflector_tx_count, reply.has_follow_up,
	    reply.follow_up_seq, reply.follow_up_timestamp);
	return EXIT_SUCCESS;
}

int
main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int args;
		int (*fn)(char **argv);
	} verbs[] = {
		{ "probe", 6, write_probe },
		{ "read-probe", 1, read_probe },
		{ "reply", 10, write_reply },
		{ "read-reply", 1, read_reply },
	};

	for (size_t i = 0; argc > 1 && i < sizeof(verbs) / sizeof(verbs[0]); i++)
		if (strcmp(argv[1], verbs[i].name) == 0 && argc == 2 + verbs[i].args)
			return verbs[i].fn(argv + 2);
	fprintf(stderr, "usage: see the head of stamp_bytes.c\n");
	return EXIT_FAILURE;
}
