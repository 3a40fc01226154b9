#include <errno.h>
#include <string.h>

#include "rnic_sample.h"
#include "schemas/wire.h"
#include "tests/support/wire_walk.h"
#include "wire_case.h"

static int
write_register(struct wire_writer *writer, struct wire_bytes *out)
{
	const struct wire_register reg = { "node-a", 31337, rnic_samples,
		RNIC_SAMPLES };

	return wire_write_register(writer, &reg, out);
}

static void
expect_register(const uint8_t *data, size_t len)
{
	struct wire_register_view view;

	assert_int_equal(wire_open_register(&view, data, len), 0);
	assert_string_equal(view.reg.host, "node-a");
	assert_int_equal(view.reg.incarnation, 31337);
	assert_null(view.reg.rnics);
	assert_int_equal(view.reg.rnic_count, RNIC_SAMPLES);
	for (size_t i = 0; i < RNIC_SAMPLES; i++) {
		struct wire_rnic rnic;

		memset(&rnic, 0xee, sizeof(rnic));
		wire_register_rnic(&view, i, &rnic);
		rnic_expect(&rnic, &rnic_samples[i]);
	}
}

static const struct wire_settings some_settings = {
	.known = 1 << WIRE_SETTING_MTU | 1 << WIRE_SETTING_PFC |
		 1 << WIRE_SETTING_FIRMWARE | UINT32_C(1) << 31,
	.numbers = { [WIRE_SETTING_MTU] = 9000,
	    [WIRE_SETTING_ROCE_MTU] = 4096,
	    [WIRE_SETTING_SPEED] = 400000,
	    [WIRE_SETTING_PFC] = 1 << 3,
	    [WIRE_SETTING_TRAFFIC_CLASS] = 106,
	    [WIRE_SETTING_TRUST] = WIRE_TRUST_DSCP },
	.firmware = "28.39.1002",
};

static int
write_settings(struct wire_writer *writer, struct wire_bytes *out)
{
	struct wire_settings settings[RNIC_SAMPLES] = { { .firmware = "" } };
	const struct wire_register reg = { "node-a", 31337, rnic_samples, RNIC_SAMPLES,
		settings };

	settings[RNIC_SAMPLES - 1] = some_settings;
	return wire_write_register(writer, &reg, out);
}

static void
expect_settings(const uint8_t *data, size_t len)
{
	struct wire_register_view view;
	struct wire_settings settings;

	expect_register(data, len);
	assert_int_equal(wire_open_register(&view, data, len), 0);
	assert_null(view.reg.settings);
	assert_true(wire_register_settings(&view, 0, &settings));
	assert_int_equal(settings.known, 0);
	assert_string_equal(settings.firmware, "");
	assert_true(wire_register_settings(&view, RNIC_SAMPLES - 1, &settings));
	assert_int_equal(settings.known, some_settings.known);
	for (int i = 0; i <= WIRE_SETTING_TRUST; i++)
		assert_int_equal(settings.numbers[i], some_settings.numbers[i]);
	assert_string_equal(settings.firmware, some_settings.firmware);
	assert_false(wire_register_settings(&view, RNIC_SAMPLES, &settings));
}

static int
write_bond(struct wire_writer *writer, struct wire_bytes *out)
{
	struct wire_settings settings[RNIC_SAMPLES] = { { .firmware = "" } };
	const struct wire_register reg = { "node-a", 31337, rnic_samples, RNIC_SAMPLES,
		settings };

	for (size_t i = 1; i < RNIC_SAMPLES; i++)
		settings[i].firmware = "";
	strcpy(settings[0].bond_ports, "ens1f0np0 ens1f1np1");
	return wire_write_register(writer, &reg, out);
}

static void
expect_bond(const uint8_t *data, size_t len)
{
	struct wire_register_view view;
	struct wire_settings settings;

	expect_register(data, len);
	assert_int_equal(wire_open_register(&view, data, len), 0);
	assert_true(wire_register_settings(&view, 0, &settings));
	assert_string_equal(settings.bond_ports, "ens1f0np0 ens1f1np1");
	assert_true(wire_register_settings(&view, 1, &settings));
	assert_string_equal(settings.bond_ports, "");
}

static int
write_dscps(struct wire_writer *writer, struct wire_bytes *out)
{
	struct wire_settings settings[RNIC_SAMPLES] = { { .firmware = "" } };
	const struct wire_register reg = { "node-a", 31337, rnic_samples, RNIC_SAMPLES,
		settings };

	settings[0].known = 1 << WIRE_SETTING_DSCPS | 1 << WIRE_SETTING_FEC;
	settings[0].numbers[WIRE_SETTING_FEC] = WIRE_FEC_RS;
	memset(settings[0].dscps, WIRE_NO_PRIORITY, WIRE_DSCPS);
	settings[0].dscps[26] = 3;
	return wire_write_register(writer, &reg, out);
}

