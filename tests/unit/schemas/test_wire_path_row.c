#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "forge.h"
#include "schemas/wire.h"
#include "tests/support/wire_walk.h"
#include "wire_case.h"

static const struct wire_path_row rows[] = {
	{
	    .dst_tor = "tor-2",
	    .path = "spine-1@10.9.0.1 ?@10.9.0.2 ?",
	    .dscp = 26,
	    .sent = 601,
	    .lost_forward = 602,
	    .lost_reverse = 603,
	    .lost_unknown = 604,
	    .flows = 605,
	    .flows_dead = 606,
	    .samples = "h1/r0>h9/r0:49153 h1/r0>h9/r0:49154",
	},
	{ .dst_tor = "tor-3", .path = "", .samples = "" },
};

static const struct wire_summary summary = {
	.head = { "aggregator-1", "eu-1", 611, 612 },
	.tor = "tor-1",
	.end_wall_ns = 613,
	.paths_start_wall_ns = 614,
	.paths = rows,
	.path_count = 2,
	.has_state = true,
	.state = { .rnics = 621,
	    .rnics_good = 622,
	    .rnics_bad = 623,
	    .hosts = 624,
	    .hosts_ok = 625,
	    .incidents_open = 626,
	    .plan_version = 0x3132333435363738,
	    .brake_permille = 250 },
};

static int
write_summary(struct wire_writer *writer, struct wire_bytes *out)
{
	return wire_write_summary(writer, &summary, out);
}

static void
expect_state(const struct wire_rack_state *got)
{
	assert_int_equal(got->rnics, 621);
	assert_int_equal(got->rnics_good, 622);
	assert_int_equal(got->rnics_bad, 623);
	assert_int_equal(got->hosts, 624);
	assert_int_equal(got->hosts_ok, 625);
	assert_int_equal(got->incidents_open, 626);
	assert_int_equal(got->plan_version, 0x3132333435363738);
	assert_int_equal(got->brake_permille, 250);
}

static void
expect_summary(const uint8_t *data, size_t len)
{
	struct wire_summary_view view;
	struct wire_path_row row;

	assert_int_equal(wire_open_summary(&view, data, len), 0);
	assert_string_equal(view.summary.tor, "tor-1");
	assert_int_equal(view.summary.end_wall_ns, 613);
	assert_int_equal(view.summary.paths_start_wall_ns, 614);
	assert_null(view.summary.paths);
	assert_int_equal(view.summary.path_count, 2);
	for (size_t i = 0; i < 2; i++) {
		wire_summary_path(&view, i, &row);
		assert_string_equal(row.dst_tor, rows[i].dst_tor);
		assert_string_equal(row.path, rows[i].path);
		assert_int_equal(row.dscp, rows[i].dscp);
		assert_int_equal(row.sent, rows[i].sent);
		assert_int_equal(row.lost_forward, rows[i].lost_forward);
		assert_int_equal(row.lost_reverse, rows[i].lost_reverse);
		assert_int_equal(row.lost_unknown, rows[i].lost_unknown);
		assert_int_equal(row.flows, rows[i].flows);
		assert_int_equal(row.flows_dead, rows[i].flows_dead);
		assert_int_equal(row.flows_partial, rows[i].flows_partial);
		assert_int_equal(row.flows_silent, rows[i].flows_silent);
		assert_string_equal(row.samples, rows[i].samples);
	}
	assert_true(view.summary.has_state);
	expect_state(&view.summary.state);
}

static int
write_with_end(struct wire_writer *writer, struct wire_bytes *out)
{
	struct wire_summary reported = summary;

	reported.end_ns = 615;
	return wire_write_summary(writer, &reported, out);
}

static void
expect_end(const uint8_t *data, size_t len)
{
	struct wire_summary_view view;

	expect_summary(data, len);
	assert_int_equal(wire_open_summary(&view, data, len), 0);
	assert_int_equal(view.summary.end_ns, 615);
}

static int
write_with_marks(struct wire_writer *writer, struct wire_bytes *out)
{
	struct wire_path_row marked[2] = { rows[0], rows[1] };
	struct wire_summary reported = summary;

	marked[0].arrived = 616;
	marked[0].rewritten = 617;
	marked[0].congested = 618;
	marked[0].not_ect = 619;
	reported.paths = marked;
	return wire_write_summary(writer, &reported, out);
}

