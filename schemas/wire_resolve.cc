#include "schemas/wire_identity.h"

#include "asks_generated.h"

namespace
{

/* All zero, but strings in a view are never NULL. */
void
get_nobody(struct wire_rnic *out)
{
	*out = {};
	out->host = out->device = out->driver = out->plane = "";
	for (const char *&tor : out->tors)
		tor = "";
}

} /* namespace */

int
wire_write_resolve(struct wire_writer *writer, const struct wire_resolve *resolve,
    struct wire_bytes *out)
try {
	wire::begin(writer);
	auto address = wire::put_address(writer, resolve->address);
	auto prober = wire::put_id(resolve->prober);
	auto root = rackmesh::CreateResolve(writer->fbb, resolve->token, &address,
	    resolve->prober.guid != 0 ? &prober : nullptr);
	return wire::finish(writer, root.Union(), WIRE_RESOLVE, out);
} catch (...) {
	return wire::out_of_memory(writer);
}

int
wire_open_resolve(struct wire_resolve *view, const uint8_t *data, size_t len)
{
	const rackmesh::Resolve *from = nullptr;
	wire::checker check;
	int r;

	r = wire::open(data, len, WIRE_RESOLVE, 1, &from);
	if (r < 0)
		return r;
	wire::check_address(&check, from->address());
	if (check.error < 0)
		return check.error;
	view->token = from->token();
	wire::get_address(from->address(), &view->address);
	view->prober = {};
	if (from->prober() != nullptr)
		wire::get_id(from->prober(), &view->prober);
	return 0;
}

int
wire_write_resolved(struct wire_writer *writer,
    const struct wire_resolve_answer *answer, struct wire_bytes *out)
try {
	wire::offset<rackmesh::Rnic> rnic = 0;

	wire::begin(writer);
	if (answer->found)
		rnic = wire::put_rnic(writer, answer->rnic);
	/* One layout: see wire_layout.cc. */
	auto key = reinterpret_cast<const rackmesh::PairKey *>(&answer->key);
	auto root = rackmesh::CreateResolveAnswer(writer->fbb, answer->token, rnic,
	    answer->found && answer->key.epoch != 0 ? key : nullptr);
	return wire::finish(writer, root.Union(), WIRE_RESOLVE_ANSWER, out);
} catch (...) {
	return wire::out_of_memory(writer);
}

int
wire_open_resolved(struct wire_resolve_answer *view, const uint8_t *data, size_t len)
{
	const rackmesh::ResolveAnswer *from = nullptr;
	wire::checker check;
	int r;

	r = wire::open(
	    data, len, WIRE_RESOLVE_ANSWER, 1 + wire::tables_per_rnic, &from);
	if (r < 0)
		return r;
	if (from->rnic() != nullptr)
		wire::check_rnic(&check, from->rnic());
	if (check.error < 0)
		return check.error;
	view->token = from->token();
	view->found = from->rnic() != nullptr;
	if (view->found)
		wire::get_rnic(from->rnic(), &view->rnic);
	else
		get_nobody(&view->rnic);
	view->key = {};
	if (view->found && from->key() != nullptr)
		memcpy(&view->key, from->key(), sizeof(view->key));
	return 0;
}