static void
expect_dscps(const uint8_t *data, size_t len)
{
	struct wire_register_view view;
	struct wire_settings settings;

	expect_register(data, len);
	assert_int_equal(wire_open_register(&view, data, len), 0);
	assert_true(wire_register_settings(&view, 0, &settings));
	assert_int_equal(
	    settings.known, 1 << WIRE_SETTING_DSCPS | 1 << WIRE_SETTING_FEC);
	assert_int_equal(settings.numbers[WIRE_SETTING_FEC], WIRE_FEC_RS);
	assert_int_equal(settings.dscps[26], 3);
	assert_int_equal(settings.dscps[27], WIRE_NO_PRIORITY);
	assert_true(wire_register_settings(&view, 1, &settings));
	assert_int_equal(settings.known, 0);
	assert_int_equal(settings.dscps[26], WIRE_NO_PRIORITY);
}

enum { REGISTER_RNICS = 2, REGISTER_SETTINGS, REGISTER_FIELDS };
enum { SETTINGS_KNOWN, SETTINGS_NUMBERS, SETTINGS_FIELDS = 3 };

/* A registration with `count` times the same RNIC. Returns the place of that RNIC. */
static size_t
begin(struct forge *forge, size_t count)
{
	size_t root, vector, rnic;

	forge_init(forge, "RMG1", 1 << 20);
	root = forge_table(forge, REGISTER_FIELDS);
	vector = forge_vector(forge, count, 4, 4);
	forge_refer(forge, root, REGISTER_RNICS, vector);
	rnic = rnic_forge(forge);
	forge_refer_all(forge, vector, count, rnic);
	return rnic;
}

static int
end(struct forge *forge)
{
	int r;

	forge_finish(forge);
	r = wire_walk(WIRE_REGISTER, forge->data, forge->len);
	forge_clear(forge);
	return r;
}

static int
open_rnics(size_t count)
{
	struct forge forge;

	begin(&forge, count);
	return end(&forge);
}

static int
open_attachments(size_t count)
{
	struct forge forge;
	size_t rnic = begin(&forge, WIRE_MAX_HOST_RNICS);
	size_t vector = forge_vector(&forge, count, 4, 4);

	forge_refer(&forge, rnic, RNIC_ATTACHMENTS, vector);
	forge_refer_all(&forge, vector, count, forge_table(&forge, 1));
	return end(&forge);
}

static int
open_addresses(size_t count, uint8_t family)
{
	struct forge forge;
	size_t rnic = begin(&forge, 1);
	size_t vector = forge_vector(&forge, count, 20, 4);

	for (size_t i = 0; i < count; i++)
		*forge_element(&forge, vector, i * 20 + 18) = family;
	forge_refer(&forge, rnic, RNIC_ADDRESSES, vector);
	return end(&forge);
}

static void
vectors_beyond_their_limits_are_refused(void **state)
{
	assert_int_equal(open_rnics(0), 0);
	assert_int_equal(open_rnics(WIRE_MAX_HOST_RNICS), 0);
	assert_int_equal(open_rnics(WIRE_MAX_HOST_RNICS + 1), -EMSGSIZE);
	assert_int_equal(open_rnics(10000), -EBADMSG);
	assert_int_equal(open_attachments(WIRE_MAX_ATTACHMENTS), 0);
	assert_int_equal(open_attachments(WIRE_MAX_ATTACHMENTS + 1), -EMSGSIZE);
	assert_int_equal(open_attachments(50000), -EBADMSG);
	assert_int_equal(open_addresses(WIRE_MAX_ADDRESSES, 4), 0);
	assert_int_equal(open_addresses(WIRE_MAX_ADDRESSES + 1, 4), -EMSGSIZE);
}

/* Settings in `tables` tables, each with so many numbers. */
static int
open_settings(size_t tables, size_t numbers)
{
	struct forge forge;
	size_t root, vector, settings;

	forge_init(&forge, "RMG1", 1 << 20);
	root = forge_table(&forge, REGISTER_FIELDS);
	vector = forge_vector(&forge, tables, 4, 4);
	forge_refer(&forge, root, REGISTER_SETTINGS, vector);
	settings = forge_table(&forge, SETTINGS_FIELDS);
	forge_refer_all(&forge, vector, tables, settings);
	forge_refer(
	    &forge, settings, SETTINGS_NUMBERS, forge_vector(&forge, numbers, 4, 4));
	return end(&forge);
}

static void
settings_beyond_their_limits_are_refused(void **state)
{
	assert_int_equal(open_settings(1, WIRE_MAX_SETTINGS), 0);
	assert_int_equal(open_settings(1, WIRE_MAX_SETTINGS + 1), -EMSGSIZE);
	assert_int_equal(open_settings(WIRE_MAX_HOST_RNICS, 0), 0);
	assert_int_equal(open_settings(WIRE_MAX_HOST_RNICS + 1, 0), -EMSGSIZE);
	assert_int_equal(open_settings(10000, 0), -EBADMSG);
}

