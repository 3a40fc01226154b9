/* Paths that a rack learns and reports, with the rack's judge in between. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/unit/tor-aggregator/rack_fixture.h"
#include "tor-aggregator/paths/path_ends.h"
#include "tor-aggregator/paths/path_rows.h"
#include "tor-aggregator/paths/path_table.h"
#include "tor-aggregator/services/service_table.h"

#define MS RM_NS_PER_MS
#define MEMBERS 4
#define REMOTES 4

struct reported {
	unsigned messages;
	uint64_t sent, lost, forward;
	/* By the aggregator's clock; end_ns: of the last summary with paths; last_ns:
	 * of the last summary. */
	int64_t end_ns, last_ns;
	struct wire_rack_state state;
	bool has_state;
	unsigned uses; /* number of summaries with uses */
	uint64_t used_sent, used_lost;
};

struct world {
	struct rack_fixture *f;
	struct reported reported;
	struct wire_writer *writer;
	struct service_table *services;
	uint32_t received[MEMBERS][REMOTES];
};

static struct world *the_world;

static void
on_summary(struct tor_rack *rack, const struct wire_summary *summary, void *arg)
{
	struct reported *reported = &the_world->reported;
	struct wire_bytes bytes;

	/* The summary must be valid for the writer. */
	assert_int_equal(wire_write_summary(the_world->writer, summary, &bytes), 0);
	reported->has_state = summary->has_state;
	reported->state = summary->state;
	reported->uses += summary->uses_known != WIRE_USES_UNKNOWN;
	for (size_t i = 0; i < summary->use_count; i++) {
		reported->used_sent += summary->uses[i].sent;
		reported->used_lost += summary->uses[i].lost;
	}
	if (summary->path_count == 0)
		return;
	reported->messages++;
	reported->sent = reported->lost = reported->forward = 0;
	reported->end_ns = (int64_t)summary->end_wall_ns - FIXTURE_WALL + FIXTURE_START;
	for (size_t i = 0; i < summary->path_count; i++) {
		const struct wire_path_row *row = &summary->paths[i];

		reported->sent += row->sent;
		reported->forward += row->lost_forward;
		reported->lost +=
		    row->lost_forward + row->lost_reverse + row->lost_unknown;
	}
}

static int
setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	struct tor_rack_callbacks callbacks = {
		.host_state = fixture_host_state,
		.on_incident = fixture_incident,
		.on_summary = on_summary,
		.on_focus = fixture_focus,
	};
	struct tor_rack_options options = {
		.tor = "t1",
		.active = true,
		.ring_bytes = 1 << 20,
		.timeout_ns = 500 * MS,
		.row_interval_ns = 10 * RM_NS_PER_S,
		.rnic_interval_ns = 60 * RM_NS_PER_S,
		.resolve_after_ns = 2 * RM_NS_PER_S,
		.id_seed = 42,
	};

	*state = the_world = w;
	assert_int_equal(service_table_new(16, &w->services), 0);
	options.services = w->services;
	w->writer = wire_writer_new();
	w->f = fixture_rack(MEMBERS, REMOTES);
	/* The same rack again, but with the test's own callback for summaries. */
	tor_rack_free(w->f->rack);
	w->f->now.ns = FIXTURE_START;
	callbacks.arg = w->f;
	assert_int_equal(tor_rack_new(&options, &callbacks, w->f->now,
			     (rm_wall_t){ FIXTURE_WALL }, &w->f->rack),
	    0);
	tor_rack_plan(w->f->rack, &w->f->plan->view, w->f->now);
	for (size_t i = 0; i < MEMBERS; i++)
		tor_rack_register(w->f->rack, &w->f->plan->members[i], w->f->now);
	for (size_t i = 0; i < MEMBERS; i++)
		agent_place(w->f->agent[i], &w->f->rack, 1);
	w->f->now.ns += RM_NS_PER_S;
	return 0;
}

static int
teardown(void **state)
{
	struct world *w = *state;

	fixture_rack_free(w->f);
	service_table_free(w->services);
	wire_writer_free(w->writer);
	free(w);
	return 0;
}

typedef bool is_lost(size_t src, size_t dst, uint16_t src_port);

static bool
nothing(size_t src, size_t dst, uint16_t src_port)
{
	return false;
}

