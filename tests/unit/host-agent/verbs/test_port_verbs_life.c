#include <dirent.h>
#include <errno.h>
#include <string.h>

#include "port_verbs_fixture.h"

static void
open_both(struct verbs_fixture *fixture)
{
	side_open(fixture, 0);
	side_open(fixture, 1);
}

static void
probe_works(struct verbs_fixture *fixture)
{
	struct verbs_side *from = &fixture->sides[0], *to = &fixture->sides[1];
	size_t before = from->arrived[PORT_PROBER];
	struct port_packet packet = side_packet(fixture, 1, 1, 64);

	to->answer = true;
	assert_int_equal(side_send(fixture, 0, PORT_PROBER, &packet), 0);
	UNTIL(fixture, from->arrived[PORT_PROBER] == before + 1);
}

static void
while_the_port_is_down_probes_fail_at_once(void **state)
{
	struct verbs_fixture *fixture = *state;
	struct verbs_side *from = &fixture->sides[0];
	struct port_packet packet;
	uint64_t sent;

	open_both(fixture);
	probe_works(fixture);
	sent = from->device->sent;
	fake_verbs_link(from->device, false);
	UNTIL(fixture, from->links == 1);
	assert_false(from->link_up);
	packet = side_packet(fixture, 1, 1, 64);
	port_send(from->port, PORT_PROBER, &packet, 1);
	assert_int_equal(packet.error, -ENETDOWN);
	assert_int_equal(from->device->sent, sent);
	fake_verbs_link(from->device, true);
	/* Reported twice, as rxe does. */
	fake_verbs_event(from->device, IBV_EVENT_PORT_ACTIVE);
	UNTIL(fixture, from->links == 2);
	assert_true(from->link_up);
	probe_works(fixture);
	turn_for(fixture, 20 * RM_NS_PER_MS);
	assert_int_equal(from->links, 2);
	assert_int_equal(from->gone, 0);
}

static void
a_port_that_comes_back_heals_queues_that_broke_unseen(void **state)
{
	struct verbs_fixture *fixture = *state;
	struct verbs_side *to = &fixture->sides[1];

	open_both(fixture);
	probe_works(fixture);
	fake_verbs_link(to->device, false);
	UNTIL(fixture, to->links == 1);
	fake_verbs_break(to->device, to->facts.qpn);
	fake_verbs_break(to->device, to->facts.large_qpn);
	fake_verbs_link(to->device, true);
	UNTIL(fixture, !fake_verbs_is_broken(to->device, to->facts.qpn) &&
			   !fake_verbs_is_broken(to->device, to->facts.large_qpn));
	UNTIL(fixture, to->links == 2);
	probe_works(fixture);
	assert_int_equal(to->renumbered, 0);
}

static void
a_port_that_is_down_is_opened(void **state)
{
	struct verbs_fixture *fixture = *state;
	struct verbs_side *to = &fixture->sides[1];

	to->device->state = IBV_PORT_DOWN;
	open_both(fixture);
	assert_false(to->facts.link_up);
	fake_verbs_link(to->device, true);
	UNTIL(fixture, to->links == 1 && to->link_up);
	probe_works(fixture);
}

static void
another_gid_is_reported(void **state)
{
	struct verbs_fixture *fixture = *state;
	struct verbs_side *to = &fixture->sides[1];

	open_both(fixture);
	/* A GID that our QP does not use has changed. */
	fake_verbs_event(to->device, IBV_EVENT_GID_CHANGE);
	turn_for(fixture, 20 * RM_NS_PER_MS);
	assert_int_equal(to->renumbered, 0);
	to->device->gids[0][15] = 77;
	fake_verbs_event(to->device, IBV_EVENT_GID_CHANGE);
	UNTIL(fixture, to->renumbered == 1);
}

/* InfiniBand. Only this unit test covers it. */
static void
another_lid_is_reported(void **state)
{
	struct verbs_fixture *fixture = *state;
	struct verbs_side *to = &fixture->sides[1];

	to->device->infiniband = true;
	to->options.lid = 2;
	fixture->sides[0].device->infiniband = true;
	/* The LID changed while the port was opened. */
	fixture->sides[0].options.lid = 3;
	open_both(fixture);
	fake_verbs_event(to->device, IBV_EVENT_LID_CHANGE);
	turn_for(fixture, 20 * RM_NS_PER_MS);
	assert_int_equal(to->renumbered, 0);
	assert_int_equal(fixture->sides[0].renumbered, 1);
	to->device->lid = 0x77;
	fake_verbs_event(to->device, IBV_EVENT_LID_CHANGE);
	UNTIL(fixture, to->renumbered == 1);
}

static void
another_mtu_asks_for_a_port_with_other_buffers(void **state)
{
	struct verbs_fixture *fixture = *state;
	struct verbs_side *to = &fixture->sides[1];

	open_both(fixture);
	to->device->mtu = IBV_MTU_1024;
	fake_verbs_event(to->device, IBV_EVENT_PORT_ACTIVE);
	UNTIL(fixture, to->gone == 1);
	assert_int_equal(to->gone_reason, -ESTALE);
}

static void
a_device_that_dies_is_reported_once(void **state)
{
	struct verbs_fixture *fixture = *state;
	struct verbs_side *to = &fixture->sides[1];

	open_both(fixture);
	fake_verbs_event(to->device, IBV_EVENT_DEVICE_FATAL);
	fake_verbs_event(to->device, IBV_EVENT_DEVICE_FATAL);
	fake_verbs_event(to->device, IBV_EVENT_PORT_ERR);
	UNTIL(fixture, to->gone == 1);
	turn_for(fixture, 20 * RM_NS_PER_MS);
	assert_int_equal(to->gone, 1);
	assert_int_equal(to->links, 0);
	assert_int_equal(to->gone_reason, -EIO);
}

