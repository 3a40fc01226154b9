#include "analyzer/incidents/region.h"

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

#include "analyzer/blind/blind.h"
#include "analyzer/marks/cnp_balance.h"
#include "rackmesh/core/log.h"
#include "rackmesh/http/http_client.h"
#include "rackmesh/incident/alert.h"
#include "rackmesh/incident/alert_config.h"
#include "rackmesh/incident/incident_file.h"
#include "rackmesh/loop/worker.h"
#include "tests/support/loopback.h"

struct fixture {
	struct rm_loop *loop;
	struct rm_worker *worker;
	struct rm_http_client *http;
	struct region *region;
	char name[8], folder[64], file[128], url[64];
	char *webhook;
	struct rm_alert_config alerts;
	struct region_options options;
	unsigned reported[WIRE_RESOLVED + 1];
	struct rm_incident last;
	bool both;        /* two aggregators of the rack report */
	bool late;        /* the second one sends only what has waited in its spool */
	int64_t ahead_ns; /* by how much the aggregators' wall clocks are ahead */
	rm_mono_t began;  /* when the test began */
};

static void
quiet(enum rm_log_level level, const char *line, void *arg)
{
	(void)level;
	(void)line;
	(void)arg;
}

static int
setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	rm_log_set_sink(quiet, NULL);
	strcpy(f->folder, "/tmp/rackmesh-region-XXXXXX");
	assert_non_null(mkdtemp(f->folder));
	snprintf(f->file, sizeof(f->file), "%s/incidents-lab.json", f->folder);
	/* No receiver listens at this address: notifications stay queued. */
	strcpy(f->url, "http://127.0.0.1:1/");
	f->webhook = f->url;
	strcpy(f->name, "an1");
	f->options.analyzer = f->name;
	f->options.state_folder = f->folder;
	f->alerts.webhooks.items = &f->webhook;
	f->alerts.webhooks.count = 1;
	f->options.alerts = &f->alerts;
	f->options.blind_grace_ns = f->options.blind_start_ns = 3 * RM_NS_PER_S;
	f->options.resolve_after_ns = RM_NS_PER_MS;
	assert_int_equal(rm_loop_new(&f->loop), 0);
	assert_int_equal(rm_worker_new(f->loop, 16, &f->worker), 0);
	assert_int_equal(rm_http_client_new(f->loop, &f->http), 0);
	f->options.loop = f->loop;
	f->options.worker = f->worker;
	f->options.http = f->http;
	*state = f;
	return 0;
}

static int
teardown(void **state)
{
	struct fixture *f = *state;
	char command[128];

	rm_worker_free(f->worker);
	region_free(f->region);
	rm_http_client_free(f->http);
	rm_loop_free(f->loop);
	snprintf(command, sizeof(command), "rm -rf %s", f->folder);
	assert_int_equal(system(command), 0);
	free(f);
	rm_log_set_sink(NULL, NULL);
	return 0;
}

static enum rm_health
well(const struct rm_verdict *verdict, void *arg)
{
	(void)verdict;
	(void)arg;
	return RM_HEALTH_GOOD;
}

static void
ignore_event(
    enum rm_incident_event event, const struct rm_incident *incident, void *arg)
{
	(void)event;
	(void)incident;
	(void)arg;
}

/* A file of an earlier process: agg1 failed and recovered; failed_again: then it failed
 * again. */
