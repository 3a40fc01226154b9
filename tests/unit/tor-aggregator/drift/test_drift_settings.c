#include "tor-aggregator/drift/drift_settings.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define KNOWN(setting) (UINT32_C(1) << (setting))

static struct drift_settings
with(enum wire_setting setting, uint32_t number)
{
	struct drift_settings settings = { .known = KNOWN(setting) };

	settings.numbers[setting] = number;
	return settings;
}

static const char *
text_of(enum wire_setting setting, uint32_t number)
{
	const struct drift_settings settings = with(setting, number);
	static char text[DRIFT_TEXT_BYTES];

	drift_setting_text(&settings, &settings, setting, text);
	return text;
}

static void
an_unreadable_setting_is_unknown_and_not_different(void **state)
{
	const struct drift_settings none = { 0 };
	const struct drift_settings large = with(WIRE_SETTING_MTU, 9000);
	const struct drift_settings small = with(WIRE_SETTING_MTU, 1500);

	assert_int_equal(
	    drift_settings_compare(&none, &large, WIRE_SETTING_MTU), DRIFT_UNDECLARED);
	assert_int_equal(
	    drift_settings_compare(&large, &none, WIRE_SETTING_MTU), DRIFT_UNKNOWN);
	assert_int_equal(
	    drift_settings_compare(&large, &small, WIRE_SETTING_MTU), DRIFT_DIFFERENT);
	assert_int_equal(
	    drift_settings_compare(&large, &large, WIRE_SETTING_MTU), DRIFT_SAME);
	assert_int_equal(drift_settings_compare(&large, &large, WIRE_SETTING_SPEED),
	    DRIFT_UNDECLARED);
}

static void
pfc_for_no_priority_is_a_setting(void **state)
{
	const struct drift_settings off = with(WIRE_SETTING_PFC, 0);
	const struct drift_settings on = with(WIRE_SETTING_PFC, 1 << 3);

	assert_int_equal(
	    drift_settings_compare(&on, &off, WIRE_SETTING_PFC), DRIFT_DIFFERENT);
	assert_int_equal(
	    drift_settings_compare(&off, &off, WIRE_SETTING_PFC), DRIFT_SAME);
}

static void
firmware_is_compared_by_pattern(void **state)
{
	struct drift_settings expected = { .known = KNOWN(WIRE_SETTING_FIRMWARE),
		.firmware = "28.39.*" };
	struct drift_settings actual = { .known = KNOWN(WIRE_SETTING_FIRMWARE),
		.firmware = "28.39.1002" };

	assert_int_equal(
	    drift_settings_compare(&expected, &actual, WIRE_SETTING_FIRMWARE),
	    DRIFT_SAME);
	strcpy(actual.firmware, "28.40.1000");
	assert_int_equal(
	    drift_settings_compare(&expected, &actual, WIRE_SETTING_FIRMWARE),
	    DRIFT_DIFFERENT);
}

static void
a_received_firmware_version_is_cut_and_made_printable(void **state)
{
	char text[2 * DRIFT_FIRMWARE_BYTES];
	const struct wire_settings from = { .known = UINT32_MAX, .firmware = text };
	struct drift_settings settings;

	memset(text, 'x', sizeof(text));
	text[0] = '\n';
	text[sizeof(text) - 1] = '\0';
	drift_settings_take(&settings, &from);
	assert_int_equal(strlen(settings.firmware), DRIFT_FIRMWARE_BYTES - 1);
	assert_int_equal(settings.firmware[0], '_');
}

static void
priorities_are_read_as_written(void **state)
{
	static const char *const wrong[] = { "", "8", "3,", ",3", "33", "3;4", "3 4",
		"all", "-1" };
	uint32_t mask = 77;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(drift_pfc_read(wrong[i], &mask), -EINVAL);
	assert_int_equal(mask, 77);
	assert_int_equal(drift_pfc_read("none", &mask), 0);
	assert_int_equal(mask, 0);
	assert_int_equal(drift_pfc_read("3", &mask), 0);
	assert_int_equal(mask, 1 << 3);
	assert_int_equal(drift_pfc_read("0,4,7", &mask), 0);
	assert_int_equal(mask, 1 | 1 << 4 | 1 << 7);
}

static void
a_traffic_class_is_a_byte_or_none(void **state)
{
	static const char *const wrong[] = { "", "256", "1x", "-1", "1000", "all" };
	uint32_t number = 7;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(drift_class_read(wrong[i], &number), -EINVAL);
	assert_int_equal(number, 7);
	assert_int_equal(drift_class_read("0", &number), 0);
	assert_int_equal(number, 0);
	assert_int_equal(drift_class_read("255", &number), 0);
	assert_int_equal(number, 255);
	assert_int_equal(drift_class_read("none", &number), 0);
	assert_int_equal(number, WIRE_TRAFFIC_CLASS_NONE);
}

static void
priorities_of_dscps_are_read_as_written(void **state)
{
	static const char *const wrong[] = { "", "26", "26:", ":3", "26:8", "64:3",
		"26:3,", "26:3 48:6", "26:3,26:4", "26:33",
		"0:0,1:0,2:0,3:0,4:0,5:0,6:0,7:0,8:0" };
	uint8_t dscps[WIRE_DSCPS] = { [26] = 77 };

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(drift_dscps_read(wrong[i], dscps), -EINVAL);
	assert_int_equal(dscps[26], 77);
	assert_int_equal(drift_dscps_read("26:3,48:6", dscps), 0);
	assert_int_equal(dscps[26], 3);
	assert_int_equal(dscps[48], 6);
	assert_int_equal(dscps[0], WIRE_NO_PRIORITY);
}

