#include "tor-aggregator/plan/peer_versions.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct peer_versions versions;

static int
setup(void **state)
{
	memset(&versions, 0, sizeof(versions));
	return 0;
}

static void
receive(const char *name, const char *software, bool connected, int64_t now)
{
	const struct wire_welcome welcome = { .id = name, .software = software };

	peer_versions_receive(&versions, WIRE_COMPONENT_CONTROLLER, &welcome, connected,
	    (rm_wall_t){ now });
}

static void
a_version_counts_from_when_it_was_first_received(void **state)
{
	receive("c1", "1.0", false, 10);
	receive("c1", "1.0", true, 20);
	assert_int_equal(versions.count, 1);
	assert_string_equal(versions.peers[0].software, "1.0");
	assert_int_equal(versions.peers[0].since.ns, 10);
	assert_true(versions.peers[0].connected);

	receive("c1", "1.1", true, 30);
	assert_int_equal(versions.count, 1);
	assert_string_equal(versions.peers[0].software, "1.1");
	assert_int_equal(versions.peers[0].since.ns, 30);
}

static void
a_disconnected_peer_is_kept(void **state)
{
	receive("c1", "1.0", true, 10);
	receive("c2", "", true, 10);
	peer_versions_gone(&versions, WIRE_COMPONENT_ANALYZER, "c1");
	assert_true(versions.peers[0].connected);
	peer_versions_gone(&versions, WIRE_COMPONENT_CONTROLLER, "c1");
	peer_versions_gone(&versions, WIRE_COMPONENT_CONTROLLER, "c9");
	assert_false(versions.peers[0].connected);
	assert_true(versions.peers[1].connected);
	assert_string_equal(versions.peers[1].software, "");
}

static void
invalid_names_are_ignored_and_invalid_versions_are_unknown(void **state)
{
	receive("", "1.0", true, 10);
	receive("c 1", "1.0", true, 10);
	assert_int_equal(versions.count, 0);
	receive("c1", "1.0\n", true, 10);
	assert_string_equal(versions.peers[0].software, "");
}

static void
peers_above_the_limit_are_counted(void **state)
{
	char name[16];

	for (int i = 0; i < PEER_VERSIONS_MAX + 2; i++) {
		snprintf(name, sizeof(name), "c%d", i);
		receive(name, "1.0", true, 10);
	}
	assert_int_equal(versions.count, PEER_VERSIONS_MAX);
	assert_int_equal(versions.dropped, 2);
	receive("c0", "1.1", true, 20);
	assert_string_equal(versions.peers[0].software, "1.1");
}

#define TEST(fn) cmocka_unit_test_setup(fn, setup)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_version_counts_from_when_it_was_first_received),
		TEST(a_disconnected_peer_is_kept),
		TEST(invalid_names_are_ignored_and_invalid_versions_are_unknown),
		TEST(peers_above_the_limit_are_counted),
	};

	return cmocka_run_group_tests_name("peer_versions", tests, NULL, NULL);
}
