#include "tests/support/wire_make_parts.h"

int
wire_make_plan(
    struct fuzz_bytes *bytes, struct wire_writer *writer, struct wire_bytes *out)
{
	static struct wire_rnic members[MAKE_MAX], remotes[MAKE_MAX];
	static struct wire_plan_entry entries[MAKE_MAX];
	static struct wire_alias aliases[MAKE_MAX];
	static uint16_t flows[MAKE_MAX], sizes[MAKE_MAX];
	static uint8_t dscps[MAKE_MAX];
	struct wire_plan plan = { .region = make_text(bytes),
		.tor = make_text(bytes),
		.plane = make_text(bytes),
		.version = fuzz_number(bytes),
		.digest = fuzz_number(bytes),
		.mesh = { .peers = (uint32_t)fuzz_number(bytes),
		    .interval_us = (uint32_t)fuzz_number(bytes),
		    .rotation_s = (uint32_t)fuzz_number(bytes),
		    .sl = (uint8_t)fuzz_below(bytes, 17) },
		.members = members,
		.remotes = remotes,
		.entries = entries,
		.aliases = aliases };
	bool too_many;

	plan.mesh.flows = flows;
	plan.mesh.flow_count = make_numbers(bytes, flows);
	plan.mesh.sizes = sizes;
	plan.mesh.size_count = make_numbers(bytes, sizes);
	plan.mesh.dscps = dscps;
	plan.mesh.dscp_count = make_small(bytes, dscps);
	plan.member_count = make_count(bytes, &too_many);
	for (size_t i = 0; i < plan.member_count && !too_many; i++)
		make_rnic(bytes, &members[i]);
	plan.remote_count = make_count(bytes, &too_many);
	for (size_t i = 0; i < plan.remote_count && !too_many; i++)
		make_rnic(bytes, &remotes[i]);
	plan.entry_count = make_count(bytes, &too_many);
	for (size_t i = 0; i < plan.entry_count && !too_many; i++) {
		entries[i] = (struct wire_plan_entry){ .src = fuzz_below(bytes, 8),
			.dst = fuzz_below(bytes, 8),
			.kind = (enum wire_probe_kind)fuzz_below(bytes, 6),
			.interval_us = (uint32_t)fuzz_number(bytes),
			.paired = fuzz_u8(bytes) & 1,
			.sl = (uint8_t)fuzz_below(bytes, 17),
			.flows = flows,
			.flow_count = plan.mesh.flow_count,
			.dscps = dscps,
			.dscp_count = plan.mesh.dscp_count,
			.sizes = sizes,
			.size_count = plan.mesh.size_count };
	}
	plan.alias_count = make_count(bytes, &too_many);
	for (size_t i = 0; i < plan.alias_count && !too_many; i++)
		aliases[i] =
		    (struct wire_alias){ make_text(bytes), make_address(bytes) };
	return wire_write_plan(writer, &plan, out);
}

static void
make_target(struct fuzz_bytes *bytes, struct wire_target *ret)
{
	static uint16_t flows[MAKE_MAX], sizes[MAKE_MAX];
	static uint8_t dscps[MAKE_MAX];

	*ret = (struct wire_target){ .src = make_id(bytes),
		.dst = make_id(bytes),
		.kind = (enum wire_probe_kind)fuzz_below(bytes, 6),
		.address = make_address(bytes),
		.dst_qpn = (uint32_t)fuzz_number(bytes),
		.dst_large_qpn = (uint32_t)fuzz_number(bytes),
		.dst_lid = (uint16_t)fuzz_number(bytes),
		.sl = (uint8_t)fuzz_below(bytes, 17),
		.interval_us = (uint32_t)fuzz_number(bytes),
		.paired = fuzz_u8(bytes) & 1,
		.flows = flows,
		.flow_count = make_numbers(bytes, flows),
		.dscps = dscps,
		.dscp_count = make_small(bytes, dscps),
		.sizes = sizes,
		.size_count = make_numbers(bytes, sizes) };
}

int
wire_make_pinglist(
    struct fuzz_bytes *bytes, struct wire_writer *writer, struct wire_bytes *out)
{
	static struct wire_target targets[MAKE_MAX];
	static struct wire_peer roster[MAKE_MAX];
	struct wire_pinglist pinglist = { .tor = make_text(bytes),
		.version = fuzz_number(bytes),
		.rotation = (uint32_t)fuzz_number(bytes),
		.targets = targets,
		.roster = roster };
	bool too_many;

	pinglist.target_count = make_count(bytes, &too_many);
	for (size_t i = 0; i < pinglist.target_count && !too_many; i++)
		make_target(bytes, &targets[i]);
	pinglist.roster_count = make_count(bytes, &too_many);
	for (size_t i = 0; i < pinglist.roster_count && !too_many; i++)
		roster[i] = (struct wire_peer){ make_id(bytes), make_address(bytes) };
	return wire_write_pinglist(writer, &pinglist, out);
}

int
wire_make_keys(
    struct fuzz_bytes *bytes, struct wire_writer *writer, struct wire_bytes *out)
{
	static struct wire_responder_key responders[MAKE_MAX];
	static struct wire_pair_key pairs[MAKE_MAX];
	static struct wire_rnic_id plain[MAKE_MAX];
	struct wire_keys keys = { .tor = make_text(bytes),
		.epoch = (uint32_t)fuzz_number(bytes),
		.version = fuzz_number(bytes),
		.responders = responders,
		.pairs = pairs,
		.plain = plain };
	bool too_many;

	keys.responder_count = make_count(bytes, &too_many);
	for (size_t i = 0; i < keys.responder_count && !too_many; i++) {
		struct wire_rnic_id id = make_id(bytes);

		responders[i] = (struct wire_responder_key){ .guid = id.guid,
			.port = id.port,
			.epoch = (uint32_t)fuzz_number(bytes),
			.key = { fuzz_u8(bytes) } };
	}
	keys.pair_count = make_count(bytes, &too_many);
	for (size_t i = 0; i < keys.pair_count && !too_many; i++) {
		struct wire_rnic_id src = make_id(bytes), dst = make_id(bytes);

		pairs[i] = (struct wire_pair_key){ .src_guid = src.guid,
			.dst_guid = dst.guid,
			.src_port = src.port,
			.dst_port = dst.port,
			.epoch = (uint32_t)fuzz_number(bytes),
			.key = { fuzz_u8(bytes) } };
	}
	keys.plain_count = make_count(bytes, &too_many);
	for (size_t i = 0; i < keys.plain_count && !too_many; i++)
		plain[i] = make_id(bytes);
	return wire_write_keys(writer, &keys, out);
}
