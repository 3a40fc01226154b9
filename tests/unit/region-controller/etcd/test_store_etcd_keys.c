#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rackmesh/core/error.h"
#include "region-controller/etcd/store_etcd_keys.h"

static const struct rm_rnic_id id = { 0x0c42a10300650001, 1 };

static struct store_rnic
some_rnic(void)
{
	return (struct store_rnic){
		.rnic = { .id = { id.guid, id.port },
		    .host = "h1",
		    .device = "mlx5_0",
		    .driver = "mlx5",
		    .tors = { "tor1", "tor2" },
		    .tor_count = 2,
		    .plane = "",
		    .addresses = { { 4, { 10, 0, 0, 1 }, 4791 },
			{ 6, { 0xfe, 0x80, [15] = 1 }, 0 } },
		    .address_count = 2,
		    .qpn = 77,
		    .large_qpn = 78,
		    .lid = 79,
		    .link = WIRE_LINK_DOWN,
		    .mtu_bytes = 4096,
		    .incarnation = UINT64_C(0xfedcba9876543210) },
		.aggregator = "agg1",
		.registered = { 1700000000123 * RM_NS_PER_MS },
	};
}

static void
keys_are_below_their_region(void **state)
{
	char key[STORE_KEY_BYTES];

	store_key(key, "lab", STORE_KEY_PLAN, "tor1");
	assert_string_equal(key, "/rackmesh/lab/pinglist/tor1");
	assert_string_equal(store_key_rest("lab", key), "pinglist/tor1");
	assert_null(store_key_rest("la", key));
	assert_null(store_key_rest("lab2", key));
	assert_null(store_key_rest("lab", "/rackmesh/labor"));
}

static void
a_registration_comes_back_equal(void **state)
{
	struct store_rnic rnic = some_rnic(), again;
	json_t *object = NULL;
	struct rm_error error = { 0 };
	uint64_t hash = 0, hash_again = 1;
	char *text = NULL;

	assert_int_equal(store_rnic_write(&rnic, &text), 0);
	assert_non_null(strstr(text, "\"10.0.0.1:4791\""));
	if (store_rnic_read(text, strlen(text), id, &object, &again, &error) < 0)
		fail_msg("%s", error.text);
	assert_string_equal(again.rnic.host, "h1");
	assert_string_equal(again.rnic.tors[1], "tor2");
	assert_memory_equal(
	    again.rnic.addresses, rnic.rnic.addresses, sizeof(rnic.rnic.addresses));
	assert_int_equal(again.rnic.qpn, 77);
	assert_int_equal(again.rnic.large_qpn, 78);
	assert_int_equal(again.rnic.lid, 79);
	assert_int_equal(again.rnic.link, WIRE_LINK_DOWN);
	assert_true(again.rnic.incarnation == rnic.rnic.incarnation);
	assert_string_equal(again.aggregator, "agg1");
	assert_true(again.registered.ns == rnic.registered.ns);
	assert_int_equal(store_rnic_hash(&rnic, &hash), 0);
	assert_int_equal(store_rnic_hash(&again, &hash_again), 0);
	assert_true(hash == hash_again);
	json_decref(object);
	free(text);
}

static void
a_new_reporter_or_time_is_no_change(void **state)
{
	struct store_rnic rnic = some_rnic();
	uint64_t before = 0, after = 0;

	assert_int_equal(store_rnic_hash(&rnic, &before), 0);
	rnic.aggregator = "agg2";
	rnic.registered.ns++;
	assert_int_equal(store_rnic_hash(&rnic, &after), 0);
	assert_true(before == after);
	rnic.rnic.incarnation++;
	assert_int_equal(store_rnic_hash(&rnic, &after), 0);
	assert_true(before != after);
}

static void
refused_rnic(const char *text, const char *sentence)
{
	struct store_rnic rnic;
	struct rm_error error = { 0 };
	json_t *object = NULL;

	assert_int_equal(
	    store_rnic_read(text, strlen(text), id, &object, &rnic, &error), -EBADMSG);
	assert_null(object);
	assert_string_equal(error.text, sentence);
}

#define ID "\"id\":\"0c42:a103:0065:0001/1\""

/* Written by an older release, with one QP and without a link state. */
static void
an_older_registration_is_read(void **state)
{
	static const char text[] = "{" ID ",\"host\":\"h1\",\"device\":\"mlx5_0\","
				   "\"addresses\":[\"10.0.0.1:862\"],\"qpn\":16777215}";
	struct store_rnic rnic;
	struct rm_error error = { 0 };
	json_t *object = NULL;

	if (store_rnic_read(text, strlen(text), id, &object, &rnic, &error) < 0)
		fail_msg("%s", error.text);
	assert_int_equal(rnic.rnic.qpn, 16777215);
	assert_int_equal(rnic.rnic.large_qpn, 0);
	assert_int_equal(rnic.rnic.lid, 0);
	assert_int_equal(rnic.rnic.link, WIRE_LINK_UNKNOWN);
	json_decref(object);
}

