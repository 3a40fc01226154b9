#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rackmesh/core/error.h"
#include "region-controller/store/hash.h"
#include "region-controller/store/store_plan.h"
#include "tests/unit/region-controller/plan_fixture.h"

static uint64_t
digest_of(const struct wire_bytes *plan)
{
	return hash_bytes(plan->data, plan->len);
}

/* Converts a plan to JSON and back, and compares the bytes. Returns the size of the
 * JSON. */
static size_t
round_trip(const struct wire_bytes *plan)
{
	struct wire_writer *writer = wire_writer_new();
	struct store_plan_read read = { 0 };
	struct rm_error error = { 0 };
	struct wire_plan_view view;
	struct wire_bytes again;
	char *text = NULL;
	size_t len = 0;

	assert_int_equal(wire_open_plan(&view, plan->data, plan->len), 0);
	assert_int_equal(store_plan_write(plan, digest_of(plan), 1000, &text, &len), 0);
	if (store_plan_read(text, len, 7, writer, &read, &again, &error) < 0)
		fail_msg("%s: %.200s", error.text, text);
	assert_string_equal(read.tor, view.plan.tor);
	assert_true(read.version == 1007);
	assert_true(read.digest == digest_of(plan));
	assert_int_equal(wire_open_plan(&view, again.data, again.len), 0);
	assert_true(view.plan.version == 1007);
	assert_true(view.plan.digest == read.digest);
	free(text);
	wire_writer_free(writer);
	return len;
}

static void
round_trip_all(struct fixture *f)
{
	struct wire_writer *writer = wire_writer_new();
	struct wire_bytes bytes;

	for (size_t i = 0; i < plan_set_count(f->set); i++) {
		assert_int_equal(plan_set_write(f->set, i, 0, 0, writer, &bytes), 0);
		round_trip(&bytes);
	}
	wire_writer_free(writer);
}

static void
real_plans_come_back_equal(void **state)
{
	struct fixture *f = *state;

	racks_of_two_three_four_and_eight(f, 4);
	round_trip_all(f);
}

static void
a_probe_timeout_comes_back(void **state)
{
	struct fixture *f = *state;

	f->options.probe_timeout_ms = 350;
	racks_of_two_three_four_and_eight(f, 4);
	assert_int_equal(f->views[0].plan.probe_timeout_ms, 350);
	round_trip_all(f);
}

static void
aliases_and_reflectors_come_back_equal(void **state)
{
	struct fixture *f = *state;

	set_topology(
	    f, region_topology(
		   "region: lab\nswitches:\n"
		   "- {name: tor1, role: tor, reflector: 10.1.0.1, aliases: [10.1.0.1, "
		   "fd00::1]}\n"
		   "- {name: tor2, role: tor, aliases: [10.2.0.1]}\n"
		   "- {name: spine1, role: spine, aliases: [10.9.0.1, 10.9.0.2]}\n"
		   "links:\n- [tor1, spine1]\n- [tor2, spine1]\n"));
	region_rack(f->registry, "tor1", 100, 2);
	region_rack(f->registry, "tor2", 200, 2);
	plan(f);
	assert_int_equal(f->views[0].plan.alias_count, 5);
	round_trip_all(f);
}

/* Every field at its limits, also values that a registry would refuse. */
static void
odd_plans_come_back_equal(void **state)
{
	static const uint16_t flows[] = { 0, 65535, 1 }, sizes[] = { 9000 };
	static const uint8_t dscps[] = { 63, 0, 255 };
	const struct wire_rnic rnics[] = {
		{ .id = { UINT64_MAX, 254 },
		    .host = "h \"quoted\" \\ \xc3\xa9",
		    .device = "",
		    .plane = "p",
		    .tors = { "a", "b" },
		    .tor_count = 2,
		    .addresses = { { 4, { 1, 2, 3, 4 }, 0 },
			{ 6, { 0xfe, 0x80 }, 862 } },
		    .address_count = 2,
		    .qpn = WIRE_MAX_QPN,
		    .large_qpn = WIRE_MAX_QPN - 1,
		    .lid = UINT16_MAX,
		    .link = WIRE_LINK_DOWN,
		    .mtu_bytes = UINT32_MAX,
		    .incarnation = UINT64_MAX },
		{ .id = { 1, 0 } },
	};
	const struct wire_plan_entry entries[] = {
		{ .src = 1,
		    .dst = 0,
		    .kind = WIRE_SERVICE,
		    .interval_us = UINT32_MAX,
		    .paired = true,
		    .sl = WIRE_MAX_SL,
		    .flows = flows,
		    .flow_count = 3,
		    .dscps = dscps,
		    .dscp_count = 3,
		    .sizes = sizes,
		    .size_count = 1 },
		{ 0 },
	};
	const struct wire_alias aliases[] = {
		{ "s1", { 4, { 1, 1, 1, 1 }, 0 } },
		{ "s2", { 6, { 1 }, 0 } },
		{ "s1", { 4, { 1, 1, 1, 2 }, 5 } },
	};
	const struct wire_plan plan = {
		.region = "r",
		.tor = "t",
		.plane = "",
		.mesh = { .peers = 1,
		    .interval_us = 2,
		    .rotation_s = 3,
		    .sl = 7,
		    .flows = flows,
		    .flow_count = 3 },
		.members = rnics,
		.member_count = 2,
		.remotes = rnics,
		.remote_count = 1,
		.entries = entries,
		.entry_count = 2,
		.aliases = aliases,
		.alias_count = 3,
	};
	struct wire_writer *writer = wire_writer_new();
	struct wire_bytes bytes;

	assert_int_equal(wire_write_plan(writer, &plan, &bytes), 0);
	round_trip(&bytes);
	wire_writer_free(writer);
}

