#include "rackmesh/incident/alert.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>

#include "rackmesh/core/log.h"
#include "rackmesh/http/http_client.h"
#include "rackmesh/incident/alert_config.h"
#include "rackmesh/incident/alert_label.h"
#include "rackmesh/incident/alert_reach.h"
#include "rackmesh/incident/incident.h"
#include "rackmesh/incident/incident_file.h"
#include "rackmesh/loop/loop.h"
#include "rackmesh/loop/worker.h"
#include "rackmesh/metrics/metrics.h"

#define MAX_TAKEN 64

/* A receiver that answers as the test sets, and keeps the alerts that it received. */
struct fixture {
	struct rm_loop *loop;
	struct rm_http_client *http;
	struct rm_alerts *alerts;
	struct rm_timer *deadline;
	struct evhttp *server;
	int status; /* status of the receiver's answers */
	char url[64];
	char *taken[MAX_TAKEN];
	char path[MAX_TAKEN][64];
	char authorization[64]; /* header of the last alert */
	size_t taken_count, wanted;
	/* The receiver accepts alerts; false: only the probe requests count. */
	bool is_asked;
	int hook_status;      /* 0: the same as status */
	size_t max_body;      /* longer alerts are answered by 413; 0: no limit */
	const char *date;     /* NULL: the current date */
	const char *location; /* NULL: not sent */
	const char *page;     /* body of the answers to alerts; NULL: empty */
	char log[2048];       /* log lines about receivers, with line ends */
	bool late;
	unsigned notified_opened, notified_resolved;
	/* Where incidents are saved, in the tests that save them. */
	struct rm_worker *worker;
	struct rm_incident_file *file;
	char folder[64], kept[96];
	bool was_kept; /* when the receiver was last notified */
};

static void
on_post(struct evhttp_request *request, void *arg)
{
	struct fixture *f = arg;
	struct evbuffer *body = evhttp_request_get_input_buffer(request);
	size_t len = evbuffer_get_length(body);
	struct evbuffer *page = NULL;
	const char *authorization = evhttp_find_header(
	    evhttp_request_get_input_headers(request), "Authorization");

	if (f->date != NULL)
		evhttp_add_header(
		    evhttp_request_get_output_headers(request), "Date", f->date);
	if (f->location != NULL)
		evhttp_add_header(evhttp_request_get_output_headers(request),
		    "Location", f->location);
	if (!f->is_asked && len == strlen("[]")) {
		evhttp_send_reply(request, 200, "ok", NULL);
		return;
	}
	f->was_kept = access(f->kept, F_OK) == 0;
	snprintf(f->authorization, sizeof f->authorization, "%s",
	    authorization != NULL ? authorization : "");
	if (f->taken_count < MAX_TAKEN) {
		char *text = calloc(1, len + 1);

		evbuffer_copyout(body, text, len);
		snprintf(f->path[f->taken_count], sizeof f->path[0], "%s",
		    evhttp_request_get_uri(request));
		f->taken[f->taken_count++] = text;
	}
	if (f->page != NULL && len > strlen("[]")) {
		page = evbuffer_new();
		evbuffer_add(page, f->page, strlen(f->page));
	}
	if (f->max_body != 0 && len > f->max_body)
		evhttp_send_reply(request, 413, "too large", NULL);
	else if (f->hook_status != 0 &&
		 strcmp(evhttp_request_get_uri(request), "/hook") == 0)
		evhttp_send_reply(request, f->hook_status, "ok", NULL);
	else
		evhttp_send_reply(request, f->status, "ok", page);
	if (page != NULL)
		evbuffer_free(page);
	if (f->taken_count >= f->wanted)
		event_base_loopbreak(rm_loop_base(f->loop));
}

static void
on_deadline(void *arg)
{
	struct fixture *f = arg;

	f->late = true;
	event_base_loopbreak(rm_loop_base(f->loop));
}

static void
keep_log(enum rm_log_level level, const char *line, void *arg)
{
	struct fixture *f = arg;
	size_t used = strlen(f->log);

	(void)level;
	snprintf(f->log + used, sizeof f->log - used, "%s\n", line);
}

static void
on_notified(uint64_t incident, bool resolved, void *arg)
{
	struct fixture *f = arg;

	assert_int_equal(incident, 42);
	if (resolved)
		f->notified_resolved++;
	else
		f->notified_opened++;
}

static int
setup_asked(void **state, size_t max_queue, int64_t ask_ns)
{
	struct fixture *f = calloc(1, sizeof *f);
	struct evhttp_bound_socket *bound;
	char am[64], hook[96];
	const char *ams[] = { am }, *hooks[] = { hook };
	struct rm_alert_options options = { .alertmanagers = ams,
		.alertmanager_count = 1,
		.webhooks = hooks,
		.webhook_count = 1,
		.texts = { .region = "r1", .source = "agg-1" },
		.max_queue = max_queue,
		.ask_ns = ask_ns,
		.on_notified = on_notified,
		.arg = f };
	struct sockaddr_storage at;
	ev_socklen_t len = sizeof at;

	rm_log_set_sink(keep_log, f);
	assert_int_equal(rm_loop_new(&f->loop), 0);
	assert_int_equal(rm_http_client_new(f->loop, &f->http), 0);
	assert_int_equal(rm_timer_new(f->loop, on_deadline, f, &f->deadline), 0);
	f->server = evhttp_new(rm_loop_base(f->loop));
	bound = evhttp_bind_socket_with_handle(f->server, "127.0.0.1", 0);
	assert_non_null(bound);
	getsockname(evhttp_bound_socket_get_fd(bound), (struct sockaddr *)&at, &len);
	evhttp_set_gencb(f->server, on_post, f);
	snprintf(am, sizeof am, "http://127.0.0.1:%d",
	    ntohs(((struct sockaddr_in *)&at)->sin_port));
	snprintf(hook, sizeof hook, "%s/hook", am);
	strcpy(f->url, am);
	f->status = 200;
	f->is_asked = ask_ns > 0;
	assert_int_equal(rm_alerts_new(f->loop, f->http, &options, &f->alerts), 0);
	*state = f;
	return 0;
}

static int
setup_sinks(void **state, size_t max_queue)
{
	return setup_asked(state, max_queue, 0);
}

static int
setup_asking(void **state)
{
	return setup_asked(state, 0, 20 * RM_NS_PER_MS);
}

static int
setup(void **state)
{
	return setup_sinks(state, 0);
}

static int
setup_short_queue(void **state)
{
	return setup_sinks(state, 3);
}

static int
teardown(void **state)
{
	struct fixture *f = *state;

	rm_log_set_sink(NULL, NULL);
	rm_alerts_free(f->alerts);
	rm_http_client_free(f->http);
	evhttp_free(f->server);
	rm_timer_free(f->deadline);
	rm_loop_free(f->loop);
	for (size_t i = 0; i < f->taken_count; i++)
		free(f->taken[i]);
	free(f);
	return 0;
}

/* Runs the loop until the receiver has received this many requests in total. */
static void
wait_for(struct fixture *f, size_t exchanges)
{
	f->wanted = exchanges;
	f->late = false;
	rm_timer_after(f->deadline, 60 * RM_NS_PER_S);
	while (f->taken_count < exchanges && !f->late)
		event_base_loop(rm_loop_base(f->loop), EVLOOP_ONCE);
	rm_timer_stop(f->deadline);
	assert_false(f->late);
}

static struct rm_incident
incident_of(const char *name)
{
	struct rm_incident incident;

	memset(&incident, 0, sizeof incident);
	incident.id = 42;
	incident.verdict.part.type = RM_PART_RNIC;
	snprintf(
	    incident.verdict.part.name, sizeof incident.verdict.part.name, "%s", name);
	strcpy(incident.verdict.part.place, "tor-a");
	incident.verdict.kind = RM_KIND_RNIC_DOWN;
	incident.verdict.confidence = 0.99;
	incident.opened.ns = incident.changed.ns = INT64_C(1700000000) * RM_NS_PER_S;
	return incident;
}