static void
malformed_registrations_are_refused(void **state)
{
	refused_rnic("garbage",
	    "line 1, column 7: not JSON: '[' or '{' expected near 'garbage'");
	refused_rnic("7", "line 1, column 1: not JSON: '[' or '{' expected near '7'");
	refused_rnic("{}", "id: expected a text");
	refused_rnic(
	    "{\"id\":\"00:00:00:00:00:01\"}", "id: it differs from the one in the key");
	refused_rnic("{" ID ",\"host\":1}", "host: expected a text");
	refused_rnic("{" ID ",\"hosts\":\"h1\"}", "hosts: unknown key");
	refused_rnic("{" ID ",\"tors\":[\"a\",\"b\",\"c\"]}",
	    "tors: expected a list that is not too long");
	refused_rnic("{" ID ",\"tors\":[1]}", "tors: expected names");
	refused_rnic(
	    "{" ID ",\"addresses\":[\"h1\"]}", "addresses: expected addresses");
	refused_rnic(
	    "{" ID ",\"qpn\":16777216}", "qpn: expected a whole number in range");
	refused_rnic("{" ID ",\"large_qpn\":16777216}",
	    "large_qpn: expected a whole number in range");
	refused_rnic("{" ID ",\"lid\":65536}", "lid: expected a whole number in range");
	refused_rnic(
	    "{" ID ",\"link\":\"gone\"}", "link: expected up, down or unknown");
	refused_rnic("{" ID ",\"qpn\":1.5}", "qpn: expected a whole number in range");
	refused_rnic(
	    "{" ID ",\"incarnation\":\"7\"}", "incarnation: expected 16 hex digits");
	refused_rnic("{" ID ",\"registered\":\"yesterday\"}",
	    "registered: expected a time like 2026-01-31T12:00:00.000Z");
	refused_rnic("{" ID ",\"registered\":\"1013-11-20T09:41:05.907Z\"}",
	    "registered: expected a time like 2026-01-31T12:00:00.000Z");
	refused_rnic("{" ID ",\"registered\":\"2026-02-31T12:00:00.000Z\"}",
	    "registered: expected a time like 2026-01-31T12:00:00.000Z");
	refused_rnic("{" ID "," ID "}",
	    "line 1, column 34: not JSON: duplicate object key "
	    "near '\"id\"'");
}

static void
the_brake_comes_back_with_a_version_of_its_own(void **state)
{
	const struct store_brake brake = { 250, 0, "me", { RM_NS_PER_S } };
	struct store_brake again;
	json_t *object = NULL;
	char *text = NULL;

	assert_int_equal(store_brake_write(&brake, 1000, &text), 0);
	assert_int_equal(
	    store_brake_read(text, strlen(text), 7, &object, &again, NULL), 0);
	assert_int_equal(again.rate_permille, 250);
	assert_int_equal(again.version, 1007);
	assert_string_equal(again.by, "me");
	assert_true(again.when.ns == RM_NS_PER_S);
	json_decref(object);
	free(text);
}

static void
a_brake_written_by_hand_needs_its_rate_only(void **state)
{
	static const char *const bad[] = { "{}", "0", "{\"rate_permille\":1001}",
		"{\"rate_permille\":-1}", "{\"rate_permille\":\"0\"}",
		"{\"rate_permille\":0,\"rate\":0}" };
	struct store_brake brake;
	json_t *object = NULL;

	assert_int_equal(
	    store_brake_read("{\"rate_permille\":0}", 19, 9, &object, &brake, NULL), 0);
	assert_int_equal(brake.rate_permille, 0);
	assert_int_equal(brake.version, 9);
	json_decref(object);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(
		    store_brake_read(bad[i], strlen(bad[i]), 9, &object, &brake, NULL),
		    -EBADMSG);
}

static void
the_leaders_name_is_read_or_empty(void **state)
{
	static const char long_keys[] = "{\"name\":\"c1\",\"keys\":"
					"\"0123456789abcdef0123456789abcdef\"}";
	struct store_leader leader;
	char *text = NULL;

	assert_int_equal(store_leader_write("c1", "0123456789abcdef", &text), 0);
	store_leader_read(text, strlen(text), &leader);
	assert_string_equal(leader.name, "c1");
	assert_string_equal(leader.keys, "0123456789abcdef");
	free(text);
	assert_int_equal(store_leader_write("c1", "", &text), 0);
	store_leader_read(text, strlen(text), &leader);
	assert_string_equal(leader.name, "c1");
	assert_string_equal(leader.keys, "");
	free(text);
	store_leader_read(long_keys, sizeof(long_keys) - 1, &leader);
	assert_string_equal(leader.name, "c1");
	assert_string_equal(leader.keys, "");
	store_leader_read("{\"name\":\"a b\"}", 14, &leader);
	assert_string_equal(leader.name, "");
	store_leader_read("c1", 2, &leader);
	assert_string_equal(leader.name, "");
}

static void
a_controllers_release_is_read_or_empty(void **state)
{
	char software[RM_VERSION_BYTES], *text = NULL;

	assert_int_equal(store_controller_write("1.2~rc1", &text), 0);
	store_controller_read(text, strlen(text), software);
	assert_string_equal(software, "1.2~rc1");
	free(text);
	store_controller_read("{\"version\":\"a b\"}", 17, software);
	assert_string_equal(software, "");
	store_controller_read("1.2", 3, software);
	assert_string_equal(software, "");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_are_below_their_region),
		cmocka_unit_test(a_controllers_release_is_read_or_empty),
		cmocka_unit_test(a_registration_comes_back_equal),
		cmocka_unit_test(a_new_reporter_or_time_is_no_change),
		cmocka_unit_test(an_older_registration_is_read),
		cmocka_unit_test(malformed_registrations_are_refused),
		cmocka_unit_test(the_brake_comes_back_with_a_version_of_its_own),
		cmocka_unit_test(a_brake_written_by_hand_needs_its_rate_only),
		cmocka_unit_test(the_leaders_name_is_read_or_empty),
	};

	return cmocka_run_group_tests_name("store_etcd_keys", tests, NULL, NULL);
}
