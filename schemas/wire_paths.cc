#include "schemas/wire_message.h"

#include "paths_generated.h"

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

/* name: of whose paths they are. */
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
