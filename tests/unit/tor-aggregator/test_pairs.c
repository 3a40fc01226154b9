/* Two whole aggregators of a ToR in one loop, over loopback. Their configs disagree on
 * which is active, or wrongly agree; or one of them waits to become active. */
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "rackmesh/core/error.h"
#include "rackmesh/core/file.h"
#include "rackmesh/core/log.h"
#include "rackmesh/loop/loop.h"
#include "tests/support/loopback.h"
#include "tor-aggregator/aggregator_config.h"
#include "tor-aggregator/pairs.h"
#include "tor-aggregator/pairs_state.h"
#include "tor-aggregator/rack/tor_rack.h"
#include "tor-aggregator/tor_aggregator.h"
#include "tor-aggregator/tor_aggregator_incidents.h"
#include "tor-aggregator/tor_aggregator_state.h"

static const char *const names[] = { "agg-a", "agg-b" };

struct world {
	struct rm_loop *loop;
	char folder[64];
	int port; /* port of agg-b, to which agg-a connects */
	struct aggregator_config configs[2];
	struct tor_aggregator *both[2];
	unsigned errors;
	char error[512];
};

static void
on_log(enum rm_log_level level, const char *line, void *arg)
{
	struct world *world = arg;

	if (level != RM_LOG_ERROR)
		return;
	world->errors++;
	snprintf(world->error, sizeof(world->error), "%s", line);
}

static int
free_port(void)
{
	struct sockaddr_in in = { .sin_family = AF_INET };
	socklen_t len = sizeof(in);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(bind(fd, (struct sockaddr *)&in, sizeof(in)), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&in, &len), 0);
	close(fd);
	return ntohs(in.sin_port);
}

static void
start(struct world *world, int i, bool active)
{
	struct rm_error error = { 0 };
	char path[128], text[1024];
	int len;

	len = snprintf(text, sizeof(text),
	    "name: %s\nregion: lab\nplaintext: true\nlisten: 127.0.0.1:%d\n"
	    "controllers: [\"127.0.0.1:1\"]\n"
	    "tors: [{name: t1, primary: %s, peer: {name: %s, address: "
	    "\"127.0.0.1:%d\"}}]\n"
	    "state_folder: %s/%s\nhttp: {listen: \"127.0.0.1:0\", socket: \"\"}\n",
	    names[i], i == 1 ? world->port : 0, active ? "true" : "false", names[!i],
	    world->port, world->folder, names[i]);
	snprintf(path, sizeof(path), "%s/%s.yaml", world->folder, names[i]);
	rm_file_replace(path, (const uint8_t *)text, (size_t)len);
	if (aggregator_config_read(&world->configs[i], path, &error) < 0)
		fail_msg("%s", error.text);
	world->configs[i].path = NULL;
	assert_int_equal(
	    tor_aggregator_new(world->loop, &world->configs[i], &world->both[i]), 0);
}

static int
setup(void **state)
{
	struct world *world = calloc(1, sizeof(*world));

	*state = world;
	rm_log_set_sink(on_log, world);
	snprintf(world->folder, sizeof(world->folder), "/tmp/rm-pairs-XXXXXX");
	world->port = free_port();
	return mkdtemp(world->folder) == NULL ? -1 : rm_loop_new(&world->loop);
}

static int
teardown(void **state)
{
	struct world *world = *state;
	char command[128];

	for (int i = 0; i < 2; i++) {
		tor_aggregator_free(world->both[i]);
		aggregator_config_clear(&world->configs[i]);
	}
	rm_loop_free(world->loop);
	rm_log_set_sink(NULL, NULL);
	snprintf(command, sizeof(command), "rm -rf %s", world->folder);
	if (system(command) != 0)
		return -1;
	free(world);
	return 0;
}

static bool
reports(const struct world *world, int i, const char *what)
{
	json_t *json = pairs_show(world->both[i]->pairs, 0, rm_mono_now());
	bool is = json_is_true(json_object_get(json, what));

	json_decref(json);
	return is;
}

/* Both have the same role by their configs. agg-a becomes active, as its name comes
 * first; agg-b knows that from agg-a's messages. */
static void
start_with_equal_roles(struct world *world, bool active)
{
	start(world, 0, active);
	start(world, 1, active);
	LOOPBACK_WAIT(world->loop, reports(world, 0, "primary_conflict") &&
				       reports(world, 1, "primary_conflict"));
	assert_true(reports(world, 0, "we_are_primary"));
	assert_false(reports(world, 1, "we_are_primary"));
	assert_int_equal(world->errors, 2);
	assert_non_null(strstr(world->error, "agg-a"));
	assert_non_null(strstr(world->error, "agg-b"));
	LOOPBACK_WAIT(world->loop, reports(world, 1, "active"));
	assert_false(reports(world, 0, "active"));
	assert_int_equal(world->errors, 2); /* one error each */
}

static void
of_two_primaries_the_first_name_is_active(void **state)
{
	start_with_equal_roles(*state, true);
}

static void
of_two_standbys_the_first_name_is_active(void **state)
{
	start_with_equal_roles(*state, false);
}

