#include "tor-aggregator/switch/switch_collector.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/core/clock.h"
#include "rackmesh/core/endpoint.h"
#include "rackmesh/core/error.h"
#include "rackmesh/core/file.h"
#include "rackmesh/loop/loop.h"
#include "tor-aggregator/redis/redis_reader.h"
#include "tor-aggregator/switch/nexus.h"
#include "tor-aggregator/switch/nexus_client.h"
#include "tor-aggregator/switch/nexus_list.h"
#include "tor-aggregator/switch/sonic.h"
#include "tor-aggregator/switch/switch_config.h"
#include "tor-aggregator/switch/switch_list.h"

#define LIMIT_NS (5 * RM_NS_PER_S)
/* longest time of a reading: a Nexus runs commands for it, which is slow */
#define NEXUS_LIMIT_NS (30 * RM_NS_PER_S)
#define NEXUS_BACKOFF_NS (300 * RM_NS_PER_S)
#define ANSWERS_PER_WAKEUP 64

_Static_assert(SONIC_NEIGHBORS == NEXUS_NEIGHBORS && SONIC_OPTICS == NEXUS_OPTICS,
    "the same bits");

struct switch_collector {
	struct switch_collector_options options;
	struct rm_endpoint endpoint;
	struct collector *collector;
	struct nexus_client *nexus;

	/* State of the running reading. */
	char password[SWITCH_PASSWORD_BYTES];
	struct bufferevent *connection;
	bool connected;
	struct redis_reader *reader;
	struct sonic *sonic;
	rm_mono_t begun;
	unsigned asked; /* bits of SONIC_* or NEXUS_* */

	/* Time of the last complete reading with neighbours, with optics, and with the
	 * settings of ports; ns 0: there was none. */
	rm_mono_t neighbors_at, optics_at, settings_at;
	struct switch_list *list;
	struct switch_exported exported;
	struct switch_counts counts;
};

static int begin(int64_t limit_ns, struct rm_error *error, void *arg);
static int begin_nexus(int64_t limit_ns, struct rm_error *error, void *arg);
static int dial(const struct rm_address *address, struct rm_error *error, void *arg);
static bool is_connected(const void *arg);
static void hang_up(void *arg);
static const char *stage(const void *arg);
static void on_nexus(int r, const char *reason, struct nexus_values *values, void *arg);

static int
new_nexus(struct switch_collector *device)
{
	const struct nexus_client_options options = {
		.http = device->options.http,
		.worker = device->options.worker,
		.config = device->options.config,
		.done = on_nexus,
		.arg = device,
	};

	return nexus_client_new(&options, &device->nexus);
}

static int64_t
interval_ns(const struct switch_collector *device)
{
	return device->options.interval_ns > 0
		   ? device->options.interval_ns
		   : (int64_t)device->options.config->interval_s * RM_NS_PER_S;
}

static int
new_collector(struct switch_collector *device)
{
	const struct switch_config *config = device->options.config;
	const bool nexus = device->nexus != NULL;
	const struct collector_options options = {
		.loop = device->options.loop,
		.kind = device->options.of,
		.name = device->options.name,
		.address = config->address,
		.own = device->options.own,
		.endpoint = &device->endpoint,
		.values = "ports and queues",
		.interval_ns = interval_ns(device),
		.limit_ns = nexus ? NEXUS_LIMIT_NS : LIMIT_NS,
		.backoff_ns = nexus ? NEXUS_BACKOFF_NS : 0,
		.callbacks = { nexus ? begin_nexus : begin, dial, is_connected, hang_up,
		    stage, device },
	};

	return collector_new(&options, &device->collector);
}

int
switch_collector_new(
    const struct switch_collector_options *options, struct switch_collector **ret)
{
	struct switch_collector *device = calloc(1, sizeof(*device));
	int r;

	if (device == NULL)
		return -ENOMEM;
	device->options = *options;
	r = rm_endpoint_parse(options->config->address, &device->endpoint);
	if (r == 0 && options->config->kind == SWITCH_NEXUS)
		r = new_nexus(device);
	if (r == 0)
		r = new_collector(device);
	if (r < 0)
		switch_collector_free(device);
	else
		*ret = device;
	return r;
}

void
switch_collector_free(struct switch_collector *device)
{
	if (device == NULL)
		return;
	collector_free(device->collector);
	nexus_client_free(device->nexus);
	switch_list_free(device->list);
	free(device);
}

