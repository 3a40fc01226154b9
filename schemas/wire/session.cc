#include "schemas/wire/session.h"

#include "schemas/wire/identity_internal.h"
#include "schemas/wire/message_internal.h"

#include "agent_generated.h"
#include "pinglist_generated.h"

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

wire::offset<rackmesh::PeerVersion>
put_version(wire_writer *writer, const struct wire_version &version)
{
	auto component = static_cast<rackmesh::Component>(wire::choice(
	    writer, version.component, WIRE_COMPONENT_AGENT, WIRE_COMPONENT_ANALYZER));
	auto name = wire::text(writer, version.name);
	auto software = wire::text(writer, version.software);

	return rackmesh::CreatePeerVersion(
	    writer->fbb, component, name, software, version.since_s, version.connected);
}

void
check_version(wire::checker *check, const rackmesh::PeerVersion *version)
{
	check->choice(static_cast<unsigned>(version->component()), WIRE_COMPONENT_AGENT,
	    WIRE_COMPONENT_ANALYZER);
	check->text(version->name());
	check->text(version->software());
}

} /* namespace */

int
wire_write_hello(
    struct wire_writer *writer, const struct wire_hello *hello, struct wire_bytes *out)
try {
	wire::begin(writer);
	auto role = static_cast<rackmesh::Role>(
	    wire::choice(writer, hello->role, WIRE_ROLE_AGENT, WIRE_ROLE_CHECK));
	auto tors =
	    wire::tables(writer, hello->tors, hello->tor_count, WIRE_MAX_TORS, put_tor);
	auto region = wire::text(writer, hello->region);
	auto id = wire::text(writer, hello->id);
	auto software = wire::text(writer, hello->software);
	auto root = rackmesh::CreateHello(writer->fbb, role, hello->version_min,
	    hello->version_max, region, id, hello->incarnation, hello->now_ns, tors,
	    software, hello->summary_interval_s);
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
	    static_cast<unsigned>(from->role()), WIRE_ROLE_AGENT, WIRE_ROLE_CHECK);
	check.text(from->region());
	check.text(from->id());
	check.text(from->software());
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
	view->hello.software = wire::string(from->software());
	view->hello.summary_interval_s = from->summary_interval_s();
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
	auto software = wire::text(writer, welcome->software);
	auto root = rackmesh::CreateWelcome(writer->fbb, welcome->version, id,
	    welcome->incarnation, welcome->counted_seq, refused, software,
	    welcome->knows_overdue);
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
	check.text(from->software());
	if (check.error < 0)
		return check.error;

	view->version = from->version();
	view->id = wire::string(from->id());
	view->incarnation = from->incarnation();
	view->counted_seq = from->counted_seq();
	view->refused = wire::string(from->refused());
	view->software = wire::string(from->software());
	view->knows_overdue = from->knows_overdue();
	return 0;
}

int
wire_write_versions(struct wire_writer *writer, const struct wire_versions *versions,
    struct wire_bytes *out)
try {
	wire::begin(writer);
	auto peers = wire::tables(writer, versions->peers, versions->peer_count,
	    WIRE_MAX_VERSIONS, put_version);
	auto root = rackmesh::CreateVersions(writer->fbb, peers);
	return wire::finish(writer, root.Union(), WIRE_VERSIONS, out);
} catch (...) {
	return wire::out_of_memory(writer);
}

int
wire_open_versions(struct wire_versions *view, const uint8_t *data, size_t len)
{
	const rackmesh::Versions *from = nullptr;
	wire::checker check;
	int r;

	r = wire::open(data, len, WIRE_VERSIONS, 1 + WIRE_MAX_VERSIONS, &from);
	if (r < 0)
		return r;
	check.each(from->peers(), WIRE_MAX_VERSIONS, check_version);
	if (check.error < 0)
		return check.error;

	view->peers = nullptr;
	view->peer_count = wire::count(from->peers());
	view->opaque = from;
	return 0;
}

