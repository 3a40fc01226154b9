#include "tor-aggregator/switch/switch_collector.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/core/endpoint.h"
#include "rackmesh/core/file.h"
#include "rackmesh/core/log.h"
#include "rackmesh/core/random.h"
#include "rackmesh/loop/loop.h"
#include "rackmesh/net/lookup.h"
#include "tor-aggregator/switch/nexus.h"
#include "tor-aggregator/switch/nexus_client.h"
#include "tor-aggregator/switch/redis_reader.h"
#include "tor-aggregator/switch/sonic.h"
#include "tor-aggregator/switch/switch_config.h"
#include "tor-aggregator/switch/switch_list.h"

#define MOST_NS (5 * RM_NS_PER_S)        /* that one reading may take */
#define NEXUS_MOST_NS (30 * RM_NS_PER_S) /* it runs commands for it */
#define NEXUS_REST_NS (300 * RM_NS_PER_S)
#define ANSWERS_PER_WAKEUP 64

struct switch_collector {
	struct switch_collector_options options;
	struct rm_endpoint endpoint;
	int64_t interval_ns;
	rm_mono_t due;
	struct rm_timer *turn, *deadline;
	struct rm_timer *attempt; /* at one of several addresses */
	struct nexus_client *nexus;
	uint64_t rest; /* turns to leave out */

	/* Of the reading under way. */
	bool reading;
	rm_mono_t begun, end; /* end: the deadline */
	char password[SWITCH_PASSWORD_BYTES];
	struct rm_lookup *lookup;
	struct rm_address addresses[RM_ENDPOINT_ADDRESSES];
	size_t address_count, address; /* which one is tried */
	struct bufferevent *connection;
	bool connected;
	struct redis_reader *reader;
	struct sonic *sonic;

	struct switch_list *list;
	struct switch_collector_shown shown;
	struct switch_collector_counts counts;
	uint64_t failed_in_a_row;
	struct rm_why error;
};

static void on_turn(void *arg);
static void on_deadline(void *arg);
static void on_attempt(void *arg);
static void on_nexus(int r, const char *why, struct nexus_values *values, void *arg);

static int
new_nexus(struct switch_collector *collector)
{
	const struct nexus_client_options options = {
		.http = collector->options.http,
		.worker = collector->options.worker,
		.config = collector->options.config,
		.done = on_nexus,
		.arg = collector,
	};

	if (options.config->kind != SWITCH_NEXUS)
		return 0;
	return nexus_client_new(&options, &collector->nexus);
}

int
switch_collector_new(
    const struct switch_collector_options *options, struct switch_collector **ret)
{
	struct switch_collector *collector = calloc(1, sizeof(*collector));
	int r;

	if (collector == NULL)
		return -ENOMEM;
	collector->options = *options;
	collector->interval_ns =
	    options->interval_ns > 0
		? options->interval_ns
		: (int64_t)options->config->interval_s * RM_NS_PER_S;
	collector->shown.tor = options->tor;
	collector->shown.address = options->config->address;
	r = rm_endpoint_parse(options->config->address, &collector->endpoint);
	if (r == 0)
		r = rm_timer_new(options->loop, on_turn, collector, &collector->turn);
	if (r == 0)
		r = rm_timer_new(
		    options->loop, on_deadline, collector, &collector->deadline);
	if (r == 0)
		r = rm_timer_new(
		    options->loop, on_attempt, collector, &collector->attempt);
	if (r == 0)
		r = new_nexus(collector);
	if (r < 0) {
		switch_collector_free(collector);
		return r;
	}
	/* Anywhere within a second: the two aggregators of a ToR do not ask at once. */
	collector->due = rm_mono_add(
	    rm_mono_now(), (int64_t)(rm_random_u64() % (uint64_t)RM_NS_PER_S));
	rm_timer_at(collector->turn, collector->due);
	*ret = collector;
	return 0;
}