static json_t *
taken_at(struct fixture *f, const char *path, size_t n)
{
	for (size_t i = 0; i < f->taken_count; i++)
		if (strcmp(f->path[i], path) == 0 && n-- == 0) {
			json_t *json = json_loads(f->taken[i], 0, NULL);

			assert_non_null(json);
			return json;
		}
	fail_msg("nothing received at %s", path);
	return NULL;
}

static const char *
text_at(json_t *json, const char *outer, const char *inner)
{
	const char *text =
	    json_string_value(json_object_get(json_object_get(json, outer), inner));

	assert_non_null(text);
	return text;
}

/* For Alertmanager an alert with an end in the past is resolved. */
static void
an_incident_of_a_former_run_is_sent_as_open_now(void **state)
{
	struct fixture *f = *state;
	struct rm_incident incident = incident_of("h1/r0");
	char now[RM_WALL_TEXT];
	const char *ends;
	json_t *am;

	incident.notified_opened = true;
	rm_wall_format(rm_wall_now(), now);
	rm_alerts_restore(f->alerts, &incident);
	wait_for(f, 1);
	am = taken_at(f, "/api/v2/alerts", 0);
	ends = json_string_value(json_object_get(json_array_get(am, 0), "endsAt"));
	assert_true(strcmp(ends, now) > 0);
	json_decref(am);
}

static void
an_end_by_a_clock_that_was_set_ahead_is_not_in_the_future(void **state)
{
	struct fixture *f = *state;
	struct rm_incident incident = incident_of("h1/r0");
	char soon[RM_WALL_TEXT];
	const char *ends;
	json_t *am;

	rm_alerts_fire(f->alerts, &incident);
	wait_for(f, 2);
	incident.changed.ns = rm_wall_now().ns + 315360000 * RM_NS_PER_S;
	incident.resolved = incident.changed;
	rm_alerts_resolve(f->alerts, &incident);
	wait_for(f, 4);
	rm_wall_format((rm_wall_t){ rm_wall_now().ns + 60 * RM_NS_PER_S }, soon);
	am = taken_at(f, "/api/v2/alerts", 1);
	ends = json_string_value(json_object_get(json_array_get(am, 0), "endsAt"));
	assert_true(strcmp(ends, soon) < 0);
	json_decref(am);
}

/* Waits until rm_alerts_deliver has this value. */
static void
wait_delivers(struct fixture *f, bool wanted)
{
	f->late = false;
	rm_timer_after(f->deadline, 60 * RM_NS_PER_S);
	while (rm_alerts_deliver(f->alerts) != wanted && !f->late)
		event_base_loop(rm_loop_base(f->loop), EVLOOP_ONCE);
	rm_timer_stop(f->deadline);
	assert_false(f->late);
}

/* The receiver's clock shows this time. Returns the resolved alert; the caller frees
 * it. */
static json_t *
begins_and_ends(struct fixture *f, const char *date)
{
	struct rm_incident incident = incident_of("h1/r0");

	f->date = date;
	incident.opened = incident.changed = rm_wall_now();
	rm_alerts_fire(f->alerts, &incident);
	while (rm_alerts_counts(f->alerts)->delivered < 2)
		event_base_loop(rm_loop_base(f->loop), EVLOOP_ONCE);
	incident.resolved = incident.changed = rm_wall_now();
	rm_alerts_resolve(f->alerts, &incident);
	wait_for(f, 4);
	return taken_at(f, "/api/v2/alerts", 1);
}

/* Our clock is years ahead, from before the alert opened until after it ended. */
static void
times_by_a_wrong_clock_are_sent_by_the_alertmanagers_clock(void **state)
{
	json_t *am = begins_and_ends(*state, "Tue, 14 Nov 2023 22:13:20 GMT"), *alert;

	alert = json_array_get(am, 0);
	assert_int_equal(strncmp(json_string_value(json_object_get(alert, "startsAt")),
			     "2023-11-14T22:1", 15),
	    0);
	assert_int_equal(strncmp(json_string_value(json_object_get(alert, "endsAt")),
			     "2023-11-14T22:1", 15),
	    0);
	json_decref(am);
}

/* A time that our time type cannot represent is not used. */
static void
an_absurd_time_of_day_is_not_accepted(void **state)
{
	json_t *am = begins_and_ends(*state, "Fri, 11 Apr 2262 23:47:14 GMT");
	char now[RM_WALL_TEXT];

	rm_wall_format(rm_wall_now(), now);
	assert_int_equal(strncmp(json_string_value(json_object_get(
				     json_array_get(am, 0), "startsAt")),
			     now, 4),
	    0);
	json_decref(am);
}

/* The network may fail: an alert on its way must not be delivered when it is back. */
static void
a_withdrawn_alert_is_dropped_and_the_others_are_sent(void **state)
{
	struct fixture *f = *state;
	struct rm_incident first = incident_of("h1/r0"), second = incident_of("h2/r0");

	f->status = 503;
	rm_alerts_fire(f->alerts, &first);
	rm_alerts_fire(f->alerts, &second);
	while (rm_alerts_counts(f->alerts)->failed_attempts < 2)
		event_base_loop(rm_loop_base(f->loop), EVLOOP_ONCE);
	/* Both requests are in progress now. */
	while (f->taken_count < 4)
		event_base_loop(rm_loop_base(f->loop), EVLOOP_ONCE);
	f->status = 200;
	rm_alerts_withdraw(f->alerts, &first.verdict.part);
	wait_for(f, 6);
	assert_null(strstr(f->taken[4], "h1/r0"));
	assert_non_null(strstr(f->taken[4], "h2/r0"));
	assert_null(strstr(f->taken[5], "h1/r0"));
	assert_int_equal(rm_alerts_counts(f->alerts)->withdrawn, 2);
}

/* No timer probes the receiver here: rm_alerts_answered triggers the probe. */
static void
requests_show_whether_a_receiver_answers(void **state)
{
	struct fixture *f = *state;
	rm_mono_t since = rm_mono_now();

	f->is_asked = true;
	assert_false(rm_alerts_answered(f->alerts, since));
	wait_for(f, 2);
	while (!rm_alerts_answered(f->alerts, since))
		event_base_loop(rm_loop_base(f->loop), EVLOOP_ONCE);
	assert_int_equal(f->taken_count, 2);
	f->status = 503; /* the answer has arrived */
	since = rm_mono_now();
	assert_false(rm_alerts_answered(f->alerts, since));
	wait_delivers(f, false);
	assert_true(rm_alerts_answered(f->alerts, since));
	assert_false(rm_alerts_answered(f->alerts, rm_mono_now()));
	assert_int_equal(f->taken_count, 4); /* one probe is sent now */
	assert_false(rm_alerts_answered(f->alerts, rm_mono_now()));
	wait_for(f, 6);
	assert_int_equal(f->taken_count, 6);
}

static void
an_opening_reaches_alertmanager_and_webhook(void **state)
{
	struct fixture *f = *state;
	struct rm_incident incident = incident_of("h1/r0");
	json_t *am, *hook;

	rm_alerts_fire(f->alerts, &incident);
	wait_for(f, 2);
	am = taken_at(f, "/api/v2/alerts", 0);
	assert_string_equal(
	    text_at(json_array_get(am, 0), "labels", "alertname"), "RackmeshRnic");
	assert_string_equal(text_at(json_array_get(am, 0), "labels", "part"), "h1/r0");
	assert_string_equal(text_at(json_array_get(am, 0), "labels", "place"), "tor-a");
	assert_string_equal(
	    text_at(json_array_get(am, 0), "annotations", "kind"), "rnic-down");
	assert_null(json_object_get(json_array_get(am, 0), "status"));
	hook = taken_at(f, "/hook", 0);
	assert_string_equal(
	    json_string_value(json_object_get(hook, "status")), "firing");
	assert_int_equal(json_array_size(json_object_get(hook, "alerts")), 1);
	json_decref(am);
	json_decref(hook);
}

