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

#include "rackmesh/base/file.h"
#include "rackmesh/base/why.h"
#include "rackmesh/fabric/topology.h"
#include "region-controller/store_file.h"

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
	struct rm_why why = { 0 };

	if (store_file_new(path, "lab", &store, &why) < 0)
		fail_msg("%s", why.text);
	return store;
}

struct watcher {
	size_t switches;
	int calls, answer;
};

static int
on_change(const struct rm_topology *fresh, void *arg)
{
	struct watcher *watcher = arg;

	watcher->calls++;
	watcher->switches = rm_topology_switches(fresh);
	return watcher->answer;
}

static void
the_topology_of_another_region_is_refused(void **state)
{
	struct store *store = NULL;
	struct rm_why why = { 0 };
	char sentence[512];

	write_topology(ONE_TOR);
	assert_int_equal(store_file_new(path, "lob", &store, &why), -EINVAL);
	assert_null(store);
	snprintf(sentence, sizeof(sentence),
	    "%s: it is the topology of region \"lab\", and this controller's is "
	    "\"lob\"; "
	    "correct one of the two",
	    path);
	assert_string_equal(why.text, sentence);
}

static void
a_missing_file_is_an_error(void **state)
{
	struct store *store = NULL;
	struct rm_why why = { 0 };

	assert_int_equal(
	    store_file_new("/nowhere/topology.yaml", "lab", &store, &why), -ENOENT);
	assert_non_null(strstr(why.text, "/nowhere/topology.yaml"));
}

static void
a_reload_hands_over_the_new_one(void **state)
{
	struct watcher watcher = { 0 };
	struct rm_why why = { 0 };
	struct store *store;

	write_topology(ONE_TOR);
	store = open_store();
	store_watch(store, on_change, &watcher);
	write_topology(TWO_TORS);
	assert_int_equal(store_reload(store, &why), 0);
	assert_int_equal(watcher.calls, 1);
	assert_int_equal(watcher.switches, 2);
	assert_int_equal(rm_topology_switches(store_topology(store)), 2);
	store_free(store);
}

static void
a_bad_file_changes_nothing(void **state)
{
	struct watcher watcher = { 0 };
	struct rm_why why = { 0 };
	struct store *store;

	write_topology(ONE_TOR);
	store = open_store();
	store_watch(store, on_change, &watcher);
	write_topology("region: lab\n");
	assert_true(store_reload(store, &why) < 0);
	assert_non_null(strstr(why.text, ":1:1: "));
	assert_int_equal(watcher.calls, 0);
	assert_int_equal(rm_topology_switches(store_topology(store)), 1);
	store_free(store);
}

static void
what_cannot_be_taken_into_use_changes_nothing(void **state)
{
	struct watcher watcher = { .answer = -ENOMEM };
	struct rm_why why = { 0 };
	struct store *store;

	write_topology(ONE_TOR);
	store = open_store();
	store_watch(store, on_change, &watcher);
	write_topology(TWO_TORS);
	assert_int_equal(store_reload(store, &why), -ENOMEM);
	assert_int_equal(watcher.calls, 1);
	assert_int_equal(rm_topology_switches(store_topology(store)), 1);
	store_free(store);
	store_free(NULL);
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
		TEST(what_cannot_be_taken_into_use_changes_nothing),
	};

	return cmocka_run_group_tests_name("store_file", tests, NULL, NULL);
}
