#include "schemas/wire_identity.h"
#include "schemas/wire_mix.h"

namespace
{

wire::offset<rackmesh::Target>
put_target(wire_writer *writer, const struct wire_target &target)
{
	auto kind = static_cast<rackmesh::ProbeKind>(
	    wire::choice(writer, target.kind, WIRE_TOR_MESH, WIRE_PROBE_KINDS - 1));
	auto mix = wire::put_mix(writer, target);
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
	wire::check_mix(check, target->mix());
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
	auto root = rackmesh::CreatePinglist(
	    writer->fbb, tor, pinglist->version, pinglist->rotation, targets, roster);
	return wire::finish(writer, root.Union(), WIRE_PINGLIST, out);
} catch (...) {
	return wire::out_of_memory(writer);
}

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
	check.each(from->targets(), WIRE_MAX_TARGETS, check_target);
	check.elements(from->roster(), WIRE_MAX_ROSTER);
	for (uint32_t i = 0; check.error == 0 && i < wire::count(from->roster()); i++)
		wire::check_address(&check, &from->roster()->Get(i)->address());
	if (check.error < 0)
		return check.error;

	view->pinglist.tor = wire::string(from->tor());
	view->pinglist.version = from->version();
	view->pinglist.rotation = from->rotation();
	view->pinglist.targets = nullptr;
	view->pinglist.target_count = wire::count(from->targets());
	view->pinglist.roster = nullptr;
	view->pinglist.roster_count = wire::count(from->roster());
	view->opaque = from;
	return 0;
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
	wire::get_mix(target->mix(), out);
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
