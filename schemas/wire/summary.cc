#include "schemas/wire/summary.h"

#include "schemas/wire/identity_internal.h"
#include "schemas/wire/message_internal.h"

#include <algorithm>

#include "asks_generated.h"
#include "incident_generated.h"
#include "summary_generated.h"

namespace
{

/* The number of counts in the first version of the message: no sender has fewer. Later
 * versions may have more. */
const size_t outcomes_min = 8;
const size_t outcomes_max = 64;
static_assert(WIRE_OUTCOMES >= outcomes_min && WIRE_OUTCOMES <= outcomes_max,
    "outcomes are only ever added");

/* The tables of a summary: the summary, its head and its state; rows; RNICs; paths;
 * services; ports; uses; paths inside the rack. */
const size_t summary_tables = 3 + 2 * WIRE_MAX_ROWS + WIRE_MAX_MEMBERS +
			      WIRE_MAX_SERVICE_ROWS + WIRE_MAX_PORT_ROWS +
			      WIRE_MAX_USE_ROWS + WIRE_MAX_INSIDE_ROWS;

using numbers64 = wire::vector<uint64_t>;
using sketch = wire::vector<uint8_t>;

void
check_outcomes(wire::checker *check, const numbers64 *outcomes)
{
	check->elements(outcomes, outcomes_max);
	if (wire::count(outcomes) < outcomes_min)
		check->refuse(-EBADMSG);
}

/* Values that only a newer sender knows are left out. */
void
get_outcomes(const numbers64 *from, uint64_t out[WIRE_OUTCOMES])
{
	const size_t known = std::min<size_t>(from->size(), WIRE_OUTCOMES);

	std::fill_n(out, WIRE_OUTCOMES, 0);
	std::copy_n(from->begin(), known, out);
}

struct wire_bytes
get_sketch(const sketch *from)
{
	return { wire::borrow<uint8_t>(from), wire::count(from) };
}

wire::offset<sketch>
put_sketch(wire_writer *writer, const struct wire_bytes &bytes)
{
	return wire::numbers(writer, bytes.data, bytes.len, WIRE_MAX_SKETCH);
}

wire::offset<rackmesh::Row>
put_row(wire_writer *writer, const struct wire_row &row)
{
	auto src_tor = wire::text(writer, row.src_tor);
	auto dst_tor = wire::text(writer, row.dst_tor);
	auto flow_set = wire::text(writer, row.flow_set);
	auto outcomes = writer->fbb.CreateVector(row.outcomes, WIRE_OUTCOMES);
	auto rtt = put_sketch(writer, row.rtt);
	auto prober_delay = put_sketch(writer, row.prober_delay);
	auto responder_delay = put_sketch(writer, row.responder_delay);

	return rackmesh::CreateRow(writer->fbb, src_tor, dst_tor, row.dscp, flow_set,
	    row.bad, row.sent, outcomes, row.lost_forward, row.lost_reverse,
	    row.lost_unknown, rtt, prober_delay, responder_delay, row.arrived,
	    row.rewritten, row.congested, row.arrived_dscp, row.hops_known, row.hops,
	    row.hops_least, row.hops_most);
}

void
check_row(wire::checker *check, const rackmesh::Row *row)
{
	check->text(row->src_tor());
	check->text(row->dst_tor());
	check->text(row->flow_set());
	check_outcomes(check, row->outcomes());
	check->elements(row->rtt(), WIRE_MAX_SKETCH);
	check->elements(row->prober_delay(), WIRE_MAX_SKETCH);
	check->elements(row->responder_delay(), WIRE_MAX_SKETCH);
}

rackmesh::Quantiles
put_quantiles(const uint32_t from[WIRE_QUANTILES])
{
	return rackmesh::Quantiles(
	    from[WIRE_P50], from[WIRE_P95], from[WIRE_P99], from[WIRE_MAX]);
}

void
get_quantiles(const rackmesh::Quantiles *from, uint32_t out[WIRE_QUANTILES])
{
	out[WIRE_P50] = from->p50_ns();
	out[WIRE_P95] = from->p95_ns();
	out[WIRE_P99] = from->p99_ns();
	out[WIRE_MAX] = from->max_ns();
}

wire::offset<rackmesh::RnicRow>
put_rnic_row(wire_writer *writer, const struct wire_rnic_row &row)
{
	auto host = wire::text(writer, row.host);
	auto device = wire::text(writer, row.device);
	auto outcomes = writer->fbb.CreateVector(row.outcomes, WIRE_OUTCOMES);
	auto id = wire::put_id(row.id);
	auto rtt = put_quantiles(row.rtt_ns);
	auto prober_delay = put_quantiles(row.prober_delay_ns);
	auto responder_delay = put_quantiles(row.responder_delay_ns);

	return rackmesh::CreateRnicRow(writer->fbb, &id, host, device, row.bad,
	    row.sent, outcomes, &rtt, &prober_delay, &responder_delay);
}

void
check_rnic_row(wire::checker *check, const rackmesh::RnicRow *row)
{
	check->text(row->host());
	check->text(row->device());
	check_outcomes(check, row->outcomes());
}

/* The first version had neither paths nor state: absent means none. */
wire::offset<rackmesh::PathRow>
put_path_row(wire_writer *writer, const struct wire_path_row &row)
{
	auto dst_tor = wire::text(writer, row.dst_tor);
	auto path = wire::text(writer, row.path);
	auto samples = wire::text(writer, row.samples);

	return rackmesh::CreatePathRow(writer->fbb, dst_tor, path, row.dscp, row.sent,
	    row.lost_forward, row.lost_reverse, row.lost_unknown, row.flows,
	    row.flows_dead, samples, row.flows_partial, row.flows_silent, row.timed,
	    row.slow, row.overdue, row.slow_ns, row.large_sent, row.large_lost,
	    row.large_bytes, row.arrived, row.rewritten, row.congested, row.not_ect);
}

void
check_path_row(wire::checker *check, const rackmesh::PathRow *row)
{
	check->text(row->dst_tor());
	check->text(row->path());
	check->text(row->samples());
}

wire::offset<rackmesh::ServiceRow>
put_service_row(wire_writer *writer, const struct wire_service_row &row)
{
	auto service = wire::text(writer, row.service);
	auto outcomes = writer->fbb.CreateVector(row.outcomes, WIRE_OUTCOMES);
	auto rtt = put_sketch(writer, row.rtt);

	return rackmesh::CreateServiceRow(
	    writer->fbb, service, row.dscp, row.sent, outcomes, rtt);
}

void
check_service_row(wire::checker *check, const rackmesh::ServiceRow *row)
{
	check->text(row->service());
	check_outcomes(check, row->outcomes());
	check->elements(row->rtt(), WIRE_MAX_SKETCH);
}

wire::offset<rackmesh::PortRow>
put_port_row(wire_writer *writer, const struct wire_port_row &row)
{
	auto name = wire::text(writer, row.switch_name);
	auto port = wire::text(writer, row.port);
	auto neighbor = wire::text(writer, row.neighbor);
	auto sentence = wire::text(writer, row.sentence);

	return rackmesh::CreatePortRow(writer->fbb, name, port, neighbor, sentence);
}

void
check_port_row(wire::checker *check, const rackmesh::PortRow *row)
{
	check->text(row->switch_name());
	check->text(row->port());
	check->text(row->neighbor());
	check->text(row->sentence());
}

wire::offset<rackmesh::UseRow>
put_use_row(wire_writer *writer, const struct wire_use_row &row)
{
	auto service = wire::text(writer, row.service);
	auto dst_tor = wire::text(writer, row.dst_tor);
	auto path = wire::text(writer, row.path);

	return rackmesh::CreateUseRow(
	    writer->fbb, service, dst_tor, path, row.flows, row.sent, row.lost);
}

void
check_use_row(wire::checker *check, const rackmesh::UseRow *row)
{
	check->text(row->service());
	check->text(row->dst_tor());
	check->text(row->path());
}

wire::offset<rackmesh::RackState>
put_rack_state(wire_writer *writer, const struct wire_summary &summary)
{
	const struct wire_rack_state &state = summary.state;

	if (!summary.has_state)
		return 0;
	return rackmesh::CreateRackState(writer->fbb, state.rnics, state.rnics_good,
	    state.rnics_bad, state.hosts, state.hosts_ok, state.incidents_open,
	    state.plan_version, state.brake_permille, state.hosts_paused,
	    state.hosts_slowed, state.rnics_counting, state.rdma_sent,
	    state.rdma_received, state.cnps_sent, state.cnps_received,
	    state.rnics_packets_only, state.packets_only_sent);
}

void
get_rack_state(const rackmesh::RackState *from, struct wire_summary *out)
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
	out->state.rnics_counting = from->rnics_counting();
	out->state.rdma_sent = from->rdma_sent();
	out->state.rdma_received = from->rdma_received();
	out->state.cnps_sent = from->cnps_sent();
	out->state.cnps_received = from->cnps_received();
	out->state.rnics_packets_only = from->rnics_packets_only();
	out->state.packets_only_sent = from->packets_only_sent();
}

