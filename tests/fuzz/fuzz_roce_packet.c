/*
 * Any bytes as a UD message: a probe, a reply or neither, never both. The reply to an
 * accepted probe is accepted as a reply, and not as a probe.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "host-agent/packet/probe_format.h"
#include "rackmesh/identity/probe_mac.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void
answer_probe(const struct probe_format *format, const uint8_t *data, size_t len,
    const struct probe_ask *ask)
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
	format->write_reply(copy, len, ask, &answer);
	if (format->read_probe(copy, len, &again) == 0 ||
	    format->read_reply(copy, len, &reply) < 0)
		abort();
	if (format->sign != NULL) {
		struct probe_mac mac;

		probe_mac_init(&mac, "key", 3);
		if (format->verify(copy, len, &mac))
			abort(); /* accepted, although it is not signed yet */
		format->sign(copy, &mac);
		if (format->read_reply(copy, len, &reply) < 0)
			abort();
		/* A length with padding is refused. */
		(void)format->verify(copy, len, &mac);
	}
	if (reply.sender_seq != ask->seq || reply.sender_timestamp != ask->timestamp ||
	    reply.ssid != ask->ssid || reply.tx_count != ask->tx_count ||
	    reply.has_counts != (ask->tx_count != 0) ||
	    reply.has_follow_up != (ask->seq != 0))
		abort();
	free(copy);
}

/* True: it is a probe or a reply. */
static bool
one_format(const struct probe_format *format, const uint8_t *data, size_t len)
{
	struct probe_reply reply;
	struct probe_ask ask;
	uint8_t head[PROBE_HEAD_BYTES];
	bool is_probe = format->read_probe(data, len, &ask) == 0;
	bool is_reply = format->read_reply(data, len, &reply) == 0;

	if (is_probe && is_reply)
		abort();
	if (is_reply != (format->read_plain_reply(data, len, &reply) == 0))
		abort();
	if (!is_probe)
		return is_reply;
	if (ask.label > 0xfffff || ask.dscp > 63 || len < format->base_bytes)
		abort();
	answer_probe(format, data, len, &ask);
	if (format->size(len) == len &&
	    format->write_probe(&ask, len, head) != format->base_bytes)
		abort();
	return true;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	if (one_format(&roce_format, data, len) &&
	    one_format(roce_format.keyed, data, len))
		abort(); /* both with and without a MAC */
	return 0;
}
