/*
 * controller_fixture - the whole controller over loopback, with its files in a folder
 * of its own and aggregators played by the test.
 *
 * Include it after cmocka.h. Every failure fails the test.
 */
#ifndef TESTS_UNIT_REGION_CONTROLLER_CONTROLLER_FIXTURE_H
#define TESTS_UNIT_REGION_CONTROLLER_CONTROLLER_FIXTURE_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "rackmesh/core/file.h"
#include "rackmesh/core/log.h"
#include "rackmesh/net/link.h"
#include "region-controller/controller_config.h"
#include "region-controller/region_controller.h"
#include "region.h"
#include "tests/support/loopback.h"

#define MAX_TORS 8
#define NEVER_SETTLES_MS 600000 /* ms; longer than any test waits */

struct aggregator { /* a simulated aggregator */
	struct rm_loop *loop;
	struct rm_link *link;
	struct wire_writer *writer;
	const char *name, *region;
	const char *controller; /* the controller that it connects to; NULL: "c1" */
	const char *software;   /* its release; NULL: not sent */
	bool agent;      /* plays an agent instead, which only requests its place */
	bool placed;     /* the reply to that request has arrived */
	char place[256]; /* the reply: an error, or "device tor address ..." */
	uint16_t newer;  /* protocol versions ahead of the controller's */
	struct wire_tor_state
	    held[MAX_TORS]; /* kept over a restart of the aggregator */
	size_t tor_count;
	size_t plans; /* number received, of all racks */
	size_t members[MAX_TORS], taken[MAX_TORS];
	size_t keys;    /* number of messages with keys */
	uint32_t epoch; /* epoch in the last of these messages */
	bool welcome, closed;
	char refused[256];
	size_t pings;
	struct wire_brake brake;
	/* resolved: a reply has arrived; found: it names a host */
	bool resolved, found;
	char resolved_host[RM_NAME_BYTES];
	char drilled[64]; /* the RNIC of a drill-down, which is answered at once */
	uint16_t drill_status;
	const char *drill_json; /* NULL: no answer */
};

struct fixture {
	struct rm_loop *loop;
	struct region_controller *controller;
	struct aggregator agg;
	char folder[64], topology[96], config[96], socket[96];
	const char *more; /* further lines of its config; NULL: none */
};

static inline void
quiet(enum rm_log_level level, const char *line, void *arg)
{
}

static inline void
write_file(const char *path, const char *text)
{
	assert_int_equal(rm_file_replace(path, (const uint8_t *)text, strlen(text)), 0);
}

static inline void
write_clos(struct fixture *f, unsigned tors)
{
	char *text = region_clos_text(tors, 2);

	write_file(f->topology, text);
	free(text);
}

static inline void
start(struct fixture *f, unsigned settle_ms)
{
	struct controller_config config;
	struct rm_error error = { 0 };
	char text[1024];

	snprintf(text, sizeof(text),
	    "name: c1\nregion: lab\nplaintext: true\nlisten: 127.0.0.1:0\ntopology: "
	    "%s\n"
	    "max_aggregators: 2\nsettle_ms: %u\nhttp: {listen: '127.0.0.1:0', socket: "
	    "%s}\n%s",
	    f->topology, settle_ms, f->socket, f->more != NULL ? f->more : "");
	write_file(f->config, text);
	if (controller_config_read(&config, f->config, &error) < 0)
		fail_msg("%s", error.text);
	assert_int_equal(region_controller_new(f->loop, &config, &f->controller), 0);
}

static inline void
stop(struct fixture *f)
{
	region_controller_free(f->controller);
	f->controller = NULL;
}

static inline int
setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	rm_log_set_sink(quiet, NULL);
	if (f == NULL || rm_loop_new(&f->loop) < 0)
		return -1;
	strcpy(f->folder, "/tmp/rackmesh-controller-XXXXXX");
	if (mkdtemp(f->folder) == NULL)
		return -1;
	snprintf(f->topology, sizeof(f->topology), "%s/topology.yaml", f->folder);
	snprintf(f->config, sizeof(f->config), "%s/controller.yaml", f->folder);
	snprintf(f->socket, sizeof(f->socket), "%s/socket", f->folder);
	f->agg =
	    (struct aggregator){ .loop = f->loop, .name = "agg1", .region = "lab" };
	f->agg.writer = wire_writer_new();
	*state = f;
	return f->agg.writer == NULL ? -1 : 0;
}

