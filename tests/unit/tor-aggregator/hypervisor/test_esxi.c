/* Against answers with the format of esxcli and vsish. */
#include "tor-aggregator/hypervisor/esxi.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tor-aggregator/hypervisor/hypervisor_nics.h"

#define ABSENT UINT64_MAX

static const char tables[] =
    "@rackmesh list\n"
    "Name    PCI Device    Driver      Admin Status  Link Status  Speed   Duplex  MAC "
    "Address         MTU  Description\n"
    "------  ------------  ----------  ------------  -----------  ------  ------  "
    "-----------------  ----  -----------\n"
    "vmnic0  0000:02:00.0  ixgben      Up            Down              0  Half    "
    "02:00:5e:00:00:01  1500  Intel Corporation 82599\n"
    "vmnic5  0000:82:00.1  nmlx5_core  Up            Up           100000  Full    "
    "02:00:5e:00:00:06  9000  Mellanox Technologies MT27800 Family [ConnectX-5]\n"
    "@rackmesh pause\n"
    "NIC     Pause Params Supported  Pause RX  Pause TX  Auto Negotiation  Auto "
    "Negotiation Resolution Avail\n"
    "------  ----------------------  --------  --------  ----------------  "
    "---------------------------------\n"
    "vmnic0                    true     false     false              true              "
    "                 false\n"
    "vmnic5                    true      true      true             false              "
    "                 false\n";

static const char vsish[] = "@rackmesh vsish vmnic5\n"
			    "device {\n"
			    "   -- General Statistics:\n"
			    "   Rx Packets:308907037\n"
			    "   Rx Bytes:1000\n"
			    "   Rx Missed Errors:15948\n"
			    "   Rx CRC Errors:3\n"
			    "   -- Driver Specific Statistics:\n"
			    "   rx_bytes : 236362104265\n"
			    "   Rx Packets: 9\n"
			    "   rxPauseCtrlPhy: 4004\n"
			    "   txPauseCtrlPhy : 7\n"
			    "   rx_global_pause: 4000\n"
			    "   rx_global_pause_duration: 812345\n"
			    "   rx_global_pause_transition: 2000\n"
			    "   rx_prio3_pause: 41\n"
			    "   tx_prio3_pause : 5\n"
			    "   rx_prio30_pause: 99\n"
			    "   txPauseStormWarningEvents: 1\n"
			    "   txPauseStormErrorEvents:0\n"
			    "}\n";

static const char esxcli[] = "@rackmesh stats vmnic5\n"
			     "NIC statistics for vmnic5\n"
			     "   Packets received: 1\n"
			     "   Receive CRC errors: 8\n"
			     "   Receive FIFO errors: 748049\n"
			     "@rackmesh dcb vmnic5\n"
			     "   Nic Name: vmnic5\n"
			     "   Mode: CEE Mode\n"
			     "   Enabled: true\n"
			     "   PFC Enabled: false\n"
			     "   PFC Configuration: 0 0 0 1 0 0 0 0\n"
			     "   Sent PFC Frames: 0 0 0 77 0 0 0 0\n"
			     "   Received PFC Frames: 0 1 2 88 4 5 6 7\n";

static const char end[] = "@rackmesh end\n";
/* Shows that vsish has run, whatever it printed. */
#define VSISH_RAN "@rackmesh vsish vmnic5\n"

struct world {
	struct hypervisor_nics *nics;
	struct hypervisor_nics_counts counts;
	struct rm_error error;
};

static int
setup(void **state)
{
	static struct world w;

	w = (struct world){ .nics = hypervisor_nics_new() };
	*state = &w;
	return w.nics == NULL ? -1 : 0;
}

static int
teardown(void **state)
{
	struct world *w = *state;

	hypervisor_nics_free(w->nics);
	return 0;
}

/* Feeds the answer in pieces that end within lines. */
static int
read_answer(struct world *w, const char *const parts[])
{
	struct esxi *esxi = esxi_new(w->nics, &w->counts);
	int r = 0;

	assert_non_null(esxi);
	for (; *parts != NULL; parts++)
		for (const char *at = *parts; r == 0 && *at != '\0';) {
			const size_t len = strnlen(at, 7);

			r = esxi_feed(esxi, at, len);
			at += len;
		}
	if (r == 0)
		r = esxi_end(esxi, &w->error);
	esxi_free(esxi);
	return r;
}

