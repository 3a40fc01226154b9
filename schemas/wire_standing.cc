/* two aggregators of a ToR */
#include "schemas/wire_message.h"

#include "agent_generated.h"

namespace
{

wire::offset<rackmesh::TorStanding>
put_tor(wire_writer *writer, const struct wire_tor_standing &standing)
{
	auto tor = wire::text(writer, standing.tor);

	return rackmesh::CreateTorStanding(
	    writer->fbb, tor, standing.speaks, standing.delivers, standing.agents);
}

void
check_tor(wire::checker *check, const rackmesh::TorStanding *standing)
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
	auto tors = wire::tables(
	    writer, standing->tors, standing->tor_count, WIRE_MAX_TORS, put_tor);
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
	check.each(from->tors(), WIRE_MAX_TORS, check_tor);
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
	out->speaks = tor->speaks();
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