static inline int
teardown(void **state)
{
	struct fixture *f = *state;

	rm_link_free(f->agg.link);
	wire_writer_free(f->agg.writer);
	region_controller_free(f->controller);
	rm_loop_free(f->loop);
	unlink(f->topology);
	unlink(f->config);
	unlink(f->socket);
	rmdir(f->folder);
	free(f);
	rm_log_set_sink(NULL, NULL);
	return 0;
}

/* ---- the aggregator -------------------------------------------------------------- */

static inline void
take_plan(struct aggregator *agg, const uint8_t *data, size_t len)
{
	struct wire_plan_view view;

	assert_int_equal(wire_open_plan(&view, data, len), 0);
	for (size_t i = 0; i < agg->tor_count; i++) {
		if (strcmp(agg->held[i].tor, view.plan.tor) != 0)
			continue;
		assert_true(view.plan.version > agg->held[i].plan_version);
		agg->held[i].plan_version = view.plan.version;
		agg->held[i].plan_digest = view.plan.digest;
		agg->members[i] = view.plan.member_count;
		agg->taken[i]++;
		agg->plans++;
		return;
	}
	fail_msg("a plan of %s, which is not ours", view.plan.tor);
}

static inline void
take_keys(struct aggregator *agg, const uint8_t *data, size_t len)
{
	struct wire_keys view;

	assert_int_equal(wire_open_keys(&view, data, len), 0);
	agg->keys++;
	agg->epoch = view.epoch;
	for (size_t i = 0; i < agg->tor_count; i++) {
		if (strcmp(agg->held[i].tor, view.tor) != 0)
			continue;
		assert_true(view.version > agg->held[i].keys_version);
		agg->held[i].keys_version = view.version;
	}
}

static inline void
take_resolved(struct aggregator *agg, const uint8_t *data, size_t len)
{
	struct wire_resolve_answer answer;

	assert_int_equal(wire_open_resolved(&answer, data, len), 0);
	assert_int_equal(answer.token, 77);
	agg->resolved = true;
	agg->found = answer.found;
	snprintf(agg->resolved_host, sizeof(agg->resolved_host), "%s",
	    answer.found ? answer.rnic.host : "");
}

static inline void
take_drill(struct aggregator *agg, const uint8_t *data, size_t len)
{
	struct wire_drill_answer answer = { .status = agg->drill_status };
	struct wire_drill drill;
	struct wire_bytes bytes;

	assert_int_equal(wire_open_drill(&drill, data, len), 0);
	snprintf(agg->drilled, sizeof(agg->drilled), "%s", drill.rnic);
	if (agg->drill_json == NULL)
		return;
	answer.token = drill.token;
	answer.json.data = (const uint8_t *)agg->drill_json;
	answer.json.len = strlen(agg->drill_json);
	assert_int_equal(wire_write_drilled(agg->writer, &answer, &bytes), 0);
	assert_int_equal(rm_link_send(agg->link, bytes.data, bytes.len), 0);
}

static inline void
take_place(struct aggregator *agg, const uint8_t *data, size_t len)
{
	struct wire_place_answer answer;
	size_t at;

	assert_int_equal(wire_open_placed(&answer, data, len), 0);
	assert_int_equal(answer.token, 78);
	agg->placed = true;
	at = (size_t)snprintf(agg->place, sizeof(agg->place), "%s", answer.error);
	for (size_t i = 0; i < answer.cable_count; i++) {
		struct wire_cable cable;

		wire_placed_cable(&answer, i, &cable);
		at += (size_t)snprintf(agg->place + at, sizeof(agg->place) - at,
		    "%s->%s ", cable.device, cable.tor);
	}
	for (size_t i = 0; i < answer.aggregator_count; i++) {
		struct wire_tor_aggregator aggregator;

		wire_placed_aggregator(&answer, i, &aggregator);
		at += (size_t)snprintf(agg->place + at, sizeof(agg->place) - at,
		    "%s:%s ", aggregator.tor, aggregator.address);
	}
}

