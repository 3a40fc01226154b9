/*
 * Random packets to reflectors. There are never more packets or bytes out than in, no
 * reply is answered, and two reflectors do not answer each other for ever.
 *
 * With RACKMESH_SOAK=1: 10 million packets, over both kinds of ports, with and without
 * keys.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "host-agent/packet/probe_format.h"
#include "host-agent/packet/stamp.h"
#include "host-agent/reflector/reflector.h"
#include "tests/support/fake_port.h"
#include "tests/unit/host-agent/keys_fixture.h"

#define PACKET_BYTES 1500
#define SOAK_PACKETS 10000000
#define CI_PACKETS 1000000

struct end { /* one reflector */
	struct fake_port fake;
	struct reflector *reflector;
	struct wire_rnic_id id;
};

struct fixture {
	struct key_ring *ring;
	struct end ends[2];
	uint64_t random;
	uint64_t in, out, bytes_in, bytes_out;
};

static uint64_t
random_next(struct fixture *f)
{
	uint64_t z = f->random += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static struct wire_address
address_of(uint64_t guid, uint16_t port)
{
	return (struct wire_address){
		.family = 4, .bytes = { 10, 0, 0, (uint8_t)guid }, .port = port
	};
}

static struct fixture *
fixture_new(bool roce, bool with_keys)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct wire_peer roster[KEYS_RNICS];

	assert_non_null(f);
	f->random = 42;
	if (with_keys)
		f->ring = keys_fixture_ring(5, 1);
	for (uint64_t i = 0; i < KEYS_RNICS; i++)
		roster[i] = (struct wire_peer){ .id = { i + 1, 1 },
			.address = address_of(i + 1, 0) };
	for (size_t i = 0; i < 2; i++) {
		struct end *end = &f->ends[i];

		end->id = (struct wire_rnic_id){ i + 1, 1 };
		if (roce)
			fake_port_init_roce(&end->fake, PORT_FLOWS_LABEL);
		else
			fake_port_init(&end->fake);
		assert_int_equal(
		    reflector_new(&end->fake.port, end->id, 64, &end->reflector), 0);
		reflector_set_keys(end->reflector, f->ring, REFLECTOR_GRACE_NS);
		assert_int_equal(
		    reflector_set_roster(end->reflector, roster, KEYS_RNICS), 0);
	}
	return f;
}

static void
fixture_free(struct fixture *f)
{
	for (size_t i = 0; i < 2; i++)
		reflector_free(f->ends[i].reflector);
	key_ring_free(f->ring);
	free(f);
}

/* True: the packet was answered in place. */
static bool
arrive(struct fixture *f, struct end *end, const struct wire_address *from,
    uint8_t *data, size_t len)
{
	size_t before = end->fake.sent_count;
	const struct fake_sent *sent = &end->fake.sent[before % FAKE_PORT_KEPT];

	fake_port_arrive(&end->fake, PORT_REFLECTOR, from, data, len, 26);
	f->in++;
	f->bytes_in += len;
	assert_true(end->fake.sent_count <= before + 1);
	if (end->fake.sent_count == before)
		return false;
	f->out++;
	f->bytes_out += sent->len;
	assert_true(sent->len <= len);
	return true;
}

/* Builds a probe of a peer in the roster, signed for this end or unsigned. */
static size_t
build_probe(struct fixture *f, const struct end *end, uint64_t from, uint8_t *data)
{
	const struct probe_format *format = port_format(&end->fake.port);
	uint64_t bits = random_next(f);
	struct probe_macs macs;
	bool keyed = f->ring != NULL && bits & 1;
	size_t size;

	if (keyed)
		format = format->keyed;
	size = format->size(bits >> 8 & 0xff);
	memset(data, 0, PACKET_BYTES);
	format->write_probe(
	    &(struct probe_ask){ .seq = (uint32_t)f->in + (uint32_t)(bits >> 32 & 255),
		.timestamp = bits,
		.error_estimate = STAMP_ERROR_ESTIMATE,
		.ssid = (uint16_t)(bits >> 16 & 7),
		.dscp = 26,
		.tx_count = 1 },
	    size, data);
	if (keyed) {
		keys_fixture_macs(4 + (uint32_t)(bits >> 2 & 1),
		    (struct wire_rnic_id){ from, 1 }, end->id, &macs);
		format->sign(data, &macs.probe);
	}
	return size;
}