static void
expect_marks(const uint8_t *data, size_t len)
{
	struct wire_summary_view view;
	struct wire_path_row row;

	expect_summary(data, len);
	assert_int_equal(wire_open_summary(&view, data, len), 0);
	wire_summary_path(&view, 0, &row);
	assert_int_equal(row.arrived, 616);
	assert_int_equal(row.rewritten, 617);
	assert_int_equal(row.congested, 618);
	assert_int_equal(row.not_ect, 619);
	wire_summary_path(&view, 1, &row);
	assert_int_equal(row.arrived, 0);
}

/* Fields of the forged tables. */
enum { SUMMARY_HEAD, SUMMARY_PATHS = 14, SUMMARY_STATE, SUMMARY_FIELDS };

static int
open_with(size_t paths, bool state, struct wire_summary_view *view, struct forge *forge)
{
	size_t root, vector;

	forge_init(forge, "RMS1", 1 << 20);
	root = forge_table(forge, SUMMARY_FIELDS);
	vector = forge_vector(forge, paths, 4, 4);
	forge_refer(forge, root, SUMMARY_PATHS, vector);
	forge_refer(forge, root, SUMMARY_HEAD, forge_table(forge, 4));
	forge_refer_all(forge, vector, paths, forge_table(forge, 10));
	if (state)
		forge_refer(forge, root, SUMMARY_STATE, forge_table(forge, 8));
	forge_finish(forge);
	return wire_open_summary(view, forge->data, forge->len);
}

static void
more_paths_than_the_limit_are_refused(void **state)
{
	struct wire_summary_view view;
	struct forge forge;

	assert_int_equal(open_with(WIRE_MAX_ROWS, false, &view, &forge), 0);
	assert_int_equal(wire_walk(WIRE_SUMMARY, forge.data, forge.len), 0);
	forge_clear(&forge);
	assert_int_equal(open_with(WIRE_MAX_ROWS + 1, false, &view, &forge), -EMSGSIZE);
	forge_clear(&forge);
}

static void
the_number_of_paused_hosts_is_written(void **state)
{
	struct wire_summary reported = summary;
	struct wire_writer *writer;
	struct wire_summary_view view;
	struct wire_bytes bytes;

	reported.state.hosts_paused = 627;
	reported.state.hosts_slowed = 628;
	reported.state.rnics_counting = 629;
	reported.state.rdma_sent = 630;
	reported.state.rdma_received = 631;
	reported.state.cnps_sent = 632;
	reported.state.cnps_received = 633;
	reported.state.rnics_packets_only = 634;
	reported.state.packets_only_sent = 635;
	reported.uncounted = "h1/mlx5_0, h2/mlx5_1";
	writer = wire_writer_new();
	assert_non_null(writer);
	assert_int_equal(wire_write_summary(writer, &reported, &bytes), 0);
	assert_int_equal(wire_open_summary(&view, bytes.data, bytes.len), 0);
	assert_int_equal(view.summary.state.hosts_paused, 627);
	assert_int_equal(view.summary.state.hosts_slowed, 628);
	assert_int_equal(view.summary.state.rnics_counting, 629);
	assert_int_equal(view.summary.state.rdma_sent, 630);
	assert_int_equal(view.summary.state.rdma_received, 631);
	assert_int_equal(view.summary.state.cnps_sent, 632);
	assert_int_equal(view.summary.state.cnps_received, 633);
	assert_int_equal(view.summary.state.rnics_packets_only, 634);
	assert_int_equal(view.summary.state.packets_only_sent, 635);
	assert_string_equal(view.summary.uncounted, "h1/mlx5_0, h2/mlx5_1");
	expect_state(&view.summary.state);
	wire_writer_free(writer);
}

static void
flows_with_losses_and_late_replies_are_reported(void **state)
{
	struct wire_path_row row = rows[0];
	struct wire_summary reported = summary;
	struct wire_summary_view view;
	struct wire_writer *writer = wire_writer_new();
	struct wire_bytes bytes;

	row.flows_partial = 607;
	row.flows_silent = 608;
	row.timed = 609;
	row.slow = 610;
	row.overdue = 611;
	row.slow_ns = 612;
	row.large_sent = 613;
	row.large_lost = 614;
	row.large_bytes = 615;
	reported.paths = &row;
	reported.path_count = 1;
	assert_non_null(writer);
	assert_int_equal(wire_write_summary(writer, &reported, &bytes), 0);
	assert_int_equal(wire_open_summary(&view, bytes.data, bytes.len), 0);
	wire_summary_path(&view, 0, &row);
	assert_int_equal(row.flows_partial, 607);
	assert_int_equal(row.flows_silent, 608);
	assert_int_equal(row.timed, 609);
	assert_int_equal(row.slow, 610);
	assert_int_equal(row.overdue, 611);
	assert_int_equal(row.slow_ns, 612);
	assert_int_equal(row.large_sent, 613);
	assert_int_equal(row.large_lost, 614);
	assert_int_equal(row.large_bytes, 615);
	wire_writer_free(writer);
}

