#include "tests/support/wire_make_parts.h"

#include <string.h>

#define TEXTS 64
#define TEXT_BYTES 48

static char texts[TEXTS][TEXT_BYTES];
static size_t used;

void
wire_make_begin(void)
{
	used = 0;
}

const char *
make_text(struct fuzz_bytes *bytes)
{
	static const char *const samples[] = { "", "tor-a", "tor-b", "h1", "h2", "eth1",
		"mlx5_0", "agg-1", "agg-2", "default", "p1" };
	static char too_long[WIRE_MAX_STRING + 1];
	uint8_t which = fuzz_u8(bytes);
	struct fuzz_bytes text;
	char *made;

	if (which == 0xff) {
		memset(too_long, 'x', WIRE_MAX_STRING);
		return too_long;
	}
	if (which == 0xfe)
		return NULL;
	if (which < 0xe0 || used == TEXTS)
		return samples[which % (sizeof(samples) / sizeof(*samples))];
	text = fuzz_part(bytes, TEXT_BYTES - 1);
	made = texts[used++];
	memset(made, 0, TEXT_BYTES);
	if (text.left > 0)
		memcpy(made, text.at, text.left);
	return made;
}

size_t
make_count(struct fuzz_bytes *bytes, bool *too_many)
{
	uint8_t count = fuzz_u8(bytes);

	*too_many = count == 0xff;
	return *too_many ? (size_t)1 << 40 : count % (MAKE_MAX + 1);
}

struct wire_rnic_id
make_id(struct fuzz_bytes *bytes)
{
	uint64_t guid = fuzz_number(bytes);

	return (struct wire_rnic_id){ guid, (uint8_t)fuzz_below(bytes, 3) };
}

/* Most addresses are in one subnet; some must never be probed. */
struct wire_address
make_address(struct fuzz_bytes *bytes)
{
	static const struct wire_address odd[] = { { 4, { 127, 0, 0, 1 } },
		{ 4, { 169, 254, 1, 1 } }, { 4, { 224, 0, 0, 1 } }, { 4, { 0 } },
		{ 4, { 255, 255, 255, 255 } }, { 6, { 0 } }, { 6, { [15] = 1 } },
		{ 6, { 0xfe, 0x80, [15] = 1 } }, { 6, { 0xff, 2, [15] = 1 } },
		{ 6, { [10] = 0xff, 0xff, 10, 0, 0, 2 } },
		{ 6, { [10] = 0xff, 0xff, 127, 0, 0, 1 } }, { 5, { 10 } } };
	uint8_t which = fuzz_u8(bytes);
	struct wire_address address = { .family = which & 1 ? 6 : 4,
		.bytes = { 10, 0, 0, which >> 4 } };

	if (which >= 0xf0)
		address = odd[which % (sizeof(odd) / sizeof(*odd))];
	else if (which >= 0xe0)
		make_raw(bytes, address.bytes, address.family == 4 ? 4 : 16);
	address.port = (uint16_t)fuzz_number(bytes);
	return address;
}

void
make_rnic(struct fuzz_bytes *bytes, struct wire_rnic *ret)
{
	uint8_t rare = fuzz_u8(bytes);

	*ret = (struct wire_rnic){ .id = make_id(bytes),
		.host = make_text(bytes),
		.device = make_text(bytes),
		.driver = make_text(bytes),
		.tors = { make_text(bytes), make_text(bytes) },
		.tor_count = rare == 0xff ? 3 : rare % 3,
		.plane = make_text(bytes),
		.qpn = (uint32_t)fuzz_number(bytes),
		.mtu_bytes = (uint32_t)fuzz_number(bytes),
		.incarnation = fuzz_number(bytes),
		.large_qpn = (uint32_t)fuzz_number(bytes),
		.lid = (uint16_t)fuzz_number(bytes),
		.link = (uint8_t)(fuzz_u8(bytes) == 0xff ? 3 : rare % 3),
		.authenticates = rare & 4 };
	ret->address_count = rare == 0xfe ? 5 : (rare >> 3) % 5;
	for (size_t i = 0; i < ret->address_count && i < WIRE_MAX_ADDRESSES; i++)
		ret->addresses[i] = make_address(bytes);
}

void
make_raw(struct fuzz_bytes *bytes, void *ret, size_t len)
{
	size_t some = len < bytes->left ? len : bytes->left;

	memset(ret, 0, len);
	if (some > 0)
		memcpy(ret, bytes->at, some);
	bytes->at += some;
	bytes->left -= some;
}

struct wire_bytes
make_blob(struct fuzz_bytes *bytes)
{
	struct fuzz_bytes part = fuzz_part(bytes, 64);

	if (part.left == 64)
		return (struct wire_bytes){ part.at, (size_t)1 << 40 };
	return (struct wire_bytes){ part.left > 0 ? part.at : NULL, part.left };
}

struct wire_lane_head
make_head(struct fuzz_bytes *bytes)
{
	struct wire_lane_head head = { .aggregator = make_text(bytes),
		.region = make_text(bytes) };

	head.incarnation = fuzz_number(bytes);
	head.seq = fuzz_number(bytes);
	return head;
}

size_t
make_numbers(struct fuzz_bytes *bytes, uint16_t numbers[MAKE_MAX])
{
	bool too_many;
	size_t count = make_count(bytes, &too_many);

	for (size_t i = 0; i < count && !too_many; i++)
		numbers[i] = (uint16_t)fuzz_number(bytes);
	return count;
}

size_t
make_small(struct fuzz_bytes *bytes, uint8_t numbers[MAKE_MAX])
{
	bool too_many;
	size_t count = make_count(bytes, &too_many);

	for (size_t i = 0; i < count && !too_many; i++)
		numbers[i] = fuzz_u8(bytes);
	return count;
}
