#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host-agent/packet/key_ring.h"
#include "host-agent/probe/prober.h"
#include "host-agent/reflector/reflector.h"
#include "rackmesh/identity/probe_key.h"
#include "tests/fuzz/probes_run.h"
#include "tests/support/arrivals.h"
#include "tests/support/wire_make.h"

/* ---- messages to both ---- */

static void
responder_key(uint32_t epoch, uint8_t key[PROBE_KEY_BYTES])
{
	memset(key, 0, PROBE_KEY_BYTES);
	memcpy(key, &epoch, sizeof(epoch));
}

/* The keys that an aggregator sends to both: three epochs, and the pair's current
 * key. */
void
report_keys(struct run *run, bool plain)
{
	struct wire_responder_key own[WIRE_KEY_EPOCHS] = { { .guid = 0 } };
	struct wire_pair_key pair = { .src_guid = prober_id.guid,
		.dst_guid = reflector_id.guid,
		.src_port = prober_id.port,
		.dst_port = reflector_id.port,
		.epoch = run->epoch };
	struct wire_keys keys = { .tor = "t",
		.epoch = run->epoch,
		.version = ++run->version,
		.responders = own,
		.responder_count = WIRE_KEY_EPOCHS,
		.pairs = &pair,
		.pair_count = 1,
		.plain = &prober_id,
		.plain_count = plain };
	uint8_t key[PROBE_KEY_BYTES];
	struct wire_bytes bytes;
	const char *tor;
	int r;

	for (uint32_t i = 0; i < WIRE_KEY_EPOCHS; i++) {
		own[i].guid = reflector_id.guid;
		own[i].port = reflector_id.port;
		own[i].epoch = run->epoch - 1 + i;
		responder_key(own[i].epoch, own[i].key);
	}
	responder_key(run->epoch, key);
	probe_key_pair(
	    key, (struct rm_rnic_id){ prober_id.guid, prober_id.port }, pair.key);
	if (wire_write_keys(run->writer, &keys, &bytes) < 0 ||
	    (!keys_arrival(run->ring, bytes.data, bytes.len, &tor, &r) && r != -ENOMEM))
		abort();
}

/* A peer of a service, as an answer describes it. */
void
note_seen(struct run *run, bool authenticates)
{
	const struct wire_rnic rnic = { .id = prober_id,
		.authenticates = authenticates };
	const struct wire_pair_key none = { .epoch = 0 };

	(void)key_ring_receive(run->ring, &rnic, &none);
}

void
report_roster(struct run *run, uint8_t how)
{
	struct wire_peer peers[2] = { { .id = prober_id, .address = prober_at },
		{ .id = { 3, 1 }, .address = { .family = 6, .bytes = { 0xfd } } } };
	int r;

	if (how & 2) /* the RNIC is not known yet */
		peers[0].id = (struct wire_rnic_id){ 0 };
	r = reflector_set_roster(run->reflector, peers + (how & 1), 2 - (how & 1));
	if (r < 0 && r != -ENOMEM)
		abort();
}

void
report_targets(struct run *run)
{
	static const uint16_t flows[] = { 50000, 50001 }, sizes[] = { 0, 300, 1400 };
	static const uint8_t dscps[] = { 0, 26, 26 };
	uint8_t how = fuzz_u8(&run->bytes);
	struct wire_target targets[3];
	int r;

	for (size_t i = 0; i < 3; i++)
		targets[i] = (struct wire_target){ .src = prober_id,
			.dst = reflector_id,
			.kind = (enum wire_probe_kind)((i + how) % WIRE_PROBE_KINDS),
			.address = reflector_at,
			.dst_qpn = run->roce ? 17 : 0,
			.dst_large_qpn = how & 1 ? 18 : 0,
			.interval_us = 1000u + fuzz_u8(&run->bytes) * 1000u,
			.paired = how & 2,
			.flows = flows,
			.flow_count = 1 + (how >> 2 & 1),
			.dscps = dscps,
			.dscp_count = 1 + (how >> 3) % 3,
			.sizes = sizes,
			.size_count = 1 + (how >> 4) % 3 };
	r = prober_set_targets(run->prober, targets, how % 4);
	if (r < 0 && r != -ENOMEM)
		abort();
	if (prober_keyed_targets(run->prober) > prober_targets(run->prober))
		abort();
}

void
report_any_targets(struct run *run)
{
	struct wire_pinglist_view view;
	struct wire_target targets[16];
	uint64_t refused = 0, before = 0;
	struct wire_bytes bytes;
	size_t count;
	int r;

	if (wire_make(WIRE_PINGLIST, &run->bytes, run->writer, &bytes) < 0)
		return;
	if (wire_open_pinglist(&view, bytes.data, bytes.len) < 0)
		abort();
	count = view.pinglist.target_count;
	for (size_t i = 0; i < count; i++) {
		wire_pinglist_target(&view, i, &targets[i]);
		if (i % 2 == 0)
			targets[i].src = prober_id;
	}
	for (int i = 0; i < TARGET_REFUSALS; i++)
		before += prober_counts(run->prober)->refused_targets[i];
	r = prober_set_targets(run->prober, targets, count);
	if (r == -ENOMEM)
		return;
	if (r < 0)
		abort();
	for (int i = 0; i < TARGET_REFUSALS; i++)
		refused += prober_counts(run->prober)->refused_targets[i];
	if (prober_targets(run->prober) + refused - before != count ||
	    target_refusal_str(
		TARGET_FINE + (enum target_refusal)(count % TARGET_REFUSALS)) == NULL)
		abort();
}
