#include "schemas/wire/results.h"

#include "schemas/wire/message_internal.h"

#include "paths_generated.h"
#include "results_generated.h"

namespace
{

/* Newer agents may send outcomes that this version does not know: the receiver counts
 * them separately. A probe that was never sent has no time stamp (0). */
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

namespace
{

bool
plausible(const struct wire_path *paths, size_t count)
{
	unsigned bad = 0;

	for (size_t i = 0; i < count; i++) {
		bad |= paths[i].hop_count > WIRE_MAX_HOPS;
		bad |= paths[i].family != 4 && paths[i].family != 6;
	}
	return bad == 0;
}

flatbuffers::Offset<flatbuffers::Vector<const rackmesh::Path *>>
write_rows(struct wire_writer *writer, const struct wire_path *paths, size_t count)
{
	auto rows = wire::structs<rackmesh::Path>(writer, paths, count, WIRE_MAX_PATHS);

	if (writer->error == 0 && !plausible(paths, count))
		wire::refuse(writer, -EINVAL);
	return rows;
}

/* name: the name of the ToR to which the paths belong. */
template <typename Message>
int
check_rows(const Message *from, const flatbuffers::String *name,
    const struct wire_path **paths, size_t *count)
{
	wire::checker check;

	check.text(name);
	check.elements(from->paths(), WIRE_MAX_PATHS);
	if (check.error < 0)
		return check.error;
	*paths = wire::borrow<struct wire_path>(from->paths());
	*count = wire::count(from->paths());
	return plausible(*paths, *count) ? 0 : -EBADMSG;
}

} /* namespace */

int
wire_write_paths(
    struct wire_writer *writer, const struct wire_paths *paths, struct wire_bytes *out)
try {
	wire::begin(writer);
	auto rows = write_rows(writer, paths->paths, paths->path_count);
	auto host = wire::text(writer, paths->host);
	auto root = rackmesh::CreatePaths(
	    writer->fbb, host, paths->incarnation, paths->now_ns, rows);
	return wire::finish(writer, root.Union(), WIRE_PATHS, out);
} catch (...) {
	return wire::out_of_memory(writer);
}

int
wire_open_paths(struct wire_paths *view, const uint8_t *data, size_t len)
{
	const rackmesh::Paths *from = nullptr;
	const struct wire_path *paths;
	size_t count;
	int r;

	r = wire::open(data, len, WIRE_PATHS, 1, &from);
	if (r == 0)
		r = check_rows(from, from->host(), &paths, &count);
	if (r < 0)
		return r;

	view->host = wire::string(from->host());
	view->incarnation = from->incarnation();
	view->now_ns = from->now_ns();
	view->paths = paths;
	view->path_count = count;
	return 0;
}

int
wire_write_traced(struct wire_writer *writer, const struct wire_traced *traced,
    struct wire_bytes *out)
try {
	wire::begin(writer);
	auto rows = write_rows(writer, traced->paths, traced->path_count);
	auto tor = wire::text(writer, traced->tor);
	auto root = rackmesh::CreateTraced(writer->fbb, tor, traced->now_ns, rows);
	return wire::finish(writer, root.Union(), WIRE_TRACED, out);
} catch (...) {
	return wire::out_of_memory(writer);
}

int
wire_open_traced(struct wire_traced *view, const uint8_t *data, size_t len)
{
	const rackmesh::Traced *from = nullptr;
	const struct wire_path *paths;
	size_t count;
	int r;

	r = wire::open(data, len, WIRE_TRACED, 1, &from);
	if (r == 0)
		r = check_rows(from, from->tor(), &paths, &count);
	if (r < 0)
		return r;

	view->tor = wire::string(from->tor());
	view->now_ns = from->now_ns();
	view->paths = paths;
	view->path_count = count;
	return 0;
}