static inline int
agg_on_frame(struct rm_link *link, const uint8_t *data, size_t len, void *arg)
{
	struct aggregator *agg = arg;
	struct wire_welcome welcome;

	if (wire_kind_of(data, len) == WIRE_PLAN) {
		assert_true(agg->welcome);
		take_plan(agg, data, len);
		return 0;
	}
	if (wire_kind_of(data, len) == WIRE_KEYS) {
		take_keys(agg, data, len);
		return 0;
	}
	if (wire_kind_of(data, len) == WIRE_PING) {
		agg->pings++;
		return 0;
	}
	if (wire_kind_of(data, len) == WIRE_BRAKE) {
		assert_int_equal(wire_open_brake(&agg->brake, data, len), 0);
		return 0;
	}
	if (wire_kind_of(data, len) == WIRE_RESOLVE_ANSWER) {
		take_resolved(agg, data, len);
		return 0;
	}
	if (wire_kind_of(data, len) == WIRE_PLACE_ANSWER) {
		take_place(agg, data, len);
		return 0;
	}
	if (wire_kind_of(data, len) == WIRE_DRILL) {
		take_drill(agg, data, len);
		return 0;
	}
	assert_int_equal(wire_open_welcome(&welcome, data, len), 0);
	snprintf(agg->refused, sizeof(agg->refused), "%s", welcome.refused);
	agg->welcome = welcome.refused[0] == '\0';
	if (agg->welcome)
		assert_string_equal(
		    welcome.id, agg->controller != NULL ? agg->controller : "c1");
	return 0;
}

static inline void
agg_on_close(struct rm_link *link, int reason, void *arg)
{
	struct aggregator *agg = arg;

	rm_link_free(link);
	agg->link = NULL;
	agg->closed = true;
}

static inline void
agg_send(struct aggregator *agg, int r, const struct wire_bytes *bytes)
{
	assert_int_equal(r, 0);
	assert_int_equal(rm_link_send(agg->link, bytes->data, bytes->len), 0);
}

static inline void
agg_connect(struct fixture *f, struct aggregator *agg)
{
	static const struct rm_link_callbacks callbacks = { agg_on_frame, agg_on_close,
		NULL };
	static const struct rm_link_limits limits = { 16 << 20, 16 << 20 };

	rm_link_free(agg->link);
	agg->welcome = agg->closed = false;
	assert_int_equal(rm_link_new(f->loop,
			     loopback_connect(region_controller_port(f->controller)),
			     &limits, &callbacks, agg, &agg->link),
	    0);
}

static inline void
agg_hello(struct fixture *f, struct aggregator *agg)
{
	struct wire_hello hello = {
		.role = agg->agent ? WIRE_ROLE_AGENT : WIRE_ROLE_AGGREGATOR,
		.version_min = WIRE_VERSION + agg->newer,
		.version_max = WIRE_VERSION + agg->newer,
		.region = agg->region,
		.id = agg->name,
		.incarnation = 1,
		.tors = agg->held,
		.tor_count = agg->tor_count,
		.software = agg->software,
	};
	struct wire_bytes bytes;

	agg_connect(f, agg);
	agg_send(agg, wire_write_hello(agg->writer, &hello, &bytes), &bytes);
	LOOPBACK_WAIT(f->loop, agg->welcome || agg->closed);
}

static inline void
agg_serves(struct aggregator *agg, const char *tor)
{
	agg->held[agg->tor_count++].tor = tor;
}

static inline void
agg_register(struct aggregator *agg, const struct wire_rnic *rnic)
{
	struct wire_register reg = {
		.host = rnic->host, .incarnation = 7, .rnics = rnic, .rnic_count = 1
	};
	struct wire_bytes bytes;

	agg_send(agg, wire_write_register(agg->writer, &reg, &bytes), &bytes);
}

static inline void
agg_register_rack(
    struct aggregator *agg, const char *tor, uint64_t first, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		char host[RM_NAME_BYTES];
		struct wire_rnic rnic;

		snprintf(
		    host, sizeof(host), "%s-h%u", tor, (unsigned)(first % 100) + i + 1);
		rnic = region_rnic(first + i, host, tor, REGION_V4);
		agg_register(agg, &rnic);
	}
}

/* Four racks of four RNICs, all registered. */
static inline void
start_four_racks(struct fixture *f)
{
	write_clos(f, 4);
	start(f, NEVER_SETTLES_MS);
	agg_serves(&f->agg, "tor1");
	agg_serves(&f->agg, "tor2");
	agg_serves(&f->agg, "tor3");
	agg_serves(&f->agg, "tor4");
}

static inline void
report_four_racks(struct fixture *f)
{
	agg_hello(f, &f->agg);
	agg_register_rack(&f->agg, "tor1", 100, 4);
	agg_register_rack(&f->agg, "tor2", 200, 4);
	agg_register_rack(&f->agg, "tor3", 300, 4);
	agg_register_rack(&f->agg, "tor4", 400, 4);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

#endif
