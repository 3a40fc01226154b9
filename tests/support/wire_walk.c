#include "tests/support/wire_walk.h"

#include <errno.h>

#include "tests/support/wire_walk_parts.h"

static void
walk_alias(const struct wire_alias *alias)
{
	walk_text(alias->switch_name);
	walk_address(&alias->address);
}

static int
walk_hello(const uint8_t *data, size_t len)
{
	struct wire_hello_view view;
	int r = wire_open_hello(&view, data, len);

	if (r < 0)
		return r;
	PROMISE(
	    view.hello.role >= WIRE_ROLE_AGENT && view.hello.role <= WIRE_ROLE_CHECK);
	walk_text(view.hello.region);
	walk_text(view.hello.id);
	walk_text(view.hello.software);
	PROMISE(view.hello.tor_count <= WIRE_MAX_TORS);
	for (size_t i = 0; i < view.hello.tor_count; i++) {
		struct wire_tor_state state;

		wire_hello_tor(&view, i, &state);
		walk_text(state.tor);
	}
	return 0;
}

static int
walk_welcome(const uint8_t *data, size_t len)
{
	struct wire_welcome view;
	int r = wire_open_welcome(&view, data, len);

	if (r < 0)
		return r;
	walk_text(view.id);
	walk_text(view.refused);
	walk_text(view.software);
	return 0;
}

static int
walk_register(const uint8_t *data, size_t len)
{
	struct wire_register_view view;
	int r = wire_open_register(&view, data, len);

	if (r < 0)
		return r;
	walk_text(view.reg.host);
	PROMISE(view.reg.rnic_count <= WIRE_MAX_HOST_RNICS);
	for (size_t i = 0; i < view.reg.rnic_count; i++) {
		struct wire_settings settings;
		struct wire_rnic rnic;

		wire_register_rnic(&view, i, &rnic);
		walk_rnic(&rnic);
		if (wire_register_settings(&view, i, &settings))
			walk_text(settings.firmware);
	}
	return 0;
}

static int
walk_batch(const uint8_t *data, size_t len)
{
	struct wire_batch_view view;
	int r = wire_open_batch(&view, data, len);

	if (r < 0)
		return r;
	walk_text(view.head.host);
	WALK(view.results, view.count, WIRE_MAX_RESULTS);
	for (size_t i = 0; i < view.count; i++) {
		PROMISE(view.results[i].kind < WIRE_PROBE_KINDS);
		PROMISE(view.results[i].invalid_reason < WIRE_INVALID_REASONS);
		PROMISE(view.results[i].stamp_source <= WIRE_STAMP_USER);
	}
	return 0;
}

static int
walk_ack(const uint8_t *data, size_t len)
{
	struct wire_ack view;
	int r = wire_open_ack(&view, data, len);

	if (r < 0)
		return r;
	PROMISE(view.lane >= WIRE_LANE_BATCH && view.lane <= WIRE_LANE_INCIDENT);
	return 0;
}

static int
walk_heartbeat(const uint8_t *data, size_t len)
{
	struct wire_heartbeat view;
	int r = wire_open_heartbeat(&view, data, len);

	if (r < 0)
		return r;
	WALK(view.stalls, view.stall_count, WIRE_MAX_STALLS);
	PROMISE(view.live_count <= WIRE_MAX_LIVE);
	for (size_t i = 0; i < view.live_count; i++)
		walk_text(wire_heartbeat_live(&view, i));
	return 0;
}

static int
walk_counts(const uint8_t *data, size_t len)
{
	struct wire_counts view;
	int r = wire_open_counts(&view, data, len);

	if (r < 0)
		return r;
	WALK(view.rows, view.row_count, WIRE_MAX_COUNTS);
	return 0;
}

static int
walk_counter_report(const uint8_t *data, size_t len)
{
	struct wire_counter_report view;
	int r = wire_open_counter_report(&view, data, len);

	if (r < 0)
		return r;
	PROMISE(view.rnic_count <= WIRE_MAX_HOST_RNICS);
	for (size_t i = 0; i < view.rnic_count; i++) {
		struct wire_rnic_counters rnic;

		wire_counter_report_rnic(&view, i, &rnic);
		WALK(rnic.values, rnic.value_count, WIRE_MAX_COUNTER_VALUES);
	}
	return 0;
}

