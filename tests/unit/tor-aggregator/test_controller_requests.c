/* Messages of a controller other than plans, through the whole daemon over real links:
 * the brake, answers to requests of agents, and drill-downs. */
#include "tor-aggregator/controller_requests.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <jansson.h>

#include "controller_requests_fixture.h"
#include "tor-aggregator/controller/address_book.h"

static void
send_brake(struct world *w, uint64_t version, uint32_t rate)
{
	const struct wire_brake brake = { version, rate };
	struct wire_bytes bytes = { 0 };

	send_frame(w->controller, wire_write_brake(w->writer, &brake, &bytes), &bytes);
}

static void
drill(struct world *w, uint64_t token, const char *rnic, uint32_t seconds)
{
	const struct wire_drill out = {
		.token = token, .rnic = rnic, .seconds = seconds
	};
	struct wire_bytes bytes = { 0 };
	unsigned before = w->drilled;

	send_frame(w->controller, wire_write_drill(w->writer, &out, &bytes), &bytes);
	LOOPBACK_WAIT(w->loop, w->drilled == before + 1);
	assert_int_equal(w->drill_token, token);
}

static void
the_brake_reaches_present_and_later_agents(void **state)
{
	struct world *w = *state;

	agent_join(w);
	assert_int_equal(w->brakes, 0);
	send_brake(w, 5, 0);
	LOOPBACK_WAIT(w->loop, w->brakes == 1);
	assert_int_equal(w->brake.version, 5);
	assert_int_equal(w->brake.rate_permille, 0);
	send_brake(w, 4, 1000); /* an old version */
	agent_join(w);
	LOOPBACK_WAIT(w->loop, w->brakes == 2);
	assert_int_equal(w->brake.rate_permille, 0);
	LOOPBACK_WAIT(
	    w->loop, brake_store_counts(
			 controller_requests_brake(w->aggregator->controller_requests))
			     ->stale == 1);
}

static void
the_brake_survives_loss_of_the_controller_and_a_restart(void **state)
{
	struct world *w = *state;

	send_brake(w, 5, 100);
	LOOPBACK_WAIT(
	    w->loop, brake_store_counts(
			 controller_requests_brake(w->aggregator->controller_requests))
			     ->written == 1);
	tor_aggregator_free(w->aggregator);
	w->aggregator = NULL;
	LOOPBACK_WAIT(w->loop, w->controller == NULL);
	aggregator_start(w);
	agent_join(w);
	LOOPBACK_WAIT(w->loop, w->brakes == 1);
	assert_int_equal(w->brake.rate_permille, 100);
}

static void
an_invalid_brake_closes_the_link(void **state)
{
	const struct wire_brake brake = { .version = 5, .rate_permille = 999 };
	const uint8_t reported[] = { 999 & 0xff, 999 >> 8 };
	struct world *w = *state;
	struct wire_bytes bytes;
	uint8_t *at;

	/* Our writer refuses such a value, so the bytes are changed afterwards. */
	assert_int_equal(wire_write_brake(w->writer, &brake, &bytes), 0);
	at = memmem(bytes.data, bytes.len, reported, sizeof(reported));
	assert_non_null(at);
	at[0] = 1001 & 0xff;
	send_frame(w->controller, 0, &bytes);
	LOOPBACK_WAIT(w->loop, w->controller_closed);
	assert_int_equal(brake_store_get(controller_requests_brake(
					     w->aggregator->controller_requests))
			     ->version,
	    0);
	assert_int_equal(
	    controller_link_counts(w->aggregator->controller_link)->bad_frames, 1);
}

static void
messages_of_newer_peers_are_ignored(void **state)
{
	static const uint8_t newer[16] = { 12, 0, 0, 0, 4, 0, 0, 0, 'R', 'M', 'Z',
		'9' };
	struct world *w = *state;

	agent_join(w);
	assert_int_equal(rm_link_send(w->agent, newer, sizeof(newer)), 0);
	assert_int_equal(rm_link_send(w->controller, newer, sizeof(newer)), 0);
	LOOPBACK_WAIT(w->loop,
	    agent_server_counts(w->aggregator->links)->unknown_messages == 1 &&
		controller_link_counts(w->aggregator->controller_link)->bad_frames ==
		    1);
	send_brake(w, 5, 100);
	LOOPBACK_WAIT(w->loop, w->brakes > 0 && w->brake.rate_permille == 100);
	assert_int_equal(w->welcomes, 1);
	assert_false(w->controller_closed);
}

