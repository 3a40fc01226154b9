/*
 * A sequence of packets to a reflector, and the same bytes as replies to the parser: at
 * most one reply for each packet, and never more bytes out than in. Once without keys,
 * and once with keys; then packets that look authenticated are sometimes signed as
 * their sender would.
 *
 * Input: packets, each two bytes of length, one that selects sender, port and class,
 * then the bytes.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "host-agent/packet/key_ring.h"
#include "host-agent/packet/probe_format.h"
#include "host-agent/packet/stamp.h"
#include "host-agent/reflector/reflector.h"
#include "rackmesh/identity/probe_key.h"
#include "tests/support/arrivals.h"
#include "tests/support/fake_port.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static const uint8_t responder_key[PROBE_KEY_BYTES] = { 1, 2, 3 };

static void
sign(uint8_t *packet)
{
	static const struct rm_rnic_id prober = { 1, 1 };
	uint8_t key[PROBE_KEY_BYTES];
	struct probe_macs macs;

	probe_key_pair(responder_key, prober, key);
	probe_macs_init(&macs, key);
	stamp_auth_format.sign(packet, &macs.probe);
}

/* The reflector's own key, of one epoch. */
static struct key_ring *
make_ring(void)
{
	struct wire_responder_key own = { .guid = 9, .port = 1, .epoch = 3 };
	const struct wire_keys keys = {
		.tor = "t", .epoch = 3, .responders = &own, .responder_count = 1
	};
	struct wire_writer *writer = wire_writer_new();
	struct key_ring *ring = NULL;
	struct wire_bytes bytes;
	const char *tor;
	int r;

	memcpy(own.key, responder_key, sizeof(own.key));
	if (writer == NULL || key_ring_new(&ring) < 0 ||
	    key_ring_add_tor(ring, "t") < 0 ||
	    wire_write_keys(writer, &keys, &bytes) < 0 ||
	    !keys_arrival(ring, bytes.data, bytes.len, &tor, &r))
		abort();
	wire_writer_free(writer);
	return ring;
}

static void
one_packet(struct fake_port *fake, uint8_t choice, const uint8_t *data, size_t len)
{
	static const uint16_t ports[] = { 40001, 1023, FAKE_PORT_REFLECTOR, 40002 };
	struct wire_address from = { .family = choice & 1 ? 6 : 4,
		.bytes = { 10, 0, 0, choice >> 1 & 1 },
		.port = ports[choice >> 2 & 3] };
	size_t before = fake->sent_count;
	struct probe_reply reply;
	struct probe_ask ask;
	uint8_t *copy = malloc(len > 0 ? len : 1);
	bool keyed;

	if (copy == NULL)
		return;
	memcpy(copy, data, len);
	(void)stamp_format.read_reply(copy, len, &reply);
	(void)stamp_format.read_plain_reply(copy, len, &reply);
	(void)stamp_auth_format.read_reply(copy, len, &reply);
	keyed = stamp_auth_format.read_probe(copy, len, &ask) == 0;
	if (keyed && choice & 0x20)
		sign(copy);
	fake_port_arrive(fake, PORT_REFLECTOR, &from, copy, len, choice >> 4);
	if (fake->sent_count > before + 1)
		abort();
	if (fake->sent_count == before + 1) {
		size_t i = before % FAKE_PORT_KEPT;

		if (fake->sent[i].len != len || from.port < 1024 ||
		    from.port == FAKE_PORT_REFLECTOR)
			abort();
		if ((keyed ? &stamp_auth_format : &stamp_format)
			->read_reply(copy, len, &reply) < 0)
			abort(); /* our own reply must be valid */
		if (keyed && stamp_auth_format.read_probe(copy, len, &ask) == 0)
			abort();
		if (choice & 0x40)
			fake_port_depart(fake, PORT_REFLECTOR, i, 1 + choice);
	}
	free(copy);
}

static void
one_run(const uint8_t *data, size_t len, const struct key_ring *ring)
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
		return;
	reflector_set_keys(reflector, ring, REFLECTOR_GRACE_NS);
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
				    counts->refused_unknown + counts->refused_port +
				    counts->refused_malformed + counts->refused_full +
				    counts->refused_mac + counts->refused_plain +
				    counts->refused_replayed)
		abort();
	reflector_free(reflector);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static struct key_ring *ring;

	if (ring == NULL)
		ring = make_ring();
	one_run(data, len, NULL);
	one_run(data, len, ring);
	return 0;
}
