/* Two aggregators' links to each other, over real sockets: "a" dials, "b" accepts. */
#include "tor-aggregator/standby/peer_link.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rackmesh/core/log.h"
#include "rackmesh/net/link.h"
#include "rackmesh/net/listener.h"
#include "tests/support/loopback.h"

struct side {
	struct peer_links *links;
	unsigned sessions, standings, incidents;
	uint32_t agents; /* number of agents in the last standing message */
	uint64_t incident;
};

struct world {
	struct rm_loop *loop;
	struct rm_listener *listener; /* of aggregator b */
	struct rm_link *accepted;     /* in place of agent_server */
	bool welcome, mute;
	struct wire_writer *writer;
	struct side a, b;
	const char *refused;
};

static const char *const tors[] = { "t1", "t2" };

static void
on_session(size_t other, void *arg)
{
	struct side *side = arg;

	assert_int_equal(other, 0);
	side->sessions++;
}

static void
on_standing(size_t other, const struct wire_standing *standing, void *arg)
{
	struct side *side = arg;
	struct wire_tor_standing tor;

	assert_int_equal(standing->tor_count, 1);
	wire_standing_tor(standing, 0, &tor);
	side->agents = tor.agents;
	side->standings++;
}

static void
on_incident(size_t other, const struct wire_incident *incident, void *arg)
{
	struct side *side = arg;

	side->incident = incident->incident_id;
	side->incidents++;
}

/* ---- b's server, in place of agent_server ---- */

static int
accepted_frame(struct rm_link *link, const uint8_t *data, size_t len, void *arg)
{
	struct wire_welcome welcome = { .version = 1, .id = "b", .refused = "" };
	struct world *world = arg;
	struct wire_hello_view hello;
	struct wire_bytes bytes;

	if (world->welcome)
		return peer_links_on_frame(link, data, len, world->b.links);
	assert_int_equal(wire_open_hello(&hello, data, len), 0);
	assert_int_equal(hello.hello.role, WIRE_ROLE_AGGREGATOR);
	world->refused = peer_links_on_hello(link, &hello, world->b.links);
	welcome.refused = world->refused == NULL ? "" : world->refused;
	world->welcome = world->refused == NULL;
	if (world->mute)
		return 0;
	assert_int_equal(wire_write_welcome(world->writer, &welcome, &bytes), 0);
	rm_link_send(link, bytes.data, bytes.len);
	if (world->welcome)
		peer_links_on_up(link, world->b.links);
	return world->welcome ? 0 : -EPERM;
}

static void
accepted_closed(struct rm_link *link, int reason, void *arg)
{
	struct world *world = arg;

	if (world->welcome)
		peer_links_on_gone(link, world->b.links);
	world->welcome = false;
	rm_link_free(link);
	world->accepted = NULL;
}

static int
on_accept(int fd, const struct rm_address *peer, void *arg)
{
	static const struct rm_link_callbacks callbacks = { .on_frame = accepted_frame,
		.on_close = accepted_closed };
	static const struct rm_link_limits limits = { .max_frame_bytes = 1 << 20,
		.max_output_bytes = 1 << 20 };
	struct world *world = arg;

	return rm_link_new(
	    world->loop, fd, &limits, &callbacks, world, &world->accepted);
}

static void
begin(struct world *world, struct side *side, const char *name, const char *other)
{
	const struct peer_link_other is = {
		.name = other,
		.endpoint = loopback_endpoint(rm_listener_port(world->listener)),
		.tors = { "t1" },
		.tor_count = 1,
	};
	const struct peer_link_options options = {
		.name = name,
		.region = "lab",
		.incarnation = 1,
		.tors = tors,
		.tor_count = 2,
		.others = &is,
		.other_count = 1,
	};
	const struct peer_link_callbacks callbacks = { on_session, on_standing,
		on_incident, side };

	assert_int_equal(
	    peer_links_new(world->loop, &options, &callbacks, &side->links), 0);
}

static int
setup(void **state)
{
	struct world *world = calloc(1, sizeof(*world));
	struct rm_address any = loopback_address(0);

	rm_log_set_level(RM_LOG_ERROR);
	*state = world;
	world->writer = wire_writer_new();
	assert_int_equal(rm_loop_new(&world->loop), 0);
	return rm_listener_new(world->loop, &any, on_accept, world, &world->listener);
}

static int
teardown(void **state)
{
	struct world *world = *state;

	peer_links_free(world->a.links);
	peer_links_free(world->b.links);
	rm_link_free(world->accepted);
	rm_listener_free(world->listener);
	wire_writer_free(world->writer);
	rm_loop_free(world->loop);
	free(world);
	return 0;
}

static void
meet(struct world *world)
{
	begin(world, &world->b, "b", "a");
	begin(world, &world->a, "a", "b");
	LOOPBACK_WAIT(world->loop, world->a.sessions == 1 && world->b.sessions == 1);
}

static int
send_standing(struct world *world, struct side *side, uint32_t agents)
{
	const struct wire_tor_standing tor = { .tor = "t1", .agents = agents };
	const struct wire_standing standing = { .tors = &tor, .tor_count = 1 };
	struct wire_bytes bytes;

	assert_int_equal(wire_write_standing(world->writer, &standing, &bytes), 0);
	return peer_links_send(side->links, 0, &bytes);
}

