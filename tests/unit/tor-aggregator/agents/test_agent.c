#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/unit/tor-aggregator/rack_fixture.h"

/* Registers one RNIC. Returns how many were refused. */
static uint64_t
registers(struct rack_fixture *f, struct agent *agent, const struct wire_rnic *rnic)
{
	const struct wire_register reg = {
		.host = agent->host, .incarnation = 1, .rnics = rnic, .rnic_count = 1
	};
	struct wire_writer *again = wire_writer_new();
	struct wire_register_view view;
	struct wire_bytes bytes;
	struct agent_refused refused;

	agent_hello(agent, 1);
	assert_int_equal(wire_write_register(f->writer, &reg, &bytes), 0);
	assert_int_equal(wire_open_register(&view, bytes.data, bytes.len), 0);
	assert_int_equal(agent_register(f->agents, agent, &view, again, &refused), 0);
	wire_writer_free(again);
	assert_true((refused.reason != NULL) == (refused.count > 0));
	return refused.count;
}

static void
two_devices_with_one_id_are_named_in_the_refusal(void **state)
{
	struct rack_fixture *f = fixture_rack(2, 0);
	struct wire_rnic rnics[2] = { fixture_rnic(0x900, "h1", "t1"),
		fixture_rnic(0x900, "h1", "t1") };
	const struct wire_register reg = {
		.host = "h1", .incarnation = 1, .rnics = rnics, .rnic_count = 2
	};
	struct wire_writer *again = wire_writer_new();
	struct wire_register_view view;
	struct agent_refused refused;
	struct wire_bytes bytes;

	rnics[1].device = "r1";
	agent_hello(f->agent[1], 1);
	assert_int_equal(wire_write_register(f->writer, &reg, &bytes), 0);
	assert_int_equal(wire_open_register(&view, bytes.data, bytes.len), 0);
	assert_int_equal(
	    agent_register(f->agents, f->agent[1], &view, again, &refused), 0);
	wire_writer_free(again);
	assert_int_equal(f->agent[1]->rnic_count, 1);
	assert_int_equal(refused.count, 1);
	assert_string_equal(refused.rnic.device, "r1");
	assert_non_null(strstr(refused.reason, "same GUID or MAC"));
	fixture_rack_free(f);
}

static struct agent *
newcomer(struct rack_fixture *f, const char *host, const char *address)
{
	struct agent *agent = NULL;

	assert_int_equal(agents_get(f->agents, host, &agent), 0);
	strcpy(agent->address, address);
	return agent;
}

static void
a_host_at_the_same_address_with_the_same_rnics_was_renamed(void **state)
{
	struct rack_fixture *f = fixture_rack(3, 0);
	struct wire_rnic rnic = fixture_rnic(0x101, "new1", "t1");
	struct wire_register_view view;
	struct agent *agent;

	strcpy(f->agent[1]->address, "192.0.2.1");
	strcpy(f->agent[2]->address, "192.0.2.2");
	agent = newcomer(f, "other", "192.0.2.9");
	rnic.host = "other";
	assert_int_equal(registers(f, agent, &rnic), 0);
	assert_string_equal(
	    agent->former, ""); /* the former agent had another address */
	agent->rnic_count = 0;
	rnic.id.guid = 0x555;
	agent = newcomer(f, "new1", "192.0.2.1");
	rnic.host = "new1";
	assert_int_equal(registers(f, agent, &rnic), 0);
	assert_string_equal(agent->former, ""); /* another RNIC */
	rnic.id.guid = 0x101;
	/* h1 is connected, so the RNIC belongs to it. */
	f->agent[1]->link = (struct agent_link *)f;
	assert_int_equal(registers(f, agent, &rnic), 1);
	assert_string_equal(agent->former, "");
	f->agent[1]->link = NULL;
	assert_int_equal(registers(f, agent, &rnic), 0);
	assert_string_equal(agent->former, "h1");
	assert_int_equal(f->agent[1]->rnic_count, 0);
	/* The registration as it is sent to controllers. */
	assert_int_equal(
	    wire_open_register(&view, agent->registration, agent->registration_len), 0);
	wire_register_rnic(&view, 0, &rnic);
	assert_string_equal(view.reg.host, "new1");
	assert_string_equal(rnic.host, "h1");
	fixture_rack_free(f);
}

static void
a_renamed_host_does_not_affect_a_later_host_with_its_old_name(void **state)
{
	struct rack_fixture *f = fixture_rack(2, 0);
	struct wire_rnic rnic = fixture_rnic(0x101, "new1", "t1");
	struct agent *agent = newcomer(f, "new1", "192.0.2.1");

	strcpy(f->agent[1]->address, "192.0.2.1");
	assert_int_equal(registers(f, agent, &rnic), 0);
	assert_string_equal(agent->former, "h1");
	assert_int_equal(registers(f, agent, &rnic), 0);
	assert_string_equal(
	    agent->former, "h1"); /* kept for controllers that connect later */
	strcpy(f->agent[1]->address, "192.0.2.7");
	rnic = fixture_rnic(0x777, "h1", "t1");
	assert_int_equal(registers(f, f->agent[1], &rnic), 0);
	rnic = fixture_rnic(0x101, "new1", "t1");
	assert_int_equal(registers(f, agent, &rnic), 0);
	assert_string_equal(agent->former, "");
	fixture_rack_free(f);
}

