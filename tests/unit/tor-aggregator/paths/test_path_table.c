#include "tor-aggregator/paths/path_table.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/unit/tor-aggregator/plan_fixture.h"
#include "tor-aggregator/paths/hop_names.h"

#define S RM_NS_PER_S

struct paths {
	uint32_t qpn; /* of the member; 0: UDP */
	struct path_table *table;
	struct wire_writer *writer;
	struct wire_plan_view view;
};

static const struct wire_rnic_id src = { 0x100, 1 }, dst = { 0x9000, 1 };

static struct wire_address
v4(uint8_t a, uint8_t b, uint8_t c, uint8_t d)
{
	return (struct wire_address){ .family = 4, .bytes = { a, b, c, d } };
}

/* A plan with one member, one remote RNIC behind t2, `flow_count` flows from 50000 on,
 * and three aliases. */
static void
plan(struct paths *p, size_t flow_count, const char *spine)
{
	uint16_t flows[WIRE_MAX_FLOWS];
	struct wire_rnic member = fixture_rnic(src.guid, "h0", "t1");
	const struct wire_rnic remote = fixture_rnic(dst.guid, "x0", "t2");
	const struct wire_alias aliases[] = {
		{ "t1", v4(10, 1, 0, 1) },
		{ spine, v4(10, 2, 0, 1) },
		{ "t2", v4(10, 3, 0, 1) },
		{ "not a name", v4(10, 4, 0, 1) },
	};
	const struct wire_plan_entry entry = { .kind = WIRE_INTER_TOR,
		.interval_us = 50000,
		.flows = flows,
		.flow_count = flow_count,
		.dscps = fixture_dscps,
		.dscp_count = 1,
		.sizes = fixture_sizes,
		.size_count = 1 };
	const struct wire_plan out = { .region = "lab",
		.tor = "t1",
		.plane = "p",
		.version = 1,
		.mesh = { .peers = 10,
		    .interval_us = 100000,
		    .rotation_s = 60,
		    .flows = fixture_flows,
		    .flow_count = 2,
		    .dscps = fixture_dscps,
		    .dscp_count = 2,
		    .sizes = fixture_sizes,
		    .size_count = 1 },
		.members = &member,
		.member_count = 1,
		.remotes = &remote,
		.remote_count = 1,
		.entries = &entry,
		.entry_count = flow_count > 0,
		.aliases = aliases,
		.alias_count = 4 };
	struct wire_bytes bytes;

	member.qpn = p->qpn;
	for (size_t i = 0; i < flow_count; i++)
		flows[i] = (uint16_t)(50000 + i);
	assert_int_equal(wire_write_plan(p->writer, &out, &bytes), 0);
	assert_int_equal(wire_open_plan(&p->view, bytes.data, bytes.len), 0);
}

static int
setup(void **state)
{
	const struct path_table_options options = { "t1", 8, 4 };
	struct paths *p = calloc(1, sizeof(*p));

	*state = p;
	p->writer = wire_writer_new();
	return path_table_new(&options, &p->table);
}

static int
teardown(void **state)
{
	struct paths *p = *state;

	path_table_free(p->table);
	wire_writer_free(p->writer);
	free(p);
	return 0;
}

/* A trace over 10.1.0.1, 10.2.0.<spine>, 10.3.0.1; spine 0: that hop did not answer. */
static struct wire_path
trace(uint16_t src_port, uint8_t spine)
{
	struct wire_path path = { .src_guid = src.guid,
		.dst_guid = dst.guid,
		.src_port = src_port,
		.src_port_num = 1,
		.dst_port_num = 1,
		.family = 4,
		.flags = WIRE_PATH_COMPLETE,
		.hop_count = 3 };

	memcpy(path.hops[0], (uint8_t[]){ 10, 1, 0, 1 }, 4);
	if (spine != 0)
		memcpy(path.hops[1], (uint8_t[]){ 10, 2, 0, spine }, 4);
	memcpy(path.hops[2], (uint8_t[]){ 10, 3, 0, 1 }, 4);
	return path;
}