static bool is_served; /* the first flow of the first pair belongs to a service */
static size_t dead = SIZE_MAX; /* this member neither sends nor receives */
static size_t mesh_dead =
    SIZE_MAX; /* this member is dead for members of the rack only */

static uint8_t
in_mesh(size_t src, size_t dst)
{
	return src == dead || dst == dead || src == mesh_dead || dst == mesh_dead
		   ? WIRE_NO_REPLY
		   : WIRE_OK;
}

static void
probe(struct world *w, is_lost *lost)
{
	struct wire_result results[MEMBERS + 2 * REMOTES];
	struct rack_fixture *f = w->f;

	f->now.ns += 50 * MS;
	for (size_t src = 0; src < MEMBERS; src++) {
		size_t count = 0;

		for (size_t dst = 0; dst < MEMBERS; dst++)
			if (dst != src)
				results[count++] = fixture_result(
				    f, src, 0x100 + dst, 500 * MS, in_mesh(src, dst));
		for (size_t i = 0; i < 2 * REMOTES; i++) {
			const size_t dst = i / 2;
			const uint16_t flow = (uint16_t)(50000 + i % 2);
			bool gone = src == dead || lost(src, dst, flow);
			struct wire_result *result = &results[count++];

			*result = fixture_result(f, src, FIXTURE_REMOTE + dst,
			    500 * MS - (int64_t)(i % 2) * MS,
			    gone ? WIRE_NO_REPLY : WIRE_OK);
			result->src_port = flow;
			if (is_served && src == 0 && i == 0)
				result->kind = WIRE_SERVICE;
			w->received[src][dst] += !gone;
			result->responder_count = w->received[src][dst];
			if (!gone)
				result->flags |= WIRE_COUNTED;
		}
		assert_int_equal(
		    fixture_batch(f, src, ++f->seq[src], results, count), 0);
	}
	fixture_tick(f);
}

static void
run(struct world *w, is_lost *lost, int64_t ns)
{
	for (int64_t t = 0; t < ns; t += 50 * MS)
		probe(w, lost);
}

static bool
flow_50001(size_t src, size_t dst, uint16_t src_port)
{
	return src_port == 50001;
}

static void
losses_on_a_path_are_reported_within_two_seconds(void **state)
{
	struct world *w = *state;
	int64_t began;

	dead = SIZE_MAX;
	run(w, nothing, 8 * RM_NS_PER_S);
	assert_int_equal(w->reported.lost, 0);
	began = w->f->now.ns - 500 * MS;
	while (w->reported.lost == 0) {
		probe(w, flow_50001);
		assert_true(w->f->now.ns - began < 2100 * MS);
	}
	assert_true(w->reported.end_ns > began);
	run(w, flow_50001, 3 * RM_NS_PER_S);
	assert_true(w->reported.lost > 0);
	assert_int_equal(w->reported.lost, w->reported.forward);
	assert_int_equal(2 * w->reported.lost, w->reported.sent);
	run(w, nothing, 3 * RM_NS_PER_S);
	assert_int_equal(w->reported.lost, 0);
	assert_int_equal(w->f->opened, 0);
}

static bool
owns(struct wire_rnic_id id, void *arg)
{
	(void)id;
	(void)arg;
	return true;
}

static bool
flow_50000(size_t src, size_t dst, uint16_t src_port)
{
	return src_port == 50000;
}

static void
services_that_use_a_path_are_reported_at_once_if_it_loses(void **state)
{
	struct world *w = *state;
	const struct wire_service_flow flow = { .src = w->f->plan->members[0].id,
		.dst = w->f->plan->remotes[0].id,
		.peer = { 4, { 10, 0, 0, 9 }, 0 },
		.service = "pod:a",
		.pod = "",
		.comm = "x",
		.qp_type = WIRE_QP_RC,
		.state = WIRE_SERVICE_PROBED,
		.probe_port = 50000,
		.qps = 1 };
	const struct wire_services services = { .host = w->f->plan->names[0],
		.incarnation = 1,
		.now_ns = 1,
		.tracing = true,
		.flows = &flow,
		.flow_count = 1 };
	struct wire_services_view view;
	struct wire_bytes bytes;
	int64_t began;

	assert_int_equal(wire_write_services(w->writer, &services, &bytes), 0);
	assert_int_equal(wire_open_services(&view, bytes.data, bytes.len), 0);
	service_table_take(w->services, services.host, &view, owns, NULL, w->f->now);
	dead = SIZE_MAX;
	is_served = true;
	run(w, nothing, 21 * RM_NS_PER_S);
	assert_in_range(w->reported.uses, 2, 3); /* once in each row interval */
	assert_true(w->reported.used_sent > 100);
	assert_int_equal(w->reported.used_lost, 0);
	began = w->f->now.ns - 500 * MS;
	while (w->reported.used_lost == 0) {
		probe(w, flow_50000);
		assert_true(w->f->now.ns - began < 3100 * MS);
	}
	is_served = false;
}

