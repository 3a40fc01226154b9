/*
 * Any bytes as a UD message: a probe, a reply or neither, never both; and a reply to
 * what was taken for a probe is one that we would take, and no probe.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "host-agent/probe_format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void
answer_probe(const uint8_t *data, size_t len, const struct probe_ask *ask)
{
	const struct probe_answer answer = { .receive_timestamp = ask->timestamp,
		.rx_count = ask->tx_count,
		.ttl = 64,
		.follow_up_seq = ask->seq,
		.follow_up_timestamp = ask->seq };
	struct probe_reply reply;
	struct probe_ask again;
	uint8_t *copy = malloc(len);

	if (copy == NULL)
		return;
	memcpy(copy, data, len);
	roce_format.write_reply(copy, len, ask, &answer);
	if (roce_format.read_probe(copy, len, &again) == 0 ||
	    roce_format.read_reply(copy, len, &reply) < 0)
		abort();
	if (reply.sender_seq != ask->seq || reply.sender_timestamp != ask->timestamp ||
	    reply.ssid != ask->ssid || reply.tx_count != ask->tx_count ||
	    reply.has_counts != (ask->tx_count != 0) ||
	    reply.has_follow_up != (ask->seq != 0))
		abort();
	free(copy);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct probe_reply reply;
	struct probe_ask ask;
	uint8_t head[PROBE_HEAD_BYTES];
	int is_probe = roce_format.read_probe(data, len, &ask) == 0;
	int is_reply = roce_format.read_reply(data, len, &reply) == 0;

	if (is_probe && is_reply)
		abort();
	if (is_reply != (roce_format.read_plain_reply(data, len, &reply) == 0))
		abort();
	if (!is_probe)
		return 0;
	if (ask.label > 0xfffff || ask.dscp > 63 || len < roce_format.base_bytes)
		abort();
	answer_probe(data, len, &ask);
	if (roce_format.size(len) == len &&
	    roce_format.write_probe(&ask, len, head) != roce_format.base_bytes)
		abort();
	return 0;
}
