/* Any bytes as a message of keys: taken or not, and then looked up. */
#include <stdint.h>
#include <stdlib.h>

#include "host-agent/key_ring.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const struct wire_rnic_id one = { 601, 1 }, two = { 0x8182838485868788, 2 };
	struct key_ring *ring = NULL;
	const char *tor = NULL;
	int r = 1;

	if (key_ring_new(&ring) < 0 || key_ring_add_tor(ring, "tor-a1") < 0)
		abort();
	if (key_ring_take(ring, data, len, &tor, &r) &&
	    (r != 0 || tor == NULL || key_ring_bytes(ring, tor).len != len))
		abort();
	if (r > 0)
		abort(); /* nothing was said of it */
	/* Once more it is nothing new. */
	if (key_ring_take(ring, data, len, &tor, &r))
		abort();
	for (uint32_t epoch = 0; epoch < 10; epoch++)
		(void)key_ring_responder(ring, one, epoch);
	(void)key_ring_responder(ring, one, key_ring_epoch(ring));
	(void)key_ring_pair(ring, one, two);
	(void)key_ring_demand(ring, one);
	key_ring_free(ring);
	return 0;
}