static void
a_dead_member_is_no_fault_of_a_path(void **state)
{
	struct world *w = *state;

	dead = SIZE_MAX;
	run(w, nothing, 8 * RM_NS_PER_S);
	dead = 2;
	for (int i = 0; i < 100; i++) {
		probe(w, nothing);
		assert_int_equal(w->reported.lost, 0);
	}
	assert_int_equal(w->f->opened, 1);
	assert_true(
	    path_rows_counts(tor_rack_path_rows(w->f->rack))->not_a_witness > 0);
}

static bool
every_other_of_member_1(size_t src, size_t dst, uint16_t src_port)
{
	static unsigned n;

	return src == 1 && ++n % 2 == 0;
}

/* Some of its probes are answered, so only the rack's judge can decide. */
static void
a_bad_member_with_some_answers_is_no_fault_of_a_path(void **state)
{
	struct world *w = *state;

	dead = SIZE_MAX;
	run(w, nothing, 8 * RM_NS_PER_S);
	mesh_dead = 1;
	run(w, every_other_of_member_1, 4 * RM_NS_PER_S);
	assert_int_equal(tor_rack_member(w->f->rack, 1).health, RM_HEALTH_BAD);
	for (int i = 0; i < 60; i++) {
		probe(w, every_other_of_member_1);
		assert_int_equal(w->reported.lost, 0);
	}
	mesh_dead = SIZE_MAX;
}

static void
a_stalled_host_is_no_fault_of_a_path(void **state)
{
	struct world *w = *state;

	dead = SIZE_MAX;
	run(w, nothing, 8 * RM_NS_PER_S);
	w->f->states[1] = HOST_STALLED;
	for (int i = 0; i < 60; i++) {
		probe(w, every_other_of_member_1);
		assert_int_equal(w->reported.lost, 0);
	}
}

static void
every_summary_has_the_state_of_the_rack(void **state)
{
	struct world *w = *state;

	dead = SIZE_MAX;
	tor_rack_brake(w->f->rack, 500);
	run(w, nothing, 12 * RM_NS_PER_S);
	assert_true(w->reported.has_state);
	assert_int_equal(w->reported.state.rnics, MEMBERS);
	assert_int_equal(w->reported.state.rnics_good, MEMBERS);
	assert_int_equal(w->reported.state.rnics_bad, 0);
	assert_int_equal(w->reported.state.hosts, MEMBERS);
	assert_int_equal(w->reported.state.hosts_ok, MEMBERS);
	assert_int_equal(w->reported.state.plan_version, 1);
	assert_int_equal(w->reported.state.brake_permille, 500);
	w->f->states[3] = HOST_PAUSED;
	dead = 2;
	run(w, nothing, 12 * RM_NS_PER_S);
	assert_int_equal(w->reported.state.rnics_bad, 1);
	assert_int_equal(w->reported.state.hosts_ok, MEMBERS - 1);
	assert_int_equal(w->reported.state.hosts_paused, 1);
	assert_int_equal(w->reported.state.incidents_open, 1);
	/* The number of healthy hosts is reported at once, not with the next rows. */
	w->f->states[1] = HOST_PAUSED;
	run(w, nothing, 3 * RM_NS_PER_S);
	assert_int_equal(w->reported.state.hosts_paused, 2);
	/* So is the number of slowed hosts, which is no evidence against a host. */
	assert_int_equal(w->reported.state.hosts_slowed, 0);
	tor_rack_slowed(w->f->rack, 3);
	run(w, nothing, 3 * RM_NS_PER_S);
	assert_int_equal(w->reported.state.hosts_slowed, 3);
	assert_int_equal(w->reported.state.incidents_open, 1);
}