static int
learn(struct paths *p, const struct wire_path *path, int64_t at_s)
{
	return path_table_learn(
	    p->table, path, "t2", (rm_mono_t){ at_s * S }, (rm_mono_t){ at_s * S });
}

static const char *
text_at(const struct paths *p, uint16_t src_port, int64_t at_s)
{
	return path_table_text(p->table,
	    path_table_find(p->table, src, dst, src_port, (rm_mono_t){ at_s * S }));
}

static uint64_t
switches_at(const struct paths *p, uint16_t src_port)
{
	return path_table_switches(
	    p->table, path_table_find(p->table, src, dst, src_port, (rm_mono_t){ S }));
}

static void
paths_without_a_bit_in_common_share_no_switch(void **state)
{
	struct paths *p = *state;
	struct wire_path named = trace(50000, 1), unknown = trace(50001, 9),
			 silent = trace(50002, 0);
	uint64_t before;

	plan(p, 3, "s1");
	assert_int_equal(path_table_plan(p->table, &p->view, (rm_mono_t){ S }), 0);
	assert_true(switches_at(p, 50000) == UINT64_MAX); /* the flow is not traced */
	assert_int_equal(learn(p, &named, 1), 0);
	assert_int_equal(learn(p, &unknown, 1), 0);
	assert_int_equal(learn(p, &silent, 1), 0);
	before = switches_at(p, 50000);
	assert_int_equal(__builtin_popcountll(before), 1);
	assert_true(switches_at(p, 50001) == UINT64_MAX);
	assert_true(switches_at(p, 50002) == UINT64_MAX);
	plan(p, 3, "s2");
	assert_int_equal(path_table_plan(p->table, &p->view, (rm_mono_t){ S }), 0);
	assert_int_equal(switches_at(p, 50000) & before, 0);
}

static void
hops_get_the_names_that_the_plan_knows(void **state)
{
	struct paths *p = *state;
	struct wire_path named = trace(50000, 1), unknown = trace(50001, 9),
			 silent = trace(50002, 0);

	plan(p, 3, "s1");
	assert_int_equal(path_table_plan(p->table, &p->view, (rm_mono_t){ S }), 0);
	assert_string_equal(text_at(p, 50000, 1), "");
	assert_int_equal(learn(p, &named, 1), 0);
	assert_int_equal(learn(p, &unknown, 1), 0);
	assert_int_equal(learn(p, &silent, 1), 0);
	assert_string_equal(
	    text_at(p, 50000, 1), "t1@10.1.0.1 s1@10.2.0.1 t2@10.3.0.1");
	assert_string_equal(text_at(p, 50001, 1), "t1@10.1.0.1 ?@10.2.0.9 t2@10.3.0.1");
	assert_string_equal(text_at(p, 50002, 1), "t1@10.1.0.1 ? t2@10.3.0.1");
	assert_int_equal(path_table_counts(p->table)->unexpected, 0);
	assert_int_equal(path_table_flows(p->table), 3);
}

static void
new_aliases_rename_paths_that_are_known(void **state)
{
	struct paths *p = *state;
	struct wire_path path = trace(50000, 1);
	uint32_t before;

	plan(p, 1, "s1");
	path_table_plan(p->table, &p->view, (rm_mono_t){ S });
	learn(p, &path, 1);
	before = path_table_find(p->table, src, dst, 50000, (rm_mono_t){ S });
	plan(p, 1, "s2");
	path_table_plan(p->table, &p->view, (rm_mono_t){ 2 * S });
	assert_int_equal(
	    path_table_find(p->table, src, dst, 50000, (rm_mono_t){ S }), before);
	assert_string_equal(
	    text_at(p, 50000, 1), "t1@10.1.0.1 s2@10.2.0.1 t2@10.3.0.1");
}

