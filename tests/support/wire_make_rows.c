#include "tests/support/wire_make_parts.h"

static void
make_row(struct fuzz_bytes *bytes, struct wire_row *ret)
{
	*ret = (struct wire_row){ .src_tor = make_text(bytes),
		.dst_tor = make_text(bytes),
		.dscp = fuzz_u8(bytes),
		.flow_set = make_text(bytes),
		.bad = fuzz_u8(bytes) & 1,
		.sent = fuzz_number(bytes),
		.lost_forward = fuzz_number(bytes),
		.rtt = make_blob(bytes),
		.prober_delay = make_blob(bytes),
		.responder_delay = make_blob(bytes),
		.arrived = fuzz_u8(bytes),
		.rewritten = fuzz_u8(bytes),
		.arrived_dscp = fuzz_u8(bytes),
		.hops_known = fuzz_u8(bytes),
		.hops_most = fuzz_u8(bytes) };
	for (size_t i = 0; i < WIRE_OUTCOMES; i++)
		ret->outcomes[i] = fuzz_number(bytes);
}

static void
make_path_row(struct fuzz_bytes *bytes, struct wire_path_row *ret)
{
	*ret = (struct wire_path_row){ .dst_tor = make_text(bytes),
		.path = make_text(bytes),
		.dscp = fuzz_u8(bytes),
		.sent = fuzz_number(bytes),
		.lost_forward = fuzz_number(bytes),
		.flows = (uint32_t)fuzz_number(bytes),
		.flows_dead = (uint32_t)fuzz_number(bytes),
		.samples = make_text(bytes),
		.arrived = fuzz_u8(bytes),
		.congested = fuzz_u8(bytes) };
}

static void
make_service_row(struct fuzz_bytes *bytes, struct wire_service_row *ret)
{
	*ret = (struct wire_service_row){ .service = make_text(bytes),
		.dscp = fuzz_u8(bytes),
		.sent = fuzz_number(bytes),
		.rtt = make_blob(bytes) };
	ret->outcomes[WIRE_NO_REPLY] = fuzz_number(bytes);
}

int
wire_make_summary(
    struct fuzz_bytes *bytes, struct wire_writer *writer, struct wire_bytes *out)
{
	static struct wire_row rows[MAKE_MAX];
	static struct wire_rnic_row rnics[MAKE_MAX];
	static struct wire_path_row paths[MAKE_MAX];
	static struct wire_service_row services[MAKE_MAX];
	struct wire_summary summary = { .head = make_head(bytes),
		.tor = make_text(bytes),
		.start_wall_ns = fuzz_number(bytes),
		.end_wall_ns = fuzz_number(bytes),
		.partial = fuzz_u8(bytes) & 1,
		.taken = fuzz_number(bytes),
		.windowed = fuzz_number(bytes),
		.rows = rows,
		.rnics = rnics,
		.paths = paths,
		.services = services };
	bool too_many;

	summary.row_count = make_count(bytes, &too_many);
	for (size_t i = 0; i < summary.row_count && !too_many; i++)
		make_row(bytes, &rows[i]);
	summary.rnic_count = make_count(bytes, &too_many);
	for (size_t i = 0; i < summary.rnic_count && !too_many; i++)
		rnics[i] = (struct wire_rnic_row){ .id = make_id(bytes),
			.host = make_text(bytes),
			.device = make_text(bytes),
			.sent = fuzz_number(bytes),
			.rtt_ns = { (uint32_t)fuzz_number(bytes) } };
	summary.path_count = make_count(bytes, &too_many);
	for (size_t i = 0; i < summary.path_count && !too_many; i++)
		make_path_row(bytes, &paths[i]);
	summary.paths_start_wall_ns = fuzz_number(bytes);
	summary.has_state = fuzz_u8(bytes) & 1;
	summary.state.rnics = (uint32_t)fuzz_number(bytes);
	summary.state.plan_version = fuzz_number(bytes);
	summary.services_start_wall_ns = fuzz_number(bytes);
	summary.service_count = make_count(bytes, &too_many);
	for (size_t i = 0; i < summary.service_count && !too_many; i++)
		make_service_row(bytes, &services[i]);
	summary.end_ns = fuzz_number(bytes);
	return wire_write_summary(writer, &summary, out);
}

int
wire_make_services(
    struct fuzz_bytes *bytes, struct wire_writer *writer, struct wire_bytes *out)
{
	static struct wire_service_flow flows[MAKE_MAX];
	struct wire_services services = { .host = make_text(bytes),
		.incarnation = fuzz_number(bytes),
		.now_ns = fuzz_number(bytes),
		.tracing = fuzz_u8(bytes) & 1,
		.missing = make_text(bytes),
		.unresolved = fuzz_number(bytes),
		.over_cap = fuzz_number(bytes),
		.events_dropped = fuzz_number(bytes),
		.flows = flows };
	bool too_many;

	services.flow_count = make_count(bytes, &too_many);
	for (size_t i = 0; i < services.flow_count && !too_many; i++)
		flows[i] = (struct wire_service_flow){ .src = make_id(bytes),
			.dst = make_id(bytes),
			.peer = make_address(bytes),
			.service = make_text(bytes),
			.comm = make_text(bytes),
			.pod = fuzz_u8(bytes) & 1 ? make_text(bytes) : "",
			.pid = (uint32_t)fuzz_number(bytes),
			.qp_type = (uint8_t)fuzz_below(bytes, 5),
			.state = (uint8_t)fuzz_below(bytes, 6),
			.src_port = (uint16_t)fuzz_number(bytes),
			.src_qpn = (uint32_t)fuzz_number(bytes),
			.dst_qpn = (uint32_t)fuzz_number(bytes),
			.qps = (uint32_t)fuzz_number(bytes) };
	return wire_write_services(writer, &services, out);
}

static size_t
make_paths(struct fuzz_bytes *bytes, struct wire_path rows[MAKE_MAX])
{
	bool too_many;
	size_t count = make_count(bytes, &too_many);

	for (size_t i = 0; i < count && !too_many; i++) {
		uint8_t rare = fuzz_u8(bytes);

		rows[i] = (struct wire_path){ .src_guid = fuzz_number(bytes),
			.dst_guid = fuzz_number(bytes),
			.age_ns = fuzz_number(bytes),
			.src_port = (uint16_t)fuzz_number(bytes),
			.family = rare == 0xff ? 5
				  : rare & 1   ? 6
					       : 4,
			.hop_count = (uint8_t)fuzz_below(bytes, WIRE_MAX_HOPS + 2) };
		make_raw(bytes, rows[i].hops, 16);
	}
	return count;
}

int
wire_make_paths(
    struct fuzz_bytes *bytes, struct wire_writer *writer, struct wire_bytes *out)
{
	static struct wire_path rows[MAKE_MAX];
	struct wire_paths paths = { .host = make_text(bytes),
		.incarnation = fuzz_number(bytes),
		.now_ns = fuzz_number(bytes),
		.paths = rows,
		.path_count = make_paths(bytes, rows) };

	return wire_write_paths(writer, &paths, out);
}

int
wire_make_traced(
    struct fuzz_bytes *bytes, struct wire_writer *writer, struct wire_bytes *out)
{
	static struct wire_path rows[MAKE_MAX];
	struct wire_traced traced = { .tor = make_text(bytes),
		.now_ns = fuzz_number(bytes),
		.paths = rows,
		.path_count = make_paths(bytes, rows) };

	return wire_write_traced(writer, &traced, out);
}
