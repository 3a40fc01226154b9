#include "tor-aggregator/rack/rack_uses.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/tor-aggregator/rack_fixture.h"
#include "tor-aggregator/paths/path_table.h"
#include "tor-aggregator/services/service_table.h"
#include "tor-aggregator/window/roster.h"

#define MEMBERS 2
#define ROW_INTERVAL_NS (10 * RM_NS_PER_S)

struct world {
	struct rack_fixture *f;
	struct service_table *services;
	struct path_table *paths;
	struct rack_uses *uses;
	struct wire_summary summary;
};

static int
setup(void **state)
{
	const struct path_table_options paths = {
		.tor = "t1",
		.max_flows = 64,
		.max_paths = 64,
	};
	struct world *w = calloc(1, sizeof(*w));

	w->f = fixture_rack(MEMBERS, 2);
	*state = w;
	return service_table_new(8192, &w->services) ||
	       path_table_new(&paths, &w->paths) || rack_uses_new(w->f->now, &w->uses);
}

static int
teardown(void **state)
{
	struct world *w = *state;

	rack_uses_free(w->uses);
	path_table_free(w->paths);
	service_table_free(w->services);
	fixture_rack_free(w->f);
	free(w);
	return 0;
}

static bool
owns(struct wire_rnic_id id, void *arg)
{
	(void)arg;
	return id.guid >= 0x100;
}

static struct wire_service_flow
flow(const struct world *w, const char *service, struct wire_rnic_id dst, uint16_t port)
{
	return (struct wire_service_flow){ .src = w->f->plan->members[0].id,
		.dst = dst,
		.peer = { 4, { 10, 0, 0, 9 }, 0 },
		.service = service,
		.pod = strcmp(service, "pod:a") == 0 ? "ml/t-0" : "",
		.comm = "x",
		.qp_type = WIRE_QP_RC,
		.state = WIRE_SERVICE_PROBED,
		.probe_port = port,
		.qps = 1 };
}

static void
report(struct world *w, size_t host, bool tracing,
    const struct wire_service_flow *flows, size_t count)
{
	const struct wire_services services = { .host = w->f->plan->names[host],
		.incarnation = 1,
		.now_ns = 1,
		.tracing = tracing,
		.flows = flows,
		.flow_count = count };
	struct wire_services_view view;
	struct wire_bytes bytes;

	assert_int_equal(wire_write_services(w->f->writer, &services, &bytes), 0);
	assert_int_equal(wire_open_services(&view, bytes.data, bytes.len), 0);
	assert_int_equal(service_table_take(
			     w->services, services.host, &view, owns, NULL, w->f->now),
	    0);
}

static void
traced(struct world *w, struct wire_rnic_id dst, uint16_t port, uint8_t spine)
{
	struct wire_path path = { .src_guid = w->f->plan->members[0].id.guid,
		.src_port_num = w->f->plan->members[0].id.port,
		.dst_guid = dst.guid,
		.dst_port_num = dst.port,
		.src_port = port,
		.family = 4,
		.flags = WIRE_PATH_COMPLETE,
		.hop_count = 1,
		.hops = { { 10, 0, 0, spine } } };

	assert_int_equal(
	    path_table_learn(w->paths, &path, "t2", w->f->now, w->f->now), 0);
}

static void
probe(struct world *w, const struct wire_service_flow *of, uint8_t outcome)
{
	const struct wire_result result = { .src_guid = of->src.guid,
		.src_port_num = of->src.port,
		.dst_guid = of->dst.guid,
		.dst_port_num = of->dst.port,
		.src_port = of->probe_port,
		.kind = WIRE_SERVICE,
		.outcome = outcome };

	rack_uses_add(w->uses, w->services, w->f->now, &result);
}

static const struct wire_use_row *
take(struct world *w, size_t count, enum wire_uses_known known)
{
	rack_uses_take(w->uses, w->services, tor_rack_roster(w->f->rack), w->paths,
	    w->f->now, &w->summary);
	assert_int_equal(w->summary.use_count, count);
	assert_int_equal(w->summary.uses_known, known);
	return w->summary.uses;
}

static void
flows_of_a_service_are_summed_by_rack_and_path(void **state)
{
	struct world *w = *state;
	const struct wire_rnic_id outside = w->f->plan->remotes[0].id;
	const struct wire_service_flow flows[] = {
		flow(w, "pod:a", outside, 1001), flow(w, "pod:a", outside, 1002),
		flow(w, "pod:a", outside, 1003), /* over another path */
		flow(w, "unit:b", w->f->plan->members[1].id, 1004),
		flow(w, "unit:b", (struct wire_rnic_id){ 0 },
		    0), /* the peer is unknown */
	};
	const struct wire_use_row *rows;

	traced(w, outside, 1001, 1);
	traced(w, outside, 1002, 1);
	traced(w, outside, 1003, 2);
	report(w, 0, true, flows, 5);
	probe(w, &flows[0], WIRE_OK);
	probe(w, &flows[1], WIRE_NO_REPLY);
	probe(w, &flows[2], WIRE_LATE_REPLY);
	probe(w, &flows[3], WIRE_OK);
	rows = take(w, 4, WIRE_USES_SOME); /* h1 has not reported */
	assert_string_equal(rows[0].service, "pod:a (ml/t-0)");
	assert_string_equal(rows[0].dst_tor, w->f->plan->remotes[0].tors[0]);
	assert_string_equal(rows[0].path, "?@10.0.0.1");
	assert_int_equal(rows[0].flows, 2);
	assert_int_equal(rows[0].sent, 2);
	assert_int_equal(rows[0].lost, 1);
	assert_string_equal(rows[1].path, "?@10.0.0.2");
	assert_int_equal(rows[1].lost, 0);
	assert_string_equal(rows[2].service, "unit:b");
	assert_string_equal(rows[2].dst_tor, "t1");
	assert_string_equal(rows[2].path, "");
	assert_string_equal(rows[3].dst_tor, "");
	report(w, 1, true, NULL, 0);
	rows = take(w, 4, WIRE_USES_ALL); /* counts restart at 0, the uses stay */
	assert_int_equal(rows[0].flows, 2);
	assert_int_equal(rows[0].sent, 0);
	report(w, 1, false, NULL, 0);
	take(w, 4, WIRE_USES_SOME);
}