static void
unplanned_flows_leave_room_for_planned_ones(void **state)
{
	struct paths *p = *state;

	/* An agent may report flows that are not planned. */
	for (uint16_t port = 1024; port < 1024 + 100; port++) {
		struct wire_path path = trace(port, 1);

		assert_int_equal(learn(p, &path, 1), port < 1024 + 4 ? 0 : -ENOSPC);
	}
	assert_int_equal(path_table_counts(p->table)->refused_flows, 96);
	plan(p, 4, "s1");
	assert_int_equal(path_table_plan(p->table, &p->view, (rm_mono_t){ S }), 0);
	assert_int_equal(path_table_counts(p->table)->refused_flows, 96);
	assert_int_equal(path_table_flows(p->table), 8);
}

static void
equal_paths_are_one(void **state)
{
	struct paths *p = *state;
	struct wire_path a = trace(50000, 1), b = trace(50001, 1);

	plan(p, 2, "s1");
	path_table_plan(p->table, &p->view, (rm_mono_t){ S });
	/* Hops after the last one are ignored. */
	memset(b.hops[5], 7, 16);
	learn(p, &a, 1);
	learn(p, &b, 1);
	assert_int_equal(path_table_paths(p->table), 1);
	assert_ptr_equal(text_at(p, 50000, 1), text_at(p, 50001, 1));
}

static void
a_probe_counts_along_the_path_of_its_time(void **state)
{
	struct paths *p = *state;
	struct wire_path first = trace(50000, 1), then = trace(50000, 2);

	plan(p, 1, "s1");
	path_table_plan(p->table, &p->view, (rm_mono_t){ S });
	learn(p, &first, 10);
	assert_string_equal(text_at(p, 50000, 5), text_at(p, 50000, 15));
	learn(p, &then, 20);
	assert_string_equal(
	    text_at(p, 50000, 19), "t1@10.1.0.1 s1@10.2.0.1 t2@10.3.0.1");
	assert_string_equal(
	    text_at(p, 50000, 20), "t1@10.1.0.1 ?@10.2.0.2 t2@10.3.0.1");
	assert_int_equal(path_table_counts(p->table)->changed, 1);
}

static bool
is_doubtful(const struct paths *p, uint16_t src_port, int64_t at_s)
{
	return path_table_at(p->table, src, dst, src_port, (rm_mono_t){ at_s * S })
	    .is_doubtful;
}

static void
before_a_trace_that_shows_another_path_it_is_in_doubt(void **state)
{
	struct paths *p = *state;
	const struct wire_path silent = trace(50000, 0), first = trace(50000, 1),
			       then = trace(50000, 2);

	plan(p, 1, "s1");
	path_table_plan(p->table, &p->view, (rm_mono_t){ S });
	assert_false(is_doubtful(p, 50000, 1));
	learn(p, &silent, 10);
	assert_false(is_doubtful(p, 50000, 5));
	/* One more hop has answered: the path may be the same. */
	learn(p, &first, 20);
	assert_false(is_doubtful(p, 50000, 19));
	learn(p, &first, 25);
	assert_false(is_doubtful(p, 50000, 24));
	learn(p, &then, 30);
	assert_true(is_doubtful(p, 50000, 29));
	assert_false(is_doubtful(p, 50000, 30));
}

static void
an_incomplete_trace_does_not_replace_a_complete_path(void **state)
{
	struct paths *p = *state;
	struct wire_path good = trace(50000, 1), cut = trace(50000, 2);

	plan(p, 1, "s1");
	path_table_plan(p->table, &p->view, (rm_mono_t){ S });
	learn(p, &good, 1);
	cut.flags = 0;
	cut.hop_count = 1;
	assert_int_equal(learn(p, &cut, 2), 0);
	assert_string_equal(
	    text_at(p, 50000, 3), "t1@10.1.0.1 s1@10.2.0.1 t2@10.3.0.1");
	assert_int_equal(path_table_counts(p->table)->incomplete, 1);
}

