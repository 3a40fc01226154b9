#include "tests/support/wire_make.h"

#include <errno.h>

#include "tests/support/wire_make_parts.h"

static int
make_hello(struct fuzz_bytes *bytes, struct wire_writer *writer, struct wire_bytes *out)
{
	static struct wire_tor_state tors[MAKE_MAX];
	struct wire_hello hello = { .role = (enum wire_role)fuzz_below(bytes, 5),
		.version_min = (uint16_t)fuzz_number(bytes),
		.version_max = (uint16_t)fuzz_number(bytes),
		.region = make_text(bytes),
		.id = make_text(bytes),
		.incarnation = fuzz_number(bytes),
		.now_ns = fuzz_number(bytes),
		.tors = tors };
	bool too_many;

	hello.tor_count = make_count(bytes, &too_many);
	for (size_t i = 0; i < hello.tor_count && !too_many; i++)
		tors[i] = (struct wire_tor_state){ make_text(bytes), fuzz_number(bytes),
			fuzz_number(bytes) };
	hello.software = make_text(bytes);
	hello.summary_interval_s = (uint16_t)fuzz_number(bytes);
	return wire_write_hello(writer, &hello, out);
}

static int
make_welcome(
    struct fuzz_bytes *bytes, struct wire_writer *writer, struct wire_bytes *out)
{
	struct wire_welcome welcome = { .version = (uint16_t)fuzz_number(bytes),
		.id = make_text(bytes),
		.incarnation = fuzz_number(bytes),
		.counted_seq = fuzz_number(bytes),
		.refused = make_text(bytes),
		.software = make_text(bytes) };

	return wire_write_welcome(writer, &welcome, out);
}

static int
make_register(
    struct fuzz_bytes *bytes, struct wire_writer *writer, struct wire_bytes *out)
{
	static struct wire_rnic rnics[MAKE_MAX];
	static struct wire_settings settings[MAKE_MAX];
	struct wire_register reg = { .host = make_text(bytes),
		.incarnation = fuzz_number(bytes),
		.rnics = rnics };
	bool too_many;

	reg.rnic_count = make_count(bytes, &too_many);
	for (size_t i = 0; i < reg.rnic_count && !too_many; i++)
		make_rnic(bytes, &rnics[i]);
	if (fuzz_number(bytes) % 2 == 1)
		reg.settings = settings;
	for (size_t i = 0; i < reg.rnic_count && reg.settings != NULL && !too_many; i++)
		settings[i] = (struct wire_settings){ (uint32_t)fuzz_number(bytes),
			{ (uint32_t)fuzz_number(bytes) }, make_text(bytes) };
	return wire_write_register(writer, &reg, out);
}

static int
make_batch(struct fuzz_bytes *bytes, struct wire_writer *writer, struct wire_bytes *out)
{
	static struct wire_result results[MAKE_MAX];
	struct wire_batch_head head = { .host = make_text(bytes),
		.incarnation = fuzz_number(bytes),
		.seq = fuzz_number(bytes),
		.now_ns = fuzz_number(bytes),
		.dropped_batches = fuzz_number(bytes),
		.dropped_results = fuzz_number(bytes) };
	bool too_many;
	size_t count = make_count(bytes, &too_many);

	for (size_t i = 0; i < count && !too_many; i++) {
		results[i] = (struct wire_result){ .src_guid = fuzz_number(bytes),
			.dst_guid = fuzz_number(bytes),
			.sent_age_ns = fuzz_number(bytes),
			.rtt_ns = (uint32_t)fuzz_number(bytes),
			.seq = (uint32_t)fuzz_number(bytes),
			.src_port = (uint16_t)fuzz_number(bytes),
			.outcome = fuzz_u8(bytes) % 9,
			.invalid_reason = fuzz_u8(bytes) % 7,
			.kind = fuzz_u8(bytes) % 6,
			.stamp_source = fuzz_u8(bytes) % 6,
			.flags = fuzz_u8(bytes) };
	}
	return wire_write_batch(writer, &head, results, count, out);
}

