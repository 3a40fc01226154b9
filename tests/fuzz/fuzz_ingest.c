/*
 * Frames of a hostile agent into the real ingest, roster, window and rack. Every byte
 * is verified before it is used, every result is counted once, and no result counts for
 * an RNIC of another agent.
 *
 * Input: one byte per message (its type), then a two-byte length and its bytes.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/tor-aggregator/rack_fixture.h"

#define MAX_MESSAGES 16

static void
check(const struct rack_fixture *f)
{
	const struct ingest_counts *counts = &f->ingest.counts;
	const struct raw_counts *rack = &tor_rack_counts(f->rack)->raw;
	uint64_t reasons = 0;

	for (int i = 0; i < INGEST_INVALIDS; i++)
		reasons += counts->invalid[i];
	if (!fixture_conserves(&counts->raw) || !fixture_conserves(rack) ||
	    reasons != counts->raw.invalid || rack->taken > counts->raw.taken ||
	    rack->windowed != counts->raw.windowed || rack->late != counts->raw.late)
		abort();
	if (roster_at(tor_rack_roster(f->rack), UINT32_MAX) != NULL ||
	    *roster_refused(tor_rack_roster(f->rack)) != 0)
		abort();
	for (size_t i = 0; i < ring_count(tor_rack_ring(f->rack)); i++)
		if (ring_get(tor_rack_ring(f->rack), i)->src_guid != 0x100)
			abort();
}

/* A valid batch, in which some bytes are then replaced. */
static void
send_patched(struct rack_fixture *f, const uint8_t *data, size_t len)
{
	struct wire_batch_head head = { .host = "h0",
		.incarnation = 7,
		.seq = ++f->seq[0],
		.now_ns = (uint64_t)f->now.ns };
	struct wire_result results[4];
	struct wire_bytes bytes;
	struct wire_ack ack;
	uint8_t *copy;

	for (size_t i = 0; i < 4; i++)
		results[i] = fixture_result(f, 0, 0x101 + i % 3, 1000000, WIRE_OK);
	if (wire_write_batch(f->writer, &head, results, 4, &bytes) < 0)
		return;
	copy = malloc(bytes.len);
	if (copy == NULL)
		return;
	memcpy(copy, bytes.data, bytes.len);
	for (size_t i = 0; i + 2 < len; i += 3)
		copy[(data[i] | data[i + 1] << 8) % bytes.len] ^= data[i + 2];
	ingest_batch(&f->ingest, f->agent[0], f->now, copy, bytes.len, &ack);
	free(copy);
}

static void
send_raw(struct rack_fixture *f, bool counts, const uint8_t *data, size_t len)
{
	uint8_t *copy = malloc(len == 0 ? 1 : len); /* aligned and of exact length */
	struct wire_ack ack;

	if (copy == NULL)
		return;
	if (len > 0)
		memcpy(copy, data, len);
	if (counts) {
		ingest_receive_counts(&f->ingest, f->agent[0], f->now, copy, len);
		ingest_paths(&f->ingest, f->agent[0], f->now, copy, len);
	} else {
		ingest_batch(&f->ingest, f->agent[0], f->now, copy, len, &ack);
	}
	free(copy);
}

static void
send_counts(struct rack_fixture *f, const uint8_t *data, size_t len)
{
	struct wire_count rows[8];
	struct wire_counts counts = {
		.incarnation = 7, .now_ns = (uint64_t)f->now.ns, .rows = rows
	};
	struct wire_bytes bytes;

	counts.row_count = len / sizeof(rows[0]);
	if (counts.row_count > 8)
		counts.row_count = 8;
	memcpy(rows, data, counts.row_count * sizeof(rows[0]));
	if (wire_write_counts(f->writer, &counts, &bytes) == 0)
		ingest_receive_counts(
		    &f->ingest, f->agent[0], f->now, bytes.data, bytes.len);
}

static void
send_paths(struct rack_fixture *f, const uint8_t *data, size_t len)
{
	struct wire_path rows[4];
	struct wire_paths paths = { .host = "h0",
		.incarnation = 7,
		.now_ns = (uint64_t)f->now.ns,
		.paths = rows };
	struct wire_bytes bytes;

	for (; paths.path_count < 4 && len >= sizeof(rows[0]);
	     data += sizeof(rows[0]), len -= sizeof(rows[0])) {
		struct wire_path *row = &rows[paths.path_count++];

		memcpy(row, data, sizeof(*row));
		/* Most inputs get a plausible GUID, since unknown ones are refused
		 * at once. */
		row->src_guid = 0x100 + row->src_guid % 2;
		row->src_port_num = row->dst_port_num = 1;
		row->dst_guid = FIXTURE_REMOTE + row->dst_guid % 3;
		row->family = row->family % 2 ? 4 : 6;
		row->hop_count %= WIRE_MAX_HOPS + 1;
		row->age_ns %= 1000000;
	}
	if (wire_write_paths(f->writer, &paths, &bytes) == 0)
		ingest_paths(&f->ingest, f->agent[0], f->now, bytes.data, bytes.len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rack_fixture *f = fixture_rack(4, 2);

	for (int i = 0; i < MAX_MESSAGES && size >= 3; i++) {
		size_t len = (size_t)data[1] | (size_t)data[2] << 8;
		uint8_t what = data[0];

		data += 3;
		size -= 3;
		if (len > size)
			len = size;
		switch (what % 6) {
		case 0:
			send_raw(f, false, data, len);
			break;
		case 1:
			send_raw(f, true, data, len);
			break;
		case 2:
			send_patched(f, data, len);
			break;
		case 3:
			send_counts(f, data, len);
			break;
		case 4:
			f->now.ns += 100 * RM_NS_PER_MS;
			fixture_tick(f);
			break;
		case 5:
			send_paths(f, data, len);
			break;
		}
		data += len;
		size -= len;
		check(f);
	}
	fixture_rack_free(f);
	return 0;
}
