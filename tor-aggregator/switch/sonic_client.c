#include "tor-aggregator/switch/sonic_client.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <hiredis/hiredis.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/core/endpoint.h"
#include "rackmesh/core/file.h"
#include "rackmesh/loop/loop.h"
#include "tor-aggregator/redis/redis_reader.h"
#include "tor-aggregator/switch/config/switch_config.h"
#include "tor-aggregator/switch/sonic.h"

#define ANSWERS_PER_WAKEUP 64

struct sonic_client {
	struct sonic_client_options options;
	char password[SWITCH_PASSWORD_BYTES];
	struct bufferevent *connection;
	bool connected;
	struct redis_reader *reader;
	struct sonic *sonic;
};

int
sonic_client_new(const struct sonic_client_options *options, struct sonic_client **ret)
{
	struct sonic_client *client = calloc(1, sizeof(*client));

	if (client == NULL)
		return -ENOMEM;
	client->options = *options;
	*ret = client;
	return 0;
}

void
sonic_client_free(struct sonic_client *client)
{
	sonic_client_end(client);
	free(client);
}

void
sonic_client_end(struct sonic_client *client)
{
	if (client == NULL)
		return;
	if (client->connection != NULL)
		bufferevent_free(client->connection);
	client->connection = NULL;
	redis_reader_free(client->reader);
	client->reader = NULL;
	sonic_free(client->sonic);
	client->sonic = NULL;
	explicit_bzero(client->password, sizeof(client->password));
}

bool
sonic_client_is_connected(const struct sonic_client *client)
{
	return client->connected;
}

static void
finish(struct sonic_client *client, int r, const char *reason)
{
	client->options.done(r, reason, client->sonic, client->options.arg);
}

static int
take_answers(struct sonic_client *client, struct rm_error *error)
{
	for (int i = 0; i < ANSWERS_PER_WAKEUP; i++) {
		redisReply *answer = NULL;
		int r = redis_reader_next(client->reader, &answer);

		if (r <= 0)
			return r;
		r = sonic_answer(client->sonic, answer, error);
		freeReplyObject(answer);
		if (r < 0)
			return r;
	}
	return 1;
}

static int
feed(struct sonic_client *client, struct rm_error *error)
{
	struct evbuffer *input = bufferevent_get_input(client->connection);
	const size_t len = evbuffer_get_length(input);
	int r = 0;

	if (len > 0)
		r = redis_reader_feed(client->reader, evbuffer_pullup(input, -1), len);
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
	struct sonic_client *client = arg;
	struct rm_error error = { .text = "" };
	int r = feed(client, &error);

	if (r == 0)
		r = take_answers(client, &error);
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
	if (r == 0 && sonic_is_done(client->sonic)) {
		finish(client, 0, "");
		return;
	}
	if (r == 0 && sonic_is_answered(client->sonic))
		r = sonic_ask(client->sonic, bufferevent_get_output(connection));
	if (r < 0)
		finish(client, r, error.text);
}

static void
on_event(struct bufferevent *connection, short events, void *arg)
{
	struct sonic_client *client = arg;
	const int error = EVUTIL_SOCKET_ERROR();
	int r;

	if (events & BEV_EVENT_CONNECTED) {
		client->connected = true;
		r = sonic_ask(client->sonic, bufferevent_get_output(connection));
		bufferevent_enable(connection, EV_READ | EV_WRITE);
		if (r < 0)
			finish(client, r, "");
	} else if (!client->connected) {
		client->options.unreachable(-error, client->options.arg);
	} else {
		finish(client, -error,
		    events & BEV_EVENT_EOF ? "it closed the connection" : "");
	}
}

int
sonic_client_dial(struct sonic_client *client, const struct rm_address *address)
{
	if (client->connection != NULL)
		bufferevent_free(client->connection);
	client->connection = bufferevent_socket_new(rm_loop_base(client->options.loop),
	    -1, BEV_OPT_CLOSE_ON_FREE | BEV_OPT_DEFER_CALLBACKS);
	if (client->connection == NULL)
		return -ENOMEM;
	bufferevent_setcb(client->connection, on_readable, NULL, on_event, client);
	if (bufferevent_socket_connect(client->connection,
		(const struct sockaddr *)&address->storage, (int)address->len) < 0)
		return -EVUTIL_SOCKET_ERROR();
	return 0;
}

int
sonic_client_begin(struct sonic_client *client, unsigned also,
    const struct switch_list *before, struct switch_counts *counts,
    struct rm_error *error)
{
	const char *path = client->options.password_file;
	int r = 0;

	client->password[0] = '\0';
	client->connected = false;
	if (path[0] != '\0')
		r = rm_file_read_password(
		    path, client->password, sizeof(client->password), error);
	if (r < 0)
		return r;
	client->reader = redis_reader_new();
	if (client->reader == NULL)
		return -ENOMEM;
	return sonic_new(client->password, also, before, counts, &client->sonic);
}