static int
report(struct world *w, const struct wire_path *path, uint64_t incarnation)
{
	const struct wire_paths paths = { .host = "h0",
		.incarnation = incarnation,
		.now_ns = (uint64_t)w->f->now.ns,
		.paths = path,
		.path_count = 1 };
	struct wire_bytes bytes;

	assert_int_equal(wire_write_paths(w->writer, &paths, &bytes), 0);
	return ingest_paths(
	    &w->f->ingest, w->f->agent[0], w->f->now, bytes.data, bytes.len);
}

static void
an_agent_reports_only_its_own_paths(void **state)
{
	struct world *w = *state;
	const struct ingest_counts *counts = &w->f->ingest.counts;
	const struct path_table *table = tor_rack_paths(w->f->rack);
	struct wire_path path = { .src_guid = 0x100,
		.dst_guid = FIXTURE_REMOTE,
		.src_port = 50000,
		.src_port_num = 1,
		.dst_port_num = 1,
		.family = 4,
		.flags = WIRE_PATH_COMPLETE,
		.hop_count = 1,
		.hops = { { 10, 0, 0, 1 } } };

	assert_int_equal(report(w, &path, 7), 0);
	assert_int_equal(path_table_paths(table), 1);
	assert_string_equal(
	    path_table_text(table,
		path_table_find(table, (struct wire_rnic_id){ 0x100, 1 },
		    (struct wire_rnic_id){ FIXTURE_REMOTE, 1 }, 50000, w->f->now)),
	    "?@10.0.0.1");
	path.hops[0][3] = 2;
	path.src_guid = 0x101; /* an RNIC of another agent */
	assert_int_equal(report(w, &path, 7), 0);
	path.src_guid = 0x100;
	path.dst_guid = 0x101; /* an RNIC of the same rack */
	assert_int_equal(report(w, &path, 7), 0);
	path.dst_guid = 0xdead;
	assert_int_equal(report(w, &path, 7), 0);
	path.dst_guid = FIXTURE_REMOTE;
	path.age_ns = UINT64_MAX;
	assert_int_equal(report(w, &path, 7), 0);
	path.age_ns = 0;
	path.dscp = 64;
	assert_int_equal(report(w, &path, 7), 0);
	path.dscp = 0;
	assert_int_equal(report(w, &path, 8), -EPERM);
	assert_int_equal(counts->paths, 6);
	assert_int_equal(counts->paths_invalid, 5);
	assert_int_equal(path_table_paths(table), 1);
}

static void
paths_outlive_a_new_numbering(void **state)
{
	struct world *w = *state;
	const struct path_table *table = tor_rack_paths(w->f->rack);
	struct wire_path path = { .src_guid = 0x100,
		.dst_guid = FIXTURE_REMOTE,
		.src_port = 50000,
		.src_port_num = 1,
		.dst_port_num = 1,
		.family = 4,
		.flags = WIRE_PATH_COMPLETE,
		.hop_count = 1,
		.hops = { { 10, 0, 0, 1 } } };
	size_t flows = path_table_flows(table);

	assert_int_equal(report(w, &path, 7), 0);
	tor_rack_leave(w->f->rack, "h3");
	fixture_plan(w->f->plan, 2, 3, REMOTES);
	tor_rack_plan(w->f->rack, &w->f->plan->view, w->f->now);
	assert_int_equal(tor_rack_counts(w->f->rack)->renumbered, 1);
	assert_int_equal(path_table_flows(table), flows);
	assert_string_equal(
	    path_table_text(table,
		path_table_find(table, (struct wire_rnic_id){ 0x100, 1 },
		    (struct wire_rnic_id){ FIXTURE_REMOTE, 1 }, 50000, w->f->now)),
	    "?@10.0.0.1");
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(losses_on_a_path_are_reported_within_two_seconds),
		TEST(services_that_use_a_path_are_reported_at_once_if_it_loses),
		TEST(a_dead_member_is_no_fault_of_a_path),
		TEST(a_bad_member_with_some_answers_is_no_fault_of_a_path),
		TEST(a_stalled_host_is_no_fault_of_a_path),
		TEST(every_summary_has_the_state_of_the_rack),
		TEST(an_agent_reports_only_its_own_paths),
		TEST(paths_outlive_a_new_numbering),
	};

	return cmocka_run_group_tests_name("tor_rack_paths", tests, NULL, NULL);
}
