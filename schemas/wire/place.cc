#include "schemas/wire/place.h"

#include "asks_generated.h"
#include "schemas/wire/message_internal.h"

namespace
{

wire::offset<rackmesh::Cable>
put_cable(wire_writer *writer, const struct wire_cable &cable)
{
	auto device = wire::text(writer, cable.device);
	auto tor = wire::text(writer, cable.tor);

	return rackmesh::CreateCable(writer->fbb, device, tor);
}

void
check_cable(wire::checker *check, const rackmesh::Cable *cable)
{
	check->text(cable->device());
	check->text(cable->tor());
}

wire::offset<rackmesh::TorAggregator>
put_aggregator(wire_writer *writer, const struct wire_tor_aggregator &aggregator)
{
	auto tor = wire::text(writer, aggregator.tor);
	auto address = wire::text(writer, aggregator.address);

	return rackmesh::CreateTorAggregator(writer->fbb, tor, address);
}

void
check_aggregator(wire::checker *check, const rackmesh::TorAggregator *aggregator)
{
	check->text(aggregator->tor());
	check->text(aggregator->address());
}

} /* namespace */

int
wire_write_place(
    struct wire_writer *writer, const struct wire_place *place, struct wire_bytes *out)
try {
	wire::begin(writer);
	auto host = wire::text(writer, place->host);
	auto root = rackmesh::CreatePlace(writer->fbb, place->token, host);
	return wire::finish(writer, root.Union(), WIRE_PLACE, out);
} catch (...) {
	return wire::out_of_memory(writer);
}

int
wire_open_place(struct wire_place *view, const uint8_t *data, size_t len)
{
	const rackmesh::Place *from = nullptr;
	wire::checker check;
	int r;

	r = wire::open(data, len, WIRE_PLACE, 1, &from);
	if (r < 0)
		return r;
	check.text(from->host());
	if (check.error < 0)
		return check.error;
	view->token = from->token();
	view->host = wire::string(from->host());
	return 0;
}

int
wire_write_placed(struct wire_writer *writer, const struct wire_place_answer *answer,
    struct wire_bytes *out)
try {
	wire::begin(writer);
	auto error = wire::text(writer, answer->error);
	auto cables = wire::tables(
	    writer, answer->cables, answer->cable_count, WIRE_MAX_CABLES, put_cable);
	auto aggregators = wire::tables(writer, answer->aggregators,
	    answer->aggregator_count, WIRE_MAX_PLACE_AGGREGATORS, put_aggregator);
	auto root = rackmesh::CreatePlaceAnswer(
	    writer->fbb, answer->token, error, cables, aggregators);
	return wire::finish(writer, root.Union(), WIRE_PLACE_ANSWER, out);
} catch (...) {
	return wire::out_of_memory(writer);
}

int
wire_open_placed(struct wire_place_answer *view, const uint8_t *data, size_t len)
{
	const rackmesh::PlaceAnswer *from = nullptr;
	wire::checker check;
	int r;

	r = wire::open(data, len, WIRE_PLACE_ANSWER,
	    1 + WIRE_MAX_CABLES + WIRE_MAX_PLACE_AGGREGATORS, &from);
	if (r < 0)
		return r;
	check.text(from->error());
	check.each(from->cables(), WIRE_MAX_CABLES, check_cable);
	check.each(from->aggregators(), WIRE_MAX_PLACE_AGGREGATORS, check_aggregator);
	if (check.error < 0)
		return check.error;
	view->token = from->token();
	view->error = wire::string(from->error());
	view->cables = nullptr;
	view->cable_count = wire::count(from->cables());
	view->aggregators = nullptr;
	view->aggregator_count = wire::count(from->aggregators());
	view->opaque = from;
	return 0;
}

void
wire_placed_cable(
    const struct wire_place_answer *view, size_t i, struct wire_cable *out)
{
	auto from = static_cast<const rackmesh::PlaceAnswer *>(view->opaque);
	auto cable = from->cables()->Get(static_cast<uint32_t>(i));

	out->device = wire::string(cable->device());
	out->tor = wire::string(cable->tor());
}

void
wire_placed_aggregator(
    const struct wire_place_answer *view, size_t i, struct wire_tor_aggregator *out)
{
	auto from = static_cast<const rackmesh::PlaceAnswer *>(view->opaque);
	auto aggregator = from->aggregators()->Get(static_cast<uint32_t>(i));

	out->tor = wire::string(aggregator->tor());
	out->address = wire::string(aggregator->address());
}
