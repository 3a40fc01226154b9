#include "schemas/wire_identity.h"

#include "agent_generated.h"

int
wire_write_register(
    struct wire_writer *writer, const struct wire_register *reg, struct wire_bytes *out)
try {
	wire::begin(writer);
	auto rnics = wire::tables(
	    writer, reg->rnics, reg->rnic_count, WIRE_MAX_HOST_RNICS, wire::put_rnic);
	auto host = wire::text(writer, reg->host);
	auto root =
	    rackmesh::CreateRegister(writer->fbb, host, reg->incarnation, rnics);
	return wire::finish(writer, root.Union(), WIRE_REGISTER, out);
} catch (...) {
	return wire::out_of_memory(writer);
}

int
wire_open_register(struct wire_register_view *view, const uint8_t *data, size_t len)
{
	const rackmesh::Register *from = nullptr;
	wire::checker check;
	int r;

	r = wire::open(data, len, WIRE_REGISTER,
	    1 + WIRE_MAX_HOST_RNICS * wire::tables_per_rnic, &from);
	if (r < 0)
		return r;
	check.text(from->host());
	check.each(from->rnics(), WIRE_MAX_HOST_RNICS, wire::check_rnic);
	if (check.error < 0)
		return check.error;

	view->reg.host = wire::string(from->host());
	view->reg.incarnation = from->incarnation();
	view->reg.rnics = nullptr;
	view->reg.rnic_count = wire::count(from->rnics());
	view->opaque = from;
	return 0;
}

void
wire_register_rnic(
    const struct wire_register_view *view, size_t i, struct wire_rnic *out)
{
	auto from = static_cast<const rackmesh::Register *>(view->opaque);

	wire::get_rnic(from->rnics()->Get(static_cast<uint32_t>(i)), out);
}
