#include "tests/support/wire_walk_parts.h"

#include <string.h>

static volatile uint8_t sink; /* Keeps the compiler from removing a read. */

void
walk_bytes(const void *bytes, size_t len)
{
	const uint8_t *at = bytes;
	uint8_t sum = 0;

	for (size_t i = 0; i < len; i++)
		sum ^= at[i];
	sink ^= sum;
}

void
walk_text(const char *text)
{
	PROMISE(text != NULL);
	PROMISE(strlen(text) < WIRE_MAX_STRING);
	walk_bytes(text, strlen(text));
}

void
walk_elements(const void *elements, size_t count, size_t size, size_t align, size_t max)
{
	PROMISE(count <= max);
	PROMISE((uintptr_t)elements % align == 0);
	walk_bytes(elements, count * size);
}

void
walk_address(const struct wire_address *address)
{
	PROMISE(address->family == 4 || address->family == 6);
	walk_bytes(address->bytes, sizeof(address->bytes));
}

void
walk_rnic(const struct wire_rnic *rnic)
{
	walk_text(rnic->host);
	walk_text(rnic->device);
	walk_text(rnic->driver);
	walk_text(rnic->plane);
	PROMISE(rnic->tor_count <= WIRE_MAX_ATTACHMENTS);
	for (size_t i = 0; i < WIRE_MAX_ATTACHMENTS; i++)
		walk_text(rnic->tors[i]);
	PROMISE(rnic->address_count <= WIRE_MAX_ADDRESSES);
	for (size_t i = 0; i < rnic->address_count; i++)
		walk_address(&rnic->addresses[i]);
	PROMISE(rnic->qpn <= WIRE_MAX_QPN && rnic->large_qpn <= WIRE_MAX_QPN);
	PROMISE(rnic->link <= WIRE_LINK_DOWN);
}