static void
the_owner_may_free_a_port_in_on_gone(void **state)
{
	struct verbs_fixture *fixture = *state;
	struct verbs_side *to = &fixture->sides[1];

	open_both(fixture);
	probe_works(fixture);
	to->free_on_signal = true;
	fake_verbs_remove(to->device);
	UNTIL(fixture, to->gone == 1);
	assert_null(to->port);
	turn_for(fixture, 20 * RM_NS_PER_MS); /* its address handles are destroyed */
}

/* The fixture frees the port and the pool while two handles are being created. */
static void
handles_being_made_at_the_end_are_not_leaked(void **state)
{
	struct verbs_fixture *fixture = *state;
	struct wire_address dead = { 4, { 10, 0, 0, 99 }, WIRE_ROCE_PORT };
	struct verbs_side *from = &fixture->sides[0];
	struct port_packet packets[2];

	open_both(fixture);
	from->device->slow_ns = 50 * RM_NS_PER_MS;
	memcpy(from->device->dead_gid, from->device->gids[0], 16);
	from->device->dead_gid[15] = 99;
	from->device->dead_ns = 20 * RM_NS_PER_MS;
	packets[0] = side_packet(fixture, 1, 1, 64);
	packets[1] = packets[0];
	packets[1].to = &dead;
	port_send(from->port, PORT_PROBER, packets, 2);
	assert_int_equal(packets[0].error, -EAGAIN);
	assert_int_equal(packets[1].error, -EAGAIN);
}

static size_t
open_files(void)
{
	DIR *folder = opendir("/proc/self/fd");
	size_t count = 0;

	while (readdir(folder) != NULL)
		count++;
	closedir(folder);
	return count;
}

static void
opening_a_thousand_times_leaks_nothing(void **state)
{
	struct verbs_fixture *fixture = *state;
	struct verbs_side *to = &fixture->sides[1];
	size_t objects, files;

	side_open(fixture, 0);
	turn_for(fixture, 10 * RM_NS_PER_MS);
	objects = fake_verbs_objects();
	files = open_files();
	for (int i = 0; i < 1000; i++) {
		struct port_packet packet;

		side_open(fixture, 1);
		packet = side_packet(fixture, 1, 1, 64);
		assert_int_equal(side_send(fixture, 0, PORT_PROBER, &packet), 0);
		to->answer = true;
		if (i % 4 == 1)
			fake_verbs_break(to->device, to->facts.qpn);
		if (i % 4 == 2)
			fake_verbs_remove(to->device);
		if (i % 4 != 3)
			turn(fixture);
		side_close(to);
	}
	/* The other side's address handle remains. */
	UNTIL(fixture, fake_verbs_objects() == objects + 1);
	assert_int_equal(open_files(), files);
}

static void
a_failed_open_leaves_nothing_behind(void **state)
{
	struct verbs_fixture *fixture = *state;
	struct verbs_side *side = &fixture->sides[0];
	struct fake_device *device = side->device;
	const struct port_verbs_events events = { 0 };
	int *failures[] = { &device->fail_open, &device->fail_reg_mr,
		&device->fail_create_cq, &device->fail_create_qp,
		&device->fail_query_port };
	struct port *port = NULL;

	for (size_t i = 0; i < sizeof(failures) / sizeof(*failures); i++) {
		*failures[i] = -ENOMEM;
		assert_int_equal(
		    port_verbs_new(fixture->loop, &side->options, &events, &port),
		    -ENOMEM);
		*failures[i] = 0;
		assert_int_equal(fake_verbs_objects(), 0);
	}
	device->scarce = true;
	device->receives_left = 100;
	assert_int_equal(
	    port_verbs_new(fixture->loop, &side->options, &events, &port), -ENOMEM);
	assert_int_equal(fake_verbs_objects(), 0);
	device->scarce = false;
	side->options.port_num = 2;
	assert_int_equal(
	    port_verbs_new(fixture->loop, &side->options, &events, &port), -ENOENT);
	side->options.port_num = 1;
	side->options.gids[0].address.family = 0;
	assert_int_equal(port_verbs_new(fixture->loop, &side->options, &events, &port),
	    -EADDRNOTAVAIL);
	side->options.device = "nobody";
	assert_int_equal(
	    port_verbs_new(fixture->loop, &side->options, &events, &port), -ENODEV);
	assert_null(port);
	assert_int_equal(fake_verbs_objects(), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(while_the_port_is_down_probes_fail_at_once),
		TEST(a_port_that_comes_back_heals_queues_that_broke_unseen),
		TEST(a_port_that_is_down_is_opened),
		TEST(another_gid_is_reported),
		TEST(another_lid_is_reported),
		TEST(another_mtu_asks_for_a_port_with_other_buffers),
		TEST(a_device_that_dies_is_reported_once),
		TEST(the_owner_may_free_a_port_in_on_gone),
		TEST(handles_being_made_at_the_end_are_not_leaked),
		TEST(opening_a_thousand_times_leaks_nothing),
		TEST(a_failed_open_leaves_nothing_behind),
	};

	return cmocka_run_group_tests_name("port_verbs_life", tests, NULL, NULL);
}