static int
walk_plan(const uint8_t *data, size_t len)
{
	struct wire_plan_view view;
	const struct wire_plan *plan = &view.plan;
	int r = wire_open_plan(&view, data, len);

	if (r < 0)
		return r;
	walk_text(plan->region);
	walk_text(plan->tor);
	walk_text(plan->plane);
	WALK(plan->mesh.flows, plan->mesh.flow_count, WIRE_MAX_FLOWS);
	WALK(plan->mesh.dscps, plan->mesh.dscp_count, WIRE_MAX_CLASSES);
	WALK(plan->mesh.sizes, plan->mesh.size_count, WIRE_MAX_SIZES);
	PROMISE(plan->mesh.sl <= WIRE_MAX_SL);
	PROMISE(plan->member_count <= WIRE_MAX_MEMBERS);
	PROMISE(plan->remote_count <= WIRE_MAX_REMOTES);
	PROMISE(plan->entry_count <= WIRE_MAX_ENTRIES);
	for (size_t i = 0; i < plan->member_count + plan->remote_count; i++) {
		struct wire_rnic rnic;

		if (i < plan->member_count)
			wire_plan_member(&view, i, &rnic);
		else
			wire_plan_remote(&view, i - plan->member_count, &rnic);
		walk_rnic(&rnic);
	}
	for (size_t i = 0; i < plan->entry_count; i++) {
		struct wire_plan_entry entry;

		wire_plan_entry(&view, i, &entry);
		PROMISE(entry.src < plan->member_count);
		PROMISE(entry.dst < plan->remote_count);
		PROMISE(entry.kind < WIRE_PROBE_KINDS);
		PROMISE(entry.sl <= WIRE_MAX_SL);
		WALK(entry.flows, entry.flow_count, WIRE_MAX_FLOWS);
		WALK(entry.dscps, entry.dscp_count, WIRE_MAX_CLASSES);
		WALK(entry.sizes, entry.size_count, WIRE_MAX_SIZES);
	}
	PROMISE(plan->alias_count <= WIRE_MAX_ALIASES);
	for (size_t i = 0; i < plan->alias_count; i++) {
		struct wire_alias alias;

		wire_plan_alias(&view, i, &alias);
		walk_alias(&alias);
	}
	return 0;
}

static int
walk_pinglist(const uint8_t *data, size_t len)
{
	struct wire_pinglist_view view;
	int r = wire_open_pinglist(&view, data, len);

	if (r < 0)
		return r;
	walk_text(view.pinglist.tor);
	PROMISE(view.pinglist.target_count <= WIRE_MAX_TARGETS);
	PROMISE(view.pinglist.roster_count <= WIRE_MAX_ROSTER);
	for (size_t i = 0; i < view.pinglist.target_count; i++) {
		struct wire_target target;

		wire_pinglist_target(&view, i, &target);
		PROMISE(target.kind < WIRE_PROBE_KINDS);
		PROMISE(target.sl <= WIRE_MAX_SL);
		PROMISE(target.dst_qpn <= WIRE_MAX_QPN);
		PROMISE(target.dst_large_qpn <= WIRE_MAX_QPN);
		walk_address(&target.address);
		WALK(target.flows, target.flow_count, WIRE_MAX_FLOWS);
		WALK(target.dscps, target.dscp_count, WIRE_MAX_CLASSES);
		WALK(target.sizes, target.size_count, WIRE_MAX_SIZES);
	}
	for (size_t i = 0; i < view.pinglist.roster_count; i++) {
		struct wire_peer peer;

		wire_pinglist_peer(&view, i, &peer);
		walk_address(&peer.address);
	}
	return 0;
}

static int
walk_focus(const uint8_t *data, size_t len)
{
	struct wire_focus view;

	return wire_open_focus(&view, data, len);
}