static void
leave_file(struct fixture *f, bool failed_again, bool reported)
{
	const rm_wall_t began = { rm_wall_now().ns - 10 * RM_NS_PER_S };
	const struct rm_incident_options options = {
		.max_open = 4, .max_closed = 4, .id_seed = 5
	};
	struct rm_verdict verdict = { .part = { .type = RM_PART_AGGREGATOR,
					  .name = "agg1" },
		.kind = RM_KIND_AGGREGATOR_DOWN,
		.confidence = 0.9 };
	struct rm_incident_file *file = NULL;
	struct rm_incidents *before = NULL;
	uint64_t save;

	assert_int_equal(rm_incidents_new(&options, &before), 0);
	for (int s = 0; s < 3; s++)
		rm_incidents_judge(before, (rm_mono_t){ s * RM_NS_PER_S },
		    (rm_wall_t){ began.ns + s * RM_NS_PER_S }, &verdict,
		    s == 0 || (failed_again && s == 2), well, ignore_event, NULL);
	for (size_t i = 0; reported && rm_incidents_get(before, i) != NULL; i++) {
		uint64_t id = rm_incidents_get(before, i)->id;

		rm_incidents_notified(before, id, false);
		rm_incidents_notified(before, id, true);
	}
	assert_int_equal(rm_incident_file_new(f->worker, f->file, &file), 0);
	save = rm_incident_file_next(file);
	rm_incident_file_save(file, rm_incidents_save(before, began));
	LOOPBACK_WAIT(f->loop, rm_incident_file_has(file, save));
	rm_incident_file_free(file);
	rm_incidents_free(before);
}

static void
on_incident(const char *region, enum wire_incident_state state,
    const struct rm_incident *incident, void *arg)
{
	struct fixture *f = arg;

	(void)region;
	f->reported[state]++;
	f->last = *incident;
}

static void
start(struct fixture *f)
{
	const struct region_callbacks callbacks = { on_incident, f };

	assert_int_equal(region_new(&f->options, "lab", &callbacks, &f->region), 0);
}

static void
incidents_of_a_region_at_another_analyzer_end_without_an_alert(void **state)
{
	const char *const tors[] = { "tor1" };
	struct fixture *f = *state;
	uint64_t queued;

	leave_file(f, true, true);
	start(f);
	assert_int_equal(rm_incidents_open(region_incidents(f->region)), 1);
	queued = region_alert_counts(f->region)->queued;
	blind_connected(region_blind(f->region), "lab", "agg1", tors, 1, rm_mono_now());
	region_leave(f->region);
	assert_int_equal(rm_incidents_open(region_incidents(f->region)), 0);
	assert_int_equal(region_alert_counts(f->region)->queued, queued);
	assert_true(
	    f->reported[WIRE_RESOLVED] >= 1); /* the end goes into the history */
	assert_false(blind_is_connected(region_blind(f->region)));
}

static void
the_longest_interval_of_its_aggregators_counts(void **state)
{
	const char *const tors[] = { "tor1" };
	struct fixture *f = *state;
	struct blind *blind;
	rm_mono_t now;

	start(f);
	now = rm_mono_now();
	blind = region_blind(f->region);
	assert_int_equal(region_row_interval_ns(f->region), 10 * RM_NS_PER_S);
	blind_connected(blind, "lab", "agg1", tors, 1, now);
	blind_row_interval(blind, "lab", "agg1", 2 * RM_NS_PER_S);
	blind_connected(blind, "lab", "agg2", tors, 1, now);
	blind_row_interval(blind, "lab", "agg2", 60 * RM_NS_PER_S);
	region_row_interval(f->region, now);
	assert_int_equal(region_row_interval_ns(f->region), 60 * RM_NS_PER_S);
	/* agg2 was restarted with another row interval. */
	blind_connected(blind, "lab", "agg2", tors, 1, now);
	blind_row_interval(blind, "lab", "agg2", RM_NS_PER_S);
	assert_int_equal(region_judge(f->region, now, rm_wall_now(), true), 0);
	assert_int_equal(region_row_interval_ns(f->region), 2 * RM_NS_PER_S);
}

/* Judges s seconds after the start, with no aggregator connected. */
static int
judged_alone(struct fixture *f, int64_t s)
{
	return region_judge(f->region, rm_mono_add(rm_mono_now(), s * RM_NS_PER_S),
	    rm_wall_now(), true);
}

