#include "schemas/wire/pinglist.h"

#include "schemas/wire/identity_internal.h"

#include "pinglist_generated.h"

namespace
{

/* Checks the flows, classes and sizes that the probes of a target use in turn: S is any
 * struct with these three lists. */
template <typename S>
wire::offset<rackmesh::Mix>
put_mix(wire_writer *writer, const S &from)
{
	auto flows = wire::numbers(writer, from.flows, from.flow_count, WIRE_MAX_FLOWS);
	auto dscps =
	    wire::numbers(writer, from.dscps, from.dscp_count, WIRE_MAX_CLASSES);
	auto sizes = wire::numbers(writer, from.sizes, from.size_count, WIRE_MAX_SIZES);

	return rackmesh::CreateMix(writer->fbb, flows, dscps, sizes);
}

void
check_mix(wire::checker *check, const rackmesh::Mix *mix)
{
	check->elements(mix->flows(), WIRE_MAX_FLOWS);
	check->elements(mix->dscps(), WIRE_MAX_CLASSES);
	check->elements(mix->sizes(), WIRE_MAX_SIZES);
}

template <typename S>
void
get_mix(const rackmesh::Mix *mix, S *out)
{
	out->flows = wire::borrow<uint16_t>(mix->flows());
	out->flow_count = wire::count(mix->flows());
	out->dscps = wire::borrow<uint8_t>(mix->dscps());
	out->dscp_count = wire::count(mix->dscps());
	out->sizes = wire::borrow<uint16_t>(mix->sizes());
	out->size_count = wire::count(mix->sizes());
}

/* The tables of a plan: the plan, its mesh and the mesh's mix; RNICs; entries and their
 * mixes; aliases. */
const size_t plan_tables =
    3 + (WIRE_MAX_MEMBERS + WIRE_MAX_REMOTES) * wire::tables_per_rnic +
    2 * WIRE_MAX_ENTRIES + WIRE_MAX_ALIASES;

wire::offset<rackmesh::PlanEntry>
put_entry(wire_writer *writer, const struct wire_plan_entry &entry)
{
	auto kind = static_cast<rackmesh::ProbeKind>(
	    wire::choice(writer, entry.kind, WIRE_TOR_MESH, WIRE_PROBE_KINDS - 1));
	auto mix = put_mix(writer, entry);
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
	check_mix(check, entry->mix());
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
	get_mix(from->mix(), out);
}

void
check_plan(wire::checker *check, const rackmesh::Plan *from)
{
	const size_t members = wire::count(from->members());
	const size_t remotes = wire::count(from->remotes());

	check->text(from->region());
	check->text(from->tor());
	check->text(from->plane());
	check->choice(from->mesh()->sl(), 0, WIRE_MAX_SL);
	check_mix(check, from->mesh()->mix());
	check->each(from->members(), WIRE_MAX_MEMBERS, wire::check_rnic);
	check->each(from->remotes(), WIRE_MAX_REMOTES, wire::check_rnic);
	check->each(from->entries(), WIRE_MAX_ENTRIES, check_entry);
	check->each(from->aliases(), WIRE_MAX_ALIASES, check_alias);
	if (check->error < 0)
		return;
	for (uint32_t i = 0; i < wire::count(from->entries()); i++) {
		auto entry = from->entries()->Get(i);

		if (entry->src() >= members || entry->dst() >= remotes)
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
	auto remotes = wire::tables(writer, plan->remotes, plan->remote_count,
	    WIRE_MAX_REMOTES, wire::put_rnic);
	auto entries = wire::tables(
	    writer, plan->entries, plan->entry_count, WIRE_MAX_ENTRIES, put_entry);
	for (size_t i = 0; writer->error == 0 && i < plan->entry_count; i++)
		if (plan->entries[i].src >= plan->member_count ||
		    plan->entries[i].dst >= plan->remote_count)
			wire::refuse(writer, -EINVAL);
	auto aliases = wire::tables(
	    writer, plan->aliases, plan->alias_count, WIRE_MAX_ALIASES, put_alias);

	auto mix = put_mix(writer, plan->mesh);
	auto sl = wire::bounded(writer, plan->mesh.sl, WIRE_MAX_SL);
	auto mesh =
	    rackmesh::CreateMesh(writer->fbb, plan->mesh.peers, plan->mesh.interval_us,
		plan->mesh.rotation_s, mix, static_cast<uint8_t>(sl));
	auto timeout_ms =
	    wire::bounded(writer, plan->probe_timeout_ms, WIRE_MAX_PROBE_TIMEOUT_MS);
	auto region = wire::text(writer, plan->region);
	auto tor = wire::text(writer, plan->tor);
	auto plane = wire::text(writer, plan->plane);
	auto root = rackmesh::CreatePlan(writer->fbb, region, tor, plane, plan->version,
	    plan->digest, mesh, members, remotes, entries, aliases, timeout_ms);
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
	check.choice(from->probe_timeout_ms(), 0, WIRE_MAX_PROBE_TIMEOUT_MS);
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
	view->plan.remotes = nullptr;
	view->plan.remote_count = wire::count(from->remotes());
	view->plan.entries = nullptr;
	view->plan.entry_count = wire::count(from->entries());
	view->plan.aliases = nullptr;
	view->plan.alias_count = wire::count(from->aliases());
	view->plan.probe_timeout_ms = from->probe_timeout_ms();
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
wire_plan_remote(const struct wire_plan_view *view, size_t i, struct wire_rnic *out)
{
	auto from = static_cast<const rackmesh::Plan *>(view->opaque);

	wire::get_rnic(from->remotes()->Get(static_cast<uint32_t>(i)), out);
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
	get_mix(entry->mix(), out);
}

void
wire_plan_alias(const struct wire_plan_view *view, size_t i, struct wire_alias *out)
{
	auto from = static_cast<const rackmesh::Plan *>(view->opaque);
	auto alias = from->aliases()->Get(static_cast<uint32_t>(i));

	out->switch_name = wire::string(alias->switch_name());
	wire::get_address(alias->address(), &out->address);
}

namespace
{

wire::offset<rackmesh::Target>
put_target(wire_writer *writer, const struct wire_target &target)
{
	auto kind = static_cast<rackmesh::ProbeKind>(
	    wire::choice(writer, target.kind, WIRE_TOR_MESH, WIRE_PROBE_KINDS - 1));
	auto mix = put_mix(writer, target);
	auto src = wire::put_id(target.src);
	auto dst = wire::put_id(target.dst);
	auto address = wire::put_address(writer, target.address);
	auto qpn = wire::bounded(writer, target.dst_qpn, WIRE_MAX_QPN);
	auto large_qpn = wire::bounded(writer, target.dst_large_qpn, WIRE_MAX_QPN);
	auto sl = wire::bounded(writer, target.sl, WIRE_MAX_SL);

	return rackmesh::CreateTarget(writer->fbb, &src, &dst, kind, &address, qpn,
	    target.interval_us, target.paired, mix, large_qpn, target.dst_lid,
	    static_cast<uint8_t>(sl));
}

void
check_target(wire::checker *check, const rackmesh::Target *target)
{
	check->choice(
	    static_cast<unsigned>(target->kind()), WIRE_TOR_MESH, WIRE_PROBE_KINDS - 1);
	wire::check_address(check, target->address());
	check->choice(target->dst_qpn(), 0, WIRE_MAX_QPN);
	check->choice(target->dst_large_qpn(), 0, WIRE_MAX_QPN);
	check->choice(target->sl(), 0, WIRE_MAX_SL);
	check_mix(check, target->mix());
}

struct roster {
	wire_writer *writer;
	const struct wire_peer *peers;
};

void
put_peer(size_t i, rackmesh::Peer *out, roster *from)
{
	const struct wire_peer &peer = from->peers[i];

	*out = rackmesh::Peer(
	    wire::put_id(peer.id), wire::put_address(from->writer, peer.address));
}

wire::offset<wire::vector<const rackmesh::Peer *>>
put_roster(wire_writer *writer, const struct wire_peer *peers, size_t count)
{
	roster from = { writer, peers };

	if (!wire::counted(writer, peers, count, WIRE_MAX_ROSTER))
		return 0;
	return writer->fbb.CreateVectorOfStructs<rackmesh::Peer>(
	    count, put_peer, &from);
}

} /* namespace */

int
wire_write_pinglist(struct wire_writer *writer, const struct wire_pinglist *pinglist,
    struct wire_bytes *out)
try {
	wire::begin(writer);
	auto targets = wire::tables(writer, pinglist->targets, pinglist->target_count,
	    WIRE_MAX_TARGETS, put_target);
	auto roster = put_roster(writer, pinglist->roster, pinglist->roster_count);
	auto tor = wire::text(writer, pinglist->tor);
	auto timeout_ms = wire::bounded(
	    writer, pinglist->probe_timeout_ms, WIRE_MAX_PROBE_TIMEOUT_MS);
	auto root = rackmesh::CreatePinglist(writer->fbb, tor, pinglist->version,
	    pinglist->rotation, targets, roster, timeout_ms);
	return wire::finish(writer, root.Union(), WIRE_PINGLIST, out);
} catch (...) {
	return wire::out_of_memory(writer);
}

namespace
{

/* data must have been verified before. */
void
view_pinglist(struct wire_pinglist_view *view, const uint8_t *data, size_t len)
{
	auto from = flatbuffers::GetSizePrefixedRoot<rackmesh::Pinglist>(data);

	view->pinglist.tor = wire::string(from->tor());
	view->pinglist.version = from->version();
	view->pinglist.rotation = from->rotation();
	view->pinglist.targets = nullptr;
	view->pinglist.target_count = wire::count(from->targets());
	view->pinglist.roster = nullptr;
	view->pinglist.roster_count = wire::count(from->roster());
	view->pinglist.probe_timeout_ms = from->probe_timeout_ms();
	view->bytes.data = data;
	view->bytes.len = len;
	view->opaque = from;
}

} /* namespace */

int
wire_open_pinglist(struct wire_pinglist_view *view, const uint8_t *data, size_t len)
{
	const rackmesh::Pinglist *from = nullptr;
	wire::checker check;
	int r;

	r = wire::open(data, len, WIRE_PINGLIST, 1 + 2 * WIRE_MAX_TARGETS, &from);
	if (r < 0)
		return r;
	check.text(from->tor());
	check.choice(from->probe_timeout_ms(), 0, WIRE_MAX_PROBE_TIMEOUT_MS);
	check.each(from->targets(), WIRE_MAX_TARGETS, check_target);
	check.elements(from->roster(), WIRE_MAX_ROSTER);
	for (uint32_t i = 0; check.error == 0 && i < wire::count(from->roster()); i++)
		wire::check_address(&check, &from->roster()->Get(i)->address());
	if (check.error < 0)
		return check.error;
	view_pinglist(view, data, len);
	return 0;
}

void
wire_copy_pinglist(const struct wire_pinglist_view *view, uint8_t *data,
    struct wire_pinglist_view *ret)
{
	const struct wire_bytes bytes = view->bytes;

	memcpy(data, bytes.data, bytes.len);
	view_pinglist(ret, data, bytes.len);
}

void
wire_pinglist_target(
    const struct wire_pinglist_view *view, size_t i, struct wire_target *out)
{
	auto from = static_cast<const rackmesh::Pinglist *>(view->opaque);
	auto target = from->targets()->Get(static_cast<uint32_t>(i));

	wire::get_id(target->src(), &out->src);
	wire::get_id(target->dst(), &out->dst);
	out->kind = static_cast<enum wire_probe_kind>(target->kind());
	wire::get_address(target->address(), &out->address);
	out->dst_qpn = target->dst_qpn();
	out->dst_large_qpn = target->dst_large_qpn();
	out->dst_lid = target->dst_lid();
	out->sl = target->sl();
	out->interval_us = target->interval_us();
	out->paired = target->paired();
	get_mix(target->mix(), out);
}

void
wire_pinglist_peer(
    const struct wire_pinglist_view *view, size_t i, struct wire_peer *out)
{
	auto from = static_cast<const rackmesh::Pinglist *>(view->opaque);
	auto peer = from->roster()->Get(static_cast<uint32_t>(i));

	wire::get_id(&peer->id(), &out->id);
	wire::get_address(&peer->address(), &out->address);
}
