#include "tor-aggregator/controller/address_book.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/unit/tor-aggregator/rack_fixture.h"

struct world {
	struct rack_fixture *f;
	struct address_book book;
	bool old; /* whether the RNIC that was found last is outdated */
};

static int
setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	*state = w;
	w->f = fixture_rack(3, 2);
	return 0;
}

static int
teardown(void **state)
{
	struct world *w = *state;

	address_book_release(&w->book);
	fixture_rack_free(w->f);
	free(w);
	return 0;
}

static bool
find(struct world *w, const struct wire_address *address, struct wire_rnic *ret)
{
	return address_book_find(
	    &w->book, &w->f->rack, 1, address, w->f->now, ret, &w->old);
}

static void
members_and_others_are_found_by_address(void **state)
{
	struct world *w = *state;
	struct wire_address address = w->f->plan->members[2].addresses[0];
	struct wire_rnic rnic;

	address.port = 0; /* the port is ignored */
	assert_true(find(w, &address, &rnic));
	assert_int_equal(rnic.id.guid, 0x102);
	assert_string_equal(rnic.host, "h2");
	assert_string_equal(rnic.tors[0], "t1");
	assert_string_equal(rnic.plane, "p");
	assert_int_equal(rnic.address_count, 1);
	assert_true(find(w, &w->f->plan->remotes[1].addresses[0], &rnic));
	assert_int_equal(rnic.id.guid, FIXTURE_REMOTE + 1);
	assert_string_equal(rnic.tors[0], "t3");
}

static void
a_gid_with_an_ipv4_address_is_that_address(void **state)
{
	struct world *w = *state;
	const struct wire_address *plain = &w->f->plan->members[1].addresses[0];
	struct wire_address gid = { .family = 6 };
	struct wire_rnic rnic;

	gid.bytes[10] = gid.bytes[11] = 0xff;
	memcpy(gid.bytes + 12, plain->bytes, 4);
	assert_true(find(w, &gid, &rnic));
	assert_int_equal(rnic.id.guid, 0x101);
	gid.bytes[0] = 0xfd;
	assert_false(find(w, &gid, &rnic));
}

static void
a_found_rnic_comes_with_its_qps(void **state)
{
	struct world *w = *state;
	struct wire_rnic reported = w->f->plan->members[0], rnic;

	reported.qpn = 17;
	reported.large_qpn = 18;
	reported.lid = 9;
	reported.link = WIRE_LINK_UP;
	tor_rack_register(w->f->rack, &reported, w->f->now);
	assert_true(find(w, &reported.addresses[0], &rnic));
	assert_int_equal(rnic.qpn, 17);
	assert_int_equal(rnic.large_qpn, 18);
	assert_int_equal(rnic.lid, 9);
	assert_int_equal(rnic.link, WIRE_LINK_UP);
}

static void
unknown_peers_are_not_found(void **state)
{
	struct wire_address address = { .family = 4, .bytes = { 192, 0, 2, 1 } };
	struct wire_rnic rnic;

	assert_false(find(*state, &address, &rnic));
}

/* Requests between two registrations must not sort the book each time. */
static void
a_changed_roster_is_read_again_at_most_once_a_second(void **state)
{
	struct world *w = *state;
	struct wire_rnic moved = w->f->plan->members[0], rnic;
	const struct wire_address old = moved.addresses[0];

	assert_true(find(w, &old, &rnic));
	moved.addresses[0].bytes[1] = 99;
	tor_rack_register(w->f->rack, &moved, w->f->now);
	address_book_stale(&w->book);
	assert_false(find(w, &old, &rnic)); /* the RNIC has another address now */
	assert_false(find(w, &moved.addresses[0], &rnic));
	w->f->now.ns += RM_NS_PER_S;
	assert_true(find(w, &moved.addresses[0], &rnic));
	assert_int_equal(rnic.id.guid, 0x100);
}

static void
an_rnic_known_only_from_requests_is_marked_old(void **state)
{
	struct world *w = *state;
	struct wire_rnic peer = w->f->plan->remotes[0], rnic;

	assert_true(find(w, &w->f->plan->members[0].addresses[0], &rnic));
	assert_false(w->old);
	assert_true(find(w, &peer.addresses[0], &rnic));
	assert_false(w->old);

	peer.id.guid = 0x9999;
	peer.host = "far";
	peer.addresses[0].bytes[1] = 77;
	peer.qpn = 1;
	assert_true(tor_rack_learn(w->f->rack, &peer, w->f->now) >= 0);
	address_book_stale(&w->book);
	w->f->now.ns += RM_NS_PER_S;
	assert_true(find(w, &peer.addresses[0], &rnic));
	assert_int_equal(rnic.id.guid, 0x9999);
	assert_false(w->old);
	w->f->now.ns += ADDRESS_BOOK_OLD_NS;
	assert_true(find(w, &peer.addresses[0], &rnic));
	assert_true(w->old);
	/* An RNIC of a plan has that address now. */
	peer = w->f->plan->members[0];
	memcpy(peer.addresses[0].bytes, rnic.addresses[0].bytes, 16);
	tor_rack_register(w->f->rack, &peer, w->f->now);
	address_book_stale(&w->book);
	w->f->now.ns += RM_NS_PER_S;
	assert_true(find(w, &peer.addresses[0], &rnic));
	assert_int_equal(rnic.id.guid, 0x100);
	assert_false(w->old);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(members_and_others_are_found_by_address),
		TEST(a_gid_with_an_ipv4_address_is_that_address),
		TEST(a_found_rnic_comes_with_its_qps),
		TEST(unknown_peers_are_not_found),
		TEST(a_changed_roster_is_read_again_at_most_once_a_second),
		TEST(an_rnic_known_only_from_requests_is_marked_old),
	};

	return cmocka_run_group_tests_name("address_book", tests, NULL, NULL);
}
