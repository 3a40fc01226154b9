#include "schemas/wire_identity.h"

#include "asks_generated.h"

int
wire_write_join(
    struct wire_writer *writer, const struct wire_join *join, struct wire_bytes *out)
try {
	wire::begin(writer);
	auto rnic = wire::put_id(join->rnic);
	auto qpn = wire::bounded(writer, join->qpn, WIRE_MAX_QPN);
	auto dst_qpn = wire::bounded(writer, join->dst_qpn, WIRE_MAX_QPN);
	auto type = static_cast<rackmesh::QpType>(wire::choice(
	    writer, static_cast<unsigned>(join->qp_type), WIRE_QP_RC, WIRE_QP_XRC));
	auto root =
	    rackmesh::CreateJoin(writer->fbb, join->token, &rnic, qpn, dst_qpn, type);
	return wire::finish(writer, root.Union(), WIRE_JOIN, out);
} catch (...) {
	return wire::out_of_memory(writer);
}

int
wire_open_join(struct wire_join *view, const uint8_t *data, size_t len)
{
	const rackmesh::Join *from = nullptr;
	wire::checker check;
	int r;

	r = wire::open(data, len, WIRE_JOIN, 1, &from);
	if (r < 0)
		return r;
	check.choice(from->qpn(), 0, WIRE_MAX_QPN);
	check.choice(from->dst_qpn(), 0, WIRE_MAX_QPN);
	check.choice(static_cast<unsigned>(from->qp_type()), WIRE_QP_RC, WIRE_QP_XRC);
	if (check.error < 0)
		return check.error;
	view->token = from->token();
	wire::get_id(from->rnic(), &view->rnic);
	view->qpn = from->qpn();
	view->dst_qpn = from->dst_qpn();
	view->qp_type = static_cast<uint8_t>(from->qp_type());
	return 0;
}