static void
both_aggregators_exchange_states_over_one_link(void **state)
{
	const struct wire_incident incident = {
		.incident_id = 42, .state = WIRE_OPENED, .tor = "t1"
	};
	struct world *world = *state;
	struct wire_bytes bytes;

	meet(world);
	assert_true(peer_links_connected(world->a.links, 0));
	assert_true(peer_links_connected(world->b.links, 0));
	assert_int_equal(send_standing(world, &world->a, 7), 0);
	assert_int_equal(send_standing(world, &world->b, 8), 0);
	assert_int_equal(wire_write_incident(world->writer, &incident, &bytes), 0);
	assert_int_equal(peer_links_send(world->b.links, 0, &bytes), 0);
	LOOPBACK_WAIT(world->loop, world->a.incidents == 1 && world->b.standings == 1);
	assert_int_equal(world->a.agents, 8);
	assert_int_equal(world->b.agents, 7);
	assert_int_equal(world->a.incident, 42);
	assert_int_equal(peer_links_counts(world->a.links)->bad_frames, 0);
}

static void
a_silent_peer_is_dialled_again(void **state)
{
	struct world *world = *state;
	rm_mono_t now;

	meet(world);
	now = rm_mono_now();
	peer_links_tick(world->a.links, rm_mono_add(now, 2 * RM_NS_PER_S));
	peer_links_stalled(world->a.links, rm_mono_add(now, 2 * RM_NS_PER_S));
	peer_links_tick(world->a.links, rm_mono_add(now, 4 * RM_NS_PER_S));
	assert_int_equal(peer_links_counts(world->a.links)->silent, 0);
	peer_links_tick(world->a.links, rm_mono_add(now, 6 * RM_NS_PER_S));
	LOOPBACK_WAIT(world->loop, world->a.sessions == 2 && world->b.sessions == 2);
	assert_int_equal(peer_links_counts(world->a.links)->silent, 1);
}

static void
a_peer_that_never_answers_the_hello_is_dialled_again(void **state)
{
	struct world *world = *state;

	world->mute = true;
	begin(world, &world->b, "b", "a");
	begin(world, &world->a, "a", "b");
	LOOPBACK_WAIT(world->loop, world->welcome);
	peer_links_tick(world->a.links, rm_mono_add(rm_mono_now(), 4 * RM_NS_PER_S));
	LOOPBACK_WAIT(world->loop, !world->welcome);
	world->mute = false;
	LOOPBACK_WAIT(world->loop, world->a.sessions == 1);
}

static void
a_peer_that_is_not_configured_is_refused(void **state)
{
	struct world *world = *state;

	begin(world, &world->b, "b", "c");
	begin(world, &world->a, "a", "b");
	LOOPBACK_WAIT(world->loop, peer_links_counts(world->a.links)->refused >= 1);
	assert_non_null(strstr(world->refused, "other aggregator"));
	assert_int_equal(world->a.sessions, 0);
	assert_int_equal(send_standing(world, &world->a, 1), -ENOTCONN);
}

static void
another_aggregator_at_the_address_is_refused(void **state)
{
	struct world *world = *state;

	begin(world, &world->b, "b", "a");
	begin(world, &world->a, "a", "bb");
	LOOPBACK_WAIT(world->loop, peer_links_counts(world->a.links)->refused >= 1);
	assert_false(peer_links_connected(world->a.links, 0));
}

static void
an_unexpected_message_ends_the_link(void **state)
{
	struct world *world = *state;
	struct wire_bytes bytes;

	meet(world);
	assert_int_equal(wire_write_ping(world->writer, 1, &bytes), 0);
	assert_int_equal(peer_links_send(world->b.links, 0, &bytes), 0);
	LOOPBACK_WAIT(world->loop, world->a.sessions == 2);
	assert_int_equal(peer_links_counts(world->a.links)->bad_frames, 1);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

static void
a_certificate_has_to_cover_all_common_tors(void **state)
{
	static const char one[] = "rackmesh://lab/aggregator/b/t1";
	static const char both[] = "rackmesh://lab/aggregator/b/t1,t2";
	struct peer_link_other other = {
		.name = "b", .tors = { "t1", "t2" }, .tor_count = 1
	};
	char reason[256];

	assert_true(peer_link_admits(&other, "lab", one, reason, sizeof(reason)));
	other.tor_count = 2;
	assert_true(peer_link_admits(&other, "lab", both, reason, sizeof(reason)));
	assert_false(peer_link_admits(&other, "lab", one, reason, sizeof(reason)));
	assert_non_null(strstr(reason, "t2"));
	assert_false(peer_link_admits(&other, "other", both, reason, sizeof(reason)));
	other.name = "c";
	assert_false(peer_link_admits(&other, "lab", both, reason, sizeof(reason)));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(both_aggregators_exchange_states_over_one_link),
		TEST(a_silent_peer_is_dialled_again),
		TEST(a_peer_that_never_answers_the_hello_is_dialled_again),
		TEST(a_peer_that_is_not_configured_is_refused),
		TEST(another_aggregator_at_the_address_is_refused),
		cmocka_unit_test(a_certificate_has_to_cover_all_common_tors),
		TEST(an_unexpected_message_ends_the_link),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