#define READ(w, ...) read_answer((w), (const char *const[]){ __VA_ARGS__, NULL })

static const struct hypervisor_nic *
nic_of(const struct world *w, const char *name)
{
	for (size_t i = 0; i < hypervisor_nics_count(w->nics); i++)
		if (strcmp(hypervisor_nics_get(w->nics, i)->name, name) == 0)
			return hypervisor_nics_get(w->nics, i);
	fail_msg("no %s", name);
	return NULL;
}

static uint64_t
value(const struct world *w, const char *nic, const char *name, unsigned priority)
{
	const struct counter_state *state =
	    &nic_of(w, nic)->states[hypervisor_value_of(name) + priority];

	return state->there ? state->total : ABSENT;
}

static void
the_tables_report_state_and_settings_of_each_nic(void **state)
{
	struct world *w = *state;

	assert_int_equal(READ(w, tables, VSISH_RAN, end), 0);
	assert_int_equal(hypervisor_nics_seen(w->nics), 2);
	assert_string_equal(nic_of(w, "vmnic5")->driver, "nmlx5_core");
	assert_int_equal(value(w, "vmnic0", "link_up", 0), 0);
	assert_int_equal(value(w, "vmnic5", "link_up", 0), 1);
	assert_int_equal(value(w, "vmnic5", "admin_up", 0), 1);
	assert_int_equal(value(w, "vmnic5", "speed_mbps", 0), 100000);
	assert_int_equal(value(w, "vmnic5", "mtu_bytes", 0), 9000);
	assert_int_equal(value(w, "vmnic5", "gpause_rx_on", 0), 1);
	assert_int_equal(value(w, "vmnic0", "gpause_tx_on", 0), 0);
	assert_int_equal(w->counts.parse_errors, 0);
}

static void
names_are_read_with_and_without_spaces_at_the_colon(void **state)
{
	struct world *w = *state;

	assert_int_equal(READ(w, tables, vsish, end), 0);
	assert_int_equal(value(w, "vmnic5", "netdev_rx_missed", 0), 15948);
	assert_int_equal(value(w, "vmnic5", "pause_ctrl_rx_frames", 0), 4004);
	assert_int_equal(value(w, "vmnic5", "pause_ctrl_tx_frames", 0), 7);
	assert_int_equal(value(w, "vmnic5", "gpause_rx_frames", 0), 4000);
	assert_int_equal(value(w, "vmnic5", "gpause_rx_us", 0), 812345);
	assert_int_equal(value(w, "vmnic5", "gpause_rx_transitions", 0), 2000);
	assert_int_equal(value(w, "vmnic5", "pfc_tx_frames", 3), 5);
	assert_int_equal(value(w, "vmnic5", "pause_storm_warn", 0), 1);
	assert_int_equal(value(w, "vmnic5", "pause_storm_err", 0), 0);
}

static void
a_value_that_is_not_printed_is_missing_and_not_zero(void **state)
{
	struct world *w = *state;

	assert_int_equal(READ(w, tables, vsish, end), 0);
	assert_true(value(w, "vmnic5", "gpause_tx_frames", 0) == ABSENT);
	assert_true(value(w, "vmnic5", "pfc_rx_frames", 0) == ABSENT);
	assert_true(value(w, "vmnic0", "gpause_rx_frames", 0) == ABSENT);
}

static void
a_name_counts_only_in_the_section_that_it_belongs_to(void **state)
{
	struct world *w = *state;

	assert_int_equal(READ(w, tables, vsish, end), 0);
	assert_int_equal(value(w, "vmnic5", "netdev_rx_pkts", 0), 308907037);
	assert_int_equal(value(w, "vmnic5", "netdev_rx_bytes", 0), 1000);
}

static void
the_first_source_of_a_row_counts_in_any_order(void **state)
{
	struct world *w = *state;

	assert_int_equal(READ(w, tables, esxcli, vsish, end), 0);
	assert_int_equal(value(w, "vmnic5", "crc_err", 0), 3);
	assert_int_equal(value(w, "vmnic5", "pfc_rx_frames", 3), 41);
	assert_int_equal(value(w, "vmnic5", "pfc_rx_frames", 7), 7);
	assert_int_equal(value(w, "vmnic5", "netdev_rx_fifo", 0), 748049);
}