static void
an_analyzer_that_is_not_the_first_reports_nothing_without_aggregators(void **state)
{
	const char *const tors[] = { "tor1" };
	struct fixture *f = *state;

	f->options.state_folder = f->folder + strlen(f->folder); /* no state is saved */
	f->alerts.webhooks.count = 0; /* no receiver to probe */
	for (int first = 0; first < 2; first++) {
		f->options.first = first == 1;
		start(f);
		for (int i = 0; i < 2; i++) {
			const char *name = i == 0 ? "agg1" : "agg2";

			blind_connected(region_blind(f->region), "lab", name, tors, 1,
			    rm_mono_now());
			blind_disconnected(
			    region_blind(f->region), "lab", name, rm_mono_now());
		}
		for (int64_t s = 1; s < 30; s++)
			assert_int_equal(judged_alone(f, s), 0);
		assert_int_equal(rm_incidents_open(region_incidents(f->region)), first);
		region_free(f->region);
		f->region = NULL;
	}
}

/* Judges four times a second, and looks for silent aggregators in one of the four. An
 * incident usually stays open a little longer than its verdict; not if another analyzer
 * takes over. */
static void
an_incident_left_to_another_analyzer_does_not_open_again(void **state)
{
	static char ring[] = "{\"evidence\":{\"others\":{\"sent\":10,\"arrived\":0}}}";
	const struct wire_incident down = { .state = WIRE_OPENED,
		.tor = "tor1",
		.part_type = "tor",
		.part = "tor1",
		.kind = "tor-down",
		.evidence_json = ring };
	const char *const tors[] = { "tor1" };
	rm_mono_t now = rm_mono_now();
	struct fixture *f = *state;

	f->options.state_folder = f->folder + strlen(f->folder);
	f->options.first = false;
	start(f);
	blind_connected(region_blind(f->region), "lab", "agg1", tors, 1, now);
	region_incident(f->region, &down, now);
	for (int i = 0; i < 40; i++) {
		now = rm_mono_add(now, RM_NS_PER_S / 4);
		blind_seen(region_blind(f->region), "lab", "agg1", now);
		region_judge(f->region, now, rm_wall_now(), i % 4 == 3);
	}
	assert_int_equal(f->reported[WIRE_OPENED], 1);
	blind_left(region_blind(f->region), "lab", "agg1");
	region_leave(f->region);
	for (int i = 0; i < 400; i++) {
		now = rm_mono_add(now, RM_NS_PER_S / 4);
		region_judge(f->region, now, rm_wall_now(), i % 4 == 3);
		assert_int_equal(rm_incidents_open(region_incidents(f->region)), 0);
	}
	assert_int_equal(f->reported[WIRE_OPENED], 1);
}

/* The aggregator replaces its verdict on the rack by another one. */
static void
a_late_verdict_replaces_the_dead_one_of_a_tor(void **state)
{
	static char ring[] = "{\"evidence\":{\"others\":{\"sent\":10,\"arrived\":0}}}";
	struct wire_incident reported = { .state = WIRE_OPENED,
		.tor = "tor1",
		.part_type = "tor",
		.part = "tor1",
		.kind = "tor-down",
		.evidence_json = ring };
	const char *const tors[] = { "tor1" };
	rm_mono_t now = rm_mono_now();
	struct fixture *f = *state;

	f->options.state_folder = f->folder + strlen(f->folder);
	start(f);
	blind_connected(region_blind(f->region), "lab", "agg1", tors, 1, now);
	region_incident(f->region, &reported, now);
	region_rack_is_seen(f->region, "tor1", true, now);
	for (int i = 0; i < 120; i++) {
		now = rm_mono_add(now, RM_NS_PER_S / 4);
		blind_seen(region_blind(f->region), "lab", "agg1", now);
		region_judge(f->region, now, rm_wall_now(), i % 4 == 3);
		if (i != 40)
			continue;
		assert_int_equal(rm_incidents_open(region_incidents(f->region)), 1);
		reported.state = WIRE_UPDATED;
		reported.kind = "switch-late";
		region_incident(f->region, &reported, now);
	}
	assert_int_equal(rm_incidents_open(region_incidents(f->region)), 0);
}

