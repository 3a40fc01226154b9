/* The memory of modules, byte by byte, in the layouts of SFF-8472, SFF-8636 and
 * CMIS. */
#include "host-agent/counters/module_optics.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/unit/host-agent/counters/counters_fixture.h"

static struct counters_fixture device;
static struct module_optics optics;

static int
setup(void **unused)
{
	counters_fixture_make(&device, "mlx5");
	return 0;
}

static int
teardown(void **unused)
{
	counters_fixture_free(&device);
	return 0;
}

static int
read_module(void)
{
	return module_optics_read(&optics, &device.kernel, "eth1");
}

static void
put16(uint8_t *at, unsigned value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

/* Writes bytes at their offset in the standard. */
static void
put_upper(unsigned page, unsigned offset, unsigned value)
{
	put16(&device.module.upper[page][offset - 128], value);
}

static void
make_qsfp28(void)
{
	static const unsigned rx[] = { 8912, 7943, 9120, 3 };
	uint8_t *lower = device.module.lower;

	lower[0] = 0x11;
	put16(lower + 22, 0x2580); /* 37.5 degrees Celsius */
	put16(lower + 26, 33012);  /* unit: 100 uV */
	for (unsigned i = 0; i < 4; i++) {
		put16(lower + 34 + 2 * i, rx[i]);
		put16(lower + 42 + 2 * i, 3250 + i);
		put16(lower + 50 + 2 * i, 10000 - i);
	}
	device.module.upper[0][147 - 128] = 0x00; /* 850 nm VCSEL */
	device.module.upper[0][220 - 128] = 0x0c;
	put_upper(3, 128, 75 << 8);
	put_upper(3, 178, 407);
	put_upper(3, 182, 513);
	put_upper(3, 194, 812);
}

static void
make_cmis(void)
{
	uint8_t *lower = device.module.lower;

	lower[0] = 0x18;
	lower[1] = 0x40;
	lower[3] = 3 << 1; /* module state: ready */
	put16(lower + 14, 0x3100);
	put16(lower + 16, 32990);
	device.module.upper[0][212 - 128] = 0x06; /* 1310 nm EML */
	device.module.upper[1][159 - 128] = 0x03;
	device.module.upper[1][160 - 128] = 0x07 | 1 << 3;
	put_upper(2, 128, 80 << 8);
	put_upper(2, 178, 501);
	put_upper(2, 194, 251);
	put_upper(2, 198, 398);
	for (unsigned i = 0; i < 8; i++) {
		put_upper(17, 154 + 2 * i, 11000 + i);
		put_upper(17, 170 + 2 * i, 20000 + i);
		put_upper(17, 186 + 2 * i, 9000 + i);
	}
}

static void
assert_value(unsigned at, uint64_t value)
{
	if (!optics.there[at] || optics.value[at] != value)
		fail_msg("value %u is %s, %llu, not %llu", at,
		    optics.there[at] ? "there" : "missing",
		    (unsigned long long)optics.value[at], (unsigned long long)value);
}

static void
assert_nothing_there(void)
{
	for (unsigned i = 0; i < MODULE_VALUES; i++)
		assert_false(optics.there[i]);
}

static void
a_qsfp28_is_read_by_sff_8636(void **unused)
{
	make_qsfp28();
	assert_int_equal(read_module(), 0);
	assert_value(MODULE_RX_NW, 891200);
	assert_value(MODULE_RX_NW + 3, 300);
	assert_false(optics.there[MODULE_RX_NW + 4]);
	assert_value(MODULE_TX_NW + 2, 999800);
	assert_value(MODULE_BIAS_UA + 1, 6502);
	assert_value(MODULE_RX_LOWEST_NW, 300);
	assert_value(MODULE_RX_HIGHEST_NW, 912000);
	assert_value(MODULE_TX_LOWEST_NW, 999700);
	assert_value(MODULE_CELSIUS, 38);
	assert_value(MODULE_MILLIVOLTS, 3301);
	assert_value(MODULE_HIGH_ALARM_CELSIUS, 75);
	assert_value(MODULE_RX_LOW_ALARM_NW, 40700);
	assert_value(MODULE_RX_LOW_WARNING_NW, 51300);
	assert_value(MODULE_TX_LOW_ALARM_NW, 81200);
}

static void
a_qsfp_dd_is_read_by_cmis(void **unused)
{
	make_cmis();
	assert_int_equal(read_module(), 0);
	assert_value(MODULE_RX_NW, 900000);
	assert_value(MODULE_RX_NW + 7, 900700);
	assert_value(MODULE_TX_NW + 7, 1100700);
	/* The factor doubles bias currents. */
	assert_value(MODULE_BIAS_UA + 7, 4 * 20007);
	assert_value(MODULE_RX_LOWEST_NW, 900000);
	assert_value(MODULE_TX_LOWEST_NW, 1100000);
	assert_value(MODULE_CELSIUS, 49);
	assert_value(MODULE_HIGH_ALARM_CELSIUS, 80);
	assert_value(MODULE_RX_LOW_ALARM_NW, 25100);
	assert_value(MODULE_RX_LOW_WARNING_NW, 39800);
	assert_value(MODULE_TX_LOW_ALARM_NW, 50100);
}

static void
missing_media_lanes_are_not_dark(void **unused)
{
	make_cmis();
	device.module.upper[0][210 - 128] = 0xf0; /* 400GBASE-DR4: four lanes */
	for (unsigned i = 4; i < 8; i++)
		put_upper(17, 186 + 2 * i, 0);
	assert_int_equal(read_module(), 0);
	assert_false(optics.there[MODULE_RX_NW + 4]);
	assert_value(MODULE_RX_LOWEST_NW, 900000);
}

/* 100GBASE-DR1, FR1 and LR1 use one wavelength, so one lane. */
static void
missing_channels_of_a_qsfp28_are_not_dark(void **unused)
{
	make_qsfp28();
	device.module.lower[113] = 0x0e; /* the module has no channels 2 to 4 */
	for (unsigned i = 1; i < 4; i++)
		put16(device.module.lower + 34 + 2 * i, 0);
	assert_int_equal(read_module(), 0);
	for (unsigned i = 1; i < 4; i++) {
		assert_false(optics.there[MODULE_RX_NW + i]);
		assert_false(optics.there[MODULE_TX_NW + i]);
		assert_false(optics.there[MODULE_BIAS_UA + i]);
	}
	assert_value(MODULE_RX_NW, 891200);
	assert_value(MODULE_RX_LOWEST_NW, 891200);
	device.module.lower[113] = 0x01; /* inverted: only the first lane has light */
	assert_int_equal(read_module(), 0);
	assert_value(MODULE_RX_NW, 891200);
}

static void
an_sfp28_is_read_by_sff_8472(void **unused)
{
	uint8_t *own = device.module.diagnostics;

	device.module.lower[0] = 0x03;
	device.module.lower[92] = 0x68;
	put16(own + 0, 70 << 8);
	put16(own + 26, 1000);
	put16(own + 34, 200);
	put16(own + 38, 300);
	put16(own + 96, 0xff00); /* 1 degree below 0 Celsius */
	put16(own + 98, 33000);
	put16(own + 100, 3000);
	put16(own + 102, 5000);
	put16(own + 104, 4000);
	assert_int_equal(read_module(), 0);
	assert_value(MODULE_RX_NW, 400000);
	assert_value(MODULE_TX_NW, 500000);
	assert_value(MODULE_BIAS_UA, 6000);
	assert_value(MODULE_CELSIUS, 0);
	assert_value(MODULE_HIGH_ALARM_CELSIUS, 70);
	assert_value(MODULE_TX_LOW_ALARM_NW, 100000);
	assert_value(MODULE_RX_LOW_ALARM_NW, 20000);
	assert_value(MODULE_RX_LOW_WARNING_NW, 30000);
	assert_false(optics.there[MODULE_RX_NW + 1]);
	/* Externally calibrated values need a computation that is not supported: no
	 * value. */
	device.module.lower[92] = 0x50;
	assert_int_equal(read_module(), -ENODATA);
	assert_nothing_there();
	/* An address change is required first: these bytes are not diagnostics. */
	device.module.lower[92] = 0x6c;
	assert_int_equal(read_module(), -ENODATA);
	assert_nothing_there();
}

static void
unmeasured_values_are_missing_and_not_dark(void **unused)
{
	make_qsfp28();
	device.module.upper[0][220 - 128] = 0x08;
	memset(device.module.lower + 50, 0, 8);
	assert_int_equal(read_module(), 0);
	assert_false(optics.there[MODULE_TX_NW]);
	assert_false(optics.there[MODULE_TX_LOWEST_NW]);
	assert_true(optics.there[MODULE_RX_LOWEST_NW]);

	make_cmis();
	device.module.upper[1][160 - 128] = 0x01 | 3 << 3; /* unknown bias multiplier */
	assert_int_equal(read_module(), 0);
	assert_false(optics.there[MODULE_RX_NW]);
	assert_false(optics.there[MODULE_BIAS_UA]);
	assert_true(optics.there[MODULE_CELSIUS]);
	device.module.upper[1][159 - 128] =
	    0x02; /* the supply voltage is monitored, the temperature is not */
	assert_int_equal(read_module(), 0);
	assert_false(optics.there[MODULE_CELSIUS]);
	assert_true(optics.there[MODULE_MILLIVOLTS]);
}

static void
a_module_without_thresholds_is_read_all_the_same(void **unused)
{
	make_qsfp28();
	device.module.fails = 1 << 3;
	assert_int_equal(read_module(), 0);
	assert_false(optics.there[MODULE_RX_LOW_ALARM_NW]);
	assert_value(MODULE_RX_LOWEST_NW, 300);
	device.module.fails = 0;
	put_upper(3, 178, 0);
	assert_int_equal(read_module(), 0);
	assert_false(optics.there[MODULE_RX_LOW_ALARM_NW]);
	assert_true(optics.there[MODULE_RX_LOW_WARNING_NW]);
	device.module.lower[2] = 0x04; /* flat memory: there is no page 3 */
	assert_int_equal(read_module(), 0);
	assert_false(optics.there[MODULE_RX_LOW_WARNING_NW]);
}

static void
a_copper_module_has_no_light(void **unused)
{
	make_qsfp28();
	device.module.upper[0][147 - 128] = 0xa0;
	assert_int_equal(read_module(), -ENODATA);
	assert_nothing_there();
	make_cmis();
	device.module.upper[0][212 - 128] = 0x0b;
	assert_int_equal(read_module(), -ENODATA);
	device.module.upper[0][212 - 128] = 0x10; /* a tunable laser */
	assert_int_equal(read_module(), 0);
	device.module.lower[2] = 0x80; /* flat memory */
	assert_int_equal(read_module(), -ENODATA);
}

static void
unready_unknown_and_refused_modules_report_nothing(void **unused)
{
	make_qsfp28();
	device.module.lower[2] = 0x01;
	assert_int_equal(read_module(), -EAGAIN);
	make_cmis();
	device.module.lower[3] = 1 << 1; /* low power mode */
	assert_int_equal(read_module(), -EAGAIN);
	device.module.lower[3] = 3 << 1;
	device.module.fails = 1 << 17;
	assert_int_equal(read_module(), -EIO);
	assert_nothing_there();
	device.module.lower[0] = 0x7f;
	assert_int_equal(read_module(), -EPROTONOSUPPORT);
	device.module.error = -EPERM;
	assert_int_equal(read_module(), -EPERM);
	device.kernel.netlink = NULL;
	assert_int_equal(read_module(), -EOPNOTSUPP);
	assert_nothing_there();
}

/* Each row of the table maps to a known value, and no two rows map to the same one. */
static void
every_row_of_the_table_has_its_value(void **unused)
{
	bool seen[MODULE_VALUES] = { false };

	for (const struct counter_row *row = counter_rows; row->name != NULL; row++)
		for (unsigned i = 0;
		     counter_row_is_optics(row) && i < counter_row_values(row); i++) {
			const char *source = row->source[COUNTER_ANY];
			struct counter_name name;
			int at;

			assert_int_equal(counter_next_name(&source, i, &name), 0);
			at = module_optics_find(name.name);
			assert_in_range(at, 0, MODULE_VALUES - 1);
			assert_false(seen[at]);
			seen[at] = true;
		}
	for (unsigned i = 0; i < MODULE_VALUES; i++)
		assert_true(seen[i]);
	assert_int_equal(module_optics_find("rx_nw_8"), -ENOENT);
	assert_int_equal(module_optics_find("rx_nw_"), -ENOENT);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_qsfp28_is_read_by_sff_8636),
		TEST(a_qsfp_dd_is_read_by_cmis),
		TEST(missing_media_lanes_are_not_dark),
		TEST(missing_channels_of_a_qsfp28_are_not_dark),
		TEST(an_sfp28_is_read_by_sff_8472),
		TEST(unmeasured_values_are_missing_and_not_dark),
		TEST(a_module_without_thresholds_is_read_all_the_same),
		TEST(a_copper_module_has_no_light),
		TEST(unready_unknown_and_refused_modules_report_nothing),
		TEST(every_row_of_the_table_has_its_value),
	};

	return cmocka_run_group_tests_name("module_optics", tests, NULL, NULL);
}
