#include "tests/support/wire_walk_parts.h"

int
wire_walk_resolve(const uint8_t *data, size_t len)
{
	struct wire_resolve view;
	int r = wire_open_resolve(&view, data, len);

	if (r < 0)
		return r;
	walk_address(&view.address);
	return 0;
}

int
wire_walk_resolved(const uint8_t *data, size_t len)
{
	struct wire_resolve_answer view;
	int r = wire_open_resolved(&view, data, len);

	if (r < 0)
		return r;
	walk_rnic(&view.rnic);
	return 0;
}

int
wire_walk_drill(const uint8_t *data, size_t len)
{
	struct wire_drill view;
	int r = wire_open_drill(&view, data, len);

	if (r < 0)
		return r;
	walk_text(view.rnic);
	walk_text(view.mesh);
	walk_text(view.counted);
	return 0;
}

int
wire_walk_drilled(const uint8_t *data, size_t len)
{
	struct wire_drill_answer view;
	int r = wire_open_drilled(&view, data, len);

	if (r < 0)
		return r;
	WALK(view.json.data, view.json.len, WIRE_MAX_JSON);
	return 0;
}

int
wire_walk_join(const uint8_t *data, size_t len)
{
	struct wire_join view;
	int r = wire_open_join(&view, data, len);

	if (r < 0)
		return r;
	PROMISE(view.qpn <= WIRE_MAX_QPN && view.dst_qpn <= WIRE_MAX_QPN);
	PROMISE(view.qp_type >= WIRE_QP_RC && view.qp_type <= WIRE_QP_XRC);
	return 0;
}

int
wire_walk_place(const uint8_t *data, size_t len)
{
	struct wire_place view;
	int r = wire_open_place(&view, data, len);

	if (r < 0)
		return r;
	walk_text(view.host);
	return 0;
}

int
wire_walk_placed(const uint8_t *data, size_t len)
{
	struct wire_place_answer view;
	int r = wire_open_placed(&view, data, len);

	if (r < 0)
		return r;
	walk_text(view.error);
	PROMISE(view.cable_count <= WIRE_MAX_CABLES);
	for (size_t i = 0; i < view.cable_count; i++) {
		struct wire_cable cable;

		wire_placed_cable(&view, i, &cable);
		walk_text(cable.device);
		walk_text(cable.tor);
	}
	PROMISE(view.aggregator_count <= WIRE_MAX_PLACE_AGGREGATORS);
	for (size_t i = 0; i < view.aggregator_count; i++) {
		struct wire_tor_aggregator aggregator;

		wire_placed_aggregator(&view, i, &aggregator);
		walk_text(aggregator.tor);
		walk_text(aggregator.address);
	}
	return 0;
}
