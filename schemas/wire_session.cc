/* hello, welcome, acknowledgement */
#include "schemas/wire_message.h"

#include "agent_generated.h"

namespace
{

wire::offset<rackmesh::TorState>
put_tor(wire_writer *writer, const struct wire_tor_state &state)
{
	auto tor = wire::text(writer, state.tor);

	return rackmesh::CreateTorState(writer->fbb, tor, state.plan_version,
	    state.plan_digest, state.keys_version, state.keys_epoch);
}

void
check_tor(wire::checker *check, const rackmesh::TorState *state)
{
	check->text(state->tor());
}

} /* namespace */

int
wire_write_hello(
    struct wire_writer *writer, const struct wire_hello *hello, struct wire_bytes *out)
try {
	wire::begin(writer);
	auto role = static_cast<rackmesh::Role>(
	    wire::choice(writer, hello->role, WIRE_ROLE_AGENT, WIRE_ROLE_CONTROLLER));
	auto tors =
	    wire::tables(writer, hello->tors, hello->tor_count, WIRE_MAX_TORS, put_tor);
	auto region = wire::text(writer, hello->region);
	auto id = wire::text(writer, hello->id);
	auto root = rackmesh::CreateHello(writer->fbb, role, hello->version_min,
	    hello->version_max, region, id, hello->incarnation, hello->now_ns, tors);
	return wire::finish(writer, root.Union(), WIRE_HELLO, out);
} catch (...) {
	return wire::out_of_memory(writer);
}

int
wire_open_hello(struct wire_hello_view *view, const uint8_t *data, size_t len)
{
	const rackmesh::Hello *from = nullptr;
	wire::checker check;
	int r;

	r = wire::open(data, len, WIRE_HELLO, 1 + WIRE_MAX_TORS, &from);
	if (r < 0)
		return r;
	check.choice(
	    static_cast<unsigned>(from->role()), WIRE_ROLE_AGENT, WIRE_ROLE_CONTROLLER);
	check.text(from->region());
	check.text(from->id());
	check.each(from->tors(), WIRE_MAX_TORS, check_tor);
	if (check.error < 0)
		return check.error;

	view->hello.role = static_cast<enum wire_role>(from->role());
	view->hello.version_min = from->version_min();
	view->hello.version_max = from->version_max();
	view->hello.region = wire::string(from->region());
	view->hello.id = wire::string(from->id());
	view->hello.incarnation = from->incarnation();
	view->hello.now_ns = from->now_ns();
	view->hello.tors = nullptr;
	view->hello.tor_count = wire::count(from->tors());
	view->opaque = from;
	return 0;
}

void
wire_hello_tor(const struct wire_hello_view *view, size_t i, struct wire_tor_state *out)
{
	auto from = static_cast<const rackmesh::Hello *>(view->opaque);
	auto state = from->tors()->Get(static_cast<uint32_t>(i));

	out->tor = wire::string(state->tor());
	out->plan_version = state->plan_version();
	out->plan_digest = state->plan_digest();
	out->keys_version = state->keys_version();
	out->keys_epoch = state->keys_epoch();
}

int
wire_write_welcome(struct wire_writer *writer, const struct wire_welcome *welcome,
    struct wire_bytes *out)
try {
	wire::begin(writer);
	auto id = wire::text(writer, welcome->id);
	auto refused = wire::text(writer, welcome->refused);
	auto root = rackmesh::CreateWelcome(writer->fbb, welcome->version, id,
	    welcome->incarnation, welcome->counted_seq, refused);
	return wire::finish(writer, root.Union(), WIRE_WELCOME, out);
} catch (...) {
	return wire::out_of_memory(writer);
}

int
wire_open_welcome(struct wire_welcome *view, const uint8_t *data, size_t len)
{
	const rackmesh::Welcome *from = nullptr;
	wire::checker check;
	int r;

	r = wire::open(data, len, WIRE_WELCOME, 1, &from);
	if (r < 0)
		return r;
	check.text(from->id());
	check.text(from->refused());
	if (check.error < 0)
		return check.error;

	view->version = from->version();
	view->id = wire::string(from->id());
	view->incarnation = from->incarnation();
	view->counted_seq = from->counted_seq();
	view->refused = wire::string(from->refused());
	return 0;
}

int
wire_write_ack(
    struct wire_writer *writer, const struct wire_ack *ack, struct wire_bytes *out)
try {
	wire::begin(writer);
	auto lane = static_cast<rackmesh::LaneKind>(
	    wire::choice(writer, ack->lane, WIRE_LANE_BATCH, WIRE_LANE_INCIDENT));
	auto root = rackmesh::CreateAck(writer->fbb, lane, ack->incarnation, ack->seq);
	return wire::finish(writer, root.Union(), WIRE_ACK, out);
} catch (...) {
	return wire::out_of_memory(writer);
}

int
wire_open_ack(struct wire_ack *view, const uint8_t *data, size_t len)
{
	const rackmesh::Ack *from = nullptr;
	wire::checker check;
	int r;

	r = wire::open(data, len, WIRE_ACK, 1, &from);
	if (r < 0)
		return r;
	check.choice(
	    static_cast<unsigned>(from->lane()), WIRE_LANE_BATCH, WIRE_LANE_INCIDENT);
	if (check.error < 0)
		return check.error;

	view->lane = static_cast<enum wire_lane>(from->lane());
	view->incarnation = from->incarnation();
	view->seq = from->seq();
	return 0;
}
