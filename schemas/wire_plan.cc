#include "schemas/wire_identity.h"
#include "schemas/wire_mix.h"

namespace
{

/* The plan, its mesh and the mesh's mix; RNICs; entries and their mixes; aliases. */
const size_t plan_tables =
    3 + (WIRE_MAX_MEMBERS + WIRE_MAX_FOREIGNERS) * wire::tables_per_rnic +
    2 * WIRE_MAX_ENTRIES + WIRE_MAX_ALIASES;

wire::offset<rackmesh::PlanEntry>
put_entry(wire_writer *writer, const struct wire_plan_entry &entry)
{
	auto kind = static_cast<rackmesh::ProbeKind>(
	    wire::choice(writer, entry.kind, WIRE_TOR_MESH, WIRE_PROBE_KINDS - 1));
	auto mix = wire::put_mix(writer, entry);
	auto sl = wire::bounded(writer, entry.sl, WIRE_MAX_SL);

	return rackmesh::CreatePlanEntry(writer->fbb, entry.src, entry.dst, kind,
	    entry.interval_us, entry.paired, mix, static_cast<uint8_t>(sl));
}

void
check_entry(wire::checker *check, const rackmesh::PlanEntry *entry)
{
	check->choice(
	    static_cast<unsigned>(entry->kind()), WIRE_TOR_MESH, WIRE_PROBE_KINDS - 1);
	check->choice(entry->sl(), 0, WIRE_MAX_SL);
	wire::check_mix(check, entry->mix());
}

wire::offset<rackmesh::Alias>
put_alias(wire_writer *writer, const struct wire_alias &alias)
{
	auto switch_name = wire::text(writer, alias.switch_name);
	auto address = wire::put_address(writer, alias.address);

	return rackmesh::CreateAlias(writer->fbb, switch_name, &address);
}

void
check_alias(wire::checker *check, const rackmesh::Alias *alias)
{
	check->text(alias->switch_name());
	wire::check_address(check, alias->address());
}

void
get_mesh(const rackmesh::Mesh *from, struct wire_mesh *out)
{
	out->peers = from->peers();
	out->interval_us = from->interval_us();
	out->rotation_s = from->rotation_s();
	out->sl = from->sl();
	wire::get_mix(from->mix(), out);
}

void
check_plan(wire::checker *check, const rackmesh::Plan *from)
{
	const size_t members = wire::count(from->members());
	const size_t foreigners = wire::count(from->foreigners());

	check->text(from->region());
	check->text(from->tor());
	check->text(from->plane());
	check->choice(from->mesh()->sl(), 0, WIRE_MAX_SL);
	wire::check_mix(check, from->mesh()->mix());
	check->each(from->members(), WIRE_MAX_MEMBERS, wire::check_rnic);
	check->each(from->foreigners(), WIRE_MAX_FOREIGNERS, wire::check_rnic);
	check->each(from->entries(), WIRE_MAX_ENTRIES, check_entry);
	check->each(from->aliases(), WIRE_MAX_ALIASES, check_alias);
	if (check->error < 0)
		return;
	for (uint32_t i = 0; i < wire::count(from->entries()); i++) {
		auto entry = from->entries()->Get(i);

		if (entry->src() >= members || entry->dst() >= foreigners)
			check->refuse(-EBADMSG);
	}
}

} /* namespace */

int
wire_write_plan(
    struct wire_writer *writer, const struct wire_plan *plan, struct wire_bytes *out)