static void
requests_about_own_racks_are_answered_locally(void **state)
{
	struct world *w = *state;

	agent_join(w);
	resolve(w, 11, &w->plan->members[1].addresses[0]);
	LOOPBACK_WAIT(w->loop, w->answers == 1);
	assert_int_equal(w->token, 11);
	assert_true(w->found);
	assert_string_equal(w->host, "h1");
	resolve(w, 12, &w->plan->remotes[0].addresses[0]);
	LOOPBACK_WAIT(w->loop, w->answers == 2);
	assert_string_equal(w->host, "x0");
	assert_int_equal(w->resolves, 0);
}

static void
an_old_answer_is_requested_again_if_possible(void **state)
{
	struct world *w = *state;
	struct wire_rnic far = fixture_rnic(0x7777, "far", "t9");
	const rm_mono_t before =
	    rm_mono_add(rm_mono_now(), -(int64_t)ADDRESS_BOOK_OLD_NS);

	agent_join(w);
	assert_true(tor_rack_learn(w->aggregator->racks[0], &far, before) >= 0);
	controller_requests_roster(w->aggregator->controller_requests);
	resolve(w, 11, &far.addresses[0]);
	LOOPBACK_WAIT(w->loop, w->resolves == 1);
	assert_int_equal(w->answers, 0);
	rm_listener_free(w->listener);
	w->listener = NULL;
	rm_link_close(w->controller, -ECONNRESET);
	LOOPBACK_WAIT(
	    w->loop, !controller_link_connected(w->aggregator->controller_link));
	resolve(w, 12, &far.addresses[0]);
	LOOPBACK_WAIT(w->loop, w->answers == 1);
	assert_int_equal(w->token, 12);
	assert_true(w->found);
	assert_string_equal(w->host, "far");
}

static void
other_requests_go_to_the_controller(void **state)
{
	const struct wire_address unknown = { .family = 4, .bytes = { 192, 0, 2, 1 } };
	struct wire_resolve_answer answer = { .found = true };
	struct world *w = *state;
	struct wire_bytes bytes = { 0 };

	agent_join(w);
	resolve(w, 11, &unknown);
	LOOPBACK_WAIT(w->loop, w->resolves == 1);
	answer.rnic = fixture_rnic(0x7777, "far", "t9");
	answer.token = w->up_token;
	send_frame(
	    w->controller, wire_write_resolved(w->writer, &answer, &bytes), &bytes);
	LOOPBACK_WAIT(w->loop, w->answers == 1);
	assert_int_equal(w->token, 11);
	assert_true(w->found);
	assert_string_equal(w->host, "far");
	/* A repeated answer belongs to no request. */
	send_frame(
	    w->controller, wire_write_resolved(w->writer, &answer, &bytes), &bytes);
	LOOPBACK_WAIT(w->loop, resolver_counts(controller_requests_resolver(
						   w->aggregator->controller_requests))
				       ->unknown == 1);
	assert_int_equal(w->answers, 1);
}

static void
a_silent_controller_means_not_found(void **state)
{
	const struct wire_address unknown = { .family = 4, .bytes = { 192, 0, 2, 1 } };
	struct world *w = *state;

	agent_join(w);
	resolve(w, 11, &unknown);
	LOOPBACK_WAIT(w->loop, w->resolves == 1);
	controller_requests_tick(w->aggregator->controller_requests,
	    rm_mono_add(rm_mono_now(), 4 * RM_NS_PER_S));
	LOOPBACK_WAIT(w->loop, w->answers == 1);
	assert_int_equal(w->token, 11);
	assert_false(w->found);
	/* Without a controller the answer comes at once. */
	rm_listener_free(w->listener);
	w->listener = NULL;
	rm_link_close(w->controller, -ECONNRESET);
	LOOPBACK_WAIT(
	    w->loop, !controller_link_connected(w->aggregator->controller_link));
	resolve(w, 12, &unknown);
	LOOPBACK_WAIT(w->loop, w->answers == 2);
	assert_int_equal(w->token, 12);
	assert_false(w->found);
}

static void
a_drill_over_a_link_has_the_answer_of_http(void **state)
{
	struct world *w = *state;
	json_t *object;

	agent_join(w);
	drill(w, 21, "h0/r0", 0);
	assert_int_equal(w->drill_status, 200);
	object = json_loads(w->drill, 0, NULL);
	assert_string_equal(json_string_value(json_object_get(object, "host")), "h0");
	assert_true(json_is_array(json_object_get(object, "results")));
	json_decref(object);
	drill(w, 22, "nobody/r0", 0);
	assert_int_equal(w->drill_status, 404);
	drill(w, 23, "h0/r0", 1000000);
	assert_int_equal(w->drill_status, 400);
	assert_non_null(strstr(w->drill, "\"error\""));
}

