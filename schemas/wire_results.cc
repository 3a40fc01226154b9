#include "schemas/wire_message.h"

#include "results_generated.h"

namespace
{

/* Outcomes may be newer than we are: the receiver counts those apart. No stamp at
 * all (0) is what a probe has that was never sent. */
bool
plausible(const struct wire_result *results, size_t count)
{
	unsigned bad = 0;

	for (size_t i = 0; i < count; i++) {
		bad |= results[i].invalid_reason >= WIRE_INVALID_REASONS;
		bad |= results[i].kind >= WIRE_PROBE_KINDS;
		bad |= results[i].stamp_source > WIRE_STAMP_USER;
	}
	return bad == 0;
}

} /* namespace */

int
wire_write_batch(struct wire_writer *writer, const struct wire_batch_head *head,
    const struct wire_result *results, size_t count, struct wire_bytes *out)
try {
	wire::begin(writer);
	auto rows =
	    wire::structs<rackmesh::Result>(writer, results, count, WIRE_MAX_RESULTS);
	if (writer->error == 0 && !plausible(results, count))
		wire::refuse(writer, -EINVAL);
	auto host = wire::text(writer, head->host);
	auto root =
	    rackmesh::CreateBatch(writer->fbb, host, head->incarnation, head->seq,
		head->now_ns, head->dropped_batches, head->dropped_results, rows);
	return wire::finish(writer, root.Union(), WIRE_BATCH, out);
} catch (...) {
	return wire::out_of_memory(writer);
}

int
wire_open_batch(struct wire_batch_view *view, const uint8_t *data, size_t len)
{
	const rackmesh::Batch *from = nullptr;
	const struct wire_result *results;
	wire::checker check;
	int r;

	r = wire::open(data, len, WIRE_BATCH, 1, &from);
	if (r < 0)
		return r;
	check.text(from->host());
	check.elements(from->results(), WIRE_MAX_RESULTS);
	if (check.error < 0)
		return check.error;
	results = wire::borrow<struct wire_result>(from->results());
	if (!plausible(results, wire::count(from->results())))
		return -EBADMSG;

	view->head.host = wire::string(from->host());
	view->head.incarnation = from->incarnation();
	view->head.seq = from->seq();
	view->head.now_ns = from->now_ns();
	view->head.dropped_batches = from->dropped_batches();
	view->head.dropped_results = from->dropped_results();
	view->count = wire::count(from->results());
	view->results = results;
	return 0;
}