static int
make_ack(struct fuzz_bytes *bytes, struct wire_writer *writer, struct wire_bytes *out)
{
	struct wire_ack ack = { .lane = (enum wire_lane)fuzz_below(bytes, 5),
		.incarnation = fuzz_number(bytes),
		.seq = fuzz_number(bytes) };

	return wire_write_ack(writer, &ack, out);
}

static int
make_heartbeat(
    struct fuzz_bytes *bytes, struct wire_writer *writer, struct wire_bytes *out)
{
	static struct wire_stall stalls[MAKE_MAX];
	static const char *live[MAKE_MAX];
	struct wire_heartbeat beat = { .incarnation = fuzz_number(bytes),
		.seq = fuzz_number(bytes),
		.now_ns = fuzz_number(bytes),
		.loop_lag_max_ns = fuzz_number(bytes),
		.paused = fuzz_u8(bytes) & 1,
		.stalls = stalls,
		.self_loss = fuzz_number(bytes),
		.results_through_ns = fuzz_number(bytes),
		.live = live,
		.slowed_permille = (uint16_t)fuzz_number(bytes),
		.slowed_reason = fuzz_u8(bytes) };
	bool too_many;

	beat.stall_count = make_count(bytes, &too_many);
	for (size_t i = 0; i < beat.stall_count && !too_many; i++)
		stalls[i] =
		    (struct wire_stall){ fuzz_number(bytes), fuzz_number(bytes) };
	beat.live_count = make_count(bytes, &too_many);
	for (size_t i = 0; i < beat.live_count && !too_many; i++)
		live[i] = make_text(bytes);
	return wire_write_heartbeat(writer, &beat, out);
}

static int
make_counts(
    struct fuzz_bytes *bytes, struct wire_writer *writer, struct wire_bytes *out)
{
	static struct wire_count rows[MAKE_MAX];
	struct wire_counts counts = { .incarnation = fuzz_number(bytes),
		.now_ns = fuzz_number(bytes),
		.rows = rows };
	bool too_many;

	counts.row_count = make_count(bytes, &too_many);
	for (size_t i = 0; i < counts.row_count && !too_many; i++)
		rows[i] = (struct wire_count){ .own_guid = fuzz_number(bytes),
			.prober_guid = fuzz_number(bytes),
			.received = fuzz_number(bytes) };
	/* A count of items without an array. */
	if (counts.row_count > 0 && fuzz_u8(bytes) == 0xff)
		counts.rows = NULL;
	return wire_write_counts(writer, &counts, out);
}

static int
make_counter_report(
    struct fuzz_bytes *bytes, struct wire_writer *writer, struct wire_bytes *out)
{
	static struct wire_rnic_counters rnics[MAKE_MAX];
	static struct wire_counter_value values[MAKE_MAX];
	struct wire_counter_report report = { .incarnation = fuzz_number(bytes),
		.rnics = rnics };
	bool too_many, far_too_many;

	report.rnic_count = make_count(bytes, &too_many);
	for (size_t i = 0; i < report.rnic_count && !too_many; i++) {
		rnics[i] = (struct wire_rnic_counters){ .id = make_id(bytes),
			.interval_ns = fuzz_number(bytes),
			.values = values };
		rnics[i].value_count = make_count(bytes, &far_too_many);
	}
	for (size_t i = 0; i < MAKE_MAX; i++)
		values[i] = (struct wire_counter_value){ .value = fuzz_number(bytes),
			.counter = (uint16_t)fuzz_number(bytes),
			.index = fuzz_u8(bytes) };
	return wire_write_counter_report(writer, &report, out);
}

static int
make_focus(struct fuzz_bytes *bytes, struct wire_writer *writer, struct wire_bytes *out)
{
	struct wire_focus focus = { .src = make_id(bytes), .dst = make_id(bytes) };

	focus.interval_us = (uint32_t)fuzz_number(bytes);
	focus.duration_ms = (uint32_t)fuzz_number(bytes);
	return wire_write_focus(writer, &focus, out);
}

static int
make_ping(struct fuzz_bytes *bytes, struct wire_writer *writer, struct wire_bytes *out)
{
	return wire_write_ping(writer, fuzz_number(bytes), out);
}