void
get_summary(const rackmesh::Summary *from, struct wire_summary *out)
{
	wire::get_lane(from->head(), &out->head);
	out->tor = wire::string(from->tor());
	out->start_wall_ns = from->start_wall_ns();
	out->end_wall_ns = from->end_wall_ns();
	out->partial = from->partial();
	out->taken = from->taken();
	out->windowed = from->windowed();
	out->late = from->late();
	out->invalid = from->invalid();
	out->duplicate = from->duplicate();
	out->agent_dropped = from->agent_dropped();
	out->rows = nullptr;
	out->row_count = wire::count(from->rows());
	out->rnics = nullptr;
	out->rnic_count = wire::count(from->rnics());
	out->paths_start_wall_ns = from->paths_start_wall_ns();
	out->paths = nullptr;
	out->path_count = wire::count(from->paths());
	out->inside = nullptr;
	out->inside_count = wire::count(from->inside());
	out->services_start_wall_ns = from->services_start_wall_ns();
	out->services = nullptr;
	out->service_count = wire::count(from->services());
	out->ports = nullptr;
	out->port_count = wire::count(from->ports());
	/* A value that only a newer release defines counts as incomplete. */
	out->uses_known = from->uses_known() <= WIRE_USES_ALL
			      ? static_cast<enum wire_uses_known>(from->uses_known())
			      : WIRE_USES_SOME;
	out->uses = nullptr;
	out->use_count = wire::count(from->uses());
	out->end_ns = from->end_ns();
	get_rack_state(from->state(), out);
	out->uncounted = wire::string(from->uncounted());
}

} /* namespace */