/* Builds random bytes, a probe, or a probe with some bytes changed. */
static size_t
build_packet(struct fixture *f, const struct end *end, uint64_t from, uint8_t *data)
{
	uint64_t bits = random_next(f);
	size_t len;

	if (bits % 4 == 0) {
		len = bits >> 8 & 0x1ff;
		for (size_t i = 0; i < len; i += 8) {
			uint64_t noise = random_next(f);

			memcpy(data + i, &noise, sizeof(noise));
		}
		return len;
	}
	len = build_probe(f, end, from, data);
	for (uint64_t n = bits % 4 == 1 ? 0 : 1 + (bits >> 4 & 3); n > 0; n--)
		data[random_next(f) % len] ^= (uint8_t)(1 << (random_next(f) & 7));
	if (bits % 4 == 3)
		len -= random_next(f) % len;
	return len;
}

static void
bombard(bool roce, bool with_keys, uint64_t packets)
{
	static const uint16_t ports[] = { 40001, 40002, 862, FAKE_PORT_REFLECTOR };
	struct fixture *f = fixture_new(roce, with_keys);
	uint8_t data[PACKET_BYTES];

	while (f->in < packets) {
		struct end *end = &f->ends[random_next(f) & 1];
		uint64_t bits = random_next(f), from = bits % 12;
		struct wire_address address =
		    address_of(from, bits >> 8 & 7 ? ports[0] : ports[bits >> 16 & 3]);
		size_t len = build_packet(f, end, from, data);

		if (!arrive(f, end, &address, data, len))
			continue;
		/* Deliver the reply to the sender or to the other reflector. */
		assert_false(arrive(f, end, &address, data, len));
		address = address_of(end->id.guid, 40001);
		assert_false(arrive(f, &f->ends[end == f->ends], &address, data, len));
	}
	assert_true(f->bytes_out <= f->bytes_in);
	/* Enough of the packets were valid probes. */
	assert_true(f->out > packets / 20);
	if (with_keys)
		assert_true(
		    reflector_counts(f->ends[0].reflector)->refused_mac > packets / 50);
	fixture_free(f);
}

static uint64_t
packets_each(void)
{
	const char *soak = getenv("RACKMESH_SOAK");

	return (soak != NULL && soak[0] == '1' ? SOAK_PACKETS : CI_PACKETS) / 4;
}

static void
over_udp_replies_are_never_larger_or_more_than_probes(void **state)
{
	bombard(false, false, packets_each());
}

static void
over_udp_with_keys_replies_are_never_larger_or_more(void **state)
{
	bombard(false, true, packets_each());
}

static void
over_roce_replies_are_never_larger_or_more_than_probes(void **state)
{
	bombard(true, false, packets_each());
}

static void
over_roce_with_keys_replies_are_never_larger_or_more(void **state)
{
	bombard(true, true, packets_each());
}

/* Delivers each reply to the other reflector until there is none. Returns their
 * number. */
static size_t
play(struct fixture *f, uint8_t *data, size_t len, uint16_t spoofed_port)
{
	size_t turns = 0;

	for (struct end *end = f->ends;; end = &f->ends[end == f->ends]) {
		const struct end *from = &f->ends[end == f->ends];
		const struct wire_address address = address_of(
		    from->id.guid, turns == 0 ? spoofed_port : FAKE_PORT_REFLECTOR);

		if (!arrive(f, end, &address, data, len))
			return turns;
		turns++;
		assert_true(turns < 100);
	}
}

static void
two_reflectors_do_not_answer_each_other_for_ever(void **state)
{
	static const uint16_t ports[] = { 40001, FAKE_PORT_REFLECTOR, 862 };
	size_t most = 0;

	for (int variant = 0; variant < 4; variant++) {
		struct fixture *f = fixture_new(variant & 1, variant & 2);
		uint8_t data[PACKET_BYTES];

		for (size_t i = 0; i < 3000; i++) {
			size_t len = build_probe(f, &f->ends[0], 2, data);
			size_t turns = play(f, data, len, ports[i % 3]);

			assert_true(turns <= 1);
			most = turns > most ? turns : most;
		}
		fixture_free(f);
	}
	assert_int_equal(most, 1); /* there was at least one reply */
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(over_udp_replies_are_never_larger_or_more_than_probes),
		cmocka_unit_test(over_udp_with_keys_replies_are_never_larger_or_more),
		cmocka_unit_test(
		    over_roce_replies_are_never_larger_or_more_than_probes),
		cmocka_unit_test(over_roce_with_keys_replies_are_never_larger_or_more),
		cmocka_unit_test(two_reflectors_do_not_answer_each_other_for_ever),
	};

	return cmocka_run_group_tests_name("reflection", tests, NULL, NULL);
}