static const char *
member(json_t *json, const char *key)
{
	const char *text = json_string_value(json_object_get(json, key));

	assert_non_null(text);
	return text;
}

/* One message of format version 4 with one alert; status applies to both. */
static void
is_whole(json_t *hook, const char *status)
{
	json_t *alert = json_array_get(json_object_get(hook, "alerts"), 0);

	assert_string_equal(member(hook, "version"), "4");
	assert_string_equal(member(hook, "status"), status);
	assert_string_equal(member(hook, "receiver"), "rackmesh");
	assert_non_null(member(hook, "externalURL"));
	assert_true(json_is_integer(json_object_get(hook, "truncatedAlerts")));
	assert_int_equal(json_array_size(json_object_get(hook, "alerts")), 1);
	assert_true(json_equal(
	    json_object_get(hook, "groupLabels"), json_object_get(alert, "labels")));
	assert_true(json_equal(
	    json_object_get(hook, "commonLabels"), json_object_get(alert, "labels")));
	assert_true(json_equal(json_object_get(hook, "commonAnnotations"),
	    json_object_get(alert, "annotations")));
	assert_string_equal(member(alert, "status"), status);
	assert_non_null(member(alert, "generatorURL"));
	assert_int_equal(
	    strncmp(member(alert, "startsAt"), "2023-11-14T22:13:20", 19), 0);
}

/* The fields that a bridge needs to close the ticket that it opened. */
static void
a_webhook_gets_all_of_alertmanagers_format(void **state)
{
	struct fixture *f = *state;
	struct rm_incident first = incident_of("h1/r0"), second = incident_of("h2/r0");
	json_t *opened, *other, *resolved, *alert;

	rm_alerts_fire(f->alerts, &first);
	rm_alerts_fire(f->alerts, &second);
	wait_for(f, 4); /* one message for each alert of a webhook */
	first.changed.ns += 5 * RM_NS_PER_S;
	first.resolved = first.changed;
	rm_alerts_resolve(f->alerts, &first);
	wait_for(f, 6);
	opened = taken_at(f, "/hook", 0);
	other = taken_at(f, "/hook", 1);
	resolved = taken_at(f, "/hook", 2);
	is_whole(opened, "firing");
	is_whole(other, "firing");
	is_whole(resolved, "resolved");
	assert_string_equal(member(opened, "groupKey"),
	    "{}:{alertname=\"RackmeshRnic\", part=\"h1/r0\", part_type=\"rnic\", "
	    "place=\"tor-a\", region=\"r1\", severity=\"major\"}");
	assert_string_equal(member(resolved, "groupKey"), member(opened, "groupKey"));
	assert_string_not_equal(member(other, "groupKey"), member(opened, "groupKey"));
	alert = json_array_get(json_object_get(opened, "alerts"), 0);
	assert_string_equal(member(alert, "endsAt"), "0001-01-01T00:00:00Z");
	/* Alertmanager 0.25 shows this fingerprint for the same labels. */
	assert_string_equal(member(alert, "fingerprint"), "0d2024eedacc42b6");
	alert = json_array_get(json_object_get(resolved, "alerts"), 0);
	assert_string_equal(member(alert, "fingerprint"), "0d2024eedacc42b6");
	assert_int_equal(
	    strncmp(member(alert, "endsAt"), "2023-11-14T22:13:25", 19), 0);
	alert = json_array_get(json_object_get(other, "alerts"), 0);
	assert_string_not_equal(member(alert, "fingerprint"), "0d2024eedacc42b6");
	json_decref(opened);
	json_decref(other);
	json_decref(resolved);
}

static void
alertmanager_gets_no_field_that_it_computes_itself(void **state)
{
	struct fixture *f = *state;
	struct rm_incident incident = incident_of("h1/r0");
	json_t *am, *alert;

	rm_alerts_fire(f->alerts, &incident);
	wait_for(f, 2);
	am = taken_at(f, "/api/v2/alerts", 0);
	alert = json_array_get(am, 0);
	assert_null(json_object_get(alert, "fingerprint"));
	assert_null(json_object_get(alert, "generatorURL")); /* there is none */
	assert_true(strcmp(member(alert, "endsAt"), member(alert, "startsAt")) > 0);
	json_decref(am);
}

static void
links_lead_to_the_incident_and_to_its_kind(void **state)
{
	struct fixture *f = *state;
	struct rm_incident incident = incident_of("h1/r0");
	const char *ams[] = { f->url };
	char hook[80];
	const char *hooks[] = { hook };
	const struct rm_alert_options options = { .alertmanagers = ams,
		.alertmanager_count = 1,
		.webhooks = hooks,
		.webhook_count = 1,
		.texts = { .page_url = "https://rackmesh.example",
		    .runbook_url = "https://wiki.example/verdicts.md#" } };
	json_t *am, *message, *alert;

	snprintf(hook, sizeof hook, "%s/hook", f->url);
	assert_int_equal(rm_alerts_reload(f->alerts, &options), 0);
	rm_alerts_fire(f->alerts, &incident);
	wait_for(f, 2);
	am = taken_at(f, "/api/v2/alerts", 0);
	assert_string_equal(member(json_array_get(am, 0), "generatorURL"),
	    "https://rackmesh.example/#/incident/000000000000002a");
	assert_string_equal(
	    text_at(json_array_get(am, 0), "annotations", "runbook_url"),
	    "https://wiki.example/verdicts.md#rnic-down");
	message = taken_at(f, "/hook", 0);
	assert_string_equal(member(message, "externalURL"), "https://rackmesh.example");
	alert = json_array_get(json_object_get(message, "alerts"), 0);
	assert_string_equal(member(alert, "generatorURL"),
	    "https://rackmesh.example/#/incident/000000000000002a");
	json_decref(am);
	json_decref(message);
}

/* A flapping part has fallen again: there is no new notice, but a receiver that gets
 * the alert later gets the present rate. */
static void
a_note_is_not_sent_before_the_next_repetition(void **state)
{
	struct fixture *f = *state;
	struct rm_incident incident = incident_of("h1/r0");
	const char *ams[] = { f->url, "http://127.0.0.1:1" };
	const struct rm_alert_options options = { .alertmanagers = ams,
		.alertmanager_count = 2 };
	struct rm_incident other = incident_of("h2/r0");
	json_t *am;

	assert_int_equal(rm_alerts_reload(f->alerts,
			     &(struct rm_alert_options){
				 .alertmanagers = ams + 1, .alertmanager_count = 1 }),
	    0);
	rm_alerts_fire(f->alerts, &incident);
	incident.recurrence =
	    (struct rm_recurrence){ .flaps = true, .falls = 7, .since = { 1 } };
	incident.recurrence.at[0].ns = 1 + 60 * RM_NS_PER_S;
	incident.flaps_since.ns = incident.opened.ns;
	incident.returns = 6;
	rm_alerts_note(f->alerts, &incident);
	rm_alerts_note(f->alerts, &other); /* this one does not fire */
	assert_int_equal(f->taken_count, 0);
	assert_int_equal(rm_alerts_reload(f->alerts, &options), 0);
	wait_for(f, 1);
	am = taken_at(f, "/api/v2/alerts", 0);
	assert_int_equal(json_array_size(am), 1);
	assert_string_equal(text_at(json_array_get(am, 0), "annotations", "flapping"),
	    "it came back 6 times within 60 s, about every 10 s");
	json_decref(am);
}

static void
without_a_runbook_of_the_operators_the_page_has_one(void **state)
{
	struct fixture *f = *state;
	struct rm_incident incident = incident_of("h1/r0");
	const char *ams[] = { f->url };
	const struct rm_alert_options options = { .alertmanagers = ams,
		.alertmanager_count = 1,
		.texts = {
		    .page_url = "https://rackmesh.example", .runbook_url = "" } };
	json_t *am;

	assert_int_equal(rm_alerts_reload(f->alerts, &options), 0);
	rm_alerts_fire(f->alerts, &incident);
	wait_for(f, 1);
	am = taken_at(f, "/api/v2/alerts", 0);
	assert_string_equal(
	    text_at(json_array_get(am, 0), "annotations", "runbook_url"),
	    "https://rackmesh.example/#/kind/rnic-down");
	json_decref(am);
}

