#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "schemas/wire/text.h"

static void
every_value_has_a_name_of_its_own(void **state)
{
	for (unsigned i = 0; i < WIRE_OUTCOMES; i++)
		for (unsigned j = 0; j < i; j++)
			assert_string_not_equal(
			    wire_outcome_str(i), wire_outcome_str(j));
	for (unsigned i = 0; i < WIRE_INVALID_REASONS; i++)
		for (unsigned j = 0; j < i; j++)
			assert_string_not_equal(
			    wire_invalid_str(i), wire_invalid_str(j));
	for (unsigned i = 0; i < WIRE_PROBE_KINDS; i++)
		for (unsigned j = 0; j < i; j++)
			assert_string_not_equal(
			    wire_probe_kind_str(i), wire_probe_kind_str(j));
}

static void
every_counter_has_a_name_of_its_own(void **state)
{
	assert_null(wire_counter_str(0));
	assert_null(wire_counter_str(WIRE_COUNTERS));
	for (unsigned i = 1; i < WIRE_COUNTERS; i++)
		for (unsigned j = 1; j < i; j++)
			assert_string_not_equal(
			    wire_counter_str(i), wire_counter_str(j));
}

static void
every_value_of_services_has_a_name_of_its_own(void **state)
{
	for (unsigned i = 0; i <= WIRE_LINK_DOWN; i++)
		for (unsigned j = 0; j < i; j++)
			assert_string_not_equal(wire_link_str(i), wire_link_str(j));
	for (unsigned i = 0; i <= WIRE_QP_XRC; i++)
		for (unsigned j = 0; j < i; j++)
			assert_string_not_equal(
			    wire_qp_type_str(i), wire_qp_type_str(j));
	for (unsigned i = 0; i <= WIRE_SERVICE_UNRESOLVED; i++)
		for (unsigned j = 0; j < i; j++)
			assert_string_not_equal(
			    wire_service_state_str(i), wire_service_state_str(j));
}

static void
values_of_a_newer_peer_are_unknown(void **state)
{
	assert_string_equal(wire_outcome_str(WIRE_OUTCOMES), "unknown");
	assert_string_equal(wire_invalid_str(255), "unknown");
	assert_string_equal(wire_probe_kind_str(WIRE_PROBE_KINDS), "unknown");
	assert_string_equal(wire_link_str(WIRE_LINK_DOWN + 1), "unknown");
	assert_string_equal(wire_qp_type_str(WIRE_QP_XRC + 1), "unknown");
	assert_string_equal(wire_service_state_str(255), "unknown");
}

static void
addresses_are_read_in_their_usual_notation(void **state)
{
	struct wire_address v4 = { .family = 4, .bytes = { 10, 0, 0, 1 }, .port = 862 };
	struct wire_address v6 = {
		.family = 6, .bytes = { 0xfd, [15] = 1 }, .port = 862
	};
	char text[WIRE_ADDRESS_TEXT];

	wire_address_format(&v4, text);
	assert_string_equal(text, "10.0.0.1:862");
	wire_address_format(&v6, text);
	assert_string_equal(text, "[fd00::1]:862");
	v4.port = v6.port = 0;
	wire_address_format(&v4, text);
	assert_string_equal(text, "10.0.0.1");
	wire_address_format(&v6, text);
	assert_string_equal(text, "fd00::1");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_value_has_a_name_of_its_own),
		cmocka_unit_test(every_counter_has_a_name_of_its_own),
		cmocka_unit_test(every_value_of_services_has_a_name_of_its_own),
		cmocka_unit_test(values_of_a_newer_peer_are_unknown),
		cmocka_unit_test(addresses_are_read_in_their_usual_notation),
	};

	return cmocka_run_group_tests_name("wire_text", tests, NULL, NULL);
}
