/* Functions that all peers in fuzz_aggregator.c share. */
#include "tests/fuzz/aggregator_run.h"

const char *const run_tors[4] = { "t1", "t2", "t9", "\xff" };
const char *const run_hosts[8] = { "h0", "h1", "h2", "h3", "h4", "h5", "", "\xff" };

struct wire_address
run_address(uint64_t guid)
{
	return (struct wire_address){ .family = guid % 3 == 2 ? 6 : 4,
		.bytes = { 10, 0, (uint8_t)(guid >> 8), (uint8_t)guid },
		.port = 862 };
}

struct wire_rnic
run_rnic(uint64_t guid, const char *host, const char *tor, uint8_t flags)
{
	return (struct wire_rnic){ .id = { guid, 1 },
		.host = host,
		.device = flags & 4 ? "\xff" : "r0",
		.driver = "d",
		.tors = { tor, "t2" },
		.tor_count = flags & 8 ? 2 : 1,
		.plane = "p",
		.addresses = { run_address(guid) },
		.address_count = 1,
		.mtu_bytes = 1500,
		.qpn = flags & 16 ? 7 : 0,
		.large_qpn = flags & 16 ? 8 : 0,
		.link = flags & 32 ? WIRE_LINK_DOWN : WIRE_LINK_UP,
		.authenticates = flags >> 6 & 1 };
}

uint64_t
run_guid(struct fuzz_bytes *script)
{
	const uint8_t what = fuzz_u8(script);

	if (what < 128)
		return 0x100u * (1 + (what >> 6)) + what % MEMBERS;
	return what < 240 ? REMOTE + what % REMOTES : what - 240u;
}

uint64_t
run_clock(uint8_t flags)
{
	const uint64_t now = (uint64_t)rm_mono_now().ns;

	return flags & 128 ? UINT64_MAX - now : flags & 64 ? now / 2 : now;
}
