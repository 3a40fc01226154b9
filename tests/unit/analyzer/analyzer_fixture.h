/*
 * analyzer_fixture - the whole analyzer over loopback, with its files in a folder of
 * its own and an aggregator of two racks played by the test.
 *
 * Include it after cmocka.h. Every failure fails the test.
 */
#ifndef TESTS_UNIT_ANALYZER_ANALYZER_FIXTURE_H
#define TESTS_UNIT_ANALYZER_ANALYZER_FIXTURE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "analyzer/analyzer.h"
#include "analyzer/analyzer_config.h"
#include "rackmesh/core/file.h"
#include "rackmesh/core/log.h"
#include "rackmesh/http/http_client.h"
#include "rackmesh/net/link.h"
#include "schemas/wire.h"
#include "tests/support/loopback.h"

struct fixture_agg { /* a simulated aggregator */
	struct rm_link *link;
	struct wire_writer *writer;
	bool welcome, closed, leaves_when_drilled, knows_no_mesh, knows_no_counters;
	/* interval in the next hello; 0: the field is absent */
	uint16_t summary_interval_s;
	uint64_t seq[WIRE_LANE_INCIDENT + 1], acked[WIRE_LANE_INCIDENT + 1];
	const char *part_type, *part, *kind; /* part and kind of the next incident */
	const char *region;                  /* from the next hello on; NULL: lab */
	const char *third; /* a third ToR in the next hello; NULL: none */
};

struct fixture {
	struct rm_loop *loop;
	struct analyzer *analyzer;
	struct analyzer_config config;
	struct fixture_agg agg;
	char folder[64], file[96], more[512];
};

static inline void
quiet(enum rm_log_level level, const char *line, void *arg)
{
	if (getenv("LOUD") != NULL)
		fprintf(stderr, "%s\n", line);
}

static inline void
start(struct fixture *f)
{
	struct rm_error error = { 0 };
	char text[1024];

	snprintf(text, sizeof(text),
	    "name: an1\nplaintext: true\nlisten: 127.0.0.1:0\nstate_folder: %s/state\n"
	    "http: {listen: '127.0.0.1:0', socket: ''}\n%s",
	    f->folder, f->more);
	assert_int_equal(
	    rm_file_replace(f->file, (const uint8_t *)text, strlen(text)), 0);
	if (analyzer_config_read(&f->config, f->file, &error) < 0)
		fail_msg("%s", error.text);
	assert_int_equal(analyzer_new(f->loop, &f->config, &f->analyzer), 0);
}

static inline void
stop(struct fixture *f)
{
	analyzer_free(f->analyzer);
	analyzer_config_clear(&f->config);
	f->analyzer = NULL;
}

static inline int
setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	rm_log_set_sink(quiet, NULL);
	assert_int_equal(rm_loop_new(&f->loop), 0);
	strcpy(f->folder, "/tmp/rackmesh-analyzer-XXXXXX");
	assert_non_null(mkdtemp(f->folder));
	snprintf(f->file, sizeof(f->file), "%s/analyzer.yaml", f->folder);
	f->agg.writer = wire_writer_new();
	start(f);
	*state = f;
	return 0;
}

static inline int
teardown(void **state)
{
	struct fixture *f = *state;
	char command[128];

	rm_link_free(f->agg.link);
	wire_writer_free(f->agg.writer);
	stop(f);
	rm_loop_free(f->loop);
	snprintf(command, sizeof(command), "rm -rf %s", f->folder);
	assert_int_equal(system(command), 0);
	free(f);
	rm_log_set_sink(NULL, NULL);
	return 0;
}

/* ---- the aggregator ---- */

static inline void
send_bytes(struct fixture_agg *agg, int r, const struct wire_bytes *bytes)
{
	assert_int_equal(r, 0);
	assert_int_equal(rm_link_send(agg->link, bytes->data, bytes->len), 0);
}

static inline void
answer_drill(struct fixture_agg *agg, const uint8_t *data, size_t len)
{
	struct wire_drill_answer answer = { .status = 200 };
	struct wire_drill drill;
	struct wire_bytes bytes;
	char text[96];

	assert_int_equal(wire_open_drill(&drill, data, len), 0);
	if (agg->leaves_when_drilled) {
		rm_link_close(agg->link, 0);
		return;
	}
	answer.token = drill.token;
	answer.mesh = drill.mesh[0] != '\0' && !agg->knows_no_mesh;
	answer.counted = drill.counted[0] != '\0' && !agg->knows_no_counters;
	answer.json.len = (size_t)snprintf(text, sizeof(text),
	    "{\"asked\":%u,\"counted\":\"%s\",\"hosts_only\":%s}", drill.seconds,
	    drill.counted, drill.hosts_only ? "true" : "false");
	answer.json.data = (const uint8_t *)text;
	send_bytes(agg, wire_write_drilled(agg->writer, &answer, &bytes), &bytes);
}

static inline int
agg_on_frame(struct rm_link *link, const uint8_t *data, size_t len, void *arg)
{
	struct fixture_agg *agg = arg;
	struct wire_welcome welcome;
	struct wire_ack ack;

	switch (wire_kind_of(data, len)) {
	case WIRE_WELCOME:
		assert_int_equal(wire_open_welcome(&welcome, data, len), 0);
		assert_string_equal(welcome.refused, "");
		agg->welcome = true;
		break;
	case WIRE_ACK:
		assert_int_equal(wire_open_ack(&ack, data, len), 0);
		agg->acked[ack.lane] = ack.seq;
		break;
	case WIRE_DRILL:
		answer_drill(agg, data, len);
		break;
	default:
		break;
	}
	return 0;
}