static void
rows_of_probes_inside_the_rack_are_reported(void **state)
{
	struct wire_path_row row = { .dst_tor = "",
		.path = "",
		.samples = "",
		.dscp = 26,
		.sent = 616,
		.lost_unknown = 61,
		.flows = 12,
		.flows_partial = 7 };
	struct wire_path_row many[WIRE_MAX_INSIDE_ROWS + 1];
	struct wire_summary reported = summary;
	struct wire_summary_view view;
	struct wire_writer *writer = wire_writer_new();
	struct wire_bytes bytes;

	reported.inside = &row;
	reported.inside_count = 1;
	assert_non_null(writer);
	assert_int_equal(wire_write_summary(writer, &reported, &bytes), 0);
	assert_int_equal(wire_open_summary(&view, bytes.data, bytes.len), 0);
	assert_int_equal(view.summary.inside_count, 1);
	assert_int_equal(wire_walk(WIRE_SUMMARY, bytes.data, bytes.len), 0);
	wire_summary_inside(&view, 0, &row);
	assert_int_equal(row.dscp, 26);
	assert_int_equal(row.sent, 616);
	assert_int_equal(row.lost_unknown, 61);
	assert_int_equal(row.flows, 12);
	assert_int_equal(row.flows_partial, 7);
	for (size_t i = 0; i <= WIRE_MAX_INSIDE_ROWS; i++)
		many[i] = rows[0];
	reported.inside = many;
	reported.inside_count = WIRE_MAX_INSIDE_ROWS + 1;
	assert_int_equal(wire_write_summary(writer, &reported, &bytes), -EMSGSIZE);
	wire_writer_free(writer);
}

static void
a_message_without_a_brake_has_none(void **state)
{
	struct wire_summary_view view;
	struct forge forge;

	assert_int_equal(open_with(1, true, &view, &forge), 0);
	assert_true(view.summary.has_state);
	assert_int_equal(view.summary.state.rnics, 0);
	assert_int_equal(view.summary.state.brake_permille, 1000);
	forge_clear(&forge);
	assert_int_equal(open_with(1, false, &view, &forge), 0);
	assert_false(view.summary.has_state);
	forge_clear(&forge);
}

static void
a_state_is_only_written_if_there_is_one(void **state)
{
	struct wire_writer *writer = wire_writer_new();
	struct wire_summary silent = summary;
	struct wire_summary_view view;
	struct wire_bytes out;

	silent.has_state = false;
	silent.path_count = 0;
	assert_int_equal(wire_write_summary(writer, &silent, &out), 0);
	assert_int_equal(wire_open_summary(&view, out.data, out.len), 0);
	assert_false(view.summary.has_state);
	assert_int_equal(view.summary.path_count, 0);
	silent.path_count = WIRE_MAX_ROWS + 1;
	assert_int_equal(wire_write_summary(writer, &silent, &out), -EMSGSIZE);
	wire_writer_free(writer);
}

int
main(int argc, char **argv)
{
	const struct wire_case cases[] = {
		{ WIRE_SUMMARY, "summary_paths", write_summary, expect_summary },
		{ WIRE_SUMMARY, "summary_end", write_with_end, expect_end },
		{ WIRE_SUMMARY, "summary_path_marks", write_with_marks, expect_marks },
	};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(more_paths_than_the_limit_are_refused),
		cmocka_unit_test(the_number_of_paused_hosts_is_written),
		cmocka_unit_test(flows_with_losses_and_late_replies_are_reported),
		cmocka_unit_test(rows_of_probes_inside_the_rack_are_reported),
		cmocka_unit_test(a_message_without_a_brake_has_none),
		cmocka_unit_test(a_state_is_only_written_if_there_is_one),
	};

	return wire_case_main(
	    cases, 3, tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
