#include "schemas/wire_identity.h"

#include "incident_generated.h"

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
	auto root = rackmesh::CreateIncident(writer->fbb, head, incident->incident_id,
	    state, tor, part_type, part, place, kind, incident->confidence,
	    incident->began_wall_ns, incident->opened_wall_ns,
	    incident->changed_wall_ns, sentence, evidence_json);
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
	return 0;
}