int
wire_write_summary(struct wire_writer *writer, const struct wire_summary *summary,
    struct wire_bytes *out)
try {
	wire::begin(writer);
	auto rows = wire::tables(
	    writer, summary->rows, summary->row_count, WIRE_MAX_ROWS, put_row);
	auto rnics = wire::tables(writer, summary->rnics, summary->rnic_count,
	    WIRE_MAX_MEMBERS, put_rnic_row);
	auto paths = wire::tables(
	    writer, summary->paths, summary->path_count, WIRE_MAX_ROWS, put_path_row);
	auto services = wire::tables(writer, summary->services, summary->service_count,
	    WIRE_MAX_SERVICE_ROWS, put_service_row);
	auto ports = wire::tables(writer, summary->ports, summary->port_count,
	    WIRE_MAX_PORT_ROWS, put_port_row);
	auto uses = wire::tables(
	    writer, summary->uses, summary->use_count, WIRE_MAX_USE_ROWS, put_use_row);
	auto inside = wire::tables(writer, summary->inside, summary->inside_count,
	    WIRE_MAX_INSIDE_ROWS, put_path_row);
	auto state = put_rack_state(writer, *summary);
	auto head = wire::put_lane(writer, summary->head);
	auto tor = wire::text(writer, summary->tor);
	auto uncounted = wire::text(writer, summary->uncounted);
	auto root = rackmesh::CreateSummary(writer->fbb, head, tor,
	    summary->start_wall_ns, summary->end_wall_ns, summary->partial,
	    summary->taken, summary->windowed, summary->late, summary->invalid,
	    summary->duplicate, summary->agent_dropped, rows, rnics,
	    summary->paths_start_wall_ns, paths, state, summary->services_start_wall_ns,
	    services, summary->end_ns, ports, uses,
	    static_cast<uint8_t>(summary->uses_known), uncounted, inside);
	return wire::finish(writer, root.Union(), WIRE_SUMMARY, out);
} catch (...) {
	return wire::out_of_memory(writer);
}