/* The rack's incident on its flapping ToR is open, but the ToR works now. */
static void
a_flapping_tor_that_is_good_now_is_not_dead(void **state)
{
	static char ring[] = "{\"evidence\":{\"others\":{\"sent\":10,\"arrived\":0}}}";
	struct wire_incident reported = { .state = WIRE_OPENED,
		.tor = "tor1",
		.part_type = "tor",
		.part = "tor1",
		.kind = "tor-down",
		.evidence_json = ring };
	const char *const tors[] = { "tor1" };
	rm_mono_t now = rm_mono_now();
	struct fixture *f = *state;

	f->options.state_folder = f->folder + strlen(f->folder);
	start(f);
	blind_connected(region_blind(f->region), "lab", "agg1", tors, 1, now);
	region_incident(f->region, &reported, now);
	region_rack_is_seen(f->region, "tor1", true, now);
	for (int i = 0; i < 120; i++) {
		now = rm_mono_add(now, RM_NS_PER_S / 4);
		blind_seen(region_blind(f->region), "lab", "agg1", now);
		region_judge(f->region, now, rm_wall_now(), i % 4 == 3);
		if (i != 40)
			continue;
		assert_int_equal(rm_incidents_open(region_incidents(f->region)), 1);
		reported.state = WIRE_UPDATED;
		reported.good_since_wall_ns = 1;
		region_incident(f->region, &reported, now);
	}
	assert_int_equal(rm_incidents_open(region_incidents(f->region)), 0);
}

static int
silent_listener(char *url, size_t len)
{
	struct sockaddr_in in = { .sin_family = AF_INET };
	socklen_t in_len = sizeof(in);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(bind(fd, (struct sockaddr *)&in, sizeof(in)), 0);
	assert_int_equal(listen(fd, 8), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&in, &in_len), 0);
	snprintf(url, len, "http://127.0.0.1:%d/", ntohs(in.sin_port));
	return fd;
}

static size_t
judged_now(struct fixture *f)
{
	assert_int_equal(
	    region_judge(f->region, rm_mono_now(), rm_wall_now(), true), 0);
	return rm_incidents_open(region_incidents(f->region));
}

/* All aggregators and all receivers of alerts become silent at once, which means that
 * this analyzer is cut off. Later a receiver answers, but no aggregator does. */
static void
a_region_is_blind_if_a_receiver_of_alerts_answers(void **state)
{
	const char *const names[] = { "agg1", "agg2" }, *const tors[] = { "tor1" };
	const rm_mono_t last_seen = { rm_mono_now().ns - 20 * RM_NS_PER_S };
	struct fixture *f = *state;
	int fd = silent_listener(f->url, sizeof(f->url));

	f->options.state_folder = f->folder + strlen(f->folder);
	f->options.blind_start_ns = 0;
	f->options.blind_grace_ns = 100 * RM_NS_PER_MS;
	f->options.first = true;
	start(f);
	for (int i = 0; i < 2; i++)
		blind_connected(
		    region_blind(f->region), "lab", names[i], tors, 1, last_seen);
	for (int i = 0; i < 20; i++) {
		assert_int_equal(judged_now(f), 0);
		loopback_run(f->loop, 20 * RM_NS_PER_MS);
	}
	close(fd); /* a refused connection shows that the receiver's host answers */
	LOOPBACK_WAIT(f->loop, judged_now(f) == 1);
	assert_int_equal(rm_incidents_get(region_incidents(f->region), 0)->verdict.kind,
	    RM_KIND_REGION_BLIND);
}