/* The agent reports a lost probe from h0 to h1. */
static void
lose_a_probe(struct world *w)
{
	const struct wire_batch_head head = { .host = "h0",
		.incarnation = 7,
		.seq = 1,
		.now_ns = (uint64_t)rm_mono_now().ns };
	const struct wire_result result = { .src_guid = 0x100,
		.dst_guid = 0x101,
		.src_port_num = 1,
		.dst_port_num = 1,
		.sent_age_ns = RM_NS_PER_MS,
		.outcome = WIRE_NO_REPLY,
		.kind = WIRE_TOR_MESH,
		.src_port = 50000,
		.dscp = 26 };
	const struct ingest_counts *counts = &w->aggregator->ingest.counts;
	struct wire_bytes bytes = { 0 };

	send_frame(
	    w->agent, wire_write_batch(w->writer, &head, &result, 1, &bytes), &bytes);
	LOOPBACK_WAIT(w->loop, counts->batches == 1);
}

/* The agent has just started: losses of its first second are excused. */
static void
a_lost_probe_has_the_excuse_of_its_agents(void **state)
{
	struct world *w = *state;
	json_t *object, *row;

	agent_join(w);
	lose_a_probe(w);
	drill(w, 24, "h0/r0", 0);
	object = json_loads(w->drill, 0, NULL);
	row = json_array_get(json_object_get(object, "results"), 0);
	assert_string_equal(
	    json_string_value(json_object_get(row, "outcome")), "no_reply");
	assert_string_equal(
	    json_string_value(json_object_get(row, "excuse")), "restarting");
	json_decref(object);
}

static void
ask_mesh(struct world *w, uint64_t token, const char *tor, uint32_t seconds)
{
	const struct wire_drill out = {
		.token = token, .seconds = seconds, .mesh = tor
	};
	struct wire_bytes bytes = { 0 };
	unsigned before = w->drilled;

	send_frame(w->controller, wire_write_drill(w->writer, &out, &bytes), &bytes);
	LOOPBACK_WAIT(w->loop, w->drilled == before + 1);
	assert_int_equal(w->drill_token, token);
	assert_true(w->drill_mesh);
}

static void
the_pairs_of_a_rack_are_reported_over_a_link(void **state)
{
	struct world *w = *state;
	const char *host = "";
	json_t *object, *row;
	int from, to, sent, ok, lost, refused;

	agent_join(w);
	lose_a_probe(w);
	ask_mesh(w, 31, "t1", 3600);
	assert_int_equal(w->drill_status, 200);
	object = json_loads(w->drill, 0, NULL);
	assert_string_equal(
	    json_string_value(json_object_get(object, "period")), "hour");
	assert_int_equal(json_unpack(object, "{s:i}", "pairs_refused", &refused), 0);
	assert_int_equal(json_array_size(json_object_get(object, "pairs")), 1);
	row = json_array_get(json_object_get(object, "pairs"), 0);
	assert_int_equal(
	    json_array_size(row), json_array_size(json_object_get(object, "columns")));
	assert_int_equal(json_unpack(row, "[iiiii]", &from, &to, &sent, &ok, &lost), 0);
	assert_int_equal(sent, 1);
	assert_int_equal(ok, 0);
	assert_int_equal(lost, 1);
	assert_true(
	    json_is_null(json_array_get(row, 7))); /* the direction is unknown */
	assert_true(json_is_null(json_array_get(row, 9))); /* no RTT */
	assert_int_equal(
	    json_unpack(json_array_get(json_object_get(object, "rnics"), (size_t)to),
		"{s:s}", "host", &host),
	    0);
	assert_string_equal(host, "h1");
	json_decref(object);
	ask_mesh(w, 32, "t9", 60);
	assert_int_equal(w->drill_status, 404);
	assert_non_null(strstr(w->drill, "\"error\""));
}

static void
ask_counted(struct world *w, uint64_t token, const char *tor)
{
	const struct wire_drill out = { .token = token, .counted = tor };
	struct wire_bytes bytes = { 0 };
	unsigned before = w->drilled;

	send_frame(w->controller, wire_write_drill(w->writer, &out, &bytes), &bytes);
	LOOPBACK_WAIT(w->loop, w->drilled == before + 1);
	assert_int_equal(w->drill_token, token);
	assert_true(w->drill_counted);
	assert_false(w->drill_mesh);
}