int
wire_open_summary(struct wire_summary_view *view, const uint8_t *data, size_t len)
{
	const rackmesh::Summary *from = nullptr;
	wire::checker check;
	int r;

	r = wire::open(data, len, WIRE_SUMMARY, summary_tables, &from);
	if (r < 0)
		return r;
	wire::check_lane(&check, from->head());
	check.text(from->tor());
	check.text(from->uncounted());
	check.each(from->rows(), WIRE_MAX_ROWS, check_row);
	check.each(from->rnics(), WIRE_MAX_MEMBERS, check_rnic_row);
	check.each(from->paths(), WIRE_MAX_ROWS, check_path_row);
	check.each(from->services(), WIRE_MAX_SERVICE_ROWS, check_service_row);
	check.each(from->ports(), WIRE_MAX_PORT_ROWS, check_port_row);
	check.each(from->uses(), WIRE_MAX_USE_ROWS, check_use_row);
	check.each(from->inside(), WIRE_MAX_INSIDE_ROWS, check_path_row);
	if (check.error < 0)
		return check.error;

	get_summary(from, &view->summary);
	view->bytes.data = data;
	view->bytes.len = len;
	view->opaque = from;
	return 0;
}

void
wire_summary_row(const struct wire_summary_view *view, size_t i, struct wire_row *out)
{
	auto from = static_cast<const rackmesh::Summary *>(view->opaque);
	auto row = from->rows()->Get(static_cast<uint32_t>(i));

	out->src_tor = wire::string(row->src_tor());
	out->dst_tor = wire::string(row->dst_tor());
	out->dscp = row->dscp();
	out->flow_set = wire::string(row->flow_set());
	out->bad = row->bad();
	out->sent = row->sent();
	get_outcomes(row->outcomes(), out->outcomes);
	out->lost_forward = row->lost_forward();
	out->lost_reverse = row->lost_reverse();
	out->lost_unknown = row->lost_unknown();
	out->rtt = get_sketch(row->rtt());
	out->prober_delay = get_sketch(row->prober_delay());
	out->responder_delay = get_sketch(row->responder_delay());
	out->arrived = row->arrived();
	out->rewritten = row->rewritten();
	out->congested = row->congested();
	out->arrived_dscp = row->arrived_dscp();
	out->hops_known = row->hops_known();
	out->hops = row->hops();
	out->hops_least = row->hops_least();
	out->hops_most = row->hops_most();
}

void
wire_summary_rnic(
    const struct wire_summary_view *view, size_t i, struct wire_rnic_row *out)
{
	auto from = static_cast<const rackmesh::Summary *>(view->opaque);
	auto row = from->rnics()->Get(static_cast<uint32_t>(i));

	wire::get_id(row->id(), &out->id);
	out->host = wire::string(row->host());
	out->device = wire::string(row->device());
	out->bad = row->bad();
	out->sent = row->sent();
	get_outcomes(row->outcomes(), out->outcomes);
	get_quantiles(row->rtt(), out->rtt_ns);
	get_quantiles(row->prober_delay(), out->prober_delay_ns);
	get_quantiles(row->responder_delay(), out->responder_delay_ns);
}

