/* From a master secret and a plan to the keys of two agents, which must be equal. */
#include "region-controller/registry/probe_keys.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "rackmesh/core/error.h"
#include "rackmesh/core/file.h"
#include "rackmesh/identity/probe_key.h"

static char path[] = "/tmp/rackmesh-probe-keys-XXXXXX";

static void
write_secret(const char *text, mode_t mode)
{
	assert_int_equal(
	    rm_file_replace_secret(path, (const uint8_t *)text, strlen(text)), 0);
	assert_int_equal(chmod(path, mode), 0);
}

static int
setup(void **state)
{
	int fd = mkstemp(path);

	return fd < 0 ? -1 : close(fd);
}

static int
teardown(void **state)
{
	return unlink(path);
}

static struct probe_keys *
keys_of(const char *secret)
{
	struct probe_keys *keys = NULL;
	struct rm_error error = { 0 };

	write_secret(secret, 0600);
	assert_int_equal(probe_keys_new(path, 3600, &error, &keys), 0);
	return keys;
}

#define SECRET "0123456789abcdef0123456789abcdef\n"

static void
a_secret_must_be_long_and_readable_by_its_owner_only(void **state)
{
	struct probe_keys *keys = NULL;
	struct rm_error error = { 0 };

	write_secret(SECRET, 0644);
	assert_int_equal(probe_keys_new(path, 3600, &error, &keys), -EACCES);
	write_secret("too short\n", 0600);
	assert_int_equal(probe_keys_new(path, 3600, &error, &keys), -EINVAL);
	assert_non_null(strstr(error.text, "32 to 64"));
	assert_int_equal(
	    probe_keys_new("/nowhere/at/all", 3600, &error, &keys), -ENOENT);
	assert_null(keys);
}

static void
a_clock_that_is_set_is_followed_one_epoch_at_a_time(void **state)
{
	const int64_t half = 1800 * RM_NS_PER_S;
	const rm_wall_t fifth = { 4 * 3600 * RM_NS_PER_S };
	const rm_wall_t years = { 90000 * 3600 * RM_NS_PER_S };
	struct probe_keys *keys = keys_of(SECRET);

	assert_int_equal(probe_keys_follow(keys, 0, 0, fifth), 5);
	assert_int_equal(probe_keys_follow(keys, 5, 0, fifth), 5);
	assert_int_equal(probe_keys_follow(keys, 4, half, fifth), 5);
	assert_int_equal(probe_keys_follow(keys, 5, half - RM_NS_PER_S, years), 5);
	assert_int_equal(probe_keys_follow(keys, 5, half, years), 6);
	assert_int_equal(probe_keys_follow(keys, 6, half - RM_NS_PER_S, fifth), 6);
	assert_int_equal(probe_keys_follow(keys, 6, half, fifth), 5);
	probe_keys_free(keys);
}

static void
epochs_count_from_one_and_by_the_clock(void **state)
{
	struct probe_keys *keys = keys_of(SECRET);

	assert_int_equal(probe_keys_epoch(keys, (rm_wall_t){ 0 }), 1);
	assert_int_equal(probe_keys_epoch(keys, (rm_wall_t){ 3599 * RM_NS_PER_S }), 1);
	assert_int_equal(probe_keys_epoch(keys, (rm_wall_t){ 3600 * RM_NS_PER_S }), 2);
	probe_keys_free(keys);
}

#define NEXT "fedcba9876543210fedcba9876543210"
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define LAST "a third one that is long enough, too"

/* Asserts that the key of this epoch is made from this secret. */
static void
assert_of(const struct probe_keys *keys, uint32_t epoch, const char *secret)
{
	const struct wire_rnic_id a = { 11, 1 }, b = { 1, 1 };
	struct probe_keys *alone = keys_of(secret);
	struct wire_pair_key pair, expected;

	probe_keys_pair(keys, epoch, a, b, &pair);
	probe_keys_pair(alone, epoch, a, b, &expected);
	assert_memory_equal(pair.key, expected.key, sizeof(pair.key));
	probe_keys_free(alone);
}

static void
the_next_secret_is_of_the_epochs_from_its_time_on(void **state)
{
	/* Epochs here last one hour: epoch 6 begins at 05:00. */
	struct probe_keys *keys = keys_of(SECRET NEXT
	    " from 1970-01-01T04:00:01Z\n" LAST " from 1970-01-01T07:00:00Z\n");
	rm_wall_t from;

	assert_of(keys, 1, SECRET);
	assert_of(keys, 5, SECRET);
	assert_of(keys, 6, NEXT);
	assert_of(keys, 7, NEXT);
	assert_of(keys, 8, LAST);
	assert_of(keys, 800, LAST);
	assert_true(probe_keys_next(keys, (rm_wall_t){ 0 }, &from));
	assert_int_equal(from.ns, (4 * 3600 + 1) * RM_NS_PER_S);
	assert_true(probe_keys_next(keys, from, &from));
	assert_int_equal(from.ns, 7 * 3600 * RM_NS_PER_S);
	assert_false(probe_keys_next(keys, from, &from));
	probe_keys_free(keys);
}