/* Probing the receivers does not delay the verdict. */
static void
a_region_is_blind_at_once_where_receivers_answer(void **state)
{
	const char *const names[] = { "agg1", "agg2" }, *const tors[] = { "tor1" };
	const rm_mono_t last_seen = { rm_mono_now().ns - 20 * RM_NS_PER_S };
	struct fixture *f = *state;

	f->options.state_folder = f->folder + strlen(f->folder);
	f->options.blind_start_ns = 0;
	f->options.first = true;
	start(f); /* the receiver refuses connections, so its host answers */
	for (int i = 0; i < 2; i++)
		blind_connected(
		    region_blind(f->region), "lab", names[i], tors, 1, last_seen);
	assert_int_equal(judged_now(f), 0);
	LOOPBACK_WAIT(f->loop, judged_now(f) == 1);
}

static void
a_region_that_returns_together_with_its_receivers_was_not_blind(void **state)
{
	const char *const names[] = { "agg1", "agg2" }, *const tors[] = { "tor1" };
	const rm_mono_t last_seen = { rm_mono_now().ns - 20 * RM_NS_PER_S };
	struct fixture *f = *state;
	int fd = silent_listener(f->url, sizeof(f->url));

	f->options.state_folder = f->folder + strlen(f->folder);
	f->options.blind_start_ns = 0;
	f->options.first = true;
	start(f);
	for (int i = 0; i < 2; i++)
		blind_connected(
		    region_blind(f->region), "lab", names[i], tors, 1, last_seen);
	assert_int_equal(judged_now(f), 0);
	for (int i = 0; i < 2; i++)
		blind_seen(region_blind(f->region), "lab", names[i], rm_mono_now());
	close(fd);
	for (int i = 0; i < 20; i++) {
		assert_int_equal(judged_now(f), 0);
		loopback_run(f->loop, 20 * RM_NS_PER_MS);
	}
}

static void
a_resolution_that_was_perhaps_not_delivered_is_sent_again(void **state)
{
	struct fixture *f = *state;

	leave_file(f, false, false);
	start(f);
	assert_int_equal(rm_incidents_open(region_incidents(f->region)), 0);
	assert_int_equal(region_alert_counts(f->region)->queued, 1);
	assert_int_equal(f->reported[WIRE_RESOLVED], 1);
}

static void
an_incident_that_all_receivers_took_is_not_sent_again(void **state)
{
	struct fixture *f = *state;

	leave_file(f, false, true);
	start(f);
	assert_int_equal(region_alert_counts(f->region)->queued, 0);
	assert_int_equal(f->reported[WIRE_RESOLVED],
	    1); /* the table of incidents has no entry yet */
}

/* The webhook was down, and then the analyzer was killed. */
static void
an_opening_that_was_perhaps_not_delivered_is_sent_again(void **state)
{
	struct fixture *f = *state;

	leave_file(f, true, false);
	start(f);
	assert_int_equal(region_alert_counts(f->region)->queued, 1);
}

static void
the_end_of_a_reopened_incident_is_not_sent(void **state)
{
	struct fixture *f = *state;

	leave_file(f, true, true);
	start(f);
	assert_int_equal(rm_incidents_open(region_incidents(f->region)), 1);
	/* Both alerts have equal labels: the end of the first would resolve the second
	 * in the receiver. */
	assert_int_equal(region_alert_counts(f->region)->queued, 0);
	assert_int_equal(f->reported[WIRE_OPENED], 1);
	assert_int_equal(f->reported[WIRE_RESOLVED], 1);
}

/* Otherwise an incident that ended while the disk was full would be open again after a
 * restart. */
static void
incidents_are_saved_when_the_disk_works_again(void **state)
{
	static const char *const tors[] = { "tor1" };
	struct fixture *f = *state;
	char away[80];

	leave_file(f, true, true);
	start(f);
	snprintf(away, sizeof(away), "%s.away", f->folder);
	assert_int_equal(unlink(f->file), 0);
	assert_int_equal(rename(f->folder, away), 0);
	blind_connected(region_blind(f->region), "lab", "agg1", tors, 1, rm_mono_now());
	for (int i = 0; i < 1000 && f->reported[WIRE_RESOLVED] < 2; i++) {
		region_judge(f->region, rm_mono_now(), rm_wall_now(), false);
		usleep(2000);
	}
	assert_int_equal(f->reported[WIRE_RESOLVED], 2);
	LOOPBACK_WAIT(f->loop, *region_file_failures(f->region) == 1);
	assert_int_equal(rename(away, f->folder), 0);
	region_judge(f->region, rm_mono_now(), rm_wall_now(),
	    true); /* retried within a second */
	LOOPBACK_WAIT(f->loop, access(f->file, R_OK) == 0);
}

