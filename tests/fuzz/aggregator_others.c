/* The messages of a controller, an analyzer and the other aggregator in
 * fuzz_aggregator.c. */
#include <netinet/in.h>
#include <string.h>

#include "rackmesh/core/address.h"
#include "tests/fuzz/aggregator_run.h"

static int
write_plan(struct world *world, struct fuzz_bytes *script, uint8_t what,
    struct wire_bytes *out)
{
	static const uint16_t flows[] = { 50000, 50001 }, sizes[] = { 64 };
	static const uint8_t dscps[] = { 0, 26 };
	const uint8_t flags = fuzz_u8(script);
	const uint64_t first = what & 16 ? 0x200 : 0x100;
	struct wire_rnic members[MEMBERS], remotes[REMOTES];
	struct wire_plan_entry entries[REMOTES];
	const struct wire_alias alias = { flags & 4 ? "\xff" : "s1",
		{ .family = 4, .bytes = { 0, 0, 0, 1 } } };
	const struct wire_plan plan = {
		.region = flags & 1 ? "x" : "lab",
		.tor = run_tors[flags & 2 ? 2 : what >> 4 & 1],
		.plane = "p",
		.version = fuzz_u8(script),
		.digest = flags,
		.mesh = { .peers = 10,
		    .interval_us = flags & 8 ? 0 : 100000,
		    .rotation_s = 60,
		    .flows = flows,
		    .flow_count = 2,
		    .dscps = dscps,
		    .dscp_count = 2,
		    .sizes = sizes,
		    .size_count = 1 },
		.members = members,
		.member_count = MEMBERS - (flags >> 4 & 3),
		.remotes = remotes,
		.remote_count = REMOTES,
		.entries = entries,
		.entry_count = flags >> 6,
		.aliases = &alias,
		.alias_count = 1,
	};

	for (size_t i = 0; i < MEMBERS; i++)
		members[i] =
		    run_rnic(first + i, run_hosts[i], run_tors[what >> 4 & 1], flags);
	for (size_t i = 0; i < REMOTES; i++) {
		remotes[i] = run_rnic(REMOTE + i, "x1", "t3", flags);
		entries[i] = (struct wire_plan_entry){ .dst = (uint32_t)i,
			.kind = WIRE_INTER_TOR,
			.interval_us = 50000,
			.flows = flows,
			.flow_count = 1,
			.dscps = dscps,
			.dscp_count = 1,
			.sizes = sizes,
			.size_count = 1 };
	}
	return wire_write_plan(world->writer, &plan, out);
}

static int
write_keys(struct world *world, struct fuzz_bytes *script, uint8_t what,
    struct wire_bytes *out)
{
	const uint8_t flags = fuzz_u8(script);
	struct wire_responder_key responders[3 * MEMBERS] = { 0 };
	const uint64_t prober = run_guid(script), responder = run_guid(script);
	const struct wire_pair_key pair = { .src_guid = prober,
		.dst_guid = responder,
		.src_port = 1,
		.dst_port = 1,
		.epoch = 1 };
	const struct wire_rnic_id plain = { run_guid(script), 1 };
	const struct wire_keys keys = { .tor = run_tors[flags & 1 ? 2 : what >> 4 & 1],
		.epoch = flags & 2 ? 0 : 1 + (flags >> 6),
		.version = flags >> 2 & 7,
		.responders = responders,
		.responder_count = 3 * MEMBERS,
		.pairs = &pair,
		.pair_count = flags >> 5 & 1,
		.plain = &plain,
		.plain_count = 1 };

	for (uint32_t i = 0; i < 3 * MEMBERS; i++)
		responders[i] = (struct wire_responder_key){
			.guid = 0x100u * (1 + (what >> 4 & 1)) + i / 3,
			.port = 1,
			.epoch = i % 3
		};
	return wire_write_keys(world->writer, &keys, out);
}

static void
controller_reports(struct world *world, struct fuzz_bytes *script, struct rm_link *link)
{
	const uint8_t what = fuzz_u8(script);
	const struct wire_welcome welcome = { .version = WIRE_VERSION,
		.id = what & 16 ? "\xff" : "c1",
		.refused = what & 32 ? "no" : "" };
	struct wire_resolve_answer answer = { .token = world->resolve };
	struct wire_drill drill = { .rnic = run_hosts[what >> 5], .seconds = 5 };
	struct wire_brake brake;
	struct wire_bytes bytes;
	char rnic[32];
	uint64_t guid;
	int r;

	switch (what % 8) {
	case 0:
		r = wire_write_welcome(world->writer, &welcome, &bytes);
		break;
	case 1:
		r = write_plan(world, script, what, &bytes);
		break;
	case 2:
		r = write_keys(world, script, what, &bytes);
		break;
	case 3:
		brake.version = fuzz_u8(script);
		brake.rate_permille = fuzz_u8(script) * 5u;
		r = wire_write_brake(world->writer, &brake, &bytes);
		break;
	case 4:
		answer.found = what >> 4 & 1;
		guid = run_guid(script);
		if (answer.found)
			answer.rnic = run_rnic(
			    guid, "x9", run_tors[what >> 5 & 3], fuzz_u8(script));
		answer.key.epoch = what & 128 ? 1 : 0;
		answer.key.src_guid = answer.key.epoch != 0 ? run_guid(script) : 0;
		answer.key.src_port = 1;
		r = wire_write_resolved(world->writer, &answer, &bytes);
		break;
	case 5:
		drill.rnic = fuzz_text(script, rnic, sizeof(rnic));
		drill.limit = fuzz_u8(script);
		drill.mesh = drill.limit % 2 == 1 ? "t1" : NULL;
		r = wire_write_drill(world->writer, &drill, &bytes);
		break;
	case 6:
		r = wire_write_ping(world->writer, what, &bytes);
		break;
	default:
		r = wire_write_summary(
		    world->writer, &(struct wire_summary){ .tor = "t1" }, &bytes);
	}
	fuzz_send(script, link, r, &bytes);
}