static void
an_incomplete_trace_is_used_if_there_is_no_path(void **state)
{
	struct paths *p = *state;
	struct wire_path cut = trace(50000, 1), good = trace(50000, 1);

	plan(p, 1, "s1");
	path_table_plan(p->table, &p->view, (rm_mono_t){ S });
	cut.flags = 0;
	cut.hop_count = 0;
	assert_int_equal(learn(p, &cut, 1), 0);
	assert_string_equal(text_at(p, 50000, 1), "");
	cut.hop_count = 2;
	assert_int_equal(learn(p, &cut, 2), 0);
	assert_string_equal(text_at(p, 50000, 2), "t1@10.1.0.1 s1@10.2.0.1 ? ?");
	cut.hop_count = WIRE_MAX_HOPS;
	assert_int_equal(learn(p, &cut, 3), 0);
	assert_string_equal(
	    text_at(p, 50000, 3), "t1@10.1.0.1 s1@10.2.0.1 t2@10.3.0.1 ? ? ? ? ?");
	learn(p, &good, 4);
	assert_string_equal(
	    text_at(p, 50000, 4), "t1@10.1.0.1 s1@10.2.0.1 t2@10.3.0.1");
	assert_int_equal(path_table_counts(p->table)->incomplete, 3);
}

static void
a_flow_of_many_paths_has_a_star(void **state)
{
	struct paths *p = *state;
	struct wire_path path = trace(50000, 1);

	path.flags = WIRE_PATH_MULTIPATH;
	assert_int_equal(learn(p, &path, 1), 0);
	assert_string_equal(text_at(p, 50000, 1), "*");
	assert_int_equal(path_table_paths(p->table), 0);
}

static void
a_path_that_does_not_end_at_the_targets_tor_is_counted(void **state)
{
	struct paths *p = *state;
	struct wire_path path = trace(50000, 1);

	plan(p, 1, "s1");
	path_table_plan(p->table, &p->view, (rm_mono_t){ S });
	path_table_learn(p->table, &path, "t9", (rm_mono_t){ S }, (rm_mono_t){ S });
	assert_int_equal(path_table_counts(p->table)->unexpected, 1);
}

static void
both_tables_are_bounded(void **state)
{
	struct paths *p = *state;
	struct wire_path path;

	plan(p, 8, "s1");
	assert_int_equal(path_table_plan(p->table, &p->view, (rm_mono_t){ S }), 0);
	for (uint16_t i = 0; i < 8; i++) {
		path = trace((uint16_t)(50000 + i), (uint8_t)(i % 4 + 1));
		assert_int_equal(learn(p, &path, 1), 0);
	}
	path = trace(50008, 1);
	assert_int_equal(learn(p, &path, 1), -ENOSPC);
	assert_int_equal(path_table_counts(p->table)->refused_flows, 1);
	path = trace(50000, 5);
	assert_int_equal(learn(p, &path, 1), -ENOSPC);
	assert_int_equal(path_table_counts(p->table)->refused_paths, 1);
	assert_int_equal(path_table_flows(p->table), 8);
	assert_int_equal(path_table_paths(p->table), 4);
}

static void
unplanned_flows_are_forgotten_after_a_while(void **state)
{
	struct paths *p = *state;
	struct wire_path kept = trace(50000, 1), gone = trace(50001, 2);
	uint32_t former;

	plan(p, 2, "s1");
	path_table_plan(p->table, &p->view, (rm_mono_t){ 1 * S });
	learn(p, &kept, 1);
	learn(p, &gone, 1);
	former = path_table_find(p->table, src, dst, 50001, (rm_mono_t){ S });
	plan(p, 1, "s1");
	path_table_plan(p->table, &p->view, (rm_mono_t){ 100 * S });
	path_table_age(p->table, (rm_mono_t){ 159 * S });
	assert_int_equal(path_table_flows(p->table), 2);
	path_table_age(p->table, (rm_mono_t){ 160 * S });
	assert_int_equal(path_table_flows(p->table), 1);
	assert_int_equal(path_table_paths(p->table), 1);
	assert_int_equal(path_table_counts(p->table)->aged, 1);
	assert_string_equal(text_at(p, 50001, 160), "");
	/* The index of the removed flow is used again. */
	gone = trace(50000, 3);
	learn(p, &gone, 170);
	assert_int_equal(
	    path_table_find(p->table, src, dst, 50000, (rm_mono_t){ 170 * S }), former);
}

