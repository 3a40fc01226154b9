#include "tor-aggregator/diagnosis/switch_evidence.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tor-aggregator/diagnosis/evidence.h"
#include "tor-aggregator/switch/switch_list.h"
#include "tor-aggregator/switch/switch_table.h"

#define QUEUES 8
#define MARKS 1000
#define S INT64_C(1000000000)

static void
add_port(struct switch_list *list, const char *name)
{
	struct switch_object object = { .part = SWITCH_PORT };

	snprintf(object.port, sizeof(object.port), "%s", name);
	snprintf(object.id, sizeof(object.id), "%s", name);
	assert_int_equal(switch_list_add(list, &object), 0);
	object.part = SWITCH_QUEUE;
	for (; object.index < QUEUES; object.index++)
		assert_int_equal(switch_list_add(list, &object), 0);
	object.part = SWITCH_GROUP;
	object.index = 4;
	assert_int_equal(switch_list_add(list, &object), 0);
}

static void
take(struct switch_object *object, const char *name, uint64_t value)
{
	const struct counter_sample sample = { .there = true, .value = value };
	struct counter_state *state = object->states;

	for (const struct switch_row *row = switch_rows; row->name != NULL; row++)
		if (row->part == object->part) {
			if (strcmp(row->name, name) == 0)
				counter_take(state, &sample, row->gauge ? 0 : 64, true);
			state += switch_row_values(row);
		}
}

/* A reading of `count` ports named by the format with first, first + step...; before:
 * the previous reading, or NULL. */
static struct switch_list *
reading(const char *format, int first, int step, int count,
    const struct switch_list *before, bool port_counts)
{
	const uint64_t value = before == NULL ? MARKS : 2 * MARKS;
	struct switch_list *list = switch_list_new();
	uint64_t forgotten = 0;

	assert_non_null(list);
	for (int i = 0; i < count; i++) {
		char name[SWITCH_PORT_BYTES];

		snprintf(name, sizeof(name), format, first + i * step);
		add_port(list, name);
	}
	add_port(list, "ii1/1/1");
	assert_int_equal(switch_list_close(list, before, &forgotten), 0);
	for (size_t i = 0; i < switch_list_count(list); i++) {
		struct switch_object *object = switch_list_get(list, i);

		take(object, "pfc_rx_frames", value);
		take(object, "queue_ecn_marked", object->index == 3 ? value : 0);
		take(object, "queue_drop_pkts", object->index == 3 ? value : 0);
		take(object, "pfcwd_stormed", object->index == 5);
		take(object, "group_drop_pkts", value);
		if (port_counts)
			take(object, "ecn_marked", value / 2);
	}
	return list;
}

/* The number of ports in the evidence, each with so many marks. */
static int
ports_with(const struct switch_list *list, uint64_t marks)
{
	struct switch_evidence walk = { .list = list, .ns = 10 * S };
	struct evidence evidence;
	int count = 0;

	while (switch_evidence_next(&walk, &evidence)) {
		uint64_t exported = 0;

		if (!evidence_sum(&evidence, SWITCH_ECN_MARKED, 0, &exported) ||
		    exported != marks)
			fail_msg("%s: %llu marks", evidence.port,
			    (unsigned long long)exported);
		assert_int_equal(evidence.value[SWITCH_PFC_RX_FRAMES][0], MARKS);
		assert_int_equal(evidence.value[SWITCH_QUEUE_DROP_PKTS][3], MARKS);
		assert_int_equal(evidence.value[SWITCH_PFCWD_STORMED][5], 1);
		assert_int_equal(evidence.value[SWITCH_PFCWD_STORMED][4], 0);
		assert_int_equal(evidence.value[SWITCH_GROUP_DROP_PKTS][4], MARKS);
		assert_int_equal(evidence.there[SWITCH_GROUP_DROP_PKTS], 1 << 4);
		assert_int_equal(evidence.switch_ns, 10 * S);
		count++;
	}
	return count;
}

static void
assert_all_are_reported(const char *format, int first, int step, int count)
{
	struct switch_list *a = reading(format, first, step, count, NULL, false);
	struct switch_list *b = reading(format, first, step, count, a, false);

	assert_int_equal(ports_with(b, MARKS), count);
	switch_list_free(a);
	switch_list_free(b);
}

static void
marks_of_queues_are_reported_of_every_port(void **state)
{
	(void)state;
	assert_all_are_reported("Ethernet1/%d", 1, 1, 54); /* 1/9 comes before 1/10 */
	assert_all_are_reported("Ethernet%d", 0, 4, 32);
	assert_all_are_reported("Ethernet%d", 0, 8, 64);
}

static void
a_ports_own_count_of_marks_goes_before_those_of_its_queues(void **state)
{
	struct switch_list *a = reading("Ethernet%d", 0, 4, 32, NULL, true);
	struct switch_list *b = reading("Ethernet%d", 0, 4, 32, a, true);

	(void)state;
	assert_int_equal(ports_with(b, MARKS / 2), 32);
	switch_list_free(a);
	switch_list_free(b);
}

