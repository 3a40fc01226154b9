#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "rackmesh/core/error.h"
#include "rackmesh/core/file.h"
#include "rackmesh/topology/topology.h"
#include "region-controller/store/store_file.h"
#include "region-controller/store/store_status.h"

#define ONE_TOR "region: lab\nswitches:\n  - {name: t1, role: tor}\n"
#define TWO_TORS ONE_TOR "  - {name: t2, role: tor}\n"

static char path[64];

static void
write_topology(const char *text)
{
	snprintf(path, sizeof(path), "/tmp/rackmesh-store-%d.yaml", (int)getpid());
	assert_int_equal(rm_file_replace(path, (const uint8_t *)text, strlen(text)), 0);
}

static int
teardown(void **state)
{
	unlink(path);
	return 0;
}

static struct store *
open_store(void)
{
	struct store *store = NULL;
	struct rm_error error = { 0 };

	if (store_file_new(path, "c1", "lab", &store, &error) < 0)
		fail_msg("%s", error.text);
	return store;
}

struct watcher {
	size_t switches;
	int calls, answer, leads;
	uint64_t version, digest;
	struct store_brake brake;
	int replies;
};

static void
on_lead(void *arg)
{
	((struct watcher *)arg)->leads++;
}

static void
on_plan(const struct store_plan *plan, void *arg)
{
	struct watcher *watcher = arg;
	struct wire_plan_view view;

	assert_int_equal(wire_open_plan(&view, plan->bytes.data, plan->bytes.len), 0);
	assert_string_equal(plan->tor, "t1");
	assert_true(view.plan.version == plan->version);
	assert_true(view.plan.digest == plan->digest);
	watcher->version = plan->version;
	watcher->digest = plan->digest;
}

static void
on_brake(const struct store_brake *brake, void *arg)
{
	((struct watcher *)arg)->brake = *brake;
}

static void
on_reply(int r, const char *sentence, uint64_t token, void *arg)
{
	assert_int_equal(r, 0);
	assert_int_equal(token, 5);
	((struct watcher *)arg)->replies++;
}

static int
on_change(const struct rm_topology *fresh, void *arg)
{
	struct watcher *watcher = arg;

	watcher->calls++;
	watcher->switches = rm_topology_switches(fresh);
	return watcher->answer;
}

static void
start(struct store *store, struct watcher *watcher)
{
	const struct store_callbacks callbacks = {
		.on_topology = on_change,
		.on_plan = on_plan,
		.on_brake = on_brake,
		.on_lead = on_lead,
		.arg = watcher,
	};

	assert_int_equal(store_start(store, &callbacks), 0);
}

static void
the_topology_of_another_region_is_refused(void **state)
{
	struct store *store = NULL;
	struct rm_error error = { 0 };
	char sentence[512];

	write_topology(ONE_TOR);
	assert_int_equal(store_file_new(path, "c1", "lob", &store, &error), -EINVAL);
	assert_null(store);
	snprintf(sentence, sizeof(sentence),
	    "%s: it is the topology of region \"lab\", and this controller's is "
	    "\"lob\"; "
	    "correct one of the two",
	    path);
	assert_string_equal(error.text, sentence);
}

static void
a_missing_file_is_an_error(void **state)
{
	struct store *store = NULL;
	struct rm_error error = { 0 };

	assert_int_equal(
	    store_file_new("/nowhere/topology.yaml", "c1", "lab", &store, &error),
	    -ENOENT);
	assert_non_null(strstr(error.text, "/nowhere/topology.yaml"));
}

static void
a_reload_hands_over_the_new_one(void **state)
{
	struct watcher watcher = { 0 };
	struct rm_error error = { 0 };
	struct store *store;

	write_topology(ONE_TOR);
	store = open_store();
	start(store, &watcher);
	write_topology(TWO_TORS);
	assert_int_equal(store_reload(store, &error), 0);
	assert_int_equal(watcher.calls, 1);
	assert_int_equal(watcher.switches, 2);
	assert_int_equal(rm_topology_switches(store_topology(store)), 2);
	store_free(store);
}

static void
a_bad_file_changes_nothing(void **state)
{
	struct watcher watcher = { 0 };
	struct rm_error error = { 0 };
	struct store *store;

	write_topology(ONE_TOR);
	store = open_store();
	start(store, &watcher);
	write_topology("region: lab\n");
	assert_true(store_reload(store, &error) < 0);
	assert_non_null(strstr(error.text, ":1:1: "));
	assert_int_equal(watcher.calls, 0);
	assert_int_equal(rm_topology_switches(store_topology(store)), 1);
	store_free(store);
}