/* Otherwise Alertmanager would treat one fault as two. */
static void
configured_labels_stay_those_of_the_opening_until_the_end(void **state)
{
	const char *before[] = { "team=fabric", "cluster=c 1" },
		   *after[] = { "team=b" };
	struct fixture *f = *state;
	struct rm_incident first = incident_of("h1/r0"), second = incident_of("h2/r0");
	const char *ams[] = { f->url };
	struct rm_alert_options options = { .alertmanagers = ams,
		.alertmanager_count = 1,
		.texts = { .labels = before, .label_count = 2 } };
	json_t *opened, *resolved, *other;

	assert_int_equal(rm_alerts_reload(f->alerts, &options), 0);
	rm_alerts_fire(f->alerts, &first);
	wait_for(f, 1);
	options.texts.labels = after;
	options.texts.label_count = 1;
	assert_int_equal(rm_alerts_reload(f->alerts, &options), 0);
	first.resolved = first.changed;
	rm_alerts_resolve(f->alerts, &first);
	wait_for(f, 2);
	rm_alerts_fire(f->alerts, &second);
	wait_for(f, 3);
	opened = taken_at(f, "/api/v2/alerts", 0);
	resolved = taken_at(f, "/api/v2/alerts", 1);
	other = taken_at(f, "/api/v2/alerts", 2);
	assert_string_equal(
	    text_at(json_array_get(opened, 0), "labels", "team"), "fabric");
	assert_string_equal(
	    text_at(json_array_get(opened, 0), "labels", "cluster"), "c 1");
	assert_true(json_equal(json_object_get(json_array_get(opened, 0), "labels"),
	    json_object_get(json_array_get(resolved, 0), "labels")));
	assert_string_equal(text_at(json_array_get(other, 0), "labels", "team"), "b");
	json_decref(opened);
	json_decref(resolved);
	json_decref(other);
}

static void
configured_labels_must_be_valid_and_differ_from_rackmeshs(void **state)
{
	static const char *const bad[] = { "", "team", "=x", "team=", "1x=y", "te am=x",
		"te-am=x", "__x=y", "alertname=x", "part_type=x", "part=x", "place=x",
		"region=x", "severity=x", "team=a\nb", "\xc3\xa4=x" };
	static const char *const good[] = { "team=fabric", "_a1=x=y", "T=a b",
		"partly=1", "name=\xc3\xa4" };
	char longest[400];

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		assert_non_null(alert_label_expected(bad[i]));
	for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
		assert_null(alert_label_expected(good[i]));
	memset(longest, 'x', sizeof longest);
	longest[sizeof longest - 1] = '\0';
	longest[63] = '=';
	assert_non_null(alert_label_expected(longest)); /* its value */
	longest[64 + 255] = '\0';
	assert_null(alert_label_expected(longest));
	longest[63] = 'x';
	longest[64] = '=';
	assert_non_null(alert_label_expected(longest)); /* its name */
}

static void
a_new_receiver_gets_firing_alerts_and_one_that_stays_continues(void **state)
{
	struct fixture *f = *state;
	struct rm_incident incident = incident_of("h1/r0");
	char other[128], hook[128];
	const char *ams[] = { f->url }, *hooks[] = { other, hook, other };
	const struct rm_alert_options fresh = { .alertmanagers = ams,
		.alertmanager_count = 1,
		.webhooks = hooks,
		.webhook_count = 3 };
	json_t *first, *second;

	snprintf(other, sizeof other, "%s/other", f->url);
	snprintf(hook, sizeof hook, "%s/hook", f->url);
	rm_alerts_fire(f->alerts, &incident);
	wait_for(f, 2);
	assert_int_equal(rm_alerts_reload(f->alerts, &fresh), 0);
	wait_for(f, 4); /* the new webhooks get it, each once; no others */
	first = taken_at(f, "/other", 0);
	second = taken_at(f, "/other", 1);
	assert_string_equal(
	    json_string_value(json_object_get(first, "status")), "firing");
	json_decref(first);
	json_decref(second);

	/* A removed webhook is not notified of the end. */
	hooks[0] = hook;
	assert_int_equal(
	    rm_alerts_reload(f->alerts,
		&(struct rm_alert_options){ .webhooks = hooks, .webhook_count = 1 }),
	    0);
	incident.resolved.ns = incident.opened.ns + RM_NS_PER_S;
	rm_alerts_resolve(f->alerts, &incident);
	wait_for(f, 5);
	assert_string_equal(f->path[4], "/hook");
}

static void
a_webhook_gets_no_second_opening_after_a_restart(void **state)
{
	struct fixture *f = *state;
	struct rm_incident old = incident_of("h1/r0"), fresh = incident_of("h2/r0");
	json_t *hook;

	old.notified_opened = true;
	rm_alerts_restore(f->alerts, &old);
	wait_for(f, 1);
	assert_string_equal(f->path[0], "/api/v2/alerts");
	rm_alerts_fire(f->alerts, &fresh);
	wait_for(f, 3);
	hook = taken_at(f, "/hook", 0);
	assert_non_null(strstr(f->taken[1], "h2/r0"));
	assert_non_null(strstr(f->taken[2], "h2/r0"));
	json_decref(hook);
	old.resolved = rm_wall_now();
	rm_alerts_resolve(f->alerts, &old);
	wait_for(f, 5);
	hook = taken_at(f, "/hook", 1);
	assert_string_equal(
	    json_string_value(json_object_get(hook, "status")), "resolved");
	json_decref(hook);
}

/* The process was killed before its webhook was reachable again. */
static void
alerts_not_sent_before_a_restart_are_sent_after_it(void **state)
{
	struct fixture *f = *state;
	struct rm_incident incident = incident_of("h1/r0");
	json_t *hook;

	rm_alerts_restore(f->alerts, &incident);
	wait_for(f, 2);
	hook = taken_at(f, "/hook", 0);
	assert_string_equal(
	    json_string_value(json_object_get(hook, "status")), "firing");
	json_decref(hook);
	incident.resolved = rm_wall_now();
	rm_alerts_restore(f->alerts, &incident);
	wait_for(f, 4);
	hook = taken_at(f, "/hook", 1);
	assert_string_equal(
	    json_string_value(json_object_get(hook, "status")), "resolved");
	json_decref(hook);
	incident.notified_resolved = true;
	rm_alerts_restore(f->alerts, &incident);
	assert_int_equal(rm_alerts_counts(f->alerts)->queued, 4);
}

static void
a_withdrawn_alert_is_not_sent_again(void **state)
{
	struct fixture *f = *state;
	struct rm_incident first = incident_of("h1/r0"), second = incident_of("h2/r0");

	f->status = 503;
	rm_alerts_fire(f->alerts, &first);
	rm_alerts_fire(f->alerts, &second);
	while (rm_alerts_counts(f->alerts)->failed_attempts < 2)
		event_base_loop(rm_loop_base(f->loop), EVLOOP_ONCE);
	rm_alerts_withdraw(f->alerts, &first.verdict.part); /* waits for a retry */
	assert_int_equal(rm_alerts_counts(f->alerts)->withdrawn, 2);
	f->status = 200;
	wait_for(f, 4);
	assert_non_null(strstr(f->taken[2], "h2/r0"));
	assert_non_null(strstr(f->taken[3], "h2/r0"));
	assert_null(strstr(f->taken[2], "h1/r0"));
	assert_null(strstr(f->taken[3], "h1/r0"));
}

