#include "tor-aggregator/hypervisor/hypervisor_findings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tor-aggregator/hypervisor/hypervisor_nics.h"

#define TEN_SECONDS INT64_C(10000000000)

struct world {
	struct hypervisor_nics *nics;
	struct hypervisor_nics_counts counts;
	char texts[HYPERVISOR_FINDINGS][FINDING_BYTES];
};

struct value {
	enum hypervisor_place place;
	const char *name, *text;
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

static void
read_nic(struct world *w, const struct value values[])
{
	struct hypervisor_nic *nic;

	hypervisor_nics_begin(w->nics);
	nic = hypervisor_nics_report(w->nics, "vmnic5", &w->counts);
	for (; values->name != NULL; values++)
		hypervisor_nic_take(
		    nic, values->place, values->name, values->text, &w->counts);
	hypervisor_nics_close(w->nics, &w->counts);
}

#define READ(w, ...) read_nic((w), (const struct value[]){ __VA_ARGS__, { 0 } })

/* Asserts that only this finding holds. Returns its sentence. */
static const char *
only(struct world *w, enum hypervisor_finding finding)
{
	assert_int_equal(hypervisor_findings_report(
			     hypervisor_nics_get(w->nics, 0), TEN_SECONDS, w->texts),
	    1);
	assert_string_not_equal(w->texts[finding], "");
	return w->texts[finding];
}

static size_t
count(struct world *w, int64_t interval_ns)
{
	return hypervisor_findings_report(
	    hypervisor_nics_get(w->nics, 0), interval_ns, w->texts);
}

static void
global_pause_frames_are_reported_from_pfc(void **state)
{
	struct world *w = *state;
	const char *texts;

	READ(w, { 'd', "rx_global_pause", "1000" },
	    { 'd', "rx_global_pause_transition", "500" },
	    { 'd', "rx_global_pause_duration", "0" }, { 'q', "PFC Enabled", "false" });
	READ(w, { 'd', "rx_global_pause", "1200" },
	    { 'd', "rx_global_pause_transition", "600" },
	    { 'd', "rx_global_pause_duration", "300000" },
	    { 'q', "PFC Enabled", "false" });
	texts = only(w, FINDING_GLOBAL_PAUSE_USED);
	assert_non_null(strstr(texts, "received 200"));
	assert_non_null(strstr(texts, "100 times, for 3.0 %"));
	assert_non_null(strstr(texts, "PFC is off"));
}

static void
missing_counters_of_global_pause_give_no_finding(void **state)
{
	struct world *w = *state;
	const char *texts;

	READ(w, { 'd', "rx_global_pause", "1000" });
	READ(w, { 'd', "rx_global_pause", "1200" });
	texts = only(w, FINDING_GLOBAL_PAUSE_USED);
	assert_non_null(strstr(texts, "received 200"));
	assert_null(strstr(texts, "stopped it"));
}

static void
a_counter_that_went_back_is_no_storm(void **state)
{
	struct world *w = *state;

	READ(w, { 'd', "tx_prio3_pause_duration", "3600000000" });
	READ(w, { 'd', "tx_prio3_pause_duration", "3599999999" });
	assert_int_equal(count(w, TEN_SECONDS), 0);
}

static void
pfc_frames_are_no_global_pause(void **state)
{
	struct world *w = *state;

	/* The total of all pause frames grows by PFC frames as well. */
	READ(w, { 'd', "rxPauseCtrlPhy", "1000" }, { 'd', "rx_prio3_pause", "1000" },
	    { 'd', "rx_global_pause", "0" }, { 'q', "PFC Enabled", "true" });
	READ(w, { 'd', "rxPauseCtrlPhy", "9000" }, { 'd', "rx_prio3_pause", "9000" },
	    { 'd', "rx_global_pause", "0" }, { 'q', "PFC Enabled", "true" });
	assert_int_equal(count(w, TEN_SECONDS), 0);
}

static void
global_pause_set_without_pfc_is_reported_at_the_first_reading(void **state)
{
	struct world *w = *state;

	READ(w, { 'p', "Pause RX", "true" }, { 'p', "Pause TX", "false" },
	    { 'q', "PFC Enabled", "false" });
	assert_int_equal(count(w, 0), 1);
	assert_non_null(strstr(w->texts[FINDING_GLOBAL_PAUSE_ON], "(receive)"));
	READ(w, { 'p', "Pause RX", "true" }, { 'p', "Pause TX", "false" },
	    { 'q', "PFC Enabled", "true" });
	assert_int_equal(count(w, TEN_SECONDS), 0);
	/* Whether PFC is on is unknown, so nothing is reported. */
	READ(w, { 'p', "Pause RX", "true" });
	assert_int_equal(count(w, TEN_SECONDS), 0);
}

static void
a_storm_warning_names_the_host_as_its_source(void **state)
{
	struct world *w = *state;

	READ(w, { 'd', "txPauseStormWarningEvents", "4" });
	assert_int_equal(count(w, TEN_SECONDS), 0); /* from before the first reading */
	READ(w, { 'd', "txPauseStormWarningEvents", "6" });
	assert_non_null(strstr(
	    only(w, FINDING_PAUSE_STORM), "2 storm warnings of its NIC in 10 s"));
}

static void
a_vmnic_that_pauses_its_switch_most_of_the_time_storms(void **state)
{
	struct world *w = *state;

	READ(w, { 'd', "tx_prio3_pause_duration", "0" });
	READ(w, { 'd', "tx_prio3_pause_duration", "4900000" });
	assert_int_equal(count(w, TEN_SECONDS), 0);
	READ(w, { 'd', "tx_prio3_pause_duration", "10900000" });
	assert_non_null(
	    strstr(only(w, FINDING_PAUSE_STORM), "60 % of the time (PFC, priority 3)"));
}

static void
a_paused_vmnic_is_no_source(void **state)
{
	struct world *w = *state;

	READ(w, { 'd', "rx_prio3_pause_duration", "0" });
	READ(w, { 'd', "rx_prio3_pause_duration", "7000000" });
	assert_non_null(strstr(only(w, FINDING_PAUSED), "behind the switch"));
	READ(w, { 'd', "rx_prio3_pause_duration", "8000000" });
	assert_non_null(strstr(only(w, FINDING_PFC_STEADY), "10.0 %"));
}

static void
changes_are_used_only_if_the_time_is_not_counted(void **state)
{
	struct world *w = *state;

	READ(w, { 'd', "rx_prio3_pause_transition", "0" });
	READ(w, { 'd', "rx_prio3_pause_transition", "200000" });
	assert_non_null(strstr(only(w, FINDING_PAUSED), "20000 times a second"));
	READ(w, { 'd', "rx_prio3_pause_transition", "400000" },
	    { 'd', "rx_prio3_pause_duration", "0" });
	READ(w, { 'd', "rx_prio3_pause_transition", "600000" },
	    { 'd', "rx_prio3_pause_duration", "10000" });
	assert_int_equal(count(w, TEN_SECONDS), 0);
}

static void
counters_that_were_missing_give_no_finding(void **state)
{
	struct world *w = *state;

	READ(w, { 'd', "rx_global_pause", "0" });
	READ(w, { 'd', "rx_bytes", "0" });
	READ(w, { 'd', "rx_global_pause",
		    "5000" }); /* the length of the interval is unknown */
	assert_int_equal(count(w, TEN_SECONDS), 0);
}

static void
a_vmnic_that_is_gone_has_no_findings(void **state)
{
	struct world *w = *state;

	READ(w, { 'p', "Pause RX", "true" }, { 'q', "PFC Enabled", "false" });
	hypervisor_nics_begin(w->nics);
	hypervisor_nics_close(w->nics, &w->counts);
	assert_int_equal(count(w, TEN_SECONDS), 0);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(global_pause_frames_are_reported_from_pfc),
		TEST(missing_counters_of_global_pause_give_no_finding),
		TEST(a_counter_that_went_back_is_no_storm),
		TEST(pfc_frames_are_no_global_pause),
		TEST(global_pause_set_without_pfc_is_reported_at_the_first_reading),
		TEST(a_storm_warning_names_the_host_as_its_source),
		TEST(a_vmnic_that_pauses_its_switch_most_of_the_time_storms),
		TEST(a_paused_vmnic_is_no_source),
		TEST(changes_are_used_only_if_the_time_is_not_counted),
		TEST(counters_that_were_missing_give_no_finding),
		TEST(a_vmnic_that_is_gone_has_no_findings),
	};

	return cmocka_run_group_tests_name("hypervisor_findings", tests, NULL, NULL);
}