/* A rack of 64 RNICs among 64 racks: the largest value that etcd must accept. */
static void
a_large_rack_fits_into_one_value(void **state)
{
	struct fixture *f = *state;
	struct wire_writer *writer = wire_writer_new();
	struct wire_bytes bytes;
	size_t len;

	set_topology(f, region_clos(65, 8));
	for (unsigned i = 1; i <= 65; i++) {
		char tor[16];

		snprintf(tor, sizeof(tor), "tor%u", i);
		region_rack(f->registry, tor, i * 1000, 64);
	}
	assert_int_equal(
	    plan_set_new(f->topology, f->registry, &f->options, &f->set), 0);
	assert_int_equal(plan_set_write(f->set, 0, 0, 0, writer, &bytes), 0);
	len = round_trip(&bytes);
	print_message("%zu bytes of JSON, %zu on the wire\n", len, bytes.len);
	assert_in_range(len, 1, 1400 << 10);
	wire_writer_free(writer);
}

static void
refused(const char *text, const char *sentence)
{
	struct wire_writer *writer = wire_writer_new();
	struct store_plan_read read;
	struct rm_error error = { 0 };
	struct wire_bytes bytes;

	assert_int_equal(
	    store_plan_read(text, strlen(text), 7, writer, &read, &bytes, &error),
	    -EBADMSG);
	if (strstr(error.text, sentence) == NULL)
		fail_msg("%s", error.text);
	wire_writer_free(writer);
}

static void
malformed_plans_are_refused(void **state)
{
	refused("", "not JSON");
	refused("[]", "expected a JSON object");
	refused("{\"tor\":\"t\"}", "region: expected a text");
	refused("{\"region\":\"r\",\"tor\":\"t\"}", "mesh: expected an object");
	refused("{\"region\":\"r\",\"tor\":7,\"mesh\":{}}", "tor: expected a text");
	refused(
	    "{\"region\":\"r\",\"tor\":\"t\",\"mesh\":{},\"x\":1}", "x: unknown key");
	refused("{\"region\":\"r\",\"tor\":\"t\",\"mesh\":{},\"entries\":[1]}",
	    "entries: expected objects");
	refused("{\"region\":\"r\",\"tor\":\"t\",\"mesh\":{\"peers\":-1}}",
	    "peers: expected a whole number in range");
	refused("{\"region\":\"r\",\"tor\":\"t\",\"mesh\":{}}",
	    "digest: it does not match this plan");
	refused(
	    "{\"region\":\"r\",\"tor\":\"a b\",\"mesh\":{}}", "tor: expected a name");
	refused("{\"region\":\"r\",\"tor\":\"t\",\"mesh\":{},\"mixes\":[{}],"
		"\"entries\":[{\"from\":0,\"to\":0,\"kind\":\"inter_tor\"}]}",
	    "entries: out of bounds");
}

static void
a_plan_changed_by_hand_is_refused(void **state)
{
	const struct wire_plan plan = { .region = "r", .tor = "t", .plane = "" };
	struct wire_writer *writer = wire_writer_new();
	struct wire_bytes bytes;
	char *text = NULL, *region;
	size_t len;

	assert_int_equal(wire_write_plan(writer, &plan, &bytes), 0);
	assert_int_equal(
	    store_plan_write(&bytes, digest_of(&bytes), 0, &text, &len), 0);
	region = strstr(text, "\"r\"");
	assert_non_null(region);
	region[1] = 's';
	refused(text, "was the plan changed by hand?");
	free(text);
	wire_writer_free(writer);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(real_plans_come_back_equal),
		TEST(a_probe_timeout_comes_back),
		TEST(aliases_and_reflectors_come_back_equal),
		TEST(odd_plans_come_back_equal),
		TEST(a_large_rack_fits_into_one_value),
		TEST(malformed_plans_are_refused),
		TEST(a_plan_changed_by_hand_is_refused),
	};

	return cmocka_run_group_tests_name("store_plan", tests, NULL, NULL);
}
