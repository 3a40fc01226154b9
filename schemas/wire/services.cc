#include "schemas/wire/services.h"

#include "schemas/wire/identity_internal.h"

#include "asks_generated.h"
#include "services_generated.h"

namespace
{

wire::offset<rackmesh::ServiceFlow>
put_flow(wire_writer *writer, const struct wire_service_flow &flow)
{
	auto service = wire::text(writer, flow.service);
	auto comm = wire::text(writer, flow.comm);
	auto pod = wire::text(writer, flow.pod);
	auto src = wire::put_id(flow.src);
	auto dst = wire::put_id(flow.dst);
	auto peer = wire::put_address(writer, flow.peer);
	auto type = static_cast<rackmesh::QpType>(wire::choice(
	    writer, static_cast<unsigned>(flow.qp_type), WIRE_QP_RC, WIRE_QP_XRC));
	auto state = static_cast<rackmesh::ServiceState>(
	    wire::choice(writer, static_cast<unsigned>(flow.state),
		WIRE_SERVICE_RESOLVING, WIRE_SERVICE_UNRESOLVED));
	auto src_qpn = wire::bounded(writer, flow.src_qpn, WIRE_MAX_QPN);
	auto dst_qpn = wire::bounded(writer, flow.dst_qpn, WIRE_MAX_QPN);

	return rackmesh::CreateServiceFlow(writer->fbb, &src,
	    flow.dst.guid == 0 ? nullptr : &dst, &peer, service, comm, flow.pid, type,
	    state, flow.dscp, flow.older, flow.src_port, flow.probe_port, src_qpn,
	    dst_qpn, flow.qps, pod);
}

void
check_flow(wire::checker *check, const rackmesh::ServiceFlow *flow)
{
	check->text(flow->service());
	check->text(flow->comm());
	check->text(flow->pod());
	wire::check_address(check, flow->peer());
	check->choice(static_cast<unsigned>(flow->qp_type()), WIRE_QP_RC, WIRE_QP_XRC);
	check->choice(static_cast<unsigned>(flow->state()), WIRE_SERVICE_RESOLVING,
	    WIRE_SERVICE_UNRESOLVED);
	check->choice(flow->src_qpn(), 0, WIRE_MAX_QPN);
	check->choice(flow->dst_qpn(), 0, WIRE_MAX_QPN);
}

} /* namespace */

int
wire_write_services(struct wire_writer *writer, const struct wire_services *services,
    struct wire_bytes *out)
try {
	wire::begin(writer);
	auto flows = wire::tables(
	    writer, services->flows, services->flow_count, WIRE_MAX_SERVICES, put_flow);
	auto host = wire::text(writer, services->host);
	auto missing = wire::text(writer, services->missing);
	auto root = rackmesh::CreateServices(writer->fbb, host, services->incarnation,
	    services->now_ns, services->tracing, missing, services->unresolved,
	    services->over_cap, services->events_dropped, flows);
	return wire::finish(writer, root.Union(), WIRE_SERVICES, out);
} catch (...) {
	return wire::out_of_memory(writer);
}

int
wire_open_services(struct wire_services_view *view, const uint8_t *data, size_t len)
{
	const rackmesh::Services *from = nullptr;
	wire::checker check;
	int r;

	r = wire::open(data, len, WIRE_SERVICES, 1 + WIRE_MAX_SERVICES, &from);
	if (r < 0)
		return r;
	check.text(from->host());
	check.text(from->missing());
	check.each(from->flows(), WIRE_MAX_SERVICES, check_flow);
	if (check.error < 0)
		return check.error;

	view->services.host = wire::string(from->host());
	view->services.incarnation = from->incarnation();
	view->services.now_ns = from->now_ns();
	view->services.tracing = from->tracing();
	view->services.missing = wire::string(from->missing());
	view->services.unresolved = from->unresolved();
	view->services.over_cap = from->over_cap();
	view->services.events_dropped = from->events_dropped();
	view->services.flows = nullptr;
	view->services.flow_count = wire::count(from->flows());
	view->opaque = from;
	return 0;
}

void
wire_services_flow(
    const struct wire_services_view *view, size_t i, struct wire_service_flow *out)
{
	auto from = static_cast<const rackmesh::Services *>(view->opaque);
	auto flow = from->flows()->Get(static_cast<uint32_t>(i));

	*out = {};
	wire::get_id(flow->src(), &out->src);
	if (flow->dst() != nullptr)
		wire::get_id(flow->dst(), &out->dst);
	wire::get_address(flow->peer(), &out->peer);
	out->service = wire::string(flow->service());
	out->comm = wire::string(flow->comm());
	out->pod = wire::string(flow->pod());
	out->pid = flow->pid();
	out->qp_type = static_cast<uint8_t>(flow->qp_type());
	out->state = static_cast<uint8_t>(flow->state());
	out->dscp = flow->dscp();
	out->older = flow->older();
	out->src_port = flow->src_port();
	out->probe_port = flow->probe_port();
	out->src_qpn = flow->src_qpn();
	out->dst_qpn = flow->dst_qpn();
	out->qps = flow->qps();
}

namespace
{

/* All members are zero, except that strings in a view are never NULL. */
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
	/* The layouts are equal: see layout.cc. */
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
