/*
 * history_world - a history over the real spool, and a database whose answers the test
 * sets.
 *
 * Include it after cmocka.h. Every failure fails the test.
 */
#ifndef TESTS_HISTORY_WORLD_H
#define TESTS_HISTORY_WORLD_H

#include <errno.h>
#include <event2/buffer.h>
#include <event2/http.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "analyzer/analyzer_config.h"
#include "analyzer/history/history.h"
#include "analyzer/history/history_schema.h"
#include "history_sample.h"
#include "rackmesh/core/log.h"
#include "rackmesh/http/http_client.h"
#include "rackmesh/loop/worker.h"
#include "tests/support/lane_messages.h"
#include "tests/support/loopback.h"

#define MAX_LINES 20000

struct database { /* keeps every line that it has stored */
	struct evhttp *http;
	int port;
	unsigned requests, to_summaries, to_incidents;
	int status;       /* of each answer; 0: 204 */
	unsigned failing; /* so many requests get `status`, later ones 204 */
	const char *body;
	const char *poison; /* a batch that contains this gets 400 */
	bool drop; /* stores the batch, and closes the connection without an answer */
	bool summaries_away;     /* only summaries get 503 */
	bool first_was_incident; /* the first batch that was stored held an incident */
	char *lines[MAX_LINES];
	size_t line_count;
	char authorization[256], uri[512];
	uint64_t retry_after_s;
};

struct world {
	char folder[64], state_folder[80], history_folder[80], url[64];
	struct rm_loop *loop;
	struct rm_worker *worker;
	struct rm_http_client *http;
	struct wire_writer *writer;
	struct analyzer_config config;
	struct history *history;
	int64_t config_wait_ns; /* 0: the default */
	struct database database;
	uint64_t durable[WIRE_LANE_INCIDENT + 1];
};

static inline void
swallow(enum rm_log_level level, const char *line, void *arg)
{
}

/* ---- the database -------------------------------------------------------- */

static inline char *
unpack(struct evbuffer *in, size_t *len)
{
	static char text[8 << 20];
	size_t packed_len = evbuffer_get_length(in);
	z_stream stream = { .next_in = evbuffer_pullup(in, -1),
		.avail_in = (uInt)packed_len,
		.next_out = (Bytef *)text,
		.avail_out = sizeof(text) - 1 };

	assert_int_equal(inflateInit2(&stream, 15 + 16), Z_OK);
	assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
	*len = stream.total_out;
	inflateEnd(&stream);
	text[*len] = '\0';
	return text;
}

/* As in a real database, a line that is stored twice counts once. */
static inline void
database_take(struct database *database, char *text, size_t len)
{
	struct rm_error error;

	if (history_schema_check(text, len, &error) < 0)
		fail_msg("%s", error.text);
	for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
		bool known = false;

		for (size_t i = 0; i < database->line_count && !known; i++)
			known = strcmp(database->lines[i], line) == 0;
		if (known)
			continue;
		assert_true(database->line_count < MAX_LINES);
		if (database->line_count == 0)
			database->first_was_incident =
			    strncmp(line, "rm_incident", 11) == 0;
		database->lines[database->line_count++] = strdup(line);
	}
}

static inline void
database_on_write(struct evhttp_request *request, void *arg)
{
	struct database *database = arg;
	struct evkeyvalq *in = evhttp_request_get_input_headers(request);
	const char *authorization = evhttp_find_header(in, "Authorization");
	bool incidents;
	size_t len;
	char *text, seconds[24];

	database->requests++;
	snprintf(database->uri, sizeof(database->uri), "%s",
	    evhttp_request_get_uri(request));
	snprintf(database->authorization, sizeof(database->authorization), "%s",
	    authorization == NULL ? "" : authorization);
	assert_string_equal(evhttp_find_header(in, "Content-Encoding"), "gzip");
	text = unpack(evhttp_request_get_input_buffer(request), &len);
	incidents = strstr(text, "rm_incident") != NULL;
	*(incidents ? &database->to_incidents : &database->to_summaries) += 1;
	if (database->failing > 0 || (database->summaries_away && !incidents)) {
		struct evbuffer *out = evbuffer_new();

		if (database->failing > 0)
			database->failing--;
		evbuffer_add_printf(
		    out, "%s", database->body == NULL ? "{}" : database->body);
		snprintf(seconds, sizeof(seconds), "%llu",
		    (unsigned long long)database->retry_after_s);
		if (database->retry_after_s > 0)
			evhttp_add_header(evhttp_request_get_output_headers(request),
			    "Retry-After", seconds);
		evhttp_send_reply(
		    request, database->status > 0 ? database->status : 503, "no", out);
		evbuffer_free(out);
		return;
	}
	if (database->poison != NULL && strstr(text, database->poison) != NULL) {
		evhttp_send_reply(request, 400, "Bad Request", NULL);
		return;
	}
	database_take(database, text, len);
	if (database->drop) {
		database->drop = false;
		evhttp_connection_free(evhttp_request_get_connection(request));
		return;
	}
	evhttp_send_reply(request, 204, "No Content", NULL);
}

