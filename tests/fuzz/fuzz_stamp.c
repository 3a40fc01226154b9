/*
 * Any run of packets at a reflector, and the same bytes as replies at the parser: one
 * reply at most for each, and never more bytes out than in.
 *
 * Input: packets, each two bytes of length, one that chooses sender, port and class,
 * then the bytes.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "host-agent/probe_format.h"
#include "host-agent/reflector.h"
#include "host-agent/stamp.h"
#include "tests/support/fake_port.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void
one_packet(struct fake_port *fake, uint8_t choice, const uint8_t *data, size_t len)
{
	static const uint16_t ports[] = { 40001, 1023, FAKE_PORT_REFLECTOR, 40002 };
	struct wire_address from = { .family = choice & 1 ? 6 : 4,
		.bytes = { 10, 0, 0, choice >> 1 & 1 },
		.port = ports[choice >> 2 & 3] };
	size_t before = fake->sent_count;
	struct probe_reply reply;
	uint8_t *copy = malloc(len > 0 ? len : 1);

	if (copy == NULL)
		return;
	memcpy(copy, data, len);
	(void)stamp_format.read_reply(copy, len, &reply);
	(void)stamp_format.read_plain_reply(copy, len, &reply);
	fake_port_arrive(fake, PORT_REFLECTOR, &from, copy, len, choice >> 4);
	if (fake->sent_count > before + 1)
		abort();
	if (fake->sent_count == before + 1) {
		size_t i = before % FAKE_PORT_KEPT;

		if (fake->sent[i].len != len || from.port < 1024 ||
		    from.port == FAKE_PORT_REFLECTOR)
			abort();
		if (stamp_format.read_reply(copy, len, &reply) < 0)
			abort(); /* a reply of ours that we would not take */
		if (choice & 0x40)
			fake_port_depart(fake, PORT_REFLECTOR, i, 1 + choice);
	}
	free(copy);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const struct wire_peer roster[] = {
		{ .id = { 1, 1 }, .address = { .family = 4, .bytes = { 10 } } },
		{ .id = { 2, 1 },
		    .address = { .family = 6, .bytes = { 10, 0, 0, 1 } } },
	};
	static struct fake_port fake;
	struct reflector *reflector;
	size_t at = 0;

	fake_port_init(&fake);
	if (reflector_new(&fake.port, (struct wire_rnic_id){ 9, 1 }, 3, &reflector) < 0)
		return 0;
	if (reflector_set_roster(reflector, roster, 2) < 0)
		abort();
	while (len - at >= 3) {
		size_t want = (size_t)(data[at] << 8 | data[at + 1]);
		size_t left = len - at - 3;

		if (want > left)
			want = left;
		one_packet(&fake, data[at + 2], data + at + 3, want);
		at += 3 + want;
	}
	const struct reflector_counts *counts = reflector_counts(reflector);

	if (counts->received != counts->replied + counts->send_failed +
				    counts->refused_stranger + counts->refused_port +
				    counts->refused_malformed + counts->refused_full)
		abort();
	reflector_free(reflector);
	return 0;
}
