/* heartbeat, receive counts */
#include "schemas/wire_message.h"

#include "agent_generated.h"

namespace
{

wire::offset<rackmesh::Live>
put_live(wire_writer *writer, const char *const &aggregator)
{
	return rackmesh::CreateLive(writer->fbb, wire::text(writer, aggregator));
}

void
check_live(wire::checker *check, const rackmesh::Live *live)
{
	check->text(live->aggregator());
}

} /* namespace */

int
wire_write_heartbeat(struct wire_writer *writer, const struct wire_heartbeat *beat,
    struct wire_bytes *out)
try {
	wire::begin(writer);
	auto stalls = wire::structs<rackmesh::Stall>(
	    writer, beat->stalls, beat->stall_count, WIRE_MAX_STALLS);
	auto live =
	    wire::tables(writer, beat->live, beat->live_count, WIRE_MAX_LIVE, put_live);
	auto root = rackmesh::CreateHeartbeat(writer->fbb, beat->incarnation, beat->seq,
	    beat->now_ns, beat->loop_lag_max_ns, beat->paused, stalls, beat->self_loss,
	    beat->results_through_ns, beat->slowed_permille, beat->slowed_why, live,
	    beat->live_mute);
	return wire::finish(writer, root.Union(), WIRE_HEARTBEAT, out);
} catch (...) {
	return wire::out_of_memory(writer);
}

int
wire_open_heartbeat(struct wire_heartbeat *view, const uint8_t *data, size_t len)
{
	const rackmesh::Heartbeat *from = nullptr;
	wire::checker check;
	int r;

	r = wire::open(data, len, WIRE_HEARTBEAT, 1 + WIRE_MAX_LIVE, &from);
	if (r < 0)
		return r;
	check.elements(from->stalls(), WIRE_MAX_STALLS);
	check.each(from->live(), WIRE_MAX_LIVE, check_live);
	if (check.error < 0)
		return check.error;

	view->incarnation = from->incarnation();
	view->seq = from->seq();
	view->now_ns = from->now_ns();
	view->loop_lag_max_ns = from->loop_lag_max_ns();
	view->paused = from->paused();
	view->stalls = wire::borrow<struct wire_stall>(from->stalls());
	view->stall_count = wire::count(from->stalls());
	view->self_loss = from->self_loss();
	view->results_through_ns = from->results_through_ns();
	view->slowed_permille = from->slowed_permille();
	view->slowed_why = from->slowed_why();
	view->live = nullptr;
	view->live_count = wire::count(from->live());
	view->live_mute = from->live_mute();
	view->opaque = from;
	return 0;
}

const char *
wire_heartbeat_live(const struct wire_heartbeat *view, size_t i)
{
	auto from = static_cast<const rackmesh::Heartbeat *>(view->opaque);

	return wire::string(from->live()->Get(static_cast<uint32_t>(i))->aggregator());
}

int
wire_write_counts(struct wire_writer *writer, const struct wire_counts *counts,
    struct wire_bytes *out)
try {
	wire::begin(writer);
	auto rows = wire::structs<rackmesh::Count>(
	    writer, counts->rows, counts->row_count, WIRE_MAX_COUNTS);
	auto root = rackmesh::CreateCounts(
	    writer->fbb, counts->incarnation, counts->now_ns, rows);
	return wire::finish(writer, root.Union(), WIRE_COUNTS, out);
} catch (...) {
	return wire::out_of_memory(writer);
}

int
wire_open_counts(struct wire_counts *view, const uint8_t *data, size_t len)
{
	const rackmesh::Counts *from = nullptr;
	wire::checker check;
	int r;

	r = wire::open(data, len, WIRE_COUNTS, 1, &from);
	if (r < 0)
		return r;
	check.elements(from->rows(), WIRE_MAX_COUNTS);
	if (check.error < 0)
		return check.error;

	view->incarnation = from->incarnation();
	view->now_ns = from->now_ns();
	view->rows = wire::borrow<struct wire_count>(from->rows());
	view->row_count = wire::count(from->rows());
	return 0;
}