try {
	wire::begin(writer);
	auto members = wire::tables(writer, plan->members, plan->member_count,
	    WIRE_MAX_MEMBERS, wire::put_rnic);
	auto foreigners = wire::tables(writer, plan->foreigners, plan->foreigner_count,
	    WIRE_MAX_FOREIGNERS, wire::put_rnic);
	auto entries = wire::tables(
	    writer, plan->entries, plan->entry_count, WIRE_MAX_ENTRIES, put_entry);
	for (size_t i = 0; writer->error == 0 && i < plan->entry_count; i++)
		if (plan->entries[i].src >= plan->member_count ||
		    plan->entries[i].dst >= plan->foreigner_count)
			wire::refuse(writer, -EINVAL);
	auto aliases = wire::tables(
	    writer, plan->aliases, plan->alias_count, WIRE_MAX_ALIASES, put_alias);

	auto mix = wire::put_mix(writer, plan->mesh);
	auto sl = wire::bounded(writer, plan->mesh.sl, WIRE_MAX_SL);
	auto mesh =
	    rackmesh::CreateMesh(writer->fbb, plan->mesh.peers, plan->mesh.interval_us,
		plan->mesh.rotation_s, mix, static_cast<uint8_t>(sl));
	auto region = wire::text(writer, plan->region);
	auto tor = wire::text(writer, plan->tor);
	auto plane = wire::text(writer, plan->plane);
	auto root = rackmesh::CreatePlan(writer->fbb, region, tor, plane, plan->version,
	    plan->digest, mesh, members, foreigners, entries, aliases);
	return wire::finish(writer, root.Union(), WIRE_PLAN, out);
} catch (...) {
	return wire::out_of_memory(writer);
}

int
wire_open_plan(struct wire_plan_view *view, const uint8_t *data, size_t len)
{
	const rackmesh::Plan *from = nullptr;
	wire::checker check;
	int r;

	r = wire::open(data, len, WIRE_PLAN, plan_tables, &from);
	if (r < 0)
		return r;
	check_plan(&check, from);
	if (check.error < 0)
		return check.error;

	view->plan.region = wire::string(from->region());
	view->plan.tor = wire::string(from->tor());
	view->plan.plane = wire::string(from->plane());
	view->plan.version = from->version();
	view->plan.digest = from->digest();
	get_mesh(from->mesh(), &view->plan.mesh);
	view->plan.members = nullptr;
	view->plan.member_count = wire::count(from->members());
	view->plan.foreigners = nullptr;
	view->plan.foreigner_count = wire::count(from->foreigners());
	view->plan.entries = nullptr;
	view->plan.entry_count = wire::count(from->entries());
	view->plan.aliases = nullptr;
	view->plan.alias_count = wire::count(from->aliases());
	view->opaque = from;
	return 0;
}

void
wire_plan_member(const struct wire_plan_view *view, size_t i, struct wire_rnic *out)
{
	auto from = static_cast<const rackmesh::Plan *>(view->opaque);

	wire::get_rnic(from->members()->Get(static_cast<uint32_t>(i)), out);
}

void
wire_plan_foreigner(const struct wire_plan_view *view, size_t i, struct wire_rnic *out)
{
	auto from = static_cast<const rackmesh::Plan *>(view->opaque);

	wire::get_rnic(from->foreigners()->Get(static_cast<uint32_t>(i)), out);
}

void
wire_plan_entry(
    const struct wire_plan_view *view, size_t i, struct wire_plan_entry *out)
{
	auto from = static_cast<const rackmesh::Plan *>(view->opaque);
	auto entry = from->entries()->Get(static_cast<uint32_t>(i));

	out->src = entry->src();
	out->dst = entry->dst();
	out->kind = static_cast<enum wire_probe_kind>(entry->kind());
	out->interval_us = entry->interval_us();
	out->paired = entry->paired();
	out->sl = entry->sl();
	wire::get_mix(entry->mix(), out);
}

void
wire_plan_alias(const struct wire_plan_view *view, size_t i, struct wire_alias *out)
{
	auto from = static_cast<const rackmesh::Plan *>(view->opaque);
	auto alias = from->aliases()->Get(static_cast<uint32_t>(i));

	out->switch_name = wire::string(alias->switch_name());
	wire::get_address(alias->address(), &out->address);
}
