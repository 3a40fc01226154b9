/* ICMP messages as raw sockets receive them. The first byte selects the address
 * family. */
#include <stdlib.h>
#include <string.h>

#include "host-agent/trace/trace_packet.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void
check(const struct trace_answer *answer, uint8_t family)
{
	uint8_t packet[TRACE_PACKET_MAX_BYTES];

	if (answer->flow.src.family != family || answer->flow.dst.family != family ||
	    answer->from.family != family || (answer->expired && answer->reached))
		abort();
	if (trace_packet_build(&answer->flow, 1, answer->token, 0, packet) == 0)
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const struct wire_address from = { 6, { 0xfd, 1 }, 0 };
	struct trace_answer answer;
	uint8_t family, *copy;

	if (len == 0)
		return 0;
	family = data[0] % 2 == 0 ? 4 : 6;
	copy = malloc(len); /* of exact length */
	if (copy == NULL)
		return 0;
	memcpy(copy, data + 1, len - 1);
	if (trace_answer_parse(family, &from, copy, len - 1, 0, &answer) == 0)
		check(&answer, family);
	free(copy);
	return 0;
}
