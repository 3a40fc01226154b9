#include "schemas/wire_message.h"

#include "asks_generated.h"

int
wire_write_drill(
    struct wire_writer *writer, const struct wire_drill *drill, struct wire_bytes *out)
try {
	wire::begin(writer);
	auto rnic = wire::text(writer, drill->rnic);
	auto root = rackmesh::CreateDrill(
	    writer->fbb, drill->token, rnic, drill->seconds, drill->limit);
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
	if (check.error < 0)
		return check.error;
	view->token = from->token();
	view->rnic = wire::string(from->rnic());
	view->seconds = from->seconds();
	view->limit = from->limit();
	return 0;
}

int
wire_write_drilled(struct wire_writer *writer, const struct wire_drill_answer *answer,
    struct wire_bytes *out)
try {
	wire::begin(writer);
	auto json =
	    wire::numbers(writer, answer->json.data, answer->json.len, WIRE_MAX_JSON);
	auto root = rackmesh::CreateDrillAnswer(
	    writer->fbb, answer->token, answer->status, json);
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
	return 0;
}