/* ---- analyzers, peers ----------------------------------------------------------- */

static void
analyzer_reports(struct world *world, struct fuzz_bytes *script, struct rm_link *link)
{
	const uint8_t what = fuzz_u8(script);
	const struct wire_welcome welcome = { .version = WIRE_VERSION,
		.id = what & 16 ? "\xff" : "an1",
		.refused = what & 32 ? "no" : "" };
	const struct wire_drill drill = {
		.rnic = "h0/r0", .seconds = 5, .limit = what
	};
	struct wire_ack ack = world->sent[what >> 4 & 1];
	struct wire_bytes bytes;
	int r;

	switch (what % 8) {
	case 0:
	case 1:
		r = wire_write_welcome(world->writer, &welcome, &bytes);
		break;
	case 2:
	case 3:
		ack.incarnation += what >> 5 & 1;
		ack.seq += what >> 6;
		r = wire_write_ack(world->writer, &ack, &bytes);
		break;
	case 4:
		ack = (struct wire_ack){ WIRE_LANE_BATCH, 1, 1 };
		r = wire_write_ack(world->writer, &ack, &bytes);
		break;
	case 5:
		r = wire_write_drill(world->writer, &drill, &bytes);
		break;
	default:
		r = wire_write_ping(world->writer, what, &bytes);
	}
	fuzz_send(script, link, r, &bytes);
}

void
run_peer_reports(struct world *world, struct fuzz_bytes *script, struct rm_link *link)
{
	static const char *const parts[] = { "h1/r0", "t1", "h1", "\xff" };
	static const char *const types[] = { "rnic", "tor", "host", "?" };
	static const char *const kinds[] = { "rnic-down", "tor-down", "host-down",
		"?" };
	const uint8_t what = fuzz_u8(script), flags = fuzz_u8(script);
	const struct wire_welcome welcome = { .version = WIRE_VERSION,
		.id = flags & 1 ? "\xff" : "b-agg",
		.refused = flags & 2 ? "no" : "" };
	struct wire_tor_standing standings[2] = {
		{ run_tors[flags & 3], flags & 4, flags & 8, flags >> 6 },
		{ run_tors[flags >> 1 & 1], flags & 16, flags & 32, 1 },
	};
	const struct wire_tor_role role = { run_tors[flags & 1], what >> 5 & 1 };
	const struct wire_standing standing = {
		.tors = standings,
		.tor_count = what >> 3 & 3 ? 2 : 0,
		.roles = &role,
		.role_count = what >> 6 & 1,
	};
	char evidence[64];
	const uint64_t now = (uint64_t)rm_wall_now().ns;
	struct wire_incident incident = { .incident_id = flags & 3,
		.state = (enum wire_incident_state)(1 + (what >> 3) % 3),
		.tor = run_tors[flags >> 2 & 1],
		.part_type = types[flags >> 3 & 3],
		.part = parts[flags >> 3 & 3],
		.place = "t1",
		.kind = kinds[flags >> 3 & 3],
		.confidence = flags / 128.0,
		.began_wall_ns = now,
		.opened_wall_ns = now,
		.changed_wall_ns = now };
	struct wire_bytes bytes;
	int r;

	switch (what % 4) {
	case 0:
		r = wire_write_welcome(world->writer, &welcome, &bytes);
		break;
	case 1:
	case 2:
		r = wire_write_standing(world->writer, &standing, &bytes);
		break;
	default:
		incident.evidence_json = fuzz_text(script, evidence, sizeof(evidence));
		r = wire_write_incident(world->writer, &incident, &bytes);
	}
	fuzz_send(script, link, r, &bytes);
}

void
run_dialed_reports(struct world *world, struct fuzz_bytes *script, struct rm_link *link)
{
	struct sockaddr_in in;

	if (link == NULL)
		return;
	memcpy(&in, &rm_link_peer(link)->storage, sizeof(in));
	switch (ntohs(in.sin_port)) {
	case CONTROLLER:
		controller_reports(world, script, link);
		break;
	case PEER:
		run_peer_reports(world, script, link);
		break;
	default:
		analyzer_reports(world, script, link);
	}
}
