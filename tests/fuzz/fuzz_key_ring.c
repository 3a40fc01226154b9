/*
 * The keys of a host: messages of its ToRs and of others, and answers about service
 * peers, by a script. The newest version of each message applies, and each look-up
 * gives what a plain list of all pairs gives.
 *
 * Input: events, each a byte and its parameters; or a 0, followed by the bytes of one
 * message.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host-agent/packet/key_ring.h"
#include "tests/support/arrivals.h"
#include "tests/support/failing_malloc.h"
#include "tests/support/wire_make.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

#define MAX_EVENTS 64

static void
look_up(const struct key_ring *ring)
{
	uint32_t newest = key_ring_epoch(ring);

	for (uint64_t a = 0; a < 4; a++)
		for (uint8_t port = 0; port < 3; port++) {
			struct wire_rnic_id one = { a, port }, two = { port, 1 };
			const struct wire_pair_key *pair =
			    key_ring_pair(ring, one, two);
			uint32_t own = key_ring_own_epoch(ring, one);

			(void)key_ring_responder(ring, one, newest);
			if (pair != NULL &&
			    (pair->src_guid != a || pair->src_port != port ||
				pair->dst_guid != port || pair->dst_port != 1))
				abort();
			if (own > newest)
				abort();
			if (a == 0 && key_ring_demand(ring, one) != KEY_NOT_DEMANDED)
				abort();
			(void)key_ring_demand(ring, one);
		}
}

/* The same message again changes nothing. */
static void
take(struct key_ring *ring, const uint8_t *data, size_t len)
{
	struct key_ring_counts before = *key_ring_counts(ring);
	const struct key_ring_counts *now = key_ring_counts(ring);
	const char *tor = NULL;
	bool news;
	int r = 1;

	news = keys_arrival(ring, data, len, &tor, &r);
	(void)failing_malloc_disarm();
	if (news) {
		if (r != 0 || tor == NULL || key_ring_bytes(ring, tor).len != len ||
		    memcmp(key_ring_bytes(ring, tor).data, data, len) != 0 ||
		    keys_arrival(ring, data, len, &tor, &r) || r != 0 ||
		    now->same != before.same + 1)
			abort();
		before.same++;
	}
	if (r > 0 || now->taken + now->same + now->old + now->malformed +
			     now->other_tor + now->no_memory !=
			 before.taken + before.same + before.old + before.malformed +
			     before.other_tor + before.no_memory + 1)
		abort();
}

static void
take_made(struct key_ring *ring, struct fuzz_bytes *bytes, struct wire_writer *writer)
{
	struct wire_bytes message;
	uint8_t damage = fuzz_u8(bytes);
	uint8_t *copy;

	if (wire_make(WIRE_KEYS, bytes, writer, &message) < 0)
		return;
	copy = malloc(message.len);
	if (copy == NULL)
		return;
	memcpy(copy, message.data, message.len);
	if (damage >= 0xf0)
		copy[fuzz_number(bytes) % message.len] ^= fuzz_u8(bytes);
	take(ring, copy, message.len);
	free(copy);
}

static void
receive(struct key_ring *ring, struct fuzz_bytes *bytes)
{
	uint8_t how = fuzz_u8(bytes);
	struct wire_rnic rnic = { .id = { fuzz_below(bytes, 4), 1 },
		.authenticates = how & 1 };
	struct wire_pair_key key = { .src_guid = fuzz_below(bytes, 4),
		.dst_guid = how & 2 ? 3 : rnic.id.guid,
		.src_port = fuzz_u8(bytes) % 3,
		.dst_port = 1,
		.epoch = (uint32_t)fuzz_number(bytes) };
	bool changed = key_ring_receive(ring, &rnic, &key);
	uint64_t lost = key_ring_counts(ring)->no_memory;

	if (key_ring_receive(ring, &rnic, &key) && !changed &&
	    key_ring_counts(ring)->no_memory == lost && lost == 0)
		abort();
}

/* Adds more peers than the ring may hold. */
static void
receive_flood(struct key_ring *ring)
{
	const struct wire_pair_key none = { .epoch = 0 };

	for (uint64_t i = 0; i < KEY_RING_MAX_RECEIVED + 3; i++) {
		struct wire_rnic rnic = { .id = { 1000 + i, 1 } };

		(void)key_ring_receive(ring, &rnic, &none);
	}
}

static void
script(struct key_ring *ring, struct fuzz_bytes bytes)
{
	static const char *const tors[] = { "tor-a", "tor-b", "tor-a", "default" };
	struct wire_writer *writer = wire_writer_new();
	bool flood = false;

	if (writer == NULL)
		abort();
	for (int i = 0; i < MAX_EVENTS && bytes.left > 0; i++) {
		uint8_t what = fuzz_u8(&bytes);

		if (what >= 0xf0)
			failing_malloc_arm(what & 7);
		switch (what % 8) {
		case 0:
			if (key_ring_add_tor(ring, tors[what >> 3 & 3]) < 0)
				abort();
			break;
		case 1:
			receive(ring, &bytes);
			break;
		case 2:
			if (what == 0xfa && !flood)
				receive_flood(ring);
			flood = flood || what == 0xfa;
			break;
		default:
			take_made(ring, &bytes, writer);
		}
		(void)failing_malloc_disarm();
		look_up(ring);
	}
	wire_writer_free(writer);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	char too_long[4096];
	struct key_ring *ring = NULL;

	memset(too_long, 'x', sizeof(too_long) - 1);
	too_long[sizeof(too_long) - 1] = 0;
	failing_malloc_arm(len % 64 == 63);
	if (key_ring_new(&ring) < 0)
		return 0;
	(void)failing_malloc_disarm();
	if (key_ring_add_tor(ring, "tor-a1") < 0 ||
	    key_ring_add_tor(ring, too_long) != -EINVAL)
		abort();
	if (len > 0 && data[0] == 0) {
		uint8_t *copy = malloc(len); /* aligned */

		if (copy == NULL)
			abort();
		memcpy(copy, data + 1, len - 1);
		take(ring, copy, len - 1);
		look_up(ring);
		free(copy);
	} else {
		script(ring, (struct fuzz_bytes){ data, len });
	}
	key_ring_free(ring);
	key_ring_free(NULL);
	return 0;
}
