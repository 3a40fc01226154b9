#include "schemas/wire_path_row.h"

wire::offset<rackmesh::PathRow>
wire::put_path_row(wire_writer *writer, const struct wire_path_row &row)
{
	auto dst_tor = text(writer, row.dst_tor);
	auto path = text(writer, row.path);
	auto samples = text(writer, row.samples);

	return rackmesh::CreatePathRow(writer->fbb, dst_tor, path, row.dscp, row.sent,
	    row.lost_forward, row.lost_reverse, row.lost_unknown, row.flows,
	    row.flows_dead, samples, row.flows_partial, row.flows_silent);
}

void
wire::check_path_row(checker *check, const rackmesh::PathRow *row)
{
	check->text(row->dst_tor());
	check->text(row->path());
	check->text(row->samples());
}

wire::offset<rackmesh::RackState>
wire::put_rack_state(wire_writer *writer, const struct wire_summary &summary)
{
	const struct wire_rack_state &state = summary.state;

	if (!summary.has_state)
		return 0;
	return rackmesh::CreateRackState(writer->fbb, state.rnics, state.rnics_good,
	    state.rnics_bad, state.hosts, state.hosts_ok, state.incidents_open,
	    state.plan_version, state.brake_permille, state.hosts_paused,
	    state.hosts_slowed);
}

void
wire::get_rack_state(const rackmesh::RackState *from, struct wire_summary *out)
{
	out->has_state = from != nullptr;
	out->state = {};
	if (from == nullptr)
		return;
	out->state.rnics = from->rnics();
	out->state.rnics_good = from->rnics_good();
	out->state.rnics_bad = from->rnics_bad();
	out->state.hosts = from->hosts();
	out->state.hosts_ok = from->hosts_ok();
	out->state.incidents_open = from->incidents_open();
	out->state.plan_version = from->plan_version();
	out->state.brake_permille = from->brake_permille();
	out->state.hosts_paused = from->hosts_paused();
	out->state.hosts_slowed = from->hosts_slowed();
}

void
wire_summary_path(
    const struct wire_summary_view *view, size_t i, struct wire_path_row *out)
{
	auto from = static_cast<const rackmesh::Summary *>(view->opaque);
	auto row = from->paths()->Get(static_cast<uint32_t>(i));

	out->dst_tor = wire::string(row->dst_tor());
	out->path = wire::string(row->path());
	out->dscp = row->dscp();
	out->sent = row->sent();
	out->lost_forward = row->lost_forward();
	out->lost_reverse = row->lost_reverse();
	out->lost_unknown = row->lost_unknown();
	out->flows = row->flows();
	out->flows_dead = row->flows_dead();
	out->flows_partial = row->flows_partial();
	out->flows_silent = row->flows_silent();
	out->samples = wire::string(row->samples());
}