void
wire_versions_peer(const struct wire_versions *view, size_t i, struct wire_version *out)
{
	auto from = static_cast<const rackmesh::Versions *>(view->opaque);
	auto peer = from->peers()->Get(static_cast<uint32_t>(i));

	out->component = static_cast<enum wire_component>(peer->component());
	out->name = wire::string(peer->name());
	out->software = wire::string(peer->software());
	out->since_s = peer->since_s();
	out->connected = peer->connected();
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

/* ---- ping ---- */

int
wire_write_ping(struct wire_writer *writer, uint64_t now_ns, struct wire_bytes *out)
{
	const struct wire_ping ping = { now_ns, "", 0, false };

	return wire_write_ping_ending(writer, &ping, out);
}

int
wire_write_ping_ending(
    struct wire_writer *writer, const struct wire_ping *ping, struct wire_bytes *out)
try {
	wire::begin(writer);
	auto ending = ping->ending[0] != '\0' ? wire::text(writer, ping->ending) : 0;
	auto root = rackmesh::CreatePing(
	    writer->fbb, ping->now_ns, ending, ping->ends_s, ping->mute);
	return wire::finish(writer, root.Union(), WIRE_PING, out);
} catch (...) {
	return wire::out_of_memory(writer);
}

int
wire_open_ping_ending(struct wire_ping *view, const uint8_t *data, size_t len)
{
	const rackmesh::Ping *from = nullptr;
	wire::checker check;
	int r;

	r = wire::open(data, len, WIRE_PING, 1, &from);
	if (r < 0)
		return r;
	check.text(from->ending());
	if (check.error < 0)
		return check.error;
	view->now_ns = from->now_ns();
	view->ending = wire::string(from->ending());
	view->ends_s = from->ends_s();
	view->mute = from->mute();
	return 0;
}

/* ---- two aggregators of a ToR ---- */

namespace
{

wire::offset<rackmesh::TorStanding>
put_tor_standing(wire_writer *writer, const struct wire_tor_standing &standing)
{
	auto tor = wire::text(writer, standing.tor);

	return rackmesh::CreateTorStanding(
	    writer->fbb, tor, standing.active, standing.delivers, standing.agents);
}

void
check_tor_standing(wire::checker *check, const rackmesh::TorStanding *standing)
{
	check->text(standing->tor());
}

wire::offset<rackmesh::TorRole>
put_role(wire_writer *writer, const struct wire_tor_role &role)
{
	return rackmesh::CreateTorRole(
	    writer->fbb, wire::text(writer, role.tor), role.primary);
}

void
check_role(wire::checker *check, const rackmesh::TorRole *role)
{
	check->text(role->tor());
}

} /* namespace */

int
wire_write_standing(struct wire_writer *writer, const struct wire_standing *standing,
    struct wire_bytes *out)
try {
	wire::begin(writer);
	auto tors = wire::tables(writer, standing->tors, standing->tor_count,
	    WIRE_MAX_TORS, put_tor_standing);
	auto roles = wire::tables(
	    writer, standing->roles, standing->role_count, WIRE_MAX_TORS, put_role);
	auto root =
	    rackmesh::CreateStanding(writer->fbb, standing->now_ns, tors, roles);
	return wire::finish(writer, root.Union(), WIRE_STANDING, out);
} catch (...) {
	return wire::out_of_memory(writer);
}

int
wire_open_standing(struct wire_standing *view, const uint8_t *data, size_t len)
{
	const rackmesh::Standing *from = nullptr;
	wire::checker check;
	int r;

	r = wire::open(data, len, WIRE_STANDING, 1 + 2 * WIRE_MAX_TORS, &from);
	if (r < 0)
		return r;
	check.each(from->tors(), WIRE_MAX_TORS, check_tor_standing);
	check.each(from->roles(), WIRE_MAX_TORS, check_role);
	if (check.error < 0)
		return check.error;
	view->now_ns = from->now_ns();
	view->tors = nullptr;
	view->tor_count = wire::count(from->tors());
	view->roles = nullptr;
	view->role_count = wire::count(from->roles());
	view->opaque = from;
	return 0;
}

void
wire_standing_tor(
    const struct wire_standing *view, size_t i, struct wire_tor_standing *out)
{
	auto from = static_cast<const rackmesh::Standing *>(view->opaque);
	auto tor = from->tors()->Get(static_cast<uint32_t>(i));

	out->tor = wire::string(tor->tor());
	out->active = tor->active();
	out->delivers = tor->delivers();
	out->agents = tor->agents();
}

void
wire_standing_role(
    const struct wire_standing *view, size_t i, struct wire_tor_role *out)
{
	auto from = static_cast<const rackmesh::Standing *>(view->opaque);
	auto role = from->roles()->Get(static_cast<uint32_t>(i));

	out->tor = wire::string(role->tor());
	out->primary = role->primary();
}

int
wire_write_brake(
    struct wire_writer *writer, const struct wire_brake *brake, struct wire_bytes *out)
try {
	wire::begin(writer);
	if (brake->rate_permille > 1000 || brake->version > INT64_MAX)
		wire::refuse(writer, -EINVAL);
	auto root =
	    rackmesh::CreateBrake(writer->fbb, brake->version, brake->rate_permille);
	return wire::finish(writer, root.Union(), WIRE_BRAKE, out);
} catch (...) {
	return wire::out_of_memory(writer);
}

int
wire_open_brake(struct wire_brake *view, const uint8_t *data, size_t len)
{
	const rackmesh::Brake *from = nullptr;
	int r;

	r = wire::open(data, len, WIRE_BRAKE, 1, &from);
	if (r < 0)
		return r;
	if (from->rate_permille() > 1000 || from->version() > INT64_MAX)
		return -EBADMSG;
	view->version = from->version();
	view->rate_permille = from->rate_permille();
	return 0;
}