namespace
{

void
get_path_row(const rackmesh::PathRow *row, struct wire_path_row *out)
{
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
	out->timed = row->timed();
	out->slow = row->slow();
	out->overdue = row->overdue();
	out->slow_ns = row->slow_ns();
	out->large_sent = row->large_sent();
	out->large_lost = row->large_lost();
	out->large_bytes = row->large_bytes();
	out->arrived = row->arrived();
	out->rewritten = row->rewritten();
	out->congested = row->congested();
	out->not_ect = row->not_ect();
	out->samples = wire::string(row->samples());
}

} /* namespace */

void
wire_summary_path(
    const struct wire_summary_view *view, size_t i, struct wire_path_row *out)
{
	auto from = static_cast<const rackmesh::Summary *>(view->opaque);

	get_path_row(from->paths()->Get(static_cast<uint32_t>(i)), out);
}

void
wire_summary_inside(
    const struct wire_summary_view *view, size_t i, struct wire_path_row *out)
{
	auto from = static_cast<const rackmesh::Summary *>(view->opaque);

	get_path_row(from->inside()->Get(static_cast<uint32_t>(i)), out);
}

void
wire_summary_service(
    const struct wire_summary_view *view, size_t i, struct wire_service_row *out)
{
	auto from = static_cast<const rackmesh::Summary *>(view->opaque);
	auto row = from->services()->Get(static_cast<uint32_t>(i));

	out->service = wire::string(row->service());
	out->dscp = row->dscp();
	out->sent = row->sent();
	get_outcomes(row->outcomes(), out->outcomes);
	out->rtt = get_sketch(row->rtt());
}

void
wire_summary_port(
    const struct wire_summary_view *view, size_t i, struct wire_port_row *out)
{
	auto from = static_cast<const rackmesh::Summary *>(view->opaque);
	auto row = from->ports()->Get(static_cast<uint32_t>(i));

	out->switch_name = wire::string(row->switch_name());
	out->port = wire::string(row->port());
	out->neighbor = wire::string(row->neighbor());
	out->sentence = wire::string(row->sentence());
}

void
wire_summary_use(
    const struct wire_summary_view *view, size_t i, struct wire_use_row *out)
{
	auto from = static_cast<const rackmesh::Summary *>(view->opaque);
	auto row = from->uses()->Get(static_cast<uint32_t>(i));

	out->service = wire::string(row->service());
	out->dst_tor = wire::string(row->dst_tor());
	out->path = wire::string(row->path());
	out->flows = row->flows();
	out->sent = row->sent();
	out->lost = row->lost();
}

namespace
{

void
check_incident(wire::checker *check, const rackmesh::Incident *from)
{
	wire::check_lane(check, from->head());
	check->choice(static_cast<unsigned>(from->state()), WIRE_OPENED, WIRE_RESOLVED);
	check->text(from->tor());
	check->text(from->part_type());
	check->text(from->part());
	check->text(from->place());
	check->text(from->kind());
	check->text(from->sentence());
	check->text(from->evidence_json());
	check->text(from->severity());
}

} /* namespace */

int
wire_write_incident(struct wire_writer *writer, const struct wire_incident *incident,
    struct wire_bytes *out)
try {
	wire::begin(writer);
	auto state = static_cast<rackmesh::IncidentState>(
	    wire::choice(writer, incident->state, WIRE_OPENED, WIRE_RESOLVED));
	auto head = wire::put_lane(writer, incident->head);
	auto tor = wire::text(writer, incident->tor);
	auto part_type = wire::text(writer, incident->part_type);
	auto part = wire::text(writer, incident->part);
	auto place = wire::text(writer, incident->place);
	auto kind = wire::text(writer, incident->kind);
	auto sentence = wire::text(writer, incident->sentence);
	auto evidence_json = wire::text(writer, incident->evidence_json);
	auto severity = wire::text(writer, incident->severity);
	auto root = rackmesh::CreateIncident(writer->fbb, head, incident->incident_id,
	    state, tor, part_type, part, place, kind, incident->confidence,
	    incident->began_wall_ns, incident->opened_wall_ns,
	    incident->changed_wall_ns, sentence, evidence_json, severity,
	    incident->good_since_wall_ns, incident->returned_wall_ns);
	return wire::finish(writer, root.Union(), WIRE_INCIDENT, out);
} catch (...) {
	return wire::out_of_memory(writer);
}