/* ---- the end of a reading ---- */

static void
hang_up(struct switch_collector *collector)
{
	collector->reading = false;
	rm_timer_stop(collector->deadline);
	rm_timer_stop(collector->attempt);
	nexus_client_cancel(collector->nexus);
	rm_lookup_free(collector->lookup);
	collector->lookup = NULL;
	if (collector->connection != NULL)
		bufferevent_free(collector->connection);
	collector->connection = NULL;
	redis_reader_free(collector->reader);
	collector->reader = NULL;
	sonic_free(collector->sonic);
	collector->sonic = NULL;
	explicit_bzero(collector->password, sizeof(collector->password));
}

void
switch_collector_free(struct switch_collector *collector)
{
	if (collector == NULL)
		return;
	if (collector->attempt != NULL)
		hang_up(collector);
	nexus_client_free(collector->nexus);
	rm_timer_free(collector->turn);
	rm_timer_free(collector->deadline);
	rm_timer_free(collector->attempt);
	switch_list_free(collector->list);
	free(collector);
}

/* How many turns a Nexus is left alone: twice as many with each failure, some fewer by
 * chance. */
static uint64_t
rest_after(const struct switch_collector *collector)
{
	const uint64_t most = (uint64_t)(NEXUS_REST_NS / collector->interval_ns);
	const uint64_t failed = collector->failed_in_a_row;
	const uint64_t turns = failed < 8 ? (UINT64_C(1) << failed) - 1 : most;
	const uint64_t rest = turns < most ? turns : most;

	return collector->nexus == NULL ? 0 : rest - rm_random_u64() % (rest / 2 + 1);
}

/* why: "": r says it. */
static void
fail(struct switch_collector *collector, int r, const char *why)
{
	hang_up(collector);
	collector->rest = rest_after(collector);
	collector->counts.failed++;
	collector->shown.up = false;
	rm_why(&collector->error, 0, "%s", why[0] != '\0' ? why : strerror(-r));
	if (collector->failed_in_a_row++ == 0)
		rm_log_warn(0,
		    "switch of %s: cannot read its counters at %s: %s; the last values "
		    "stay, and it is tried again",
		    collector->shown.tor, collector->shown.address,
		    collector->error.text);
}

/* Takes the list. */
static void
succeed(struct switch_collector *collector, struct switch_list *list)
{
	struct switch_collector_shown *shown = &collector->shown;

	switch_told_choose(list, SWITCH_TOLD_MAX, &shown->told);
	switch_list_free(collector->list);
	collector->list = list;
	shown->interval_ns =
	    shown->at.ns == 0 ? 0 : rm_mono_since(collector->begun, shown->at);
	shown->at = collector->begun;
	shown->took_ns = rm_mono_since(rm_mono_now(), collector->begun);
	collector->counts.took_ns += (uint64_t)shown->took_ns;
	collector->error.text[0] = '\0';
	if (!shown->up)
		rm_log_info("switch of %s: counters read: %zu ports and queues, after "
			    "%llu readings that failed",
		    shown->tor, switch_list_count(list),
		    (unsigned long long)collector->failed_in_a_row);
	shown->up = true;
	collector->failed_in_a_row = 0;
	hang_up(collector);
}

static void
on_deadline(void *arg)
{
	struct switch_collector *collector = arg;

	fail(collector, -ETIMEDOUT,
	    collector->nexus != NULL        ? "not all of its answer came in time"
	    : collector->connection == NULL ? "its name could not be resolved in time"
	    : !collector->connected         ? "no connection in time"
					    : "not all answers came in time");
}

/* ---- the dialogue ---- */

static int
take_answers(struct switch_collector *collector, struct rm_why *why)
{
	for (int i = 0; i < ANSWERS_PER_WAKEUP; i++) {
		redisReply *answer = NULL;
		int r = redis_reader_next(collector->reader, &answer);

		if (r <= 0)
			return r;
		r = sonic_answer(collector->sonic, answer, why);
		freeReplyObject(answer);
		if (r < 0)
			return r;
	}
	return 1;
}