static void
a_registration_without_settings_reports_none(void **state)
{
	struct wire_writer *writer = wire_writer_new();
	struct wire_register_view view;
	struct wire_settings settings;
	struct wire_bytes out;

	assert_int_equal(write_register(writer, &out), 0);
	assert_int_equal(wire_open_register(&view, out.data, out.len), 0);
	assert_false(wire_register_settings(&view, 0, &settings));
	wire_writer_free(writer);
}

static void
an_address_is_of_family_4_or_6(void **state)
{
	assert_int_equal(open_addresses(1, 6), 0);
	assert_int_equal(open_addresses(1, 0), -EBADMSG);
	assert_int_equal(open_addresses(1, 5), -EBADMSG);
	assert_int_equal(open_addresses(1, 255), -EBADMSG);
}

static void
an_rnic_without_an_id_is_refused(void **state)
{
	struct forge forge;
	size_t root, vector;

	forge_init(&forge, "RMG1", 4096);
	root = forge_table(&forge, REGISTER_FIELDS);
	vector = forge_vector(&forge, 1, 4, 4);
	forge_refer(&forge, root, REGISTER_RNICS, vector);
	forge_refer_all(&forge, vector, 1, forge_table(&forge, RNIC_FIELDS));
	assert_int_equal(end(&forge), -EBADMSG);
}

static void
bytes_behind_an_ipv4_address_are_zero(void **state)
{
	struct wire_writer *writer = wire_writer_new();
	struct wire_rnic rnic = rnic_samples[0], got;
	const struct wire_register reg = { "h", 1, &rnic, 1 };
	struct wire_register_view view;
	struct wire_bytes out;
	uint8_t zeros[12] = { 0 };

	memset(rnic.addresses[0].bytes, 0xff, 16);
	assert_int_equal(wire_write_register(writer, &reg, &out), 0);
	assert_int_equal(wire_open_register(&view, out.data, out.len), 0);
	wire_register_rnic(&view, 0, &got);
	assert_int_equal(got.addresses[0].bytes[3], 0xff);
	assert_memory_equal(got.addresses[0].bytes + 4, zeros, 12);
	wire_writer_free(writer);
}

static void
a_writer_refuses_messages_that_an_opener_refuses(void **state)
{
	struct wire_writer *writer = wire_writer_new();
	static struct wire_rnic many[WIRE_MAX_HOST_RNICS + 1];
	struct wire_rnic rnic = rnic_samples[0];
	struct wire_register reg = { "h", 1, &rnic, 1 };
	struct wire_bytes out = { NULL, 0 };
	char text[WIRE_MAX_STRING + 1];

	rnic.tor_count = WIRE_MAX_ATTACHMENTS + 1;
	assert_int_equal(wire_write_register(writer, &reg, &out), -EMSGSIZE);
	rnic = rnic_samples[0];
	rnic.address_count = WIRE_MAX_ADDRESSES + 1;
	assert_int_equal(wire_write_register(writer, &reg, &out), -EMSGSIZE);
	rnic = rnic_samples[0];
	rnic.addresses[1].family = 10;
	assert_int_equal(wire_write_register(writer, &reg, &out), -EINVAL);
	rnic = rnic_samples[0];
	memset(text, 'x', sizeof(text));
	text[WIRE_MAX_STRING] = 0;
	rnic.tors[1] = text;
	assert_int_equal(wire_write_register(writer, &reg, &out), -EMSGSIZE);
	reg.rnics = many;
	reg.rnic_count = WIRE_MAX_HOST_RNICS + 1;
	assert_int_equal(wire_write_register(writer, &reg, &out), -EMSGSIZE);
	assert_null(out.data);
	reg.rnic_count = WIRE_MAX_HOST_RNICS;
	assert_int_equal(wire_write_register(writer, &reg, &out), 0);
	assert_int_equal(wire_walk(WIRE_REGISTER, out.data, out.len), 0);
	wire_writer_free(writer);
}

int
main(int argc, char **argv)
{
	const struct wire_case cases[] = {
		{ WIRE_REGISTER, "register", write_register, expect_register },
		{ WIRE_REGISTER, "register_settings", write_settings, expect_settings },
		{ WIRE_REGISTER, "register_bond", write_bond, expect_bond },
		{ WIRE_REGISTER, "register_dscps", write_dscps, expect_dscps },
	};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(vectors_beyond_their_limits_are_refused),
		cmocka_unit_test(settings_beyond_their_limits_are_refused),
		cmocka_unit_test(a_registration_without_settings_reports_none),
		cmocka_unit_test(an_address_is_of_family_4_or_6),
		cmocka_unit_test(an_rnic_without_an_id_is_refused),
		cmocka_unit_test(bytes_behind_an_ipv4_address_are_zero),
		cmocka_unit_test(a_writer_refuses_messages_that_an_opener_refuses),
	};

	return wire_case_main(cases, sizeof(cases) / sizeof(cases[0]), tests,
	    sizeof(tests) / sizeof(tests[0]), argc, argv);
}