/* A first reading has no counts. */
static void
a_first_reading_reports_no_counts(void **state)
{
	struct switch_list *a = reading("Ethernet%d", 0, 4, 2, NULL, true);
	struct switch_evidence walk = { .list = a, .ns = 10 * S };
	struct evidence evidence;

	(void)state;
	assert_true(switch_evidence_next(&walk, &evidence));
	assert_int_equal(evidence.there[SWITCH_ECN_MARKED], 0);
	assert_int_equal(evidence.there[SWITCH_PFC_RX_FRAMES], 0);
	switch_list_free(a);
}

/* A reading of Ethernet0, 4 and 8: the number of each port's module, and the light of
 * its darkest lane. */
static struct switch_list *
light_reading(const struct switch_list *before, const int module[3], const int nw[3])
{
	struct switch_list *list = switch_list_new();
	uint64_t forgotten = 0;

	for (int i = 0; i < 3; i++) {
		char name[SWITCH_PORT_BYTES];

		snprintf(name, sizeof(name), "Ethernet%d", 4 * i);
		add_port(list, name);
	}
	assert_int_equal(switch_list_close(list, before, &forgotten), 0);
	for (size_t i = 0; i < 3; i++) {
		struct switch_object *port = switch_list_get(list, i);

		if (module[i] >= 0)
			take(port, "module", (uint64_t)module[i]);
		take(port, "optics_rx_lowest_nw", (uint64_t)nw[i]);
		take(port, "optics_rx_highest_nw", 900000);
	}
	return list;
}

static uint8_t
ports_with_light(const struct switch_list *list, uint64_t darkest)
{
	struct switch_evidence walk = { .list = list, .ns = 10 * S };
	struct evidence evidence;
	uint8_t ports = 0;

	for (unsigned i = 0; switch_evidence_next(&walk, &evidence); i++) {
		uint64_t value = 0;

		if (!evidence_most(&evidence, SWITCH_OPTICS_RX_LOWEST_NW, &value))
			continue;
		assert_int_equal(value, darkest);
		ports |= (uint8_t)(1u << i);
	}
	return ports;
}

/* Which lanes belong to which of its ports is unknown. A port without a module's number
 * shares none. */
static void
light_of_a_shared_module_belongs_to_no_port(void **state)
{
	static const int shared[3] = { 1, 1, 2 }, apart[3] = { 1, 2, -1 },
			 nw[3] = { 500, 500, 500 };
	struct switch_list *a = light_reading(NULL, shared, nw),
			   *b = light_reading(a, shared, nw), *c, *d;

	(void)state;
	assert_int_equal(
	    ports_with_light(a, 500), 0); /* a first reading has no evidence */
	assert_int_equal(ports_with_light(b, 500), 1 << 2);
	c = light_reading(NULL, apart, nw);
	d = light_reading(c, apart, nw);
	assert_int_equal(ports_with_light(d, 500), 7);
	switch_list_free(a);
	switch_list_free(b);
	switch_list_free(c);
	switch_list_free(d);
}

static void
take_at(struct switch_object *object, const char *name, unsigned at, uint64_t value)
{
	const struct counter_sample sample = { .there = true, .value = value };
	struct counter_state *state = object->states;

	for (const struct switch_row *row = switch_rows; row->name != NULL; row++) {
		if (row->part == object->part && strcmp(row->name, name) == 0)
			counter_take(&state[at], &sample, 64, true);
		if (row->part == object->part)
			state += switch_row_values(row);
	}
}

static struct switch_list *
errors_reading(const struct switch_list *before, bool sum)
{
	const uint64_t times = before == NULL ? 1 : 2;
	struct switch_list *list = switch_list_new();
	struct switch_object *port;
	uint64_t forgotten = 0;

	add_port(list, "Ethernet0");
	assert_int_equal(switch_list_close(list, before, &forgotten), 0);
	port = switch_list_get(list, 0);
	for (unsigned bin = 0; bin < SWITCH_ERROR_BINS; bin++)
		take_at(port, "fec_codewords", bin, times * (bin < 12 ? 1000 : bin));
	take(port, "wred_green_drops", 3 * times);
	take(port, "wred_red_drops", 5 * times);
	if (sum)
		take(port, "wred_drops", 8 * times);
	return list;
}

static struct evidence
evidence_of_errors(bool sum)
{
	struct switch_list *a = errors_reading(NULL, sum), *b = errors_reading(a, sum);
	struct switch_evidence walk = { .list = b, .ns = 10 * S };
	struct evidence evidence;

	assert_true(switch_evidence_next(&walk, &evidence));
	switch_list_free(a);
	switch_list_free(b);
	return evidence;
}

static void
codewords_that_fec_could_just_correct_are_counted(void **state)
{
	const struct evidence evidence = evidence_of_errors(false);

	(void)state;
	assert_int_equal(evidence.there[SWITCH_FEC_WORST], 1);
	assert_int_equal(evidence.value[SWITCH_FEC_WORST][0], 12 + 13 + 14 + 15);
	assert_int_equal(evidence.value[SWITCH_FEC_WORST_SHORT][0], 2 * 1000);
}

