#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/probes_run.h"

#define MAX_PACKET 2048
#define STAMP_NS INT64_C(1700000000000000000)

/* Returns one of the packets sent lately; NULL: none. */
static const struct fake_sent *
pick(struct run *run, const struct fake_port *port, size_t *ret)
{
	size_t back = fuzz_below(&run->bytes, 64);

	if (back >= port->sent_count)
		return NULL;
	*ret = (port->sent_count - 1 - back) % FAKE_PORT_KEPT;
	return &port->sent[*ret];
}

/* False: the packet arrives changed, or from another sender. With QPs, ports are not
 * checked. */
static bool
change_packet(struct run *run, uint8_t *data, struct port_arrival *arrival)
{
	uint8_t what = fuzz_u8(&run->bytes), with;
	size_t len = arrival->len, at;

	switch (what) {
	case 0xf0:
		arrival->len = fuzz_number(&run->bytes) % (len + 1);
		return arrival->len == len;
	case 0xf1:
	case 0xf2:
	case 0xf3:
		at = fuzz_number(&run->bytes) % (len + 1);
		with = fuzz_u8(&run->bytes);
		data[at] ^= with;
		return at == len || with == 0;
	case 0xf4:
		arrival->from.bytes[fuzz_below(&run->bytes, 4)] ^= 1;
		return false;
	case 0xf5:
		arrival->from.port = (uint16_t)fuzz_number(&run->bytes);
		return run->roce || arrival->from.port == FAKE_PORT_REFLECTOR;
	case 0xf6:
		arrival->source = 0;
		return true;
	case 0xf7:
		arrival->stamp_ns = (int64_t)fuzz_number(&run->bytes);
		return true;
	case 0xf8:
		arrival->local_port = 50001;
		return true;
	case 0xf9: /* the session's id */
		with = fuzz_u8(&run->bytes);
		data[15] ^= with;
		return with == 0;
	case 0xfa: /* an NTP clock */
		with = data[12];
		data[12] &= 0x3f;
		return with == data[12];
	default:
		arrival->dscp = what;
		arrival->ecn = what & 3;
		return true;
	}
}

static void
carry(struct run *run, struct fake_port *from, struct fake_port *to,
    enum port_role role, struct wire_address source)
{
	static uint8_t data[MAX_PACKET + 1];
	const struct fake_sent *sent;
	struct port_arrival arrival;
	size_t i, before = to->sent_count, len;
	uint64_t answered;

	sent = pick(run, from, &i);
	if (sent == NULL || sent->len > MAX_PACKET)
		return;
	memset(data, 0, sizeof(data));
	memcpy(data, sent->data,
	    sent->len < sizeof(sent->data) ? sent->len : sizeof(sent->data));
	if (role == PORT_REFLECTOR)
		source.port = sent->src_port;
	arrival = (struct port_arrival){ .from = source,
		.data = data,
		.len = sent->len,
		.stamp_ns = STAMP_NS + rm_mono_now().ns,
		.qpn = run->roce ? 17 : 0,
		.ttl = 64,
		.source = WIRE_STAMP_KERNEL };
	if (change_packet(run, data, &arrival) || !run->verifies)
		run->genuine += role == PORT_PROBER;
	len = arrival.len;
	answered = run->answered;
	fake_port_deliver(to, role, &arrival);
	if (role == PORT_PROBER) {
		/* The reply's own send time, and a follow-up's. */
		if (run->answered > answered + 2)
			abort();
		return;
	}
	if (to->sent_count > before + 1 ||
	    (to->sent_count == before + 1 &&
		to->sent[before % FAKE_PORT_KEPT].len > len))
		abort();
}

void
network_raw(struct run *run)
{
	struct fuzz_bytes part = fuzz_part(&run->bytes, 255);
	enum port_role role = fuzz_u8(&run->bytes) & 1 ? PORT_PROBER : PORT_REFLECTOR;
	struct fake_port *to = role == PORT_PROBER ? &run->near : &run->far;
	struct wire_address from = role == PORT_PROBER ? reflector_at : prober_at;
	uint8_t data[256] = { 0 };
	size_t before = to->sent_count;

	if (part.left > 0)
		memcpy(data, part.at, part.left);
	if (role == PORT_REFLECTOR)
		from.port = 50000;
	fake_port_arrive(to, role, &from, data, part.left, 0);
	run->genuine += role == PORT_PROBER && !run->verifies;
	if (to->sent_count > before + 1)
		abort();
}

void
network_stamp(struct run *run, enum port_role role)
{
	struct fake_port *port = role == PORT_PROBER ? &run->near : &run->far;
	uint8_t early = fuzz_u8(&run->bytes);
	size_t i;

	if (pick(run, port, &i) != NULL)
		fake_port_depart(
		    port, role, i, STAMP_NS + rm_mono_now().ns - early * RM_NS_PER_US);
}

void
network_probe(struct run *run)
{
	carry(run, &run->near, &run->far, PORT_REFLECTOR, prober_at);
}

void
network_reply(struct run *run)
{
	carry(run, &run->far, &run->near, PORT_PROBER, reflector_at);
}