static int
make_incident(
    struct fuzz_bytes *bytes, struct wire_writer *writer, struct wire_bytes *out)
{
	struct wire_incident incident = { .head = make_head(bytes),
		.incident_id = fuzz_number(bytes),
		.state = (enum wire_incident_state)fuzz_below(bytes, 5),
		.tor = make_text(bytes),
		.part_type = make_text(bytes),
		.part = make_text(bytes),
		.place = make_text(bytes),
		.kind = make_text(bytes),
		.confidence = (double)fuzz_number(bytes) / 255,
		.began_wall_ns = fuzz_number(bytes),
		.opened_wall_ns = fuzz_number(bytes),
		.changed_wall_ns = fuzz_number(bytes),
		.sentence = make_text(bytes),
		.evidence_json = make_text(bytes),
		.severity = make_text(bytes) };

	return wire_write_incident(writer, &incident, out);
}

static int
make_brake(struct fuzz_bytes *bytes, struct wire_writer *writer, struct wire_bytes *out)
{
	struct wire_brake brake = { .version = fuzz_number(bytes),
		.rate_permille = (uint32_t)fuzz_number(bytes) };

	return wire_write_brake(writer, &brake, out);
}

static int
make_resolve(
    struct fuzz_bytes *bytes, struct wire_writer *writer, struct wire_bytes *out)
{
	struct wire_resolve resolve = { .token = fuzz_number(bytes),
		.address = make_address(bytes),
		.prober = make_id(bytes) };

	return wire_write_resolve(writer, &resolve, out);
}

static int
make_resolved(
    struct fuzz_bytes *bytes, struct wire_writer *writer, struct wire_bytes *out)
{
	struct wire_resolve_answer answer = { .token = fuzz_number(bytes),
		.found = fuzz_u8(bytes) & 1 };

	if (answer.found)
		make_rnic(bytes, &answer.rnic);
	answer.key.src_guid = fuzz_number(bytes);
	answer.key.dst_guid = answer.rnic.id.guid;
	answer.key.dst_port = answer.rnic.id.port;
	answer.key.epoch = (uint32_t)fuzz_number(bytes);
	return wire_write_resolved(writer, &answer, out);
}

static int
make_drill(struct fuzz_bytes *bytes, struct wire_writer *writer, struct wire_bytes *out)
{
	struct wire_drill drill = { .token = fuzz_number(bytes),
		.rnic = make_text(bytes),
		.seconds = (uint32_t)fuzz_number(bytes),
		.limit = (uint32_t)fuzz_number(bytes),
		.mesh = make_text(bytes) };

	return wire_write_drill(writer, &drill, out);
}

static int
make_drilled(
    struct fuzz_bytes *bytes, struct wire_writer *writer, struct wire_bytes *out)
{
	struct wire_drill_answer answer = { .token = fuzz_number(bytes),
		.status = (uint16_t)fuzz_number(bytes),
		.json = make_blob(bytes),
		.mesh = fuzz_below(bytes, 2) };

	return wire_write_drilled(writer, &answer, out);
}

static int
make_join(struct fuzz_bytes *bytes, struct wire_writer *writer, struct wire_bytes *out)
{
	struct wire_join join = { .token = fuzz_number(bytes),
		.rnic = make_id(bytes),
		.qpn = (uint32_t)fuzz_number(bytes),
		.dst_qpn = (uint32_t)fuzz_number(bytes),
		.qp_type = (uint8_t)fuzz_below(bytes, 5) };

	return wire_write_join(writer, &join, out);
}

static int
make_standing(
    struct fuzz_bytes *bytes, struct wire_writer *writer, struct wire_bytes *out)
{
	static struct wire_tor_standing tors[MAKE_MAX];
	static struct wire_tor_role roles[MAKE_MAX];
	struct wire_standing standing = {
		.now_ns = fuzz_number(bytes),
		.tors = tors,
		.roles = roles,
	};
	bool too_many;