static void
a_topology_that_cannot_be_used_changes_nothing(void **state)
{
	struct watcher watcher = { .answer = -ENOMEM };
	struct rm_error error = { 0 };
	struct store *store;

	write_topology(ONE_TOR);
	store = open_store();
	start(store, &watcher);
	write_topology(TWO_TORS);
	assert_int_equal(store_reload(store, &error), -ENOMEM);
	assert_int_equal(watcher.calls, 1);
	assert_int_equal(rm_topology_switches(store_topology(store)), 1);
	store_free(store);
	store_free(NULL);
}

static void
a_controller_with_a_file_store_leads(void **state)
{
	struct watcher watcher = { 0 };
	struct store_status status;
	struct store *store;

	write_topology(ONE_TOR);
	store = open_store();
	start(store, &watcher);
	assert_int_equal(watcher.leads, 1);
	assert_true(store_leads(store, rm_mono_now()));
	store_status(store, rm_mono_now(), &status);
	assert_true(status.leads);
	assert_false(status.is_shared);
	assert_string_equal(status.leader, "c1");
	assert_string_equal(status.trouble, "");
	store_free(store);
}

static void
the_text_is_handed_out_as_it_was_written(void **state)
{
	struct rm_error error = { 0 };
	struct store *store;
	size_t len = 0;

	write_topology(TWO_TORS);
	store = open_store();
	assert_string_equal(store_topology_text(store, &len), TWO_TORS);
	assert_int_equal(len, strlen(TWO_TORS));
	assert_int_equal(
	    store_import(store, ONE_TOR, strlen(ONE_TOR), NULL, &error), -EOPNOTSUPP);
	assert_non_null(strstr(error.text, path));
	store_free(store);
}

static void
versions_begin_at_the_clock_and_grow(void **state)
{
	struct wire_plan plan = { .region = "lab", .tor = "t1", .plane = "p" };
	struct wire_writer *writer = wire_writer_new();
	struct store_draft draft = { .tor = "t1", .digest = 9 };
	struct watcher watcher = { 0 };
	uint64_t ms = (uint64_t)(rm_wall_now().ns / RM_NS_PER_MS);
	struct store *store;

	write_topology(ONE_TOR);
	store = open_store();
	start(store, &watcher);
	assert_int_equal(wire_write_plan(writer, &plan, &draft.bytes), 0);
	assert_int_equal(store_put_plan(store, &draft), 0);
	assert_true(watcher.version >= ms && watcher.version < ms + 60000);
	assert_int_equal(watcher.digest, 9);
	draft.above = 2 * ms;
	assert_int_equal(store_put_plan(store, &draft), 0);
	assert_true(watcher.version == 2 * ms + 1);
	draft.is_held = true;
	assert_int_equal(store_put_plan(store, &draft), 0);
	assert_true(watcher.version == 2 * ms);
	store_free(store);
	wire_writer_free(writer);
}

static void
the_brake_is_kept_in_memory_and_its_versions_grow(void **state)
{
	struct watcher watcher = { 0 };
	const struct store_reply reply = { on_reply, 5, &watcher };
	struct store *store;
	uint64_t version;

	write_topology(ONE_TOR);
	store = open_store();
	start(store, &watcher);
	assert_int_equal(store_set_brake(store, 0, "me", &reply), 0);
	assert_int_equal(watcher.brake.rate_permille, 0);
	version = watcher.brake.version;
	assert_true(version > 0);
	assert_int_equal(store_set_brake(store, 1000, "me", &reply), 0);
	assert_int_equal(watcher.brake.rate_permille, 1000);
	assert_true(watcher.brake.version > version);
	assert_int_equal(watcher.replies, 2);
	store_free(store);
}

#define TEST(fn) cmocka_unit_test_teardown(fn, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_topology_of_another_region_is_refused),
		TEST(a_missing_file_is_an_error),
		TEST(a_reload_hands_over_the_new_one),
		TEST(a_bad_file_changes_nothing),
		TEST(a_topology_that_cannot_be_used_changes_nothing),
		TEST(a_controller_with_a_file_store_leads),
		TEST(the_text_is_handed_out_as_it_was_written),
		TEST(versions_begin_at_the_clock_and_grow),
		TEST(the_brake_is_kept_in_memory_and_its_versions_grow),
	};

	return cmocka_run_group_tests_name("store_file", tests, NULL, NULL);
}