static int
read_again(struct probe_keys *keys, const char *text, uint32_t epoch)
{
	struct rm_error error = { 0 };
	int r;

	write_secret(text, 0600);
	r = probe_keys_reload(keys, path, epoch, &error);
	assert_true((r < 0) == (strstr(error.text, path) != NULL));
	return r;
}

/* The second secret applies from epoch 6 on. */
static void
a_file_read_again_changes_no_epoch_that_responders_hold(void **state)
{
	static const char next[] = SECRET NEXT " from 1970-01-01T04:00:01Z\n";
	struct probe_keys *keys = keys_of(SECRET);

	for (uint32_t epoch = 5; epoch < 8; epoch++)
		assert_int_equal(read_again(keys, next, epoch), -EKEYREJECTED);
	assert_int_equal(read_again(keys, "too short\n", 4), -EINVAL);
	assert_of(keys, 6, SECRET);
	assert_int_equal(read_again(keys, next, 4), 1);
	assert_of(keys, 5, SECRET);
	assert_of(keys, 6, NEXT);
	assert_int_equal(read_again(keys, next, 4), 0);
	/* The first secret may be removed when no responder holds a key made from it.
	 */
	assert_int_equal(read_again(keys, NEXT "\n", 6), -EKEYREJECTED);
	assert_int_equal(read_again(keys, NEXT "\n", 7), 1);
	assert_of(keys, 6, NEXT);
	probe_keys_free(keys);
}

static void
a_secret_that_has_replaced_another_is_used_alone(void **state)
{
	struct probe_keys *keys = keys_of(NEXT " from 1970-01-01T04:00:00Z\r\n");

	assert_of(keys, 1, NEXT);
	assert_of(keys, 5, NEXT);
	probe_keys_free(keys);
}

static void
controllers_with_the_same_secret_have_the_same_fingerprint(void **state)
{
	static const char *const texts[] = { SECRET, NEXT "\n",
		SECRET NEXT " from 1970-01-01T04:00:00Z\n",
		SECRET NEXT " from 1970-01-01T06:00:00Z\n",
		SECRET LAST " from 1970-01-01T04:00:00Z\n" };
	char prints[COUNT(texts)][PROBE_KEYS_PRINT], again[PROBE_KEYS_PRINT];
	struct probe_keys *keys;

	for (size_t i = 0; i < COUNT(texts); i++) {
		keys = keys_of(texts[i]);
		probe_keys_print(keys, prints[i]);
		probe_keys_free(keys);
		assert_int_equal(strlen(prints[i]), 16);
		for (size_t before = 0; before < i; before++)
			assert_string_not_equal(prints[before], prints[i]);
	}
	/* The start time of the oldest secret is ignored. */
	keys = keys_of(NEXT " from 1970-01-01T04:00:00Z\r\n");
	probe_keys_print(keys, again);
	assert_string_equal(again, prints[1]);
	probe_keys_free(keys);
}

static void
a_malformed_secret_is_refused(void **state)
{
	static const char *const texts[] = {
		"\n",
		SECRET NEXT "\n",
		SECRET NEXT " from tomorrow\n",
		SECRET "too short from 1970-01-01T04:00:00Z\n",
		SECRET NEXT " from 1970-01-02T00:00:00Z\n" LAST
			    " from 1970-01-01T23:00:00Z\n",
		SECRET NEXT
		" from 1970-01-02T00:00:00Z\n" NEXT " from 1970-01-03T00:00:00Z\n" NEXT
		" from 1970-01-04T00:00:00Z\n" NEXT " from 1970-01-05T00:00:00Z\n",
		NEXT NEXT NEXT "\n",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct probe_keys *keys = NULL;
		struct rm_error error = { 0 };

		write_secret(texts[i], 0600);
		assert_int_equal(probe_keys_new(path, 3600, &error, &keys), -EINVAL);
		assert_null(keys);
		assert_null(strstr(error.text, NEXT));
	}
}

static const struct wire_rnic members[] = {
	{ .id = { 1, 1 }, .host = "a", .authenticates = true },
	{ .id = { 2, 1 }, .host = "b" },
	{ .id = { 3, 1 }, .host = "c", .authenticates = true },
};
static const struct wire_rnic remotes[] = {
	{ .id = { 11, 1 }, .host = "x", .authenticates = true },
	{ .id = { 12, 1 }, .host = "y" },
};