#define RACKS 3

/* A summary of the rack's other aggregator, which has agents, too, but reports no uses;
 * late: of an hour ago, when no port had counted an error. */
static void
other_summary(
    struct fixture *f, struct wire_writer *writer, const char *tor, rm_mono_t now)
{
	const int64_t passed_ns = now.ns - f->began.ns;
	const struct wire_summary summary = { .head = { "agg2", "lab", 9,
						  (uint64_t)now.ns },
		.tor = tor,
		.has_state = f->late,
		.end_ns = (uint64_t)(f->late ? f->began.ns + 10 * passed_ns
					     : now.ns + 90 * RM_NS_PER_S) };
	struct wire_summary_view view;
	struct wire_bytes bytes;

	assert_int_equal(wire_write_summary(writer, &summary, &bytes), 0);
	assert_int_equal(wire_open_summary(&view, bytes.data, bytes.len), 0);
	region_summary(f->region, &view, now);
}

/* A second of path rows of one rack to the others, over two spines. fails: no probe
 * over the link spine1--tor1 is answered. */
static void
path_rows(struct fixture *f, struct wire_writer *writer, size_t tor, bool fails,
    rm_mono_t now, rm_wall_t wall, const struct wire_use_row *use)
{
	char paths[4][96], tors[RACKS][8];
	struct wire_path_row rows[4] = { 0 };
	const struct wire_port_row port = { "tor1", "Ethernet48", "spine1",
		"the switch's port Ethernet48 counted 40 errors" };
	struct wire_summary summary = { .head = { "agg1", "lab", 1 + tor,
					    (uint64_t)wall.ns },
		.start_wall_ns = (uint64_t)(wall.ns - RM_NS_PER_S),
		.paths_start_wall_ns = (uint64_t)(wall.ns - RM_NS_PER_S),
		.end_wall_ns = (uint64_t)wall.ns,
		.end_ns = (uint64_t)now.ns,
		.paths = rows,
		.has_state = true,
		.state = { .rnics = 8,
		    .rnics_counting = 8,
		    .cnps_sent = 20000,
		    .cnps_received = 20000 },
		.ports = &port,
		.port_count = tor == 0,
		.uses_known = WIRE_USES_ALL,
		.uses = use,
		.use_count = use != NULL };
	struct wire_summary_view view;
	struct wire_bytes bytes;

	for (size_t i = 0; i < RACKS; i++)
		snprintf(tors[i], sizeof(tors[i]), "tor%zu", i + 1);
	summary.tor = tors[tor];
	for (size_t dst = 0; dst < RACKS; dst++)
		for (size_t spine = 1; dst != tor && spine <= 2; spine++) {
			const bool dead = fails && spine == 1 && (tor == 0 || dst == 0);
			const size_t n = summary.path_count++;

			snprintf(paths[n], sizeof(paths[n]),
			    "%s@10.0.%zu.1 spine%zu@10.1.%zu.%zu %s@10.2.%zu.%zu",
			    tors[tor], tor, spine, spine, tor, tors[dst], dst, spine);
			rows[n] = (struct wire_path_row){ .dst_tor = tors[dst],
				.path = paths[n],
				.sent = 80,
				.lost_forward = dead ? 80 : 0,
				.flows = 8,
				.flows_dead = dead ? 8 : 0,
				.samples = "" };
		}
	assert_int_equal(wire_write_summary(writer, &summary, &bytes), 0);
	assert_int_equal(wire_open_summary(&view, bytes.data, bytes.len), 0);
	region_summary(f->region, &view, now);
	if (f->both)
		other_summary(f, writer, summary.tor, now);
}