static inline void
agg_on_close(struct rm_link *link, int reason, void *arg)
{
	struct fixture_agg *agg = arg;

	rm_link_free(link);
	agg->link = NULL;
	agg->closed = true;
}

static inline const char *
region_of(const struct fixture *f)
{
	return f->agg.region != NULL ? f->agg.region : "lab";
}

static inline void
hello(struct fixture *f)
{
	static const struct rm_link_callbacks callbacks = { agg_on_frame, agg_on_close,
		NULL };
	static const struct rm_link_limits limits = { 16 << 20, 16 << 20 };
	const struct wire_tor_state tors[] = { { .tor = "tor1" }, { .tor = "tor2" },
		{ .tor = f->agg.third } };
	const struct wire_hello message = { .role = WIRE_ROLE_AGGREGATOR,
		.version_min = WIRE_VERSION,
		.version_max = WIRE_VERSION,
		.region = region_of(f),
		.id = "agg1",
		.incarnation = 3,
		.tors = tors,
		.tor_count = f->agg.third != NULL ? 3 : 2,
		.summary_interval_s = f->agg.summary_interval_s };
	struct fixture_agg *agg = &f->agg;
	struct wire_bytes bytes;

	agg->welcome = agg->closed = false;
	assert_int_equal(
	    rm_link_new(f->loop, loopback_connect(analyzer_port(f->analyzer)), &limits,
		&callbacks, agg, &agg->link),
	    0);
	send_bytes(agg, wire_write_hello(agg->writer, &message, &bytes), &bytes);
	LOOPBACK_WAIT(f->loop, agg->welcome);
}

static inline void
leave(struct fixture *f)
{
	rm_link_free(f->agg.link);
	f->agg.link = NULL;
	loopback_run(f->loop, 100 * RM_NS_PER_MS);
}

static inline void
send_summary(struct fixture *f, const char *tor, uint64_t rnic)
{
	struct fixture_agg *agg = &f->agg;
	uint64_t now = (uint64_t)rm_wall_now().ns;
	char host[16];
	const struct wire_row row = { .src_tor = tor,
		.dst_tor = tor,
		.dscp = 26,
		.flow_set = "all",
		.sent = 100,
		.outcomes = { [WIRE_OK] = 90, [WIRE_NO_REPLY] = 10 } };
	const struct wire_rnic_row rnics = {
		.id = { rnic, 0 }, .host = host, .device = "r0", .sent = 100
	};
	const struct wire_summary summary = {
		.head = { "agg1", region_of(f), 5, ++agg->seq[WIRE_LANE_SUMMARY] },
		.tor = tor,
		.start_wall_ns = now - 10 * RM_NS_PER_S,
		.end_wall_ns = now,
		.rows = &row,
		.row_count = 1,
		.rnics = &rnics,
		.rnic_count = 1,
		.has_state = true,
		.state = { .rnics = 4,
		    .rnics_good = 4,
		    .hosts = 2,
		    .hosts_ok = 2,
		    .brake_permille = 1000 },
	};
	struct wire_bytes bytes;

	snprintf(host, sizeof(host), "h%u", (unsigned)rnic);
	send_bytes(agg, wire_write_summary(agg->writer, &summary, &bytes), &bytes);
}

static inline void
send_incident(
    struct fixture *f, const char *tor, uint64_t id, enum wire_incident_state state)
{
	struct fixture_agg *agg = &f->agg;
	uint64_t now = (uint64_t)rm_wall_now().ns;
	const struct wire_incident incident = {
		.head = { "agg1", region_of(f), 6, ++agg->seq[WIRE_LANE_INCIDENT] },
		.incident_id = id,
		.state = state,
		.tor = tor,
		.part_type = agg->part_type != NULL ? agg->part_type : "rnic",
		.part = agg->part != NULL ? agg->part : "h1/r0",
		.place = agg->part_type != NULL ? "" : tor,
		.kind = agg->kind != NULL ? agg->kind : "rnic-down",
		.confidence = 0.9,
		.began_wall_ns = now,
		.opened_wall_ns = now,
		.changed_wall_ns = now,
		.sentence = "It is down.",
		.evidence_json =
		    "{\"evidence\":{\"others\":{\"sent\":9,\"arrived\":0}}}",
	};
	struct wire_bytes bytes;

	send_bytes(agg, wire_write_incident(agg->writer, &incident, &bytes), &bytes);
}

/* ---- HTTP ---- */

struct answer {
	bool done;
	long status;
	json_t *json; /* NULL: the body is no JSON */
	char *text;
};

static inline void
on_answer(const struct rm_http_answer *from, void *arg)
{
	struct answer *answer = arg;

	assert_int_equal(from->r, 0);
	answer->done = true;
	answer->status = from->status;
	answer->text = strndup(from->body, from->body_len);
	answer->json = json_loads(answer->text, 0, NULL);
}

static inline void
answer_clear(struct answer *answer)
{
	json_decref(answer->json);
	free(answer->text);
}

static inline void
get(struct fixture *f, const char *path, struct answer *answer)
{
	struct rm_http_client *client = NULL;
	char url[256];

	snprintf(url, sizeof(url), "http://127.0.0.1:%d%s",
	    analyzer_http_port(f->analyzer), path);
	*answer = (struct answer){ 0 };
	assert_int_equal(rm_http_client_new(f->loop, &client), 0);
	assert_int_equal(rm_http_client_send(client, url, NULL, NULL, 0,
			     LOOPBACK_PATIENCE_NS, on_answer, answer),
	    0);
	LOOPBACK_WAIT(f->loop, answer->done);
	rm_http_client_free(client);
}

#endif