static void
no_agent_can_register_the_reflector_of_a_switch(void **state)
{
	struct rack_fixture *f = fixture_rack(2, 0);
	struct wire_rnic rnic = fixture_rnic(0x77, "h1", "t1");

	assert_int_equal(registers(f, f->agent[1], &rnic), 0);
	rnic.id.port = RM_PORT_SWITCH;
	assert_int_equal(registers(f, f->agent[1], &rnic), 1);
	fixture_rack_free(f);
}

/* Otherwise the agent would also get the keys of that RNIC. */
static void
no_agent_can_register_an_rnic_of_a_disconnected_host(void **state)
{
	struct rack_fixture *f = fixture_rack(2, 0);
	const struct wire_rnic rnics[] = { fixture_rnic(0x100, "h1", "t1"),
		fixture_rnic(0x101, "h1", "t1") };
	size_t hint = 0;

	assert_null(f->agent[0]->link);
	tor_rack_leave(f->rack, "h0");
	assert_int_equal(registers(f, f->agent[1], &rnics[0]), 0);
	assert_true(tor_rack_register(f->rack, &rnics[0], f->now) < 0);
	agent_place(f->agent[1], &f->rack, 1);
	assert_null(agent_owns(f->agent[1], rnics[0].id, &hint));
	assert_int_equal(f->agent[1]->rnic_count, 0);
	assert_int_equal(registers(f, f->agent[1], &rnics[1]), 0);
	agent_place(f->agent[1], &f->rack, 1);
	assert_ptr_equal(agent_owns(f->agent[1], rnics[1].id, &hint)->rack, f->rack);
	fixture_rack_free(f);
}

static void
only_disconnected_hosts_without_a_rack_make_room(void **state)
{
	struct rack_fixture *f = fixture_rack(2, 0);
	struct agent_link *open =
	    (struct agent_link *)f; /* only compared, never used */
	struct agents *agents = NULL;
	struct agent *a, *b, *c;

	assert_int_equal(agents_new(2, &agents), 0);
	assert_int_equal(agents_get(agents, "a", &a), 0);
	assert_int_equal(agents_get(agents, "b", &b), 0);
	a->link = open;
	b->rnic_count = 1;
	b->rnics[0].rack = f->rack;
	assert_int_equal(agents_get(agents, "c", &c), -ENOSPC);
	b->rnics[0].rack = NULL;
	assert_int_equal(agents_get(agents, "c", &c), 0);
	assert_null(agents_find(agents, "b"));
	assert_ptr_equal(agents_find(agents, "a"), a);
	assert_ptr_equal(agents_first(agents), c);
	assert_ptr_equal(c->next, a);
	assert_null(a->next);
	assert_int_equal(agents_count(agents), 2);
	agents_free(agents);
	fixture_rack_free(f);
}

static void
an_agent_reports_its_aggregators_and_their_ability_to_deliver(void **state)
{
	static const char *const live[] = { "agg-a", "agg-b" };
	const struct wire_heartbeat beat = {
		.live = live, .live_count = 2, .live_mute = 2
	};
	struct wire_writer *writer = wire_writer_new();
	struct wire_heartbeat view;
	struct agents *agents = NULL;
	struct wire_bytes bytes;
	struct agent *agent;
	bool mute = true;

	assert_int_equal(agents_new(1, &agents), 0);
	assert_int_equal(agents_get(agents, "h", &agent), 0);
	assert_int_equal(wire_write_heartbeat(writer, &beat, &bytes), 0);
	assert_int_equal(wire_open_heartbeat(&view, bytes.data, bytes.len), 0);
	agent_note_live(agent, &view, (rm_mono_t){ 7 });
	assert_true(agent_sees(agent, "agg-a", &mute));
	assert_false(mute);
	assert_true(agent_sees(agent, "agg-b", &mute));
	assert_true(mute);
	assert_false(agent_sees(agent, "agg-c", &mute));
	agents_free(agents);
	wire_writer_free(writer);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_devices_with_one_id_are_named_in_the_refusal),
		cmocka_unit_test(
		    a_host_at_the_same_address_with_the_same_rnics_was_renamed),
		cmocka_unit_test(
		    a_renamed_host_does_not_affect_a_later_host_with_its_old_name),
		cmocka_unit_test(no_agent_can_register_the_reflector_of_a_switch),
		cmocka_unit_test(no_agent_can_register_an_rnic_of_a_disconnected_host),
		cmocka_unit_test(only_disconnected_hosts_without_a_rack_make_room),
		cmocka_unit_test(
		    an_agent_reports_its_aggregators_and_their_ability_to_deliver),
	};

	return cmocka_run_group_tests_name("agent", tests, NULL, NULL);
}
