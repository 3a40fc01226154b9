/*
 * The kernel's reports on sent packets: numbers with gaps, keys that match or not, and
 * the packets with any bytes before them. Each token is returned once at most, and only
 * tokens that were given are.
 *
 * Input: events, each a byte and its parameters.
 */
#include <stdlib.h>
#include <string.h>

#include "host-agent/udp/port_udp_stamps.h"
#include "tests/fuzz/bytes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

#define MAX_SENT 4096

static struct port_udp_stamps stamps;
static uint8_t reported[MAX_SENT]; /* how often each token was returned */

static void
sent(struct fuzz_bytes *bytes, uint64_t *tokens)
{
	uint8_t payload[PORT_UDP_KEY_BYTES] = { 0 };
	size_t short_by = fuzz_below(bytes, 256) == 0xff;

	payload[0] = fuzz_u8(bytes);
	(void)port_udp_stamps_add(
	    &stamps, port_udp_stamps_key(payload, sizeof(payload) - short_by), *tokens);
	(*tokens)++;
}

static void
stamped(struct fuzz_bytes *bytes, uint64_t tokens)
{
	uint8_t payload[PORT_UDP_KEY_BYTES] = { 0 };
	uint32_t id = (uint32_t)fuzz_number(bytes);
	uint64_t token = UINT64_MAX;
	enum port_udp_stamp found;

	payload[0] = fuzz_u8(bytes);
	found = port_udp_stamps_match(
	    &stamps, id, port_udp_stamps_key(payload, sizeof(payload)), &token);
	if ((found == PORT_UDP_UNMATCHED) != (token == UINT64_MAX))
		abort();
	if (found == PORT_UDP_UNMATCHED)
		return;
	if (token >= tokens || reported[token]++ > 0)
		abort();
}

/* An IP packet after up to 48 bytes of a link layer, or bytes that look like one. */
static void
packet(struct fuzz_bytes *bytes)
{
	uint8_t how = fuzz_u8(bytes), front = fuzz_u8(bytes) % 64, *data;
	size_t bare = how & 1 ? 40 : 20, len = front + bare + 8 + 16, at;
	uint16_t sport = 50000;

	if (how & 0x80)
		len = fuzz_u8(bytes);
	data = calloc(1, len > 0 ? len : 1);
	if (data == NULL)
		return;
	for (size_t i = 0; i < front && i < len; i++)
		data[i] = how & 0x40 ? fuzz_u8(bytes) : 0;
	if (front + bare + 8 <= len) {
		uint8_t *ip = data + front;

		ip[0] = how & 1 ? 0x60 : 0x45;
		ip[how & 1 ? 6 : 9] = 17;
		ip[bare] = (uint8_t)(sport >> 8);
		ip[bare + 1] = (uint8_t)sport;
		if (how & 0x20)
			ip[fuzz_u8(bytes) % (bare + 2)] ^= fuzz_u8(bytes);
	}
	at = port_udp_stamps_payload(data, len, how & 1 ? 6 : 4, sport);
	if (at > len || (!(how & 0xe0) && front <= 48 && at != front + bare + 8))
		abort();
	free(data);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct fuzz_bytes bytes = { data, len };
	uint64_t tokens = 0;

	memset(&stamps, 0, sizeof(stamps));
	memset(reported, 0, sizeof(reported));
	while (bytes.left > 0 && tokens < MAX_SENT) {
		switch (fuzz_u8(&bytes) % 4) {
		case 0:
		case 1:
			sent(&bytes, &tokens);
			break;
		case 2:
			stamped(&bytes, tokens);
			break;
		default:
			packet(&bytes);
		}
		if (tokens == 0 && port_udp_stamps_waiting(&stamps))
			abort();
	}
	return 0;
}