static void
flows_reported_again_are_kept_even_with_incomplete_traces(void **state)
{
	struct paths *p = *state;
	struct wire_path path = trace(50001, 2);

	plan(p, 1, "s1");
	path_table_plan(p->table, &p->view, (rm_mono_t){ 1 * S });
	learn(p, &path, 1);
	learn(p, &path, 50);
	path_table_age(p->table, (rm_mono_t){ 70 * S });
	assert_int_equal(path_table_flows(p->table), 2);
	path.flags = 0; /* some hops did not answer */
	learn(p, &path, 100);
	path_table_age(p->table, (rm_mono_t){ 159 * S });
	assert_int_equal(path_table_flows(p->table), 2);
	path_table_age(p->table, (rm_mono_t){ 160 * S });
	assert_int_equal(path_table_flows(p->table), 1);
}

static void
all_flows_are_listed_once(void **state)
{
	struct paths *p = *state;
	struct wire_path path = trace(50001, 1);
	const void *at = NULL;
	struct path_flow flow;
	size_t traced = 0, count = 0;

	plan(p, 3, "s1");
	path_table_plan(p->table, &p->view, (rm_mono_t){ S });
	learn(p, &path, 1);
	while (path_table_next(p->table, &at, &flow)) {
		count++;
		traced += flow.traced;
		assert_true(flow.planned);
	}
	assert_int_equal(count, 3);
	assert_int_equal(traced, 1);
}

/* The source port of a QP is derived from its number, so any port of the pair is
 * planned. */
static void
over_roce_whatever_port_a_planned_pair_uses_is_planned(void **state)
{
	struct paths *p = *state;
	const struct wire_path traced = trace(59626, 1), other = trace(60000, 1);

	p->qpn = 17;
	plan(p, 3, "spine1");
	path_table_plan(p->table, &p->view, (rm_mono_t){ S });
	assert_int_equal(path_table_flows(p->table), 0);
	assert_int_equal(learn(p, &traced, 2), 0);
	path_table_age(p->table, (rm_mono_t){ 1000 * S });
	assert_int_equal(path_table_flows(p->table), 1);
	assert_string_equal(
	    text_at(p, 59626, 1000), "t1@10.1.0.1 spine1@10.2.0.1 t2@10.3.0.1");
	/* The pair is not planned any more: its flows expire like others. */
	plan(p, 0, "spine1");
	path_table_plan(p->table, &p->view, (rm_mono_t){ 1001 * S });
	assert_int_equal(learn(p, &other, 1002), 0);
	path_table_age(p->table, (rm_mono_t){ 1200 * S });
	assert_int_equal(path_table_flows(p->table), 0);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(paths_without_a_bit_in_common_share_no_switch),
		TEST(hops_get_the_names_that_the_plan_knows),
		TEST(new_aliases_rename_paths_that_are_known),
		TEST(unplanned_flows_leave_room_for_planned_ones),
		TEST(equal_paths_are_one),
		TEST(a_probe_counts_along_the_path_of_its_time),
		TEST(before_a_trace_that_shows_another_path_it_is_in_doubt),
		TEST(an_incomplete_trace_does_not_replace_a_complete_path),
		TEST(an_incomplete_trace_is_used_if_there_is_no_path),
		TEST(a_flow_of_many_paths_has_a_star),
		TEST(a_path_that_does_not_end_at_the_targets_tor_is_counted),
		TEST(both_tables_are_bounded),
		TEST(unplanned_flows_are_forgotten_after_a_while),
		TEST(flows_reported_again_are_kept_even_with_incomplete_traces),
		TEST(all_flows_are_listed_once),
		TEST(over_roce_whatever_port_a_planned_pair_uses_is_planned),
	};

	return cmocka_run_group_tests_name("path_table", tests, NULL, NULL);
}