static void
an_alert_is_delivered_when_one_sink_has_accepted_it(void **state)
{
	struct fixture *f = *state;
	struct rm_incident incident = incident_of("h1/r0");

	assert_true(rm_alerts_deliver(f->alerts));
	f->hook_status = 503;
	rm_alerts_fire(f->alerts, &incident);
	while (rm_alerts_counts(f->alerts)->delivered < 1 ||
	       rm_alerts_counts(f->alerts)->failed_attempts < 1)
		event_base_loop(rm_loop_base(f->loop), EVLOOP_ONCE);
	assert_true(rm_alerts_deliver(f->alerts));
	f->status = 503;
	rm_alerts_fire(f->alerts, &incident);
	wait_delivers(f, false);
	f->status = 200;
	wait_delivers(f, true);
}

/* Any clock may have been set since. */
static void
an_old_time_of_a_receiver_is_not_used(void **state)
{
	struct fixture *f = *state;
	struct alert_reach *reach = NULL;
	rm_mono_t now;
	rm_wall_t date;

	f->date = "Tue, 14 Nov 2023 22:13:20 GMT";
	assert_int_equal(
	    alert_reach_new(f->loop, f->http, f->url, "it", "[]", RM_NS_PER_S, &reach),
	    0);
	while (!alert_reach_date(reach, now = rm_mono_now(), &date))
		event_base_loop(rm_loop_base(f->loop), EVLOOP_ONCE);
	assert_true(date.ns >= INT64_C(1700000000) * RM_NS_PER_S);
	assert_false(alert_reach_date(
	    reach, rm_mono_add(now, ALERT_REACH_DATE_NS + RM_NS_PER_S), &date));
	alert_reach_free(reach);
}

static void
sinks_are_asked_when_there_is_nothing_to_send(void **state)
{
	struct fixture *f = *state;
	bool asked_empty = false;

	wait_for(f, 4);
	assert_true(rm_alerts_deliver(f->alerts));
	for (size_t i = 0; i < f->taken_count; i++) {
		bool is_hook = strcmp(f->path[i], "/hook") == 0;

		assert_string_equal(f->taken[i], is_hook ? "" : "[]");
		asked_empty = asked_empty || !is_hook;
	}
	assert_true(asked_empty);
	f->status = 503;
	wait_delivers(f, false);
	f->status = 404; /* the probe is answered, though an alert would be refused */
	wait_delivers(f, true);
	assert_int_equal(rm_alerts_counts(f->alerts)->queued, 0);
}

/* Otherwise an aggregator whose alerts are refused would take over after every
 * probe. */
static void
a_probe_of_a_receiver_that_refuses_it_like_alerts_is_no_answer(void **state)
{
	struct fixture *f = *state;
	struct rm_incident incident = incident_of("h1/r0");

	f->status = 401;
	rm_alerts_fire(f->alerts, &incident);
	wait_delivers(f, false);
	rm_alerts_withdraw(f->alerts, &incident.verdict.part);
	f->wanted = MAX_TAKEN;
	for (size_t seen = f->taken_count; f->taken_count < seen + 8;) {
		event_base_loop(rm_loop_base(f->loop), EVLOOP_ONCE);
		assert_false(rm_alerts_deliver(f->alerts));
	}
	f->status = 200;
	wait_delivers(f, true);
}

static void
an_alert_is_notified_when_the_last_sink_has_accepted_it(void **state)
{
	struct fixture *f = *state;
	struct rm_incident incident = incident_of("h1/r0");

	f->hook_status = 503;
	rm_alerts_fire(f->alerts, &incident);
	while (rm_alerts_counts(f->alerts)->delivered < 1 ||
	       rm_alerts_counts(f->alerts)->failed_attempts < 1)
		event_base_loop(rm_loop_base(f->loop), EVLOOP_ONCE);
	incident.verdict.confidence = 0.5;
	rm_alerts_fire(f->alerts, &incident); /* the newer alert replaces it */
	assert_int_equal(f->notified_opened, 0);
	f->hook_status = 400; /* a permanent refusal */
	while (rm_alerts_counts(f->alerts)->refused < 1)
		event_base_loop(rm_loop_base(f->loop), EVLOOP_ONCE);
	assert_int_equal(f->notified_opened, 1);
	f->hook_status = 0;
	rm_alerts_resolve(f->alerts, &incident);
	while (f->notified_resolved == 0)
		event_base_loop(rm_loop_base(f->loop), EVLOOP_ONCE);
	assert_int_equal(f->notified_opened, 1);
	assert_int_equal(f->notified_resolved, 1);
}

static void
labels_stay_the_same_while_the_kind_changes(void **state)
{
	struct fixture *f = *state;
	struct rm_incident incident = incident_of("h1/r0");
	json_t *before, *after;

	rm_alerts_fire(f->alerts, &incident);
	wait_for(f, 2);
	incident.verdict.kind = RM_KIND_RNIC_SEND_DEAD;
	rm_alerts_fire(f->alerts, &incident);
	wait_for(f, 3); /* an update is sent to Alertmanager only */
	before = taken_at(f, "/api/v2/alerts", 0);
	after = taken_at(f, "/api/v2/alerts", 1);
	assert_true(json_equal(json_object_get(json_array_get(before, 0), "labels"),
	    json_object_get(json_array_get(after, 0), "labels")));
	assert_string_equal(
	    text_at(json_array_get(after, 0), "annotations", "kind"), "rnic-send-dead");
	json_decref(before);
	json_decref(after);
}

static const char *
severity_of(const struct rm_incident *incident)
{
	static char text[16];
	const struct rm_alert_texts texts = { .region = "r1", .source = "agg-1" };
	json_t *alert = alert_message_json(
	    &texts, incident, RM_NS_PER_S, alert_message_labels(&texts, incident));

	snprintf(text, sizeof text, "%s", text_at(alert, "labels", "severity"));
	json_decref(alert);
	return text;
}

static void
severity_is_that_of_the_opening(void **state)
{
	struct rm_incident incident = incident_of("h1/r0");

	(void)state;
	incident.severity = RM_SEVERITY_WARNING;
	incident.verdict.evidence.impact = RM_IMPACT_P0;
	assert_string_equal(severity_of(&incident), "warning");
	incident.severity = RM_SEVERITY_UNSET; /* without a severity */
	assert_string_equal(severity_of(&incident), "critical");
}

static void
a_resolution_is_sent_resolved_after_the_firing(void **state)
{
	struct fixture *f = *state;
	struct rm_incident incident = incident_of("h1/r0");
	json_t *first, *second;

	rm_alerts_fire(f->alerts, &incident);
	incident.resolved.ns = incident.opened.ns + 5 * RM_NS_PER_S;
	rm_alerts_resolve(f->alerts, &incident);
	wait_for(f, 4);
	first = taken_at(f, "/hook", 0);
	second = taken_at(f, "/hook", 1);
	assert_string_equal(
	    json_string_value(json_object_get(first, "status")), "firing");
	assert_string_equal(
	    json_string_value(json_object_get(second, "status")), "resolved");
	json_decref(first);
	json_decref(second);
}

/* Alertmanager refuses an alert whose end is before its start. */
static void
a_wall_clock_that_goes_back_ends_no_alert_before_its_start(void **state)
{
	const struct rm_alert_texts texts = { .region = "r1", .source = "agg-1" };
	struct rm_incident incident = incident_of("h1/r0");
	json_t *alert;

	incident.changed.ns -= 3600 * RM_NS_PER_S;
	incident.resolved = incident.changed;
	alert = alert_message_json(&texts, &incident, 120 * RM_NS_PER_S,
	    alert_message_labels(&texts, &incident));
	assert_non_null(alert);
	assert_true(strcmp(json_string_value(json_object_get(alert, "startsAt")),
			json_string_value(json_object_get(alert, "endsAt"))) <= 0);
	json_decref(alert);
}

static void
a_failing_sink_gets_the_alert_again_until_it_accepts_it(void **state)
{
	struct fixture *f = *state;
	struct rm_incident incident = incident_of("h1/r0");

	f->status = 503;
	rm_alerts_fire(f->alerts, &incident);
	wait_for(f, 4);
	f->status = 200;
	wait_for(f, f->taken_count + 2);
	while (rm_alerts_counts(f->alerts)->delivered < 2)
		event_base_loop(rm_loop_base(f->loop), EVLOOP_ONCE);
	assert_true(rm_alerts_counts(f->alerts)->failed_attempts >= 2);
	assert_int_equal(rm_alerts_counts(f->alerts)->dropped, 0);
}