static void
write_for(const struct probe_keys *keys, struct wire_writer *writer,
    struct wire_writer *plans, struct wire_bytes *out)
{
	static const uint16_t flows[] = { 40001 };
	static const uint16_t sizes[] = { 64 };
	static const uint8_t dscps[] = { 26 };
	struct wire_plan_entry entries[4];
	const struct wire_plan plan = { .region = "lab",
		.tor = "tor1",
		.plane = "p",
		.version = 9,
		.members = members,
		.member_count = 3,
		.remotes = remotes,
		.remote_count = 2,
		.entries = entries,
		.entry_count = 4 };
	struct wire_plan_view view;
	struct wire_bytes bytes;

	for (uint32_t i = 0; i < 4; i++)
		entries[i] = (struct wire_plan_entry){ .src = i / 2,
			.dst = i % 2,
			.kind = WIRE_INTER_TOR,
			.interval_us = 1000,
			.flows = flows,
			.flow_count = 1,
			.dscps = dscps,
			.dscp_count = 1,
			.sizes = sizes,
			.size_count = 1 };
	assert_int_equal(wire_write_plan(plans, &plan, &bytes), 0);
	assert_int_equal(wire_open_plan(&view, bytes.data, bytes.len), 0);
	assert_int_equal(probe_keys_write(keys, &view, 5, 77, writer, out), 0);
}

static void
rnics_that_authenticate_have_keys_and_others_are_listed(void **state)
{
	struct wire_writer *writer = wire_writer_new(), *plans = wire_writer_new();
	struct probe_keys *keys = keys_of(SECRET);
	struct wire_bytes bytes;
	struct wire_keys view;

	write_for(keys, writer, plans, &bytes);
	assert_int_equal(wire_open_keys(&view, bytes.data, bytes.len), 0);
	assert_string_equal(view.tor, "tor1");
	assert_int_equal(view.epoch, 5);
	assert_int_equal(view.version, 77);
	assert_int_equal(view.responder_count, 6);
	for (size_t i = 0; i < 6; i++) {
		assert_int_equal(view.responders[i].guid, i < 3 ? 1 : 3);
		assert_int_equal(view.responders[i].epoch, 4 + i % 3);
	}
	assert_int_equal(view.pair_count,
	    1); /* from 1 to 11: one end of each other pair is not authenticated */
	assert_int_equal(view.pairs[0].src_guid, 1);
	assert_int_equal(view.pairs[0].dst_guid, 11);
	assert_int_equal(view.plain_count, 2);
	assert_int_equal(wire_keys_plain(&view, 0).guid, 2);
	assert_int_equal(wire_keys_plain(&view, 1).guid, 12);
	probe_keys_free(keys);
	wire_writer_free(writer);
	wire_writer_free(plans);
}

static void
a_pairs_key_follows_from_the_responders(void **state)
{
	struct wire_writer *writer = wire_writer_new(), *plans = wire_writer_new();
	struct probe_keys *keys = keys_of(SECRET), *others;
	uint8_t derived[PROBE_KEY_BYTES];
	struct wire_pair_key pair, other;
	struct wire_bytes bytes;
	struct wire_keys view;

	write_for(keys, writer, plans, &bytes);
	assert_int_equal(wire_open_keys(&view, bytes.data, bytes.len), 0);
	probe_keys_pair(keys, 5, (struct wire_rnic_id){ 11, 1 },
	    (struct wire_rnic_id){ 1, 1 }, &pair);
	probe_key_pair(view.responders[1].key, (struct rm_rnic_id){ 11, 1 }, derived);
	assert_memory_equal(pair.key, derived, sizeof(derived));
	assert_int_equal(pair.epoch, 5);
	/* Another secret gives other keys. */
	others = keys_of("another secret, as long as it has to be\n");
	probe_keys_pair(others, 5, (struct wire_rnic_id){ 11, 1 },
	    (struct wire_rnic_id){ 1, 1 }, &other);
	assert_memory_not_equal(pair.key, other.key, sizeof(pair.key));
	probe_keys_free(others);
	probe_keys_free(keys);
	wire_writer_free(writer);
	wire_writer_free(plans);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_secret_must_be_long_and_readable_by_its_owner_only),
		cmocka_unit_test(the_next_secret_is_of_the_epochs_from_its_time_on),
		cmocka_unit_test(
		    a_file_read_again_changes_no_epoch_that_responders_hold),
		cmocka_unit_test(a_secret_that_has_replaced_another_is_used_alone),
		cmocka_unit_test(
		    controllers_with_the_same_secret_have_the_same_fingerprint),
		cmocka_unit_test(a_malformed_secret_is_refused),
		cmocka_unit_test(epochs_count_from_one_and_by_the_clock),
		cmocka_unit_test(a_clock_that_is_set_is_followed_one_epoch_at_a_time),
		cmocka_unit_test(
		    rnics_that_authenticate_have_keys_and_others_are_listed),
		cmocka_unit_test(a_pairs_key_follows_from_the_responders),
	};

	return cmocka_run_group_tests_name("probe_keys", tests, setup, teardown);
}