/* A Nexus may take longer for the optical modules than a reading may last, or may
 * refuse that command. Therefore the next readings are without modules, so that the
 * counters are read. */
static void
note_modules_asked(struct switch_collector *device)
{
	if (device->nexus != NULL && (device->asked & SONIC_OPTICS) != 0)
		device->optics_at = device->begun;
}

static void
hang_up(void *arg)
{
	struct switch_collector *device = arg;

	note_modules_asked(device);
	nexus_client_cancel(device->nexus);
	if (device->connection != NULL)
		bufferevent_free(device->connection);
	device->connection = NULL;
	redis_reader_free(device->reader);
	device->reader = NULL;
	sonic_free(device->sonic);
	device->sonic = NULL;
	explicit_bzero(device->password, sizeof(device->password));
}

static bool
is_connected(const void *arg)
{
	const struct switch_collector *device = arg;

	return device->connected;
}

static const char *
stage(const void *arg)
{
	const struct switch_collector *device = arg;

	return device->nexus != NULL ? "not all of its answer came"
	       : !device->connected  ? "no connection"
				     : "not all answers came";
}

/* True: the interval has passed, or will have passed within half a reading, as readings
 * do not start at exact times. */
static bool
is_due(const struct switch_collector *device, rm_mono_t last, uint64_t interval_s,
    rm_mono_t now)
{
	return last.ns == 0 ||
	       rm_mono_since(now, last) >=
		   (int64_t)interval_s * RM_NS_PER_S - interval_ns(device) / 2;
}

/* Decides what the reading requests beside counters: data that change slowly are read
 * less often. */
static unsigned
choose_questions(struct switch_collector *device, rm_mono_t now)
{
	const struct switch_config *config = device->options.config;
	unsigned also = 0;

	device->begun = now;
	if (is_due(device, device->neighbors_at, config->neighbors_interval_s, now))
		also |= SONIC_NEIGHBORS;
	if (is_due(device, device->optics_at, config->optics_interval_s, now))
		also |= SONIC_OPTICS;
	if (device->nexus == NULL &&
	    is_due(device, device->settings_at, config->neighbors_interval_s, now))
		also |= SONIC_SETTINGS;
	device->asked = also;
	return also;
}

/* Notes what was answered. What was not answered is requested again in the next
 * reading. */
static void
note_questions(struct switch_collector *device, unsigned answered)
{
	if ((answered & SONIC_NEIGHBORS) != 0)
		device->neighbors_at = device->begun;
	if ((answered & SONIC_OPTICS) != 0)
		device->optics_at = device->begun;
	if ((answered & SONIC_SETTINGS) != 0)
		device->settings_at = device->begun;
}

/* Takes ownership of the list. */
static void
succeed(struct switch_collector *device, struct switch_list *list)
{
	switch_exported_choose(list, SWITCH_EXPORTED_MAX, &device->exported);
	switch_list_free(device->list);
	device->list = list;
	collector_succeed(device->collector, switch_list_count(list));
}

/* ---- the dialogue ---- */

static int
take_answers(struct switch_collector *device, struct rm_error *error)
{
	for (int i = 0; i < ANSWERS_PER_WAKEUP; i++) {
		redisReply *answer = NULL;
		int r = redis_reader_next(device->reader, &answer);

		if (r <= 0)
			return r;
		r = sonic_answer(device->sonic, answer, error);
		freeReplyObject(answer);
		if (r < 0)
			return r;
	}
	return 1;
}

static int
feed(struct switch_collector *device, struct rm_error *error)
{
	struct evbuffer *input = bufferevent_get_input(device->connection);
	const size_t len = evbuffer_get_length(input);
	int r = 0;

	if (len > 0)
		r = redis_reader_feed(device->reader, evbuffer_pullup(input, -1), len);
	if (r < 0)
		return r == -EMSGSIZE
			   ? rm_error_set(error, r, "an answer is impossibly large")
			   : r;
	evbuffer_drain(input, len);
	return 0;
}