static void
a_refused_alert_is_counted_and_not_repeated(void **state)
{
	struct fixture *f = *state;
	struct rm_incident incident = incident_of("h1/r0");

	f->status = 400;
	rm_alerts_fire(f->alerts, &incident);
	wait_for(f, 2);
	while (rm_alerts_counts(f->alerts)->refused < 2)
		event_base_loop(rm_loop_base(f->loop), EVLOOP_ONCE);
	assert_int_equal(f->taken_count, 2);
	assert_int_equal(rm_alerts_counts(f->alerts)->failed_attempts, 0);
}

/* A proxy with a limit on the body: each alert alone is small enough. */
static void
alerts_that_are_too_large_together_are_sent_in_smaller_batches(void **state)
{
	struct fixture *f = *state;
	const struct rm_alert_counts *counts = rm_alerts_counts(f->alerts);
	struct rm_incident incident = incident_of("h0/r0");

	rm_alerts_fire(f->alerts, &incident);
	wait_for(f, 2);
	for (size_t i = 0; i < f->taken_count; i++)
		if (f->max_body < strlen(f->taken[i]))
			f->max_body = strlen(f->taken[i]);
	f->max_body += f->max_body / 2;
	for (int i = 1; i < 8; i++) {
		char name[16];

		snprintf(name, sizeof name, "h%d/r0", i);
		incident = incident_of(name);
		rm_alerts_fire(f->alerts, &incident);
	}
	while (counts->delivered < 16 && counts->refused == 0)
		event_base_loop(rm_loop_base(f->loop), EVLOOP_ONCE);
	assert_int_equal(counts->refused, 0);
	assert_int_equal(counts->failed_attempts, 0);
}

/* Counts the messages that were not too large. */
static size_t
most_alerts_in_one(const struct fixture *f, size_t from)
{
	size_t most = 0;

	for (size_t i = from; i < f->taken_count; i++) {
		size_t count = 0;

		if (f->max_body != 0 && strlen(f->taken[i]) > f->max_body)
			continue;
		for (const char *at = f->taken[i];
		     (at = strstr(at, "startsAt")) != NULL; at++)
			count++;
		most = count > most ? count : most;
	}
	return most;
}

static void
fire_many(struct fixture *f, int first, int end)
{
	for (int i = first; i < end; i++) {
		struct rm_incident incident;
		char name[16];

		snprintf(name, sizeof name, "h%d/r0", i);
		incident = incident_of(name);
		rm_alerts_fire(f->alerts, &incident);
	}
	while (rm_alerts_counts(f->alerts)->delivered < 2 * (uint64_t)end &&
	       rm_alerts_counts(f->alerts)->refused == 0)
		event_base_loop(rm_loop_base(f->loop), EVLOOP_ONCE);
}

static void
smaller_batches_grow_again_when_a_proxy_accepts_more(void **state)
{
	struct fixture *f = *state;
	size_t most, from;

	fire_many(f, 0, 1);
	for (size_t i = 0; i < f->taken_count; i++)
		if (f->max_body < strlen(f->taken[i]))
			f->max_body = strlen(f->taken[i]);
	f->max_body += 8;
	fire_many(f, 1, 8);
	most = most_alerts_in_one(f, 0);
	assert_true(most < 7);
	f->max_body = 0;
	from = f->taken_count;
	fire_many(f, 8, 24);
	assert_true(most_alerts_in_one(f, from) > most);
	assert_int_equal(rm_alerts_counts(f->alerts)->refused, 0);
	assert_int_equal(rm_alerts_counts(f->alerts)->failed_attempts, 0);
}

static void
a_full_queue_drops_and_counts(void **state)
{
	struct fixture *f = *state;
	const struct rm_alert_counts *counts = rm_alerts_counts(f->alerts);

	for (int i = 0; i < 10; i++) {
		char name[16];
		struct rm_incident incident;

		snprintf(name, sizeof name, "h%d/r0", i);
		incident = incident_of(name);
		rm_alerts_fire(f->alerts, &incident);
	}
	assert_int_equal(counts->queued, 20);
	assert_int_equal(counts->dropped, 14);
	while (counts->delivered + counts->dropped < counts->queued)
		event_base_loop(rm_loop_base(f->loop), EVLOOP_ONCE);
	assert_int_equal(counts->delivered, 6);
	assert_int_equal(f->notified_opened, 3);
}

/* ---- receivers that accept no alert ---------------------------------------------- */

static size_t
count_of(const char *text, const char *wanted)
{
	size_t count = 0;

	while ((text = strstr(text, wanted)) != NULL) {
		count++;
		text += strlen(wanted);
	}
	return count;
}

/* Waits until the reported trouble of the receivers contains this; "": no trouble. */
static void
wait_trouble(struct fixture *f, const char *wanted)
{
	f->late = false;
	rm_timer_after(f->deadline, 60 * RM_NS_PER_S);
	while (!f->late && (wanted[0] == '\0' ? rm_alerts_trouble(f->alerts)[0] != '\0'
					      : strstr(rm_alerts_trouble(f->alerts),
						    wanted) == NULL))
		event_base_loop(rm_loop_base(f->loop), EVLOOP_ONCE);
	rm_timer_stop(f->deadline);
	assert_false(f->late);
}

/* A URL as a person writes it in the config. */
static void
alert_to_url(struct fixture *f, const char *given)
{
	char url[128];
	char *urls[] = { url };
	char none[] = "";
	struct rm_alert_config config = {
		.alertmanagers = { urls, 1 }, .page_url = none, .runbook_url = none
	};
	struct rm_alert_options options = { 0 };
	struct rm_error error = { 0 };

	snprintf(url, sizeof url, "%s", given);
	assert_int_equal(rm_alert_config_check(&config, NULL, &error), 0);
	rm_alert_config_options(&config, &options);
	assert_int_equal(rm_alerts_reload(f->alerts, &options), 0);
}

static void
alert_to(struct fixture *f, const char *ending)
{
	char url[128];

	snprintf(url, sizeof url, "%s%s", f->url, ending);
	alert_to_url(f, url);
}

static void
an_alertmanager_may_be_given_with_a_slash_or_with_its_whole_path(void **state)
{
	static const char *const endings[] = { "", "/", "//", "/api/v2/alerts",
		"/api/v2/alerts/", "/api/v2", "/#/alerts" };
	struct fixture *f = *state;
	struct rm_incident incident = incident_of("h1/r0");

	for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
		alert_to(f, endings[i]);
		rm_alerts_fire(f->alerts, &incident);
		wait_for(f, i + 1);
		assert_string_equal(f->path[i], "/api/v2/alerts");
	}
	alert_to(f, "/prefix/api/v2/alerts/");
	wait_for(f, sizeof endings / sizeof endings[0] + 1);
	assert_string_equal(f->path[f->taken_count - 1], "/prefix/api/v2/alerts");
	assert_string_equal(f->log, "");
}

/* status and location: of all answers. The trouble is reported before any alert. */
static void
is_reported_once_and_once_that_it_is_over(
    struct fixture *f, int status, const char *location, const char *reported)
{
	struct rm_incident incident = incident_of("h1/r0");

	assert_string_equal(f->log, "");
	f->status = status;
	f->location = location;
	wait_trouble(f, reported);
	assert_non_null(strstr(f->log, reported));
	assert_non_null(strstr(f->log, f->url));
	rm_alerts_fire(f->alerts, &incident);
	wait_for(f, f->taken_count + 8);
	assert_non_null(strstr(rm_alerts_trouble(f->alerts), reported));
	assert_false(rm_alerts_deliver(f->alerts));
	f->status = 200;
	f->location = NULL;
	wait_trouble(f, "");
	while (rm_alerts_counts(f->alerts)->delivered == 0)
		event_base_loop(rm_loop_base(f->loop), EVLOOP_ONCE);
	assert_int_equal(count_of(f->log, "receiver failed"), 1);
	assert_int_equal(count_of(f->log, "receiver recovered"), 1);
	assert_int_equal(count_of(f->log, "\n"), 2);
}

