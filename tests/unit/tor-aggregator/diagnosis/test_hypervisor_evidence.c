#include "tor-aggregator/diagnosis/hypervisor_evidence.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "tor-aggregator/diagnosis/diagnoses.h"
#include "tor-aggregator/hypervisor/hypervisor_nics.h"

#define S RM_NS_PER_S
#define MINUTE (60 * S)

struct value {
	enum hypervisor_place place;
	const char *name, *text;
};

static struct hypervisor_nics *nics;
static struct hypervisor_nics_counts counts;
static struct evidence evidence;
static struct diagnoses *diagnoses;
static rm_mono_t now;

static int
setup(void **state)
{
	counts = (struct hypervisor_nics_counts){ 0 };
	now.ns = 1000 * S;
	nics = hypervisor_nics_new();
	diagnoses = diagnoses_new(now);
	return nics == NULL || diagnoses == NULL ? -1 : 0;
}

static int
teardown(void **state)
{
	hypervisor_nics_free(nics);
	diagnoses_free(diagnoses);
	return 0;
}

static void
read_nic(const struct value values[])
{
	struct hypervisor_nic *nic;

	hypervisor_nics_begin(nics);
	nic = hypervisor_nics_report(nics, "vmnic5", &counts);
	for (; values->name != NULL; values++)
		hypervisor_nic_take(
		    nic, values->place, values->name, values->text, &counts);
	hypervisor_nics_close(nics, &counts);
}

#define READ(...) read_nic((const struct value[]){ __VA_ARGS__, { 0 } })

static bool
fill(int64_t ns)
{
	return hypervisor_evidence(hypervisor_nics_get(nics, 0), "esx1", ns, &evidence);
}

/* Two readings of a vmnic, a minute apart; in between its counter grew by `counted`. */
static void
judge_vmnic(const char *name, const char *counted)
{
	READ({ HYPERVISOR_DRIVER, name, "0" },
	    { HYPERVISOR_DCB, "PFC Enabled", "false" });
	READ({ HYPERVISOR_DRIVER, name, counted },
	    { HYPERVISOR_DCB, "PFC Enabled", "false" });
	assert_true(fill(MINUTE));
	diagnoses_hypervisor(diagnoses, "esx1", "vmnic5", &evidence, now);
}

/* An RNIC of the same rack; its switch's port counted so many microseconds of pauses.
 */
static void
report_rnic(uint64_t guid, uint64_t paused_us)
{
	const struct wire_counter_value values[] = { { paused_us,
	    WIRE_COUNTER_PFC_RX_PAUSE_US, 3, { 0 } } };
	const struct wire_rnic_counters counters = { { guid, 1 }, 5 * S, values, 1 };

	diagnoses_report(diagnoses, "h1", "mlx5_0", &counters, now);
}

static const struct diagnosed *
judged(size_t i, int64_t after_ns)
{
	now.ns += after_ns;
	diagnoses_judge(diagnoses, now, (rm_wall_t){ now.ns });
	return diagnoses_rnic(diagnoses, i);
}

static void
values_with_equal_meaning_are_the_same_evidence(void **state)
{
	READ({ HYPERVISOR_DRIVER, "rx_prio3_pause_duration", "1000" },
	    { HYPERVISOR_DRIVER, "rx_crc_errors_phy", "7" },
	    { HYPERVISOR_LIST, "Speed", "100000" },
	    { HYPERVISOR_DRIVER, "rx_out_of_buffer", "1" });
	assert_false(fill(0)); /* one reading has no counts */
	READ({ HYPERVISOR_DRIVER, "rx_prio3_pause_duration", "5000" },
	    { HYPERVISOR_DRIVER, "rx_crc_errors_phy", "3" },
	    { HYPERVISOR_LIST, "Speed", "100000" },
	    { HYPERVISOR_DRIVER, "rx_out_of_buffer", "900" });
	assert_true(fill(MINUTE));
	assert_string_equal(evidence.name, "esx1/vmnic5");
	assert_int_equal(evidence.host_ns, MINUTE);
	assert_int_equal(evidence.there[WIRE_COUNTER_PFC_RX_PAUSE_US], 1 << 3);
	assert_int_equal(evidence.value[WIRE_COUNTER_PFC_RX_PAUSE_US][3], 4000);
	assert_int_equal(evidence.value[WIRE_COUNTER_PORT_RATE_MBPS][0], 100000);
	assert_int_equal(
	    evidence.there[WIRE_COUNTER_CRC_ERR], 0); /* the counter began again at 0 */
	assert_int_equal(evidence.there[WIRE_COUNTER_RX_OUT_OF_BUFFER], 0);
	assert_int_equal(evidence.there[WIRE_COUNTER_PFC_ENABLED], 0); /* unknown */
}