static void
on_readable(struct bufferevent *connection, void *arg)
{
	struct switch_collector *device = arg;
	struct rm_error error = { .text = "" };
	int r = feed(device, &error);

	if (r == 0)
		r = take_answers(device, &error);
	if (r == 1) { /* let other events of the loop run first */
		bufferevent_trigger(connection, EV_READ,
		    BEV_TRIG_IGNORE_WATERMARKS | BEV_OPT_DEFER_CALLBACKS);
		return;
	}
	if (r < 0 && error.text[0] == '\0')
		rm_error_set(&error, r, "%s",
		    r == -EMSGSIZE  ? "an answer is impossibly large"
		    : r == -EBADMSG ? "it does not answer as Redis does"
				    : strerror(-r));
	if (r == 0 && sonic_is_done(device->sonic)) {
		note_questions(device, sonic_answered_also(device->sonic));
		succeed(device, sonic_take_list(device->sonic));
		return;
	}
	if (r == 0 && sonic_is_answered(device->sonic))
		r = sonic_ask(device->sonic, bufferevent_get_output(connection));
	if (r < 0)
		collector_fail(device->collector, r, error.text);
}

static void
on_event(struct bufferevent *connection, short events, void *arg)
{
	struct switch_collector *device = arg;
	const int error = EVUTIL_SOCKET_ERROR();
	int r;

	if (events & BEV_EVENT_CONNECTED) {
		device->connected = true;
		r = sonic_ask(device->sonic, bufferevent_get_output(connection));
		bufferevent_enable(connection, EV_READ | EV_WRITE);
		if (r < 0)
			collector_fail(device->collector, r, "");
	} else if (!device->connected) {
		collector_dial_next(device->collector, -error);
	} else {
		collector_fail(device->collector, -error,
		    events & BEV_EVENT_EOF ? "it closed the connection" : "");
	}
}

/* Callbacks are called by the loop, never during this call. */
static int
dial(const struct rm_address *address, struct rm_error *error, void *arg)
{
	struct switch_collector *device = arg;

	if (device->connection != NULL)
		bufferevent_free(device->connection);
	device->connection = bufferevent_socket_new(rm_loop_base(device->options.loop),
	    -1, BEV_OPT_CLOSE_ON_FREE | BEV_OPT_DEFER_CALLBACKS);
	if (device->connection == NULL)
		return -ENOMEM;
	bufferevent_setcb(device->connection, on_readable, NULL, on_event, device);
	if (bufferevent_socket_connect(device->connection,
		(const struct sockaddr *)&address->storage, (int)address->len) < 0)
		return -EVUTIL_SOCKET_ERROR();
	return 0;
}

static int
begin(int64_t limit_ns, struct rm_error *error, void *arg)
{
	struct switch_collector *device = arg;
	const struct switch_config *config = device->options.config;
	int r = 0;

	device->password[0] = '\0';
	device->connected = false;
	if (config->password_file[0] != '\0')
		r = rm_file_read_password(config->password_file, device->password,
		    sizeof(device->password), error);
	if (r < 0)
		return r;
	device->reader = redis_reader_new();
	if (device->reader == NULL)
		return -ENOMEM;
	r = sonic_new(device->password, choose_questions(device, rm_mono_now()),
	    device->list, &device->counts, &device->sonic);
	return r < 0 ? r : collector_dial(device->collector);
}

/* ---- a Nexus ---- */

static void
on_nexus(int r, const char *reason, struct nexus_values *values, void *arg)
{
	struct switch_collector *device = arg;
	struct rm_error reported = { .text = "" };
	struct switch_list *list = NULL;

	if (r == 0) {
		r = nexus_list(values, device->list, &device->counts, &list, &reported);
		if (r == 0)
			note_questions(device, nexus_values_also(values));
		nexus_values_free(values);
		reason = reported.text;
	}
	if (r < 0)
		collector_fail(device->collector, r, reason);
	else
		succeed(device, list);
}

static int
begin_nexus(int64_t limit_ns, struct rm_error *error, void *arg)
{
	struct switch_collector *device = arg;

	const unsigned also = choose_questions(device, rm_mono_now());

	return nexus_client_ask(device->nexus, also, limit_ns, error);
}

/* ---- for display ---- */

struct collector *
switch_collector_reading(const struct switch_collector *device)
{
	return device->collector;
}

struct switch_collector_shown
switch_collector_shown(const struct switch_collector *device)
{
	return (struct switch_collector_shown){
		.reading = collector_shown(device->collector),
		.exported = device->exported,
		.list = device->list,
	};
}

const struct switch_counts *
switch_collector_counts(const struct switch_collector *device)
{
	return &device->counts;
}