static int
feed(struct switch_collector *collector, struct rm_why *why)
{
	struct evbuffer *input = bufferevent_get_input(collector->connection);
	const size_t len = evbuffer_get_length(input);
	int r = 0;

	if (len > 0)
		r = redis_reader_feed(
		    collector->reader, evbuffer_pullup(input, -1), len);
	if (r < 0)
		return r == -EMSGSIZE
			   ? rm_why(why, r, "an answer is too large to be true")
			   : r;
	evbuffer_drain(input, len);
	return 0;
}

static void
on_readable(struct bufferevent *connection, void *arg)
{
	struct switch_collector *collector = arg;
	struct rm_why why = { .text = "" };
	int r = feed(collector, &why);

	if (r == 0)
		r = take_answers(collector, &why);
	if (r == 1) { /* others have their turn first */
		bufferevent_trigger(connection, EV_READ,
		    BEV_TRIG_IGNORE_WATERMARKS | BEV_OPT_DEFER_CALLBACKS);
		return;
	}
	if (r < 0 && why.text[0] == '\0')
		rm_why(&why, r, "%s",
		    r == -EMSGSIZE  ? "an answer is too large to be true"
		    : r == -EBADMSG ? "it does not answer as Redis does"
				    : strerror(-r));
	if (r == 0 && sonic_is_done(collector->sonic)) {
		succeed(collector, sonic_take_list(collector->sonic));
		return;
	}
	if (r == 0 && sonic_is_answered(collector->sonic))
		r = sonic_ask(collector->sonic, bufferevent_get_output(connection));
	if (r < 0)
		fail(collector, r, why.text);
}

static void on_event(struct bufferevent *connection, short events, void *arg);

/* Callbacks come from the loop, never from within a call here. */
static int
dial(struct switch_collector *collector, const struct rm_address *address)
{
	struct bufferevent *connection =
	    bufferevent_socket_new(rm_loop_base(collector->options.loop), -1,
		BEV_OPT_CLOSE_ON_FREE | BEV_OPT_DEFER_CALLBACKS);

	if (connection == NULL)
		return -ENOMEM;
	collector->connection = connection;
	bufferevent_setcb(connection, on_readable, NULL, on_event, collector);
	if (bufferevent_socket_connect(connection,
		(const struct sockaddr *)&address->storage, (int)address->len) < 0)
		return -EVUTIL_SOCKET_ERROR();
	return 0;
}

/* Of the time that is left: a host that swallows what is sent to it must leave some to
 * the addresses after it. The last one has the deadline. */
static void
limit_attempt(struct switch_collector *collector)
{
	const int64_t left = rm_mono_since(collector->end, rm_mono_now());
	const size_t after = collector->address_count - collector->address;

	if (after == 0)
		rm_timer_stop(collector->attempt);
	else
		rm_timer_after(collector->attempt, left / (int64_t)(after + 1));
}

/* From the next address on. r: how it went with the one before. */
static void
dial_next(struct switch_collector *collector, int r)
{
	while (collector->address < collector->address_count) {
		if (collector->connection != NULL)
			bufferevent_free(collector->connection);
		collector->connection = NULL;
		r = dial(collector, &collector->addresses[collector->address++]);
		if (r == 0) {
			limit_attempt(collector);
			return;
		}
	}
	fail(collector, r, "");
}

static void
on_attempt(void *arg)
{
	dial_next(arg, -ETIMEDOUT);
}