/* After a restart of the switch, or with values that cannot be right, there is no
 * evidence against the cable. */
static void
impossible_counts_are_no_evidence(void **state)
{
	static const uint64_t jumps[] = { UINT64_MAX, UINT64_C(1) << 63,
		UINT64_C(20000000000000) };
	struct evidence evidence;

	(void)state;
	for (size_t i = 0; i < sizeof(jumps) / sizeof(jumps[0]); i++) {
		struct switch_list *a = errors_reading(NULL, false),
				   *b = errors_reading(a, false);
		struct switch_evidence walk = { .list = b, .ns = 10 * S };

		take(switch_list_get(b, 0), "rx_err", 7);
		take(switch_list_get(b, 0), "rx_err", jumps[i]);
		take(switch_list_get(b, 0), "fec_uncorr", 1000);
		take(switch_list_get(b, 0), "fec_uncorr", 12);
		assert_true(switch_evidence_next(&walk, &evidence));
		assert_int_equal(evidence.there[SWITCH_RX_ERR], 0);
		assert_int_equal(evidence.there[SWITCH_FEC_UNCORR], 0);
		/* The counter that restarted at 0 is not one. */
		assert_int_equal(evidence.impossible, 1);
		assert_int_equal(evidence.value[SWITCH_WRED_DROPS][0], 8);
		switch_list_free(a);
		switch_list_free(b);
	}
}

/* No port is paused for longer than the time between two readings. Some switches update
 * their counters only once a minute. */
static void
impossible_pauses_are_no_evidence(void **state)
{
	static const struct {
		uint64_t paused_us;
		bool is_evidence;
	} cases[] = { { 5000000, true }, { 60000000, true }, { 80000000, false },
		{ UINT64_C(1) << 40, false } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct switch_list *a = errors_reading(NULL, false),
				   *b = errors_reading(a, false);
		struct switch_evidence walk = { .list = b, .ns = 10 * S };
		struct evidence evidence;

		take(switch_list_get(b, 0), "pfc_rx_pause_us", 7);
		take(switch_list_get(b, 0), "pfc_rx_pause_us", 7 + cases[i].paused_us);
		assert_true(switch_evidence_next(&walk, &evidence));
		assert_int_equal(
		    evidence.there[SWITCH_PFC_RX_PAUSE_US] != 0, cases[i].is_evidence);
		assert_int_equal(evidence.impossible, !cases[i].is_evidence);
		switch_list_free(a);
		switch_list_free(b);
	}
}

static void
drops_by_colour_count_if_there_is_no_sum(void **state)
{
	struct evidence evidence = evidence_of_errors(false);

	(void)state;
	assert_int_equal(evidence.value[SWITCH_WRED_DROPS][0], 8);
	evidence = evidence_of_errors(true);
	assert_int_equal(evidence.value[SWITCH_WRED_DROPS][0], 8);
}

/* The counts of four intervals would look like four times the rate. */
static void
a_returned_port_has_no_counts_in_its_first_interval(void **state)
{
	struct switch_list *a = reading("Ethernet%d", 0, 4, 2, NULL, false),
			   *b = reading("Ethernet%d", 0, 4, 1, a, false),
			   *c = reading("Ethernet%d", 0, 4, 2, b, false),
			   *d = reading("Ethernet%d", 0, 4, 2, c, false);
	struct switch_evidence walk = { .list = c, .ns = 10 * S };
	struct evidence evidence;

	(void)state;
	assert_true(switch_evidence_next(&walk, &evidence));
	assert_int_not_equal(evidence.there[SWITCH_PFC_RX_FRAMES], 0);
	assert_true(switch_evidence_next(&walk, &evidence));
	assert_string_equal(evidence.port, "Ethernet4");
	assert_int_equal(evidence.there[SWITCH_PFC_RX_FRAMES], 0);
	assert_int_equal(evidence.there[SWITCH_QUEUE_DROP_PKTS], 0);
	walk = (struct switch_evidence){ .list = d, .ns = 10 * S };
	assert_true(switch_evidence_next(&walk, &evidence));
	assert_true(switch_evidence_next(&walk, &evidence));
	assert_int_not_equal(evidence.there[SWITCH_PFC_RX_FRAMES], 0);
	switch_list_free(a);
	switch_list_free(b);
	switch_list_free(c);
	switch_list_free(d);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(marks_of_queues_are_reported_of_every_port),
		cmocka_unit_test(
		    a_ports_own_count_of_marks_goes_before_those_of_its_queues),
		cmocka_unit_test(a_first_reading_reports_no_counts),
		cmocka_unit_test(codewords_that_fec_could_just_correct_are_counted),
		cmocka_unit_test(drops_by_colour_count_if_there_is_no_sum),
		cmocka_unit_test(impossible_counts_are_no_evidence),
		cmocka_unit_test(impossible_pauses_are_no_evidence),
		cmocka_unit_test(a_returned_port_has_no_counts_in_its_first_interval),
		cmocka_unit_test(light_of_a_shared_module_belongs_to_no_port),
	};

	return cmocka_run_group_tests_name("switch_evidence", tests, NULL, NULL);
}