static void
a_loss_is_of_the_path_that_the_probe_took(void **state)
{
	struct world *w = *state;
	const struct wire_rnic_id outside = w->f->plan->remotes[0].id;
	const struct wire_service_flow one = flow(w, "pod:a", outside, 1001);

	traced(w, outside, 1001, 1);
	report(w, 0, true, &one, 1);
	probe(w, &one, WIRE_NO_REPLY);
	w->f->now.ns += RM_NS_PER_S; /* meanwhile the flow has moved to another path */
	traced(w, outside, 1001, 2);
	assert_string_equal(take(w, 1, WIRE_USES_SOME)->path, "?@10.0.0.1");
	assert_string_equal(take(w, 1, WIRE_USES_SOME)->path, "?@10.0.0.2");
}

static void
losses_do_not_wait_for_the_row_interval(void **state)
{
	struct world *w = *state;
	const struct wire_service_flow one =
	    flow(w, "pod:a", w->f->plan->remotes[0].id, 1001);

	report(w, 0, true, &one, 1);
	w->f->now.ns += RM_NS_PER_S;
	probe(w, &one, WIRE_OK);
	assert_false(rack_uses_due(w->uses, ROW_INTERVAL_NS, w->f->now));
	assert_false(rack_uses_lost(w->uses, w->f->now, RM_NS_PER_S));
	probe(w, &one, WIRE_NO_REPLY);
	assert_true(rack_uses_due(w->uses, ROW_INTERVAL_NS, w->f->now));
	assert_true(rack_uses_lost(w->uses, w->f->now, RM_NS_PER_S));
	take(w, 1, WIRE_USES_SOME);
	w->f->now.ns += ROW_INTERVAL_NS - 1;
	assert_false(rack_uses_due(w->uses, ROW_INTERVAL_NS, w->f->now));
	assert_false(rack_uses_lost(w->uses, w->f->now, RM_NS_PER_S));
	w->f->now.ns++;
	assert_true(rack_uses_due(w->uses, ROW_INTERVAL_NS, w->f->now));
}

static void
an_aggregator_that_becomes_active_reports_uses_at_once(void **state)
{
	struct world *w = *state;

	take(w, 0, WIRE_USES_SOME);
	assert_false(rack_uses_due(w->uses, ROW_INTERVAL_NS, w->f->now));
	rack_uses_hurry(w->uses);
	assert_true(rack_uses_due(w->uses, ROW_INTERVAL_NS, w->f->now));
	take(w, 0, WIRE_USES_SOME);
	assert_false(rack_uses_due(w->uses, ROW_INTERVAL_NS, w->f->now));
}

/* There are more ToRs than the roster can number. */
static void
racks_without_a_number_have_rows_of_their_own(void **state)
{
	const size_t racks = ROSTER_MAX_TORS + 2;
	struct world *w = *state;
	struct wire_service_flow flows[2];
	const struct wire_use_row *rows;
	char tors[2][RM_NAME_BYTES];

	for (size_t i = 0; i < racks; i++) {
		char tor[RM_NAME_BYTES];
		struct wire_rnic rnic;

		snprintf(tor, sizeof(tor), "far%zu", i);
		rnic = fixture_rnic(0x900000 + i, "x", tor);
		assert_int_equal(tor_rack_learn(w->f->rack, &rnic, w->f->now), 0);
		if (i + 2 >= racks) {
			flows[i + 2 - racks] = flow(w, "unit:a", rnic.id, 0);
			memcpy(tors[i + 2 - racks], tor, sizeof(tor));
		}
	}
	report(w, 0, true, flows, 2);
	rows = take(w, 2, WIRE_USES_SOME);
	assert_string_equal(rows[0].dst_tor, tors[0]);
	assert_string_equal(rows[1].dst_tor, tors[1]);
}

static void
rows_beyond_the_limit_are_counted(void **state)
{
	struct world *w = *state;
	struct wire_service_flow *flows = calloc(WIRE_MAX_USE_ROWS + 2, sizeof(*flows));
	char names[WIRE_MAX_USE_ROWS + 2][16];

	for (size_t i = 0; i < WIRE_MAX_USE_ROWS + 2; i++) {
		snprintf(names[i], sizeof(names[i]), "unit:%zu", i);
		flows[i] = flow(w, names[i], w->f->plan->remotes[0].id, 0);
	}
	report(w, 0, true, flows, WIRE_MAX_USE_ROWS + 2);
	report(w, 1, true, NULL, 0);
	take(w, WIRE_MAX_USE_ROWS, WIRE_USES_SOME);
	assert_int_equal(*rack_uses_refused(w->uses), 2);
	free(flows);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(flows_of_a_service_are_summed_by_rack_and_path),
		TEST(a_loss_is_of_the_path_that_the_probe_took),
		TEST(losses_do_not_wait_for_the_row_interval),
		TEST(an_aggregator_that_becomes_active_reports_uses_at_once),
		TEST(racks_without_a_number_have_rows_of_their_own),
		TEST(rows_beyond_the_limit_are_counted),
	};

	return cmocka_run_group_tests_name("rack_uses", tests, NULL, NULL);
}