static void
a_fault_between_racks_names_the_services_it_affects(void **state)
{
	static const struct wire_use_row use = { "pod:a", "tor2",
		"tor1@10.0.0.1 spine1@10.1.1.0 tor2@10.2.1.1", 1, 4, 4 };
	struct wire_writer *writer = wire_writer_new();
	struct fixture *f = *state;
	rm_mono_t now = rm_mono_now();
	rm_wall_t wall = rm_wall_now();

	f->began = now;
	f->options.state_folder = f->folder + strlen(f->folder);
	f->options.first = true;
	f->alerts.webhooks.count = 0;
	start(f);
	for (int s = 0; s < 30 && f->reported[WIRE_OPENED] == 0; s++) {
		for (size_t tor = 0; tor < RACKS; tor++)
			path_rows(f, writer, tor, s >= 5, now,
			    (rm_wall_t){ wall.ns + f->ahead_ns },
			    tor == 0 ? &use : NULL);
		for (int judged = 0; judged < 4; judged++) {
			assert_int_equal(region_judge(f->region, now, wall, false), 0);
			now.ns += RM_NS_PER_S / 4;
			wall.ns += RM_NS_PER_S / 4;
		}
	}
	assert_int_equal(f->reported[WIRE_OPENED], 1);
	assert_string_equal(f->last.verdict.part.name, "spine1--tor1");
	assert_int_equal(f->last.verdict.evidence.impact, RM_IMPACT_P0);
	assert_string_equal(f->last.verdict.evidence.services, "pod:a");
	assert_string_equal(f->last.verdict.evidence.counters,
	    "tor1: the switch's port Ethernet48 counted 40 errors");
	assert_int_equal(region_cnps(f->region)->state, CNP_WORKING);
	assert_int_equal(f->last.severity, RM_SEVERITY_CRITICAL);
	wire_writer_free(writer);
}

static void
services_are_named_while_both_aggregators_of_a_rack_report(void **state)
{
	struct fixture *f = *state;

	f->both = true;
	a_fault_between_racks_names_the_services_it_affects(state);
}

static void
a_backlog_of_the_other_aggregator_hides_no_counts_of_ports(void **state)
{
	struct fixture *f = *state;

	f->both = f->late = true;
	a_fault_between_racks_names_the_services_it_affects(state);
}

static void
wall_clocks_of_aggregators_change_no_judgement(void **state)
{
	struct fixture *f = *state;

	f->ahead_ns = -86400 * RM_NS_PER_S;
	a_fault_between_racks_names_the_services_it_affects(state);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_fault_between_racks_names_the_services_it_affects),
		TEST(services_are_named_while_both_aggregators_of_a_rack_report),
		TEST(a_backlog_of_the_other_aggregator_hides_no_counts_of_ports),
		TEST(wall_clocks_of_aggregators_change_no_judgement),
		TEST(the_longest_interval_of_its_aggregators_counts),
		TEST(
		    an_analyzer_that_is_not_the_first_reports_nothing_without_aggregators),
		TEST(an_incident_left_to_another_analyzer_does_not_open_again),
		TEST(a_late_verdict_replaces_the_dead_one_of_a_tor),
		TEST(a_flapping_tor_that_is_good_now_is_not_dead),
		TEST(a_region_is_blind_if_a_receiver_of_alerts_answers),
		TEST(a_region_is_blind_at_once_where_receivers_answer),
		TEST(a_region_that_returns_together_with_its_receivers_was_not_blind),
		TEST(incidents_of_a_region_at_another_analyzer_end_without_an_alert),
		TEST(a_resolution_that_was_perhaps_not_delivered_is_sent_again),
		TEST(an_incident_that_all_receivers_took_is_not_sent_again),
		TEST(an_opening_that_was_perhaps_not_delivered_is_sent_again),
		TEST(the_end_of_a_reopened_incident_is_not_sent),
		TEST(incidents_are_saved_when_the_disk_works_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