static void
a_permanent_redirect_is_reported_with_its_target(void **state)
{
	alert_to(*state, "");
	is_reported_once_and_once_that_it_is_over(*state, 301, "https://am.example/x",
	    "answers 301, a redirect to \"https://am.example/x\"");
}

static void
a_redirect_that_keeps_the_method_is_reported_with_its_target(void **state)
{
	alert_to(*state, "");
	is_reported_once_and_once_that_it_is_over(*state, 308,
	    "https://me:secret@am.example/x",
	    "answers 308, a redirect to \"https://am.example/x\"");
}

static void
a_wrong_prefix_is_reported(void **state)
{
	alert_to(*state, "/wrong");
	is_reported_once_and_once_that_it_is_over(
	    *state, 404, NULL, "/wrong/api/v2/alerts answers 404: look at its prefix");
}

/* Basic authentication, a prefix and an IPv6 address at once. */
static void
a_password_in_the_url_is_only_shown_to_the_receiver(void **state)
{
	struct fixture *f = *state;
	struct rm_incident incident = incident_of("h1/r0");
	struct evhttp_bound_socket *bound =
	    evhttp_bind_socket_with_handle(f->server, "::1", 0);
	struct sockaddr_in6 at;
	ev_socklen_t len = sizeof at;
	char url[96];

	if (bound == NULL)
		skip(); /* the machine has no IPv6 */
	getsockname(evhttp_bound_socket_get_fd(bound), (struct sockaddr *)&at, &len);
	snprintf(url, sizeof url, "http://me:a%%40b:c@[::1]:%d/ops/#/alerts",
	    ntohs(at.sin6_port));
	alert_to_url(f, url);
	rm_alerts_fire(f->alerts, &incident);
	wait_for(f, 1);
	assert_string_equal(f->path[0], "/ops/api/v2/alerts");
	assert_string_equal(f->authorization, "Basic bWU6YUBiOmM="); /* me:a@b:c */
	assert_string_equal(rm_alerts_trouble(f->alerts), "");
	f->status = 401;
	wait_trouble(f, "/ops/api/v2/alerts answers 401");
	assert_non_null(strstr(rm_alerts_trouble(f->alerts), "http://[::1]:"));
	assert_null(strstr(rm_alerts_trouble(f->alerts), "40b"));
	assert_null(strstr(f->log, "40b"));
}

static void
a_receiver_that_does_not_answer_is_reported(void **state)
{
	struct fixture *f = *state;
	char url[] = "http://user:secret@127.0.0.1:1/hook/secret";
	const char *urls[] = { url };
	struct rm_incident incident = incident_of("h1/r0");

	assert_int_equal(
	    rm_alerts_reload(f->alerts,
		&(struct rm_alert_options){ .webhooks = urls, .webhook_count = 1 }),
	    0);
	rm_alerts_fire(f->alerts, &incident);
	wait_trouble(f, "http://127.0.0.1:1/... does not answer: ");
	assert_null(strstr(rm_alerts_trouble(f->alerts), "secret"));
	assert_null(strstr(f->log, "secret"));
}

/* A probe is not an alert: its answer does not show whether alerts are accepted. */
static void
a_receiver_that_refused_an_alert_is_good_when_it_accepts_one(void **state)
{
	struct fixture *f = *state;
	struct rm_incident incident = incident_of("h1/r0");
	size_t asked;

	f->hook_status = 400;
	rm_alerts_fire(f->alerts, &incident);
	wait_trouble(f, "/... answers 400");
	f->hook_status = 0;
	asked = f->taken_count;
	wait_for(f, asked + 6);
	assert_non_null(strstr(rm_alerts_trouble(f->alerts), "/... answers 400"));
	assert_true(rm_alerts_deliver(f->alerts));
	rm_alerts_resolve(f->alerts, &incident);
	wait_trouble(f, "");
	assert_int_equal(count_of(f->log, "\n"), 2);
}

static void
a_receiver_that_answered_with_a_web_page_is_good_when_it_answers_a_probe(void **state)
{
	struct fixture *f = *state;
	struct rm_incident incident = incident_of("h1/r0");

	alert_to(f, "");
	f->page = "\xef\xbb\xbf\t\r\n <html>";
	rm_alerts_fire(f->alerts, &incident);
	wait_trouble(f, "answers 200 with a web page");
	assert_false(rm_alerts_deliver(f->alerts));
	rm_alerts_withdraw(f->alerts, &incident.verdict.part); /* no retry is pending */
	wait_trouble(f, "");
	assert_true(rm_alerts_deliver(f->alerts));
	assert_int_equal(rm_alerts_counts(f->alerts)->delivered, 0);
}

static void
a_webhook_that_refuses_get_is_good(void **state)
{
	struct fixture *f = *state;
	char hook[80];
	const char *hooks[] = { hook };

	f->status = 501;
	snprintf(hook, sizeof hook, "%s/hook", f->url);
	assert_int_equal(
	    rm_alerts_reload(f->alerts,
		&(struct rm_alert_options){ .webhooks = hooks, .webhook_count = 1 }),
	    0);
	wait_for(f, f->taken_count + 4);
	assert_string_equal(rm_alerts_trouble(f->alerts), "");
	assert_true(rm_alerts_deliver(f->alerts));
	assert_string_equal(f->log, "");
}

static bool
metrics_report(const struct rm_metrics *metrics, const char *wanted)
{
	struct evbuffer *out = evbuffer_new();
	bool found;

	assert_int_equal(rm_metrics_render(metrics, out), 0);
	evbuffer_add(out, "", 1);
	found = strstr((const char *)evbuffer_pullup(out, -1), wanted) != NULL;
	evbuffer_free(out);
	return found;
}