int
wire_open_incident(struct wire_incident *view, const uint8_t *data, size_t len)
{
	const rackmesh::Incident *from = nullptr;
	wire::checker check;
	int r;

	r = wire::open(data, len, WIRE_INCIDENT, 2, &from);
	if (r < 0)
		return r;
	check_incident(&check, from);
	if (check.error < 0)
		return check.error;

	wire::get_lane(from->head(), &view->head);
	view->incident_id = from->incident_id();
	view->state = static_cast<enum wire_incident_state>(from->state());
	view->tor = wire::string(from->tor());
	view->part_type = wire::string(from->part_type());
	view->part = wire::string(from->part());
	view->place = wire::string(from->place());
	view->kind = wire::string(from->kind());
	view->confidence = from->confidence();
	view->began_wall_ns = from->began_wall_ns();
	view->opened_wall_ns = from->opened_wall_ns();
	view->changed_wall_ns = from->changed_wall_ns();
	view->sentence = wire::string(from->sentence());
	view->evidence_json = wire::string(from->evidence_json());
	view->severity = wire::string(from->severity());
	view->good_since_wall_ns = from->good_since_wall_ns();
	view->returned_wall_ns = from->returned_wall_ns();
	return 0;
}

int
wire_write_drill(
    struct wire_writer *writer, const struct wire_drill *drill, struct wire_bytes *out)
try {
	wire::begin(writer);
	auto rnic = wire::text(writer, drill->rnic);
	auto mesh = wire::text(writer, drill->mesh);
	auto counted = wire::text(writer, drill->counted);
	auto root = rackmesh::CreateDrill(writer->fbb, drill->token, rnic,
	    drill->seconds, drill->limit, mesh, counted, drill->hosts_only);
	return wire::finish(writer, root.Union(), WIRE_DRILL, out);
} catch (...) {
	return wire::out_of_memory(writer);
}

int
wire_open_drill(struct wire_drill *view, const uint8_t *data, size_t len)
{
	const rackmesh::Drill *from = nullptr;
	wire::checker check;
	int r;

	r = wire::open(data, len, WIRE_DRILL, 1, &from);
	if (r < 0)
		return r;
	check.text(from->rnic());
	check.text(from->mesh());
	check.text(from->counted());
	if (check.error < 0)
		return check.error;
	view->token = from->token();
	view->rnic = wire::string(from->rnic());
	view->seconds = from->seconds();
	view->limit = from->limit();
	view->mesh = wire::string(from->mesh());
	view->counted = wire::string(from->counted());
	view->hosts_only = from->hosts_only();
	return 0;
}

int
wire_write_drilled(struct wire_writer *writer, const struct wire_drill_answer *answer,
    struct wire_bytes *out)
try {
	wire::begin(writer);
	auto json =
	    wire::numbers(writer, answer->json.data, answer->json.len, WIRE_MAX_JSON);
	auto root = rackmesh::CreateDrillAnswer(writer->fbb, answer->token,
	    answer->status, json, answer->mesh, answer->counted);
	return wire::finish(writer, root.Union(), WIRE_DRILL_ANSWER, out);
} catch (...) {
	return wire::out_of_memory(writer);
}

int
wire_open_drilled(struct wire_drill_answer *view, const uint8_t *data, size_t len)
{
	const rackmesh::DrillAnswer *from = nullptr;
	wire::checker check;
	int r;

	r = wire::open(data, len, WIRE_DRILL_ANSWER, 1, &from);
	if (r < 0)
		return r;
	check.elements(from->json(), WIRE_MAX_JSON);
	if (check.error < 0)
		return check.error;
	view->token = from->token();
	view->status = from->status();
	view->json.data = wire::borrow<uint8_t>(from->json());
	view->json.len = wire::count(from->json());
	view->mesh = from->mesh();
	view->counted = from->counted();
	return 0;
}