static inline int
database_open(struct database *database, struct rm_loop *loop)
{
	int fd = loopback_listen(&database->port);

	database->http = evhttp_new(rm_loop_base(loop));
	assert_int_equal(evutil_make_socket_nonblocking(fd), 0);
	if (evhttp_accept_socket(database->http, fd) < 0)
		return -1;
	evhttp_set_max_body_size(database->http, 32 << 20);
	evhttp_set_gencb(database->http, database_on_write, database);
	return 0;
}

/* ---- the world ----------------------------------------------------------- */

static inline void
on_durable(enum wire_lane lane, uint64_t ticket, void *arg)
{
	struct world *world = arg;

	assert_true(ticket >= world->durable[lane]);
	world->durable[lane] = ticket;
}

static inline struct history_options
history_options_of(const struct world *world)
{
	const struct analyzer_config *config = &world->config;

	return (struct history_options){
		.loop = world->loop,
		.worker = world->worker,
		.http = world->http,
		.analyzer = config->name,
		.state_folder = config->state_folder,
		.files_folder = config->history_folder,
		.files_max_bytes = config->history_max_bytes,
		.influx = &config->influx,
		.config_wait_ns = world->config_wait_ns,
	};
}

/* The analyzer's process starts. */
static inline void
begin(struct world *world)
{
	const struct history_callbacks callbacks = { on_durable, world };
	struct history_options options;
	struct rm_error error;

	assert_int_equal(rm_worker_new(world->loop, 64, &world->worker), 0);
	assert_int_equal(rm_http_client_new(world->loop, &world->http), 0);
	memset(world->durable, 0, sizeof(world->durable));
	options = history_options_of(world);
	if (history_new(&options, &callbacks, &world->history, &error) < 0)
		fail_msg("%s", error.text);
}

static inline void
end(struct world *world)
{
	rm_worker_free(world->worker);
	history_free(world->history);
	rm_http_client_free(world->http);
}

static inline int
setup(void **state)
{
	struct world *world = calloc(1, sizeof(*world));
	struct rm_error error;

	*state = world;
	rm_log_set_sink(swallow, NULL);
	snprintf(world->folder, sizeof(world->folder), "/tmp/rm-history-XXXXXX");
	world->writer = wire_writer_new();
	if (mkdtemp(world->folder) == NULL || world->writer == NULL ||
	    rm_loop_new(&world->loop) < 0 ||
	    database_open(&world->database, world->loop) < 0 ||
	    analyzer_config_read(&world->config, NULL, &error) < 0)
		return -1;
	snprintf(world->url, sizeof(world->url), "http://127.0.0.1:%d/",
	    world->database.port);
	snprintf(world->history_folder, sizeof(world->history_folder), "%s/files",
	    world->folder);
	free(world->config.influx.url);
	world->config.influx.url = strdup(world->url);
	free(world->config.state_folder);
	world->config.state_folder = strdup(world->folder);
	free(world->config.history_folder);
	world->config.history_folder = strdup(world->history_folder);
	world->config.influx.batch_ms = 20;
	world->config.influx.timeout_ms = 2000;
	return 0;
}

static inline int
teardown(void **state)
{
	struct world *world = *state;
	char command[128];

	evhttp_free(world->database.http);
	rm_loop_free(world->loop);
	wire_writer_free(world->writer);
	analyzer_config_clear(&world->config);
	for (size_t i = 0; i < world->database.line_count; i++)
		free(world->database.lines[i]);
	snprintf(command, sizeof(command), "rm -rf %s", world->folder);
	if (system(command) != 0)
		return -1;
	free(world);
	rm_log_set_sink(NULL, NULL);
	return 0;
}

/* Puts the summaries numbered first to last. Returns the last ticket. */
static inline uint64_t
put(struct world *world, uint64_t first, uint64_t last)
{
	uint64_t ticket = 0;

	for (uint64_t i = first; i <= last; i++) {
		struct wire_bytes bytes = sample_summary(world->writer, i);

		assert_int_equal(lane_message_take(world->history, WIRE_LANE_SUMMARY,
				     bytes.data, bytes.len, &ticket),
		    0);
	}
	return ticket;
}

static inline uint64_t
put_incident(struct world *world, uint64_t number)
{
	struct wire_bytes bytes = sample_incident(world->writer, number, WIRE_OPENED);
	uint64_t ticket = 0;

	assert_int_equal(lane_message_take(world->history, WIRE_LANE_INCIDENT,
			     bytes.data, bytes.len, &ticket),
	    0);
	return ticket;
}

static inline bool
drained(const struct world *world)
{
	return history_waiting(world->history, WIRE_LANE_SUMMARY) == 0 &&
	       history_waiting(world->history, WIRE_LANE_INCIDENT) == 0;
}

#endif
