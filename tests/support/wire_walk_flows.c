#include "tests/support/wire_walk_parts.h"

static void
walk_paths(const struct wire_path *paths, size_t count)
{
	WALK(paths, count, WIRE_MAX_PATHS);
	for (size_t i = 0; i < count; i++) {
		PROMISE(paths[i].hop_count <= WIRE_MAX_HOPS);
		PROMISE(paths[i].family == 4 || paths[i].family == 6);
	}
}

int
wire_walk_paths(const uint8_t *data, size_t len)
{
	struct wire_paths view;
	int r = wire_open_paths(&view, data, len);

	if (r < 0)
		return r;
	walk_text(view.host);
	walk_paths(view.paths, view.path_count);
	return 0;
}

int
wire_walk_traced(const uint8_t *data, size_t len)
{
	struct wire_traced view;
	int r = wire_open_traced(&view, data, len);

	if (r < 0)
		return r;
	walk_text(view.tor);
	walk_paths(view.paths, view.path_count);
	return 0;
}

int
wire_walk_services(const uint8_t *data, size_t len)
{
	struct wire_services_view view;
	int r = wire_open_services(&view, data, len);

	if (r < 0)
		return r;
	walk_text(view.services.host);
	walk_text(view.services.missing);
	PROMISE(view.services.flow_count <= WIRE_MAX_SERVICES);
	for (size_t i = 0; i < view.services.flow_count; i++) {
		struct wire_service_flow flow;

		wire_services_flow(&view, i, &flow);
		walk_text(flow.service);
		walk_text(flow.comm);
		walk_text(flow.pod);
		walk_address(&flow.peer);
		PROMISE(flow.qp_type >= WIRE_QP_RC && flow.qp_type <= WIRE_QP_XRC);
		PROMISE(flow.state >= WIRE_SERVICE_RESOLVING &&
			flow.state <= WIRE_SERVICE_UNRESOLVED);
		PROMISE(flow.src_qpn <= WIRE_MAX_QPN);
		PROMISE(flow.dst_qpn <= WIRE_MAX_QPN);
	}
	return 0;
}