static void
dcb_reports_pfc_by_priority(void **state)
{
	struct world *w = *state;

	assert_int_equal(READ(w, tables, esxcli, VSISH_RAN, end), 0);
	assert_int_equal(value(w, "vmnic5", "pfc_on", 0), 0);
	assert_int_equal(value(w, "vmnic5", "dcb_ieee", 0), 0);
	assert_int_equal(value(w, "vmnic5", "pfc_enabled", 3), 1);
	assert_int_equal(value(w, "vmnic5", "pfc_enabled", 4), 0);
	assert_int_equal(value(w, "vmnic5", "pfc_tx_frames", 3), 77);
	assert_int_equal(value(w, "vmnic5", "pfc_rx_frames", 3), 88);
	assert_int_equal(w->counts.parse_errors, 0);
}

static void
a_second_reading_counts_what_came_between(void **state)
{
	struct world *w = *state;
	static const char next[] = "@rackmesh vsish vmnic5\n-- Driver Specific "
				   "Statistics:\nrx_global_pause: 4600\n";
	const struct counter_state *pause;

	assert_int_equal(READ(w, tables, vsish, end), 0);
	assert_int_equal(READ(w, tables, next, end), 0);
	pause = &nic_of(w, "vmnic5")->states[hypervisor_value_of("gpause_rx_frames")];
	assert_int_equal(pause->delta, 600);
	assert_int_equal(w->counts.resets, 0);
	assert_int_equal(
	    READ(w, "@rackmesh vsish vmnic5\n-- Driver Specific Statistics:\n",
		"rx_global_pause: 10\n", end),
	    0);
	assert_int_equal(pause->delta, 10);
	assert_int_equal(pause->total, 4610);
	assert_int_equal(w->counts.resets, 1);
}

static void
an_answer_that_is_cut_short_does_not_count(void **state)
{
	struct world *w = *state;

	assert_int_equal(READ(w, tables, vsish), -EPROTO);
	assert_non_null(strstr(w->error.text, "ends too early"));
	assert_false(nic_of(w, "vmnic5")->there);
	assert_true(value(w, "vmnic5", "gpause_rx_frames", 0) == ABSENT);
}

static void
nics_of_an_answer_that_was_cut_short_take_no_room(void **state)
{
	struct world *w = *state;
	char junk[64 * 32] = "";

	for (int i = 0; i < HYPERVISOR_MAX_NICS; i++)
		snprintf(junk + strlen(junk), sizeof(junk) - strlen(junk),
		    "@rackmesh vsish junk%d\n", i);
	assert_int_equal(READ(w, junk), -EPROTO);
	assert_int_equal(READ(w, tables, vsish, end), 0);
	assert_true(nic_of(w, "vmnic5")->there);
}

static void
a_host_without_output_of_vsish_is_not_read(void **state)
{
	struct world *w = *state;

	assert_int_equal(READ(w, tables, end), -EPROTO);
	assert_non_null(strstr(w->error.text, "vsish reports no vmnic"));
}

static void
errors_without_end_are_refused(void **state)
{
	struct world *w = *state;
	struct esxi *esxi = esxi_new(w->nics, &w->counts);
	static const char line[] = "vsish: not permitted\n";
	int r = 0;

	for (size_t len = 0; r == 0 && len <= 2 * ESXI_MAX_BYTES; len += strlen(line))
		r = esxi_feed_error(esxi, line, strlen(line));
	assert_int_equal(r, -EMSGSIZE);
	esxi_free(esxi);
}

static void
a_host_without_esxcli_is_reported_as_such(void **state)
{
	struct world *w = *state;
	struct esxi *esxi = esxi_new(w->nics, &w->counts);
	static const char error[] = "sh: \"esxcli\": not found\n\x1b[31m";

	esxi_feed_error(esxi, error, strlen(error));
	assert_int_equal(esxi_feed(esxi, end, strlen(end)), 0);
	assert_int_equal(esxi_end(esxi, &w->error), -EPROTO);
	assert_non_null(strstr(w->error.text, "sh: esxcli: not found"));
	assert_null(strchr(w->error.text, '\x1b'));
	esxi_free(esxi);
}