	standing.tor_count = make_count(bytes, &too_many);
	for (size_t i = 0; i < standing.tor_count && !too_many; i++)
		tors[i] = (struct wire_tor_standing){ .tor = make_text(bytes),
			.active = fuzz_u8(bytes) & 1,
			.delivers = fuzz_u8(bytes) & 1,
			.agents = (uint32_t)fuzz_number(bytes) };
	standing.role_count = make_count(bytes, &too_many);
	for (size_t i = 0; i < standing.role_count && !too_many; i++)
		roles[i] =
		    (struct wire_tor_role){ make_text(bytes), fuzz_u8(bytes) & 1 };
	return wire_write_standing(writer, &standing, out);
}

static int
make_versions(
    struct fuzz_bytes *bytes, struct wire_writer *writer, struct wire_bytes *out)
{
	static struct wire_version peers[MAKE_MAX];
	struct wire_versions versions = { .peers = peers };
	bool too_many;

	versions.peer_count = make_count(bytes, &too_many);
	for (size_t i = 0; i < versions.peer_count && !too_many; i++)
		peers[i] =
		    (struct wire_version){ (enum wire_component)fuzz_below(bytes, 6),
			    make_text(bytes), make_text(bytes), fuzz_number(bytes),
			    fuzz_u8(bytes) & 1 };
	return wire_write_versions(writer, &versions, out);
}

static int
make_place(struct fuzz_bytes *bytes, struct wire_writer *writer, struct wire_bytes *out)
{
	const struct wire_place place = { fuzz_number(bytes), make_text(bytes) };

	return wire_write_place(writer, &place, out);
}

static int
make_placed(
    struct fuzz_bytes *bytes, struct wire_writer *writer, struct wire_bytes *out)
{
	static struct wire_cable cables[MAKE_MAX];
	static struct wire_tor_aggregator aggregators[MAKE_MAX];
	struct wire_place_answer answer = { .token = fuzz_number(bytes),
		.error = make_text(bytes),
		.cables = cables,
		.aggregators = aggregators };
	bool too_many;

	answer.cable_count = make_count(bytes, &too_many);
	for (size_t i = 0; i < answer.cable_count && !too_many; i++)
		cables[i] = (struct wire_cable){ make_text(bytes), make_text(bytes) };
	answer.aggregator_count = make_count(bytes, &too_many);
	for (size_t i = 0; i < answer.aggregator_count && !too_many; i++)
		aggregators[i] =
		    (struct wire_tor_aggregator){ make_text(bytes), make_text(bytes) };
	return wire_write_placed(writer, &answer, out);
}

int
wire_make(enum wire_kind kind, struct fuzz_bytes *bytes, struct wire_writer *writer,
    struct wire_bytes *out)
{
	static wire_make_one *const make[] = {
		[WIRE_HELLO] = make_hello,
		[WIRE_WELCOME] = make_welcome,
		[WIRE_REGISTER] = make_register,
		[WIRE_BATCH] = make_batch,
		[WIRE_ACK] = make_ack,
		[WIRE_HEARTBEAT] = make_heartbeat,
		[WIRE_COUNTS] = make_counts,
		[WIRE_PINGLIST] = wire_make_pinglist,
		[WIRE_FOCUS] = make_focus,
		[WIRE_PING] = make_ping,
		[WIRE_PLAN] = wire_make_plan,
		[WIRE_SUMMARY] = wire_make_summary,
		[WIRE_INCIDENT] = make_incident,
		[WIRE_PATHS] = wire_make_paths,
		[WIRE_BRAKE] = make_brake,
		[WIRE_RESOLVE] = make_resolve,
		[WIRE_RESOLVE_ANSWER] = make_resolved,
		[WIRE_DRILL] = make_drill,
		[WIRE_DRILL_ANSWER] = make_drilled,
		[WIRE_SERVICES] = wire_make_services,
		[WIRE_JOIN] = make_join,
		[WIRE_TRACED] = wire_make_traced,
		[WIRE_KEYS] = wire_make_keys,
		[WIRE_STANDING] = make_standing,
		[WIRE_VERSIONS] = make_versions,
		[WIRE_PLACE] = make_place,
		[WIRE_PLACE_ANSWER] = make_placed,
		[WIRE_COUNTER_REPORT] = make_counter_report,
	};

	wire_make_begin();
	if ((size_t)kind >= sizeof(make) / sizeof(*make) || make[kind] == NULL)
		return -EINVAL;
	return make[kind](bytes, writer, out);
}