static void
every_receiver_has_a_metric_also_after_a_reload(void **state)
{
	struct fixture *f = *state;
	struct rm_metrics *metrics;
	char line[256];

	assert_int_equal(rm_metrics_new(&metrics), 0);
	assert_int_equal(
	    rm_alerts_metrics(f->alerts, metrics, "up", "region=\"r1\""), 0);
	snprintf(line, sizeof line,
	    "up{region=\"r1\",receiver=\"webhooks[0]\",url=\"%s/...\"} 1\n", f->url);
	assert_true(metrics_report(metrics, line));
	f->status = 404;
	alert_to(f, "/wrong");
	wait_trouble(f, "answers 404");
	snprintf(line, sizeof line,
	    "up{region=\"r1\",receiver=\"alertmanagers[0]\",url=\"%s/wrong\"} 0\n",
	    f->url);
	assert_true(metrics_report(metrics, line));
	assert_false(metrics_report(metrics, "webhooks"));
	rm_metrics_free(metrics);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
#define ASKING(fn) cmocka_unit_test_setup_teardown(fn, setup_asking, teardown)

/* ---- an opening and its incident ------------------------------------------------ */

static int
setup_kept(void **state)
{
	struct fixture *f;
	int r = setup(state);

	if (r < 0)
		return r;
	f = *state;
	strcpy(f->folder, "/tmp/test_alert.XXXXXX");
	assert_non_null(mkdtemp(f->folder));
	snprintf(f->kept, sizeof f->kept, "%s/incidents.json", f->folder);
	assert_int_equal(rm_worker_new(f->loop, 4, &f->worker), 0);
	assert_int_equal(rm_incident_file_new(f->worker, f->kept, &f->file), 0);
	rm_incident_file_on_write(f->file, rm_alerts_look, f->alerts);
	return 0;
}

static int
teardown_kept(void **state)
{
	struct fixture *f = *state;

	rm_worker_free(f->worker);
	rm_incident_file_free(f->file);
	unlink(f->kept);
	rmdir(f->folder);
	return teardown(state);
}

/* Runs the loop for a while in which no alert may arrive. */
static void
nothing_leaves_for(struct fixture *f, int64_t ns)
{
	const size_t before = f->taken_count;

	f->late = false;
	rm_timer_after(f->deadline, ns);
	while (!f->late)
		event_base_loop(rm_loop_base(f->loop), EVLOOP_ONCE);
	assert_int_equal(f->taken_count, before);
}

static void
an_opening_leaves_when_its_incident_is_on_the_disk(void **state)
{
	struct fixture *f = *state;
	struct rm_incident incident = incident_of("h1/r0");

	rm_alerts_fire_kept(f->alerts, &incident, f->file);
	nothing_leaves_for(f, 100 * RM_NS_PER_MS);
	rm_incident_file_save(f->file, json_object());
	wait_for(f, 2);
	assert_true(f->was_kept);
	assert_int_equal(rm_alerts_counts(f->alerts)->unkept, 0);
	/* A later update does not wait for the save: after a restart it would be
	 * sent again. */
	incident.verdict.kind = RM_KIND_RNIC_LOSSY;
	rm_alerts_fire_kept(f->alerts, &incident, f->file);
	wait_for(f, 3);
	incident.resolved.ns = incident.opened.ns + 1;
	rm_alerts_resolve(f->alerts, &incident);
	wait_for(f, 5);
	assert_int_equal(rm_alerts_counts(f->alerts)->unkept, 0);
}

static void
an_opening_does_not_leave_with_the_save_before_its_own(void **state)
{
	struct fixture *f = *state;
	struct rm_incident incident = incident_of("h1/r0");

	/* The incident is not in the file. */
	rm_incident_file_save(f->file, json_object());
	rm_alerts_fire_kept(f->alerts, &incident, f->file);
	nothing_leaves_for(f, 200 * RM_NS_PER_MS);
	assert_int_equal(access(f->kept, F_OK), 0);
	rm_incident_file_save(f->file, json_object());
	wait_for(f, 2);
}

static void
the_end_of_an_unsent_alert_is_sent_after_its_opening(void **state)
{
	struct fixture *f = *state;
	struct rm_incident incident = incident_of("h1/r0");

	rm_alerts_fire_kept(f->alerts, &incident, f->file);
	incident.resolved.ns = incident.opened.ns + 1;
	rm_alerts_resolve(f->alerts, &incident);
	nothing_leaves_for(f, 100 * RM_NS_PER_MS);
	rm_incident_file_save(f->file, json_object());
	wait_for(f, 4);
	for (size_t i = 0; i < 2; i++) {
		json_t *hook = taken_at(f, "/hook", i);

		assert_string_equal(json_string_value(json_object_get(hook, "status")),
		    i == 0 ? "firing" : "resolved");
		json_decref(hook);
	}
}

static void
a_hanging_disk_delays_an_alert_by_at_most_a_second(void **state)
{
	struct fixture *f = *state;
	struct rm_incident incident = incident_of("h1/r0");
	const rm_mono_t before = rm_mono_now();

	rm_alerts_fire_kept(f->alerts, &incident, f->file);
	wait_for(f, 2); /* no save has finished */
	assert_true(rm_mono_since(rm_mono_now(), before) >= RM_NS_PER_S);
	assert_false(f->was_kept);
	assert_int_equal(rm_alerts_counts(f->alerts)->unkept, 1);
}

static void
a_failing_disk_delays_no_alert(void **state)
{
	struct fixture *f = *state;
	struct rm_incident incident = incident_of("h1/r0");
	const uint64_t save = rm_incident_file_next(f->file);

	assert_int_equal(rmdir(f->folder), 0);
	rm_alerts_fire_kept(f->alerts, &incident, f->file);
	rm_incident_file_save(f->file, json_object());
	while (!rm_incident_file_tried(f->file, save))
		event_base_loop(rm_loop_base(f->loop), EVLOOP_ONCE);
	/* The request is in progress. */
	assert_int_equal(rm_alerts_counts(f->alerts)->unkept, 1);
	wait_for(f, 2);
	assert_int_equal(rm_alerts_counts(f->alerts)->unkept, 1);
}

#define KEPT(fn) cmocka_unit_test_setup_teardown(fn, setup_kept, teardown_kept)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_withdrawn_alert_is_not_sent_again),
		TEST(an_alert_is_delivered_when_one_sink_has_accepted_it),
		ASKING(sinks_are_asked_when_there_is_nothing_to_send),
		ASKING(a_probe_of_a_receiver_that_refuses_it_like_alerts_is_no_answer),
		TEST(an_alertmanager_may_be_given_with_a_slash_or_with_its_whole_path),
		ASKING(a_permanent_redirect_is_reported_with_its_target),
		ASKING(a_redirect_that_keeps_the_method_is_reported_with_its_target),
		ASKING(a_wrong_prefix_is_reported),
		ASKING(a_password_in_the_url_is_only_shown_to_the_receiver),
		TEST(a_receiver_that_does_not_answer_is_reported),
		ASKING(a_receiver_that_refused_an_alert_is_good_when_it_accepts_one),
		ASKING(
		    a_receiver_that_answered_with_a_web_page_is_good_when_it_answers_a_probe),
		ASKING(a_webhook_that_refuses_get_is_good),
		ASKING(every_receiver_has_a_metric_also_after_a_reload),
		TEST(an_incident_of_a_former_run_is_sent_as_open_now),
		TEST(an_end_by_a_clock_that_was_set_ahead_is_not_in_the_future),
		TEST(times_by_a_wrong_clock_are_sent_by_the_alertmanagers_clock),
		TEST(an_absurd_time_of_day_is_not_accepted),
		TEST(an_old_time_of_a_receiver_is_not_used),
		TEST(a_withdrawn_alert_is_dropped_and_the_others_are_sent),
		TEST(requests_show_whether_a_receiver_answers),
		TEST(an_opening_reaches_alertmanager_and_webhook),
		TEST(a_webhook_gets_all_of_alertmanagers_format),
		TEST(alertmanager_gets_no_field_that_it_computes_itself),
		TEST(links_lead_to_the_incident_and_to_its_kind),
		TEST(a_note_is_not_sent_before_the_next_repetition),
		TEST(without_a_runbook_of_the_operators_the_page_has_one),
		TEST(configured_labels_stay_those_of_the_opening_until_the_end),
		cmocka_unit_test(
		    configured_labels_must_be_valid_and_differ_from_rackmeshs),
		TEST(a_new_receiver_gets_firing_alerts_and_one_that_stays_continues),
		TEST(a_webhook_gets_no_second_opening_after_a_restart),
		TEST(alerts_not_sent_before_a_restart_are_sent_after_it),
		TEST(an_alert_is_notified_when_the_last_sink_has_accepted_it),
		TEST(labels_stay_the_same_while_the_kind_changes),
		cmocka_unit_test(severity_is_that_of_the_opening),
		TEST(a_resolution_is_sent_resolved_after_the_firing),
		TEST(a_wall_clock_that_goes_back_ends_no_alert_before_its_start),
		TEST(a_failing_sink_gets_the_alert_again_until_it_accepts_it),
		TEST(a_refused_alert_is_counted_and_not_repeated),
		TEST(alerts_that_are_too_large_together_are_sent_in_smaller_batches),
		TEST(smaller_batches_grow_again_when_a_proxy_accepts_more),
		cmocka_unit_test_setup_teardown(
		    a_full_queue_drops_and_counts, setup_short_queue, teardown),
		KEPT(an_opening_leaves_when_its_incident_is_on_the_disk),
		KEPT(an_opening_does_not_leave_with_the_save_before_its_own),
		KEPT(the_end_of_an_unsent_alert_is_sent_after_its_opening),
		KEPT(a_hanging_disk_delays_an_alert_by_at_most_a_second),
		KEPT(a_failing_disk_delays_no_alert),
	};

	return cmocka_run_group_tests_name("alert", tests, NULL, NULL);
}
