#include "tor-aggregator/plan/key_store.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "rackmesh/identity/probe_key.h"
#include "rackmesh/loop/loop.h"
#include "rackmesh/loop/worker.h"

static const char *const tors[] = { "tor1", "tor2" };

struct fixture {
	struct rm_loop *loop;
	struct rm_worker *worker;
	struct key_store *store;
	struct wire_writer *writer;
	char folder[64];
};

static int
open_store(struct fixture *f)
{
	int r = rm_worker_new(f->loop, 8, &f->worker);

	return r < 0 ? r : key_store_new(f->worker, f->folder, tors, 2, &f->store);
}

static void
close_store(struct fixture *f)
{
	rm_worker_free(f->worker);
	key_store_free(f->store);
}

static int
setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	*state = f;
	if (f == NULL)
		return -1;
	strcpy(f->folder, "/tmp/rackmesh-key-store-XXXXXX");
	f->writer = wire_writer_new();
	if (mkdtemp(f->folder) == NULL || rm_loop_new(&f->loop) < 0)
		return -1;
	return open_store(f);
}

static int
teardown(void **state)
{
	struct fixture *f = *state;
	char command[128];

	close_store(f);
	rm_loop_free(f->loop);
	wire_writer_free(f->writer);
	snprintf(command, sizeof(command), "rm -rf %s", f->folder);
	free(f);
	return system(command);
}

/* Keys of members 1, 2 and 3 for epochs 4 to 6; member 1 also probes the remote RNIC 9.
 */
static int
take(struct fixture *f, const char *tor, uint64_t version)
{
	static const struct wire_rnic_id plain = { 7, 1 };
	struct wire_responder_key responders[9] = { 0 };
	struct wire_pair_key pairs[2] = { { .src_guid = 1,
					      .src_port = 1,
					      .dst_guid = 9,
					      .dst_port = 1,
					      .epoch = 5 },
		{ .src_guid = 3,
		    .src_port = 1,
		    .dst_guid = 9,
		    .dst_port = 1,
		    .epoch = 5 } };
	const struct wire_keys keys = { .tor = tor,
		.epoch = 5,
		.version = version,
		.responders = responders,
		.responder_count = 9,
		.pairs = pairs,
		.pair_count = 2,
		.plain = &plain,
		.plain_count = 1 };
	struct wire_bytes bytes;

	for (size_t i = 0; i < 9; i++)
		responders[i] = (struct wire_responder_key){ .guid = 1 + i / 3,
			.port = 1,
			.epoch = (uint32_t)(4 + i % 3),
			.key = { (uint8_t)i } };
	assert_int_equal(wire_write_keys(f->writer, &keys, &bytes), 0);
	return key_store_take(f->store, bytes.data, bytes.len);
}

static void
an_agent_holds_its_own_keys_and_those_of_its_pairs(void **state)
{
	static const struct wire_rnic_id own = { 1, 1 };
	struct fixture *f = *state;
	uint8_t derived[PROBE_KEY_BYTES], responder[PROBE_KEY_BYTES] = { 4 };
	struct wire_keys keys;

	assert_int_equal(key_store_expand(f->store, 0, &own, 1, &keys), -ENOENT);
	assert_int_equal(take(f, "tor1", 10), 0);
	assert_int_equal(key_store_expand(f->store, 0, &own, 1, &keys), 0);
	assert_string_equal(keys.tor, "tor1");
	assert_int_equal(keys.responder_count, 3);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(keys.responders[i].guid, 1);
	assert_int_equal(keys.pair_count, 3); /* from 1 to 2, 3 and 9 */
	assert_int_equal(keys.pairs[0].dst_guid, 2);
	assert_int_equal(keys.pairs[0].epoch, 5);
	probe_key_pair(responder, (struct rm_rnic_id){ 1, 1 }, derived);
	assert_memory_equal(keys.pairs[0].key, derived, sizeof(derived));
	assert_int_equal(keys.pairs[1].dst_guid, 3);
	assert_int_equal(keys.pairs[2].dst_guid, 9);
	assert_int_equal(keys.plain_count, 1);
	assert_int_equal(keys.plain[0].guid, 7);
}

static void
a_key_to_a_member_can_be_made_for_any_prober(void **state)
{
	static const struct wire_rnic_id far = { 99, 1 }, member = { 2, 1 };
	struct fixture *f = *state;
	uint8_t derived[PROBE_KEY_BYTES], responder[PROBE_KEY_BYTES] = { 4 };
	struct wire_pair_key key;

	assert_false(key_store_pair(f->store, far, member, &key));
	assert_int_equal(take(f, "tor2", 10), 0);
	assert_true(key_store_pair(f->store, far, member, &key));
	probe_key_pair(responder, (struct rm_rnic_id){ 99, 1 }, derived);
	assert_memory_equal(key.key, derived, sizeof(derived));
	assert_false(key_store_pair(f->store, member, far, &key));
}

static void
only_newer_keys_of_own_tors_are_taken(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(take(f, "tor1", 10), 0);
	assert_int_equal(take(f, "tor1", 10), 0);
	assert_int_equal(take(f, "tor1", 9), 0);
	assert_int_equal(take(f, "tor3", 11), 0);
	assert_int_equal(take(f, "tor1", 11), 0);
	assert_int_equal(key_store_view(f->store, 0)->version, 11);
	assert_null(key_store_view(f->store, 1));
	assert_int_equal(key_store_counts(f->store)->taken, 2);
	assert_int_equal(key_store_counts(f->store)->stale, 2);
	assert_int_equal(key_store_counts(f->store)->refused, 1);
	assert_int_equal(
	    key_store_take(f->store, (const uint8_t *)"junk", 4), -EBADMSG);
}

static void
after_a_restart_keys_are_read_from_a_private_file(void **state)
{
	struct fixture *f = *state;
	char path[128];
	struct stat st;

	assert_int_equal(take(f, "tor2", 10), 0);
	snprintf(path, sizeof(path), "%s/keys-tor2", f->folder);
	/* The worker finishes the write that it has begun. */
	for (int i = 0; i < 60000 && stat(path, &st) < 0; i++)
		usleep(1000);
	close_store(f);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(open_store(f), 0);
	key_store_load(f->store);
	assert_non_null(key_store_view(f->store, 1));
	assert_int_equal(key_store_view(f->store, 1)->version, 10);
	close_store(f);
	assert_int_equal(truncate(path, st.st_size - 1), 0);
	assert_int_equal(open_store(f), 0);
	key_store_load(f->store);
	assert_null(key_store_view(f->store, 1));
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_agent_holds_its_own_keys_and_those_of_its_pairs),
		TEST(a_key_to_a_member_can_be_made_for_any_prober),
		TEST(only_newer_keys_of_own_tors_are_taken),
		TEST(after_a_restart_keys_are_read_from_a_private_file),
	};

	return cmocka_run_group_tests_name("key_store", tests, NULL, NULL);
}