static int
walk_ping(const uint8_t *data, size_t len)
{
	struct wire_ping view;
	int r = wire_open_ping_ending(&view, data, len);

	if (r == 0)
		walk_text(view.ending);
	return r;
}

static int
walk_summary(const uint8_t *data, size_t len)
{
	struct wire_summary_view view;
	int r = wire_open_summary(&view, data, len);

	if (r < 0)
		return r;
	walk_text(view.summary.head.aggregator);
	walk_text(view.summary.head.region);
	walk_text(view.summary.tor);
	PROMISE(view.summary.row_count <= WIRE_MAX_ROWS);
	PROMISE(view.summary.rnic_count <= WIRE_MAX_MEMBERS);
	for (size_t i = 0; i < view.summary.row_count; i++) {
		struct wire_row row;

		wire_summary_row(&view, i, &row);
		walk_text(row.src_tor);
		walk_text(row.dst_tor);
		walk_text(row.flow_set);
		WALK(row.rtt.data, row.rtt.len, WIRE_MAX_SKETCH);
		WALK(row.prober_delay.data, row.prober_delay.len, WIRE_MAX_SKETCH);
		WALK(
		    row.responder_delay.data, row.responder_delay.len, WIRE_MAX_SKETCH);
		walk_bytes(row.outcomes, sizeof(row.outcomes));
	}
	for (size_t i = 0; i < view.summary.rnic_count; i++) {
		struct wire_rnic_row row;

		wire_summary_rnic(&view, i, &row);
		walk_text(row.host);
		walk_text(row.device);
		walk_bytes(row.outcomes, sizeof(row.outcomes));
	}
	PROMISE(view.summary.path_count <= WIRE_MAX_ROWS);
	for (size_t i = 0; i < view.summary.path_count; i++) {
		struct wire_path_row row;

		wire_summary_path(&view, i, &row);
		walk_text(row.dst_tor);
		walk_text(row.path);
		walk_text(row.samples);
	}
	PROMISE(view.summary.inside_count <= WIRE_MAX_INSIDE_ROWS);
	for (size_t i = 0; i < view.summary.inside_count; i++) {
		struct wire_path_row row;

		wire_summary_inside(&view, i, &row);
		walk_text(row.dst_tor);
		walk_text(row.path);
		walk_text(row.samples);
	}
	PROMISE(view.summary.port_count <= WIRE_MAX_PORT_ROWS);
	for (size_t i = 0; i < view.summary.port_count; i++) {
		struct wire_port_row row;

		wire_summary_port(&view, i, &row);
		walk_text(row.switch_name);
		walk_text(row.port);
		walk_text(row.neighbor);
		walk_text(row.sentence);
	}
	walk_text(view.summary.uncounted);
	PROMISE(view.summary.use_count <= WIRE_MAX_USE_ROWS);
	for (size_t i = 0; i < view.summary.use_count; i++) {
		struct wire_use_row row;

		wire_summary_use(&view, i, &row);
		walk_text(row.service);
		walk_text(row.dst_tor);
		walk_text(row.path);
	}
	return 0;
}

static int
walk_brake(const uint8_t *data, size_t len)
{
	struct wire_brake view;

	return wire_open_brake(&view, data, len);
}

static int
walk_keys(const uint8_t *data, size_t len)
{
	struct wire_keys view;
	int r = wire_open_keys(&view, data, len);

	if (r < 0)
		return r;
	walk_text(view.tor);
	WALK(view.responders, view.responder_count, WIRE_KEY_EPOCHS * WIRE_MAX_MEMBERS);
	WALK(view.pairs, view.pair_count, WIRE_MAX_ENTRIES);
	PROMISE(view.plain_count <= WIRE_MAX_ROSTER);
	for (size_t i = 0; i < view.plain_count; i++)
		wire_keys_plain(&view, i);
	return 0;
}