static void
on_event(struct bufferevent *connection, short events, void *arg)
{
	struct switch_collector *collector = arg;
	const int error = EVUTIL_SOCKET_ERROR();
	int r;

	if (events & BEV_EVENT_CONNECTED) {
		collector->connected = true;
		rm_timer_stop(collector->attempt);
		r = sonic_ask(collector->sonic, bufferevent_get_output(connection));
		bufferevent_enable(connection, EV_READ | EV_WRITE);
		if (r < 0)
			fail(collector, r, "");
	} else if (!collector->connected) {
		dial_next(collector, -error);
	} else {
		fail(collector, -error,
		    events & BEV_EVENT_EOF ? "it closed the connection" : "");
	}
}

/* ---- a Nexus ---- */

static void
on_nexus(int r, const char *why, struct nexus_values *values, void *arg)
{
	struct switch_collector *collector = arg;
	struct rm_why said = { .text = "" };
	struct switch_list *list = NULL;

	if (r == 0) {
		r = nexus_list(
		    values, collector->list, &collector->counts.values, &list, &said);
		nexus_values_free(values);
		why = said.text;
	}
	if (r < 0)
		fail(collector, r, why);
	else
		succeed(collector, list);
}

/* ---- the begin of a reading ---- */

static void
on_lookup(const struct rm_lookup_answer *answer, void *arg)
{
	struct switch_collector *collector = arg;

	collector->lookup = NULL;
	if (answer->r < 0 || answer->count == 0) {
		fail(collector, answer->r, answer->why);
		return;
	}
	collector->address_count = answer->count;
	memcpy(collector->addresses, answer->addresses,
	    answer->count * sizeof(answer->addresses[0]));
	dial_next(collector, 0);
}

static int
begin(struct switch_collector *collector, struct rm_why *why)
{
	const struct switch_config *config = collector->options.config;
	int r = 0;

	collector->password[0] = '\0';
	collector->connected = false;
	collector->address = 0;
	if (config->password_file[0] != '\0')
		r = rm_file_read_password(config->password_file, collector->password,
		    sizeof(collector->password), why);
	if (r < 0)
		return r;
	collector->reader = redis_reader_new();
	if (collector->reader == NULL)
		return -ENOMEM;
	r = sonic_new(collector->password, collector->list, &collector->counts.values,
	    &collector->sonic);
	if (r < 0)
		return r;
	if (collector->endpoint.name[0] != '\0')
		return rm_lookup_new(collector->options.loop, &collector->endpoint,
		    on_lookup, collector, &collector->lookup);
	collector->addresses[0] = collector->endpoint.address;
	collector->address_count = 1;
	dial_next(collector, 0);
	return 0;
}

static void
on_turn(void *arg)
{
	struct switch_collector *collector = arg;
	const int64_t share = collector->interval_ns / 4 * 3,
		      limit = collector->nexus != NULL ? NEXUS_MOST_NS : MOST_NS,
		      most = share < limit ? share : limit;
	const rm_mono_t now = rm_mono_now();
	struct rm_why why = { .text = "" };
	int r;

	collector->due = rm_mono_add(collector->due, collector->interval_ns);
	if (rm_mono_since(now, collector->due) > 0) /* turns that were missed stay so */
		collector->due = rm_mono_add(now, collector->interval_ns);
	rm_timer_at(collector->turn, collector->due);
	if (collector->reading) /* we stood still: its deadline comes at once */
		return;
	if (collector->rest > 0) {
		collector->rest--;
		return;
	}
	collector->reading = true;
	collector->counts.reads++;
	collector->begun = now;
	collector->end = rm_mono_add(now, most);
	rm_timer_at(collector->deadline, collector->end);
	r = collector->nexus != NULL ? nexus_client_ask(collector->nexus, most, &why)
				     : begin(collector, &why);
	if (r < 0)
		fail(collector, r, why.text);
}

struct switch_collector_shown
switch_collector_shown(const struct switch_collector *collector)
{
	struct switch_collector_shown shown = collector->shown;

	shown.error = collector->error.text;
	shown.list = collector->list;
	return shown;
}

const struct switch_collector_counts *
switch_collector_counts(const struct switch_collector *collector)
{
	return &collector->counts;
}