static void
values_that_make_no_sense_are_counted_and_hide_no_other(void **state)
{
	struct world *w = *state;

	assert_int_equal(READ(w, tables,
			     "@rackmesh vsish vmnic5\n-- Driver Specific Statistics:\n"
			     "rx_global_pause: -1\n"
			     "tx_global_pause: 99999999999999999999999\n"
			     "rx_prio3_pause: N/A\n"
			     "rx_prio4_pause: 12\n"
			     "@rackmesh dcb vmn\"ic5\nPFC Enabled: true\n"
			     "@rackmesh dcb vmnic5\nPFC Configuration: 0 x 1\n",
			     end),
	    0);
	assert_int_equal(w->counts.parse_errors, 4);
	assert_true(value(w, "vmnic5", "gpause_rx_frames", 0) == ABSENT);
	assert_true(value(w, "vmnic5", "pfc_rx_frames", 3) == ABSENT);
	assert_int_equal(value(w, "vmnic5", "pfc_rx_frames", 4), 12);
	assert_int_equal(value(w, "vmnic5", "pfc_enabled", 2), 1);
	assert_true(value(w, "vmnic5", "pfc_on", 0) == ABSENT);
}

static void
output_without_end_is_refused(void **state)
{
	struct world *w = *state;
	struct esxi *esxi = esxi_new(w->nics, &w->counts);
	static char noise[65536];
	size_t fed = 0;
	int r;

	memset(noise, 'x', sizeof(noise));
	do {
		r = esxi_feed(esxi, noise, sizeof(noise));
		fed += sizeof(noise);
	} while (r == 0 && fed < 2 * ESXI_MAX_BYTES);
	assert_int_equal(r, -EMSGSIZE);
	esxi_free(esxi);
}

static void
nics_beyond_the_limit_are_refused_and_those_gone_make_room(void **state)
{
	struct world *w = *state;
	char many[8192] = "@rackmesh list\nName  MTU\n";

	for (int i = 0; i < HYPERVISOR_MAX_NICS + 3; i++)
		snprintf(many + strlen(many), sizeof(many) - strlen(many),
		    "vmnic%d  1500\n", i);
	assert_int_equal(READ(w, many, VSISH_RAN, end), 0);
	assert_int_equal(hypervisor_nics_count(w->nics), HYPERVISOR_MAX_NICS);
	assert_int_equal(w->counts.refused, 3);
	assert_string_equal(hypervisor_nics_get(w->nics, 10)->name, "vmnic10");
	for (int i = 0; i <= HYPERVISOR_AWAY_READINGS; i++)
		assert_int_equal(READ(w, "@rackmesh list\nName  MTU\nvmnic3  1500\n",
				     "@rackmesh vsish vmnic3\n", end),
		    0);
	assert_int_equal(hypervisor_nics_count(w->nics), 1);
	assert_string_equal(hypervisor_nics_get(w->nics, 0)->name, "vmnic3");
}

static void
every_row_has_a_name_a_metric_and_a_source_of_its_own(void **state)
{
	for (const struct hypervisor_row *row = hypervisor_rows; row->name != NULL;
	     row++)
		for (const struct hypervisor_row *other = hypervisor_rows; other != row;
		     other++) {
			assert_string_not_equal(row->name, other->name);
			assert_string_not_equal(row->metric, other->metric);
			assert_string_not_equal(row->source, other->source);
		}
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_tables_report_state_and_settings_of_each_nic),
		TEST(names_are_read_with_and_without_spaces_at_the_colon),
		TEST(a_value_that_is_not_printed_is_missing_and_not_zero),
		TEST(a_name_counts_only_in_the_section_that_it_belongs_to),
		TEST(the_first_source_of_a_row_counts_in_any_order),
		TEST(dcb_reports_pfc_by_priority),
		TEST(a_second_reading_counts_what_came_between),
		TEST(an_answer_that_is_cut_short_does_not_count),
		TEST(nics_of_an_answer_that_was_cut_short_take_no_room),
		TEST(a_host_without_output_of_vsish_is_not_read),
		TEST(errors_without_end_are_refused),
		TEST(a_host_without_esxcli_is_reported_as_such),
		TEST(values_that_make_no_sense_are_counted_and_hide_no_other),
		TEST(output_without_end_is_refused),
		TEST(nics_beyond_the_limit_are_refused_and_those_gone_make_room),
		TEST(every_row_has_a_name_a_metric_and_a_source_of_its_own),
	};

	return cmocka_run_group_tests_name("esxi", tests, NULL, NULL);
}