static void
aggregators_with_matching_configs_follow_them(void **state)
{
	struct world *world = *state;

	start(world, 0, false);
	start(world, 1, true);
	LOOPBACK_WAIT(world->loop, reports(world, 0, "active"));
	assert_true(reports(world, 1, "we_are_primary"));
	assert_false(reports(world, 0, "primary_conflict") ||
		     reports(world, 1, "primary_conflict"));
	assert_int_equal(world->errors, 0);
}

/* The incident ended while neither aggregator was active: the one that becomes active
 * sends the end. */
static void
an_end_while_none_is_active_is_still_sent(void **state)
{
	struct world *world = *state;
	struct rm_incident theirs = {
		.id = 7,
		.verdict = { .part = { .type = RM_PART_RNIC,
				 .name = "h1/r0",
				 .place = "t1" },
		    .kind = RM_KIND_RNIC_DOWN,
		    .confidence = 0.9 },
		.opened = { 1 },
		.changed = { 1 },
	};
	struct tor_rack *rack;

	start(world, 0, false);
	rack = world->both[0]->racks[0];
	for (int reported = 0; reported < 2; reported++) {
		const struct rm_incident *incident;

		theirs.id++;
		theirs.notified_opened = reported;
		assert_int_equal(tor_rack_adopt(rack, &theirs), 1);
		assert_true(tor_rack_end(
		    rack, theirs.id, (rm_wall_t){ 2 }, false, rm_mono_now()));
		incident = rm_incidents_get(tor_rack_incidents(rack), 0);
		tor_aggregator_on_incident(
		    rack, RM_INCIDENT_RESOLVED, incident, world->both[0]);
		assert_int_equal(incident->notified_resolved, !reported);
	}
}

static const struct rm_incident *
open_at(const struct world *world, int i)
{
	const struct rm_incidents *incidents =
	    tor_rack_incidents(world->both[i]->racks[0]);

	return rm_incidents_open(incidents) > 0 ? rm_incidents_get(incidents, 0) : NULL;
}

/* While the standby was active, its incident went into a link that the primary had
 * closed. The last message of that link reported to the standby that the primary is
 * active. */
static void
the_primary_ends_incidents_of_the_standby_on_the_next_link(void **state)
{
	struct world *world = *state;
	struct rm_incident reported = {
		.id = 7,
		.verdict = { .part = { .type = RM_PART_RNIC,
				 .name = "h1/r0",
				 .place = "t1" },
		    .kind = RM_KIND_RNIC_DOWN,
		    .confidence = 0.9 },
		.opened = { 1 },
		.changed = { 1 },
		.notified_opened = true,
	};
	struct tor_rack *standby;

	start(world, 0, false);
	start(world, 1, true);
	LOOPBACK_WAIT(world->loop, reports(world, 0, "active"));
	standby = world->both[0]->racks[0];
	tor_rack_set_active(standby, true);
	assert_int_equal(tor_rack_adopt(standby, &reported), 1);
	tor_aggregator_go_standby(world->both[0], 0);
	assert_null(open_at(world, 1));
	pairs_on_session(0, world->both[0]->pairs);
	LOOPBACK_WAIT(world->loop, open_at(world, 1) != NULL);
	assert_int_equal(open_at(world, 1)->id, reported.id);
	/* The primary has sent all its incidents. The standby closes those that the
	 * primary does not have, so this one stays open. */
	LOOPBACK_WAIT(world->loop, world->both[0]->pairs->pairs[0].synced);
	assert_non_null(open_at(world, 0));
}

/* The incident ended, and its end was sent, while the aggregator that had opened it was
 * disconnected. */
static void
an_incident_that_ended_meanwhile_is_answered_with_its_end(void **state)
{
	struct world *world = *state;
	struct rm_incident old = {
		.id = 7,
		.verdict = { .part = { .type = RM_PART_RNIC,
				 .name = "h1/r0",
				 .place = "t1" },
		    .kind = RM_KIND_RNIC_DOWN,
		    .confidence = 0.9 },
		.opened = { 1 },
		.changed = { 1 },
		.notified_opened = true,
	};
	struct tor_rack *racks[2];

	for (int i = 0; i < 2; i++) {
		start(world, i, i == 1);
		racks[i] = world->both[i]->racks[0];
	}
	LOOPBACK_WAIT(world->loop, reports(world, 0, "active"));
	assert_int_equal(tor_rack_adopt(racks[1], &old), 1);
	assert_true(
	    tor_rack_end(racks[1], old.id, (rm_wall_t){ 2 }, true, rm_mono_now()));
	tor_rack_set_active(racks[0], true);
	assert_int_equal(tor_rack_adopt(racks[0], &old), 1);
	tor_aggregator_go_standby(world->both[0], 0);
	pairs_on_session(0, world->both[0]->pairs);
	LOOPBACK_WAIT(world->loop, open_at(world, 0) == NULL);
	assert_null(open_at(world, 1));
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(of_two_primaries_the_first_name_is_active),
		TEST(of_two_standbys_the_first_name_is_active),
		TEST(aggregators_with_matching_configs_follow_them),
		TEST(an_end_while_none_is_active_is_still_sent),
		TEST(the_primary_ends_incidents_of_the_standby_on_the_next_link),
		TEST(an_incident_that_ended_meanwhile_is_answered_with_its_end),
	};

	return cmocka_run_group_tests_name("pairs", tests, NULL, NULL);
}