/* A driver may report nonsense, such as bytes of memory that it has not set. */
static void
impossible_counts_are_no_evidence(void **state)
{
	READ({ HYPERVISOR_DRIVER, "rx_prio3_pause_duration", "1000" },
	    { HYPERVISOR_DRIVER, "tx_prio3_pause_duration", "1000" },
	    { HYPERVISOR_DRIVER, "rx_crc_errors_phy", "7" });
	READ({ HYPERVISOR_DRIVER, "rx_prio3_pause_duration", "30001000" },
	    { HYPERVISOR_DRIVER, "tx_prio3_pause_duration", "9000000000" },
	    { HYPERVISOR_DRIVER, "rx_crc_errors_phy", "9223372036854775807" });
	assert_true(fill(MINUTE));
	assert_int_equal(evidence.value[WIRE_COUNTER_PFC_RX_PAUSE_US][3], 30000000);
	assert_int_equal(evidence.there[WIRE_COUNTER_PFC_TX_PAUSE_US], 0);
	assert_int_equal(evidence.there[WIRE_COUNTER_CRC_ERR], 0);
	assert_int_equal(evidence.impossible, 2);
}

static void
a_vmnic_that_is_missing_is_no_evidence(void **state)
{
	READ({ HYPERVISOR_DRIVER, "rx_crc_errors_phy", "7" });
	hypervisor_nics_begin(nics);
	assert_non_null(hypervisor_nics_report(nics, "vmnic6", &counts));
	hypervisor_nics_close(nics, &counts);
	assert_false(fill(MINUTE));
}

static void
a_vmnic_with_global_pause_is_diagnosed(void **state)
{
	const struct diagnosed *vmnic;

	judge_vmnic("rx_global_pause", "700");
	vmnic = judged(0, S);
	assert_int_equal(vmnic->kind, DIAGNOSED_VMNIC);
	assert_true(vmnic->findings[DIAGNOSIS_GLOBAL_PAUSE].stands);
	assert_string_equal(vmnic->findings[DIAGNOSIS_GLOBAL_PAUSE].sentence,
	    "its port counted 700 global pause frames (802.3x) in 60 s");
	assert_int_equal(diagnoses_rnics(diagnoses), 1);
	assert_int_equal(diagnoses_reported(diagnoses), 0);
	assert_null(diagnoses_find(diagnoses, (struct wire_rnic_id){ 0, 0 }));
}

/* Without the evidence of the vmnic the diagnosis would be DIAGNOSIS_PFC_STEADY. */
static void
an_rnic_is_the_victim_of_a_vmnic_that_pauses_the_switch(void **state)
{
	const struct diagnosed *rnic;

	report_rnic(1, 1000000);
	judge_vmnic("tx_prio3_pause_duration", "37200000");
	rnic = judged(0, S);
	assert_true(rnic->findings[DIAGNOSIS_PAUSE_VICTIM].stands);
	assert_string_equal(rnic->findings[DIAGNOSIS_PAUSE_VICTIM].sentence,
	    "the switch paused it for 20 % of the time, esx1/vmnic5 paused the switch "
	    "for 62 % of the time");
	for (int i = 0; i < 3; i++) {
		report_rnic(1, 1000000);
		rnic = judged(0, 5 * S);
	}
	/* Half of the time or more, for 10 s. */
	assert_true(diagnoses_rnic(diagnoses, 1)->findings[DIAGNOSIS_PFC_STORM].stands);
	assert_false(rnic->findings[DIAGNOSIS_PFC_STEADY].stands);
}

static void
values_no_longer_reported_support_no_diagnosis(void **state)
{
	const struct diagnosed *rnic;

	report_rnic(1, 1000000);
	judge_vmnic("tx_prio3_pause_duration", "37200000");
	(void)judged(0, S);
	now.ns += 3 * MINUTE + 1;
	report_rnic(1, 1000000);
	rnic = judged(0, S);
	assert_false(rnic->findings[DIAGNOSIS_PAUSE_VICTIM].stands);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(values_with_equal_meaning_are_the_same_evidence),
		TEST(impossible_counts_are_no_evidence),
		TEST(a_vmnic_that_is_missing_is_no_evidence),
		TEST(a_vmnic_with_global_pause_is_diagnosed),
		TEST(an_rnic_is_the_victim_of_a_vmnic_that_pauses_the_switch),
		TEST(values_no_longer_reported_support_no_diagnosis),
	};

	return cmocka_run_group_tests_name("hypervisor_evidence", tests, NULL, NULL);
}