static int
walk_standing(const uint8_t *data, size_t len)
{
	struct wire_standing view;
	int r = wire_open_standing(&view, data, len);

	if (r < 0)
		return r;
	PROMISE(view.tor_count <= WIRE_MAX_TORS);
	for (size_t i = 0; i < view.tor_count; i++) {
		struct wire_tor_standing tor;

		wire_standing_tor(&view, i, &tor);
		walk_text(tor.tor);
	}
	PROMISE(view.role_count <= WIRE_MAX_TORS);
	for (size_t i = 0; i < view.role_count; i++) {
		struct wire_tor_role role;

		wire_standing_role(&view, i, &role);
		walk_text(role.tor);
	}
	return 0;
}

static int
walk_versions(const uint8_t *data, size_t len)
{
	struct wire_versions view;
	int r = wire_open_versions(&view, data, len);

	if (r < 0)
		return r;
	PROMISE(view.peer_count <= WIRE_MAX_VERSIONS);
	for (size_t i = 0; i < view.peer_count; i++) {
		struct wire_version peer;

		wire_versions_peer(&view, i, &peer);
		PROMISE(peer.component >= WIRE_COMPONENT_AGENT &&
			peer.component <= WIRE_COMPONENT_ANALYZER);
		walk_text(peer.name);
		walk_text(peer.software);
	}
	return 0;
}

static int
walk_incident(const uint8_t *data, size_t len)
{
	struct wire_incident view;
	int r = wire_open_incident(&view, data, len);

	if (r < 0)
		return r;
	walk_text(view.head.aggregator);
	walk_text(view.head.region);
	PROMISE(view.state >= WIRE_OPENED && view.state <= WIRE_RESOLVED);
	walk_text(view.tor);
	walk_text(view.part_type);
	walk_text(view.part);
	walk_text(view.place);
	walk_text(view.kind);
	walk_text(view.sentence);
	walk_text(view.evidence_json);
	walk_text(view.severity);
	return 0;
}

int
wire_walk(enum wire_kind kind, const uint8_t *data, size_t len)
{
	switch (kind) {
	case WIRE_UNKNOWN:
		return -EBADMSG;
	case WIRE_HELLO:
		return walk_hello(data, len);
	case WIRE_WELCOME:
		return walk_welcome(data, len);
	case WIRE_REGISTER:
		return walk_register(data, len);
	case WIRE_BATCH:
		return walk_batch(data, len);
	case WIRE_ACK:
		return walk_ack(data, len);
	case WIRE_HEARTBEAT:
		return walk_heartbeat(data, len);
	case WIRE_COUNTS:
		return walk_counts(data, len);
	case WIRE_PINGLIST:
		return walk_pinglist(data, len);
	case WIRE_FOCUS:
		return walk_focus(data, len);
	case WIRE_PING:
		return walk_ping(data, len);
	case WIRE_PLAN:
		return walk_plan(data, len);
	case WIRE_SUMMARY:
		return walk_summary(data, len);
	case WIRE_INCIDENT:
		return walk_incident(data, len);
	case WIRE_PATHS:
		return wire_walk_paths(data, len);
	case WIRE_BRAKE:
		return walk_brake(data, len);
	case WIRE_RESOLVE:
		return wire_walk_resolve(data, len);
	case WIRE_RESOLVE_ANSWER:
		return wire_walk_resolved(data, len);
	case WIRE_DRILL:
		return wire_walk_drill(data, len);
	case WIRE_DRILL_ANSWER:
		return wire_walk_drilled(data, len);
	case WIRE_SERVICES:
		return wire_walk_services(data, len);
	case WIRE_JOIN:
		return wire_walk_join(data, len);
	case WIRE_TRACED:
		return wire_walk_traced(data, len);
	case WIRE_KEYS:
		return walk_keys(data, len);
	case WIRE_STANDING:
		return walk_standing(data, len);
	case WIRE_VERSIONS:
		return walk_versions(data, len);
	case WIRE_PLACE:
		return wire_walk_place(data, len);
	case WIRE_PLACE_ANSWER:
		return wire_walk_placed(data, len);
	case WIRE_COUNTER_REPORT:
		return walk_counter_report(data, len);
	}
	return -EBADMSG;
}