static void
only_declared_dscps_are_compared(void **state)
{
	struct drift_settings expected = { .known = KNOWN(WIRE_SETTING_DSCPS) };
	struct drift_settings actual = { .known = KNOWN(WIRE_SETTING_DSCPS) };
	char text[DRIFT_TEXT_BYTES];

	assert_int_equal(drift_dscps_read("26:3,48:6", expected.dscps), 0);
	assert_int_equal(drift_dscps_read("10:1,26:3,48:6", actual.dscps), 0);
	assert_int_equal(
	    drift_settings_compare(&expected, &actual, WIRE_SETTING_DSCPS), DRIFT_SAME);
	actual.dscps[48] = WIRE_NO_PRIORITY;
	assert_int_equal(drift_settings_compare(&expected, &actual, WIRE_SETTING_DSCPS),
	    DRIFT_DIFFERENT);
	drift_setting_text(&expected, &expected, WIRE_SETTING_DSCPS, text);
	assert_string_equal(text, "26:3,48:6");
	drift_setting_text(&actual, &expected, WIRE_SETTING_DSCPS, text);
	assert_string_equal(text, "26:3,48:-");
}

/* The bond is different, whichever of its ports is as expected. */
static void
a_bond_whose_ports_differ_is_different(void **state)
{
	const struct drift_settings differ = with(WIRE_SETTING_PFC, WIRE_PORTS_DIFFER);
	struct drift_settings expected = with(WIRE_SETTING_PFC, UINT8_MAX);
	struct drift_settings actual = { .known = KNOWN(WIRE_SETTING_DSCPS) };
	char text[DRIFT_TEXT_BYTES];

	assert_int_equal(drift_settings_compare(&expected, &differ, WIRE_SETTING_PFC),
	    DRIFT_DIFFERENT);
	drift_setting_text(&differ, &expected, WIRE_SETTING_PFC, text);
	assert_string_equal(text, "ports differ");

	expected.known = KNOWN(WIRE_SETTING_DSCPS);
	assert_int_equal(drift_dscps_read("26:3,48:6", expected.dscps), 0);
	assert_int_equal(drift_dscps_read("26:3", actual.dscps), 0);
	actual.dscps[48] = WIRE_PRIORITIES_DIFFER;
	assert_int_equal(drift_settings_compare(&expected, &actual, WIRE_SETTING_DSCPS),
	    DRIFT_DIFFERENT);
	drift_setting_text(&actual, &expected, WIRE_SETTING_DSCPS, text);
	assert_string_equal(text, "26:3,48:?");
}

static void
values_are_written_in_readable_form(void **state)
{
	const struct drift_settings none = { 0 };
	char text[DRIFT_TEXT_BYTES] = "x";

	assert_string_equal(text_of(WIRE_SETTING_MTU, 9000), "9000");
	assert_string_equal(text_of(WIRE_SETTING_SPEED, 400000), "400 Gb/s");
	assert_string_equal(text_of(WIRE_SETTING_SPEED, 2500), "2500 Mb/s");
	assert_string_equal(text_of(WIRE_SETTING_PFC, 0), "none");
	assert_string_equal(text_of(WIRE_SETTING_PFC, 1 << 3 | 1 << 4), "3,4");
	assert_string_equal(text_of(WIRE_SETTING_PFC, 255), "0,1,2,3,4,5,6,7");
	assert_string_equal(text_of(WIRE_SETTING_TRAFFIC_CLASS, 106), "106");
	assert_string_equal(
	    text_of(WIRE_SETTING_TRAFFIC_CLASS, WIRE_TRAFFIC_CLASS_NONE), "none");
	assert_string_equal(text_of(WIRE_SETTING_TRUST, WIRE_TRUST_DSCP), "dscp");
	assert_string_equal(text_of(WIRE_SETTING_TRUST, WIRE_TRUST_PCP), "pcp");
	assert_string_equal(text_of(WIRE_SETTING_FEC, WIRE_FEC_RS), "rs");
	assert_string_equal(text_of(WIRE_SETTING_FEC, 77), "other");
	assert_string_equal(
	    text_of(WIRE_SETTING_GID_TYPES, WIRE_GID_ROCE_V1 | WIRE_GID_ROCE_V2),
	    "v1+v2");
	assert_string_equal(text_of(WIRE_SETTING_GID_TYPES, 4), "other");
	drift_setting_text(&none, &none, WIRE_SETTING_MTU, text);
	assert_string_equal(text, "");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_unreadable_setting_is_unknown_and_not_different),
		cmocka_unit_test(pfc_for_no_priority_is_a_setting),
		cmocka_unit_test(firmware_is_compared_by_pattern),
		cmocka_unit_test(a_received_firmware_version_is_cut_and_made_printable),
		cmocka_unit_test(priorities_are_read_as_written),
		cmocka_unit_test(a_traffic_class_is_a_byte_or_none),
		cmocka_unit_test(priorities_of_dscps_are_read_as_written),
		cmocka_unit_test(only_declared_dscps_are_compared),
		cmocka_unit_test(a_bond_whose_ports_differ_is_different),
		cmocka_unit_test(values_are_written_in_readable_form),
	};

	return cmocka_run_group_tests_name("drift_settings", tests, NULL, NULL);
}