/* A rack without counters has no findings, and all diagnoses are unknown. */
static void
the_diagnoses_of_a_rack_are_reported_over_a_link(void **state)
{
	static const char *const questions[] = { "ecn", "cnp", "pfc" };
	const char *tor, *question, *answer;
	struct world *w = *state;
	int reported, findings, groups;
	json_t *object, *answers, *no_switch;
	size_t i;

	ask_counted(w, 41, "t1");
	assert_int_equal(w->drill_status, 200);
	object = json_loads(w->drill, 0, NULL);
	assert_int_equal(json_unpack(object, "{s:s,s:{s:i,s:i},s:{s:i},s:{s:o},s:o}",
			     "tor", &tor, "diagnosis", "rnics_reported", &reported,
			     "finding_count", &findings, "drift", "groups", &groups,
			     "proof", "answers", &answers, "switch", &no_switch),
	    0);
	assert_string_equal(tor, "t1");
	assert_int_equal(reported, 0);
	assert_int_equal(findings, 0);
	assert_int_equal(groups, 0);
	assert_true(json_is_null(no_switch));
	assert_int_equal(json_array_size(json_object_get(object, "hypervisors")), 0);
	assert_true(json_is_array(json_object_get(object, "switches")));
	assert_int_equal(json_array_size(json_object_get(object, "switches")), 0);
	assert_true(json_is_array(json_object_get(object, "pauses")));
	assert_int_equal(
	    json_integer_value(json_object_get(object, "switches_read")), 0);
	assert_int_equal(json_array_size(answers), 3);
	for (i = 0; i < 3; i++) {
		assert_int_equal(json_unpack(json_array_get(answers, i), "{s:s,s:s}",
				     "question", &question, "state", &answer),
		    0);
		assert_string_equal(question, questions[i]);
		assert_string_equal(answer, "not-known");
	}
	json_decref(object);
	ask_counted(w, 42, "t9");
	assert_int_equal(w->drill_status, 404);
	assert_non_null(strstr(w->drill, "this aggregator does not watch that ToR"));
}

static void
an_agents_traces_are_learned(void **state)
{
	const struct wire_path path = { .src_guid = 0x100,
		.dst_guid = FIXTURE_REMOTE,
		.src_port = 50000,
		.src_port_num = 1,
		.dst_port_num = 1,
		.family = 4,
		.flags = WIRE_PATH_COMPLETE,
		.hop_count = 1,
		.hops = { { 10, 0, 0, 1 } } };
	const struct wire_paths paths = { .host = "h0",
		.incarnation = 7,
		.now_ns = (uint64_t)rm_mono_now().ns,
		.paths = &path,
		.path_count = 1 };
	struct world *w = *state;
	struct wire_bytes bytes = { 0 };

	agent_join(w);
	send_frame(w->agent, wire_write_paths(w->writer, &paths, &bytes), &bytes);
	LOOPBACK_WAIT(
	    w->loop, path_table_paths(tor_rack_paths(w->aggregator->racks[0])) == 1);
}

static void
the_controller_gets_the_releases_of_all_peers(void **state)
{
	struct world *w = *state;

	LOOPBACK_WAIT(w->loop, w->versions.messages > 0);
	assert_int_equal(w->versions.count, 1);
	assert_string_equal(w->versions.name[0], "c1");
	assert_string_equal(w->versions.software[0], "1.2");
	assert_true(w->versions.connected[0]);

	agent_join(w);
	LOOPBACK_WAIT(w->loop, w->versions.count == 2);
	assert_string_equal(w->versions.name[1], "h0");
	assert_string_equal(w->versions.software[1], "");

	w->agent_software = "1.3";
	agent_join(w);
	LOOPBACK_WAIT(w->loop, strcmp(w->versions.software[1], "1.3") == 0);
	assert_true(w->versions.connected[1]);
	rm_link_free(w->agent);
	w->agent = NULL;
	LOOPBACK_WAIT(w->loop, !w->versions.connected[1]);
	assert_string_equal(w->versions.software[1], "1.3");

	/* The controller reconnects: it has to get everything again. */
	w->versions.count = 0;
	rm_link_close(w->controller, -ECONNRESET);
	LOOPBACK_WAIT(w->loop, w->versions.count == 2);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_brake_reaches_present_and_later_agents),
		TEST(the_brake_survives_loss_of_the_controller_and_a_restart),
		TEST(an_invalid_brake_closes_the_link),
		TEST(messages_of_newer_peers_are_ignored),
		TEST(requests_about_own_racks_are_answered_locally),
		TEST(an_old_answer_is_requested_again_if_possible),
		TEST(other_requests_go_to_the_controller),
		TEST(a_silent_controller_means_not_found),
		TEST(a_drill_over_a_link_has_the_answer_of_http),
		TEST(a_lost_probe_has_the_excuse_of_its_agents),
		TEST(the_pairs_of_a_rack_are_reported_over_a_link),
		TEST(the_diagnoses_of_a_rack_are_reported_over_a_link),
		TEST(an_agents_traces_are_learned),
		TEST(the_controller_gets_the_releases_of_all_peers),
	};

	return cmocka_run_group_tests_name("controller_requests", tests, NULL, NULL);
}
