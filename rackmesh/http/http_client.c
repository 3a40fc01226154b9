#include "rackmesh/http/http_client.h"

#include <curl/curl.h>
#include <errno.h>
#include <event2/event.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/http/http_call.h"
#include "rackmesh/http/http_origin.h"
#include "rackmesh/loop/loop.h"

#define CLIENT_IDLE_CONNECTIONS 64
#define CLIENT_MAX_RETRY_AFTER_S 86400
#define CLIENT_CONTENT_TYPE 256

struct rm_http_client {
	struct rm_http_origins *origins;
	struct event_base *base;
	struct rm_timer *timer;
	CURLM *multi;
	struct rm_http_call *calls; /* all calls that have not ended */
	/* the call whose on_data is running; NULL: none, or on_data has cancelled it */
	struct rm_http_call *current;
	unsigned count;
	bool ending;
};

/* Removes the call from the list of the client. */
static void
client_remove(struct rm_http_client *client, struct rm_http_call *call)
{
	struct rm_http_call **at = &client->calls;

	while (*at != call)
		at = &(*at)->next;
	*at = call->next;
	client->count--;
	curl_multi_remove_handle(client->multi, call->easy);
}

static int64_t
date_of(CURL *easy)
{
	struct curl_header *header;
	time_t date = -1;

	if (curl_easy_header(easy, "Date", 0, CURLH_HEADER, -1, &header) == CURLHE_OK)
		date = curl_getdate(header->value, NULL);
	return date > 0 ? date : 0;
}

/* Removes the call from the client, reports its end to its owner, and frees it. */
static void
client_finish(struct rm_http_client *client, struct rm_http_call *call, int r)
{
	struct rm_http_answer answer = {
		.r = r,
		.reason = r == 0                   ? ""
			  : call->limit[0] != '\0' ? call->limit
						   : call->reason,
		.body = "",
		.retry_after_s = -1,
	};
	curl_off_t retry_after = 0;
	char *redirect = NULL;

	client_remove(client, call);
	if (r == 0) {
		curl_easy_getinfo(call->easy, CURLINFO_RESPONSE_CODE, &answer.status);
		curl_easy_getinfo(call->easy, CURLINFO_RETRY_AFTER, &retry_after);
		if (retry_after > CLIENT_MAX_RETRY_AFTER_S)
			retry_after = CLIENT_MAX_RETRY_AFTER_S;
		if (retry_after > 0)
			answer.retry_after_s = retry_after;
		curl_easy_getinfo(call->easy, CURLINFO_REDIRECT_URL, &redirect);
		answer.redirect = redirect;
		answer.date_s = date_of(call->easy);
		if (call->body != NULL) {
			answer.body = call->body;
			answer.body_len = call->body_len;
		}
	}
	call->done(&answer, call->arg);
	rm_http_call_free(call);
}

static struct rm_http_call *
client_waiting(const struct rm_http_client *client)
{
	struct rm_http_call *call = client->calls;

	while (call != NULL && !call->waiting)
		call = call->next;
	return call;
}

/* Passes the bytes of streams to on_data, which may start and cancel any call. */
static void
client_deliver(struct rm_http_client *client)
{
	struct rm_http_call *call;

	while ((call = client_waiting(client)) != NULL) {
		char *data = call->body;
		size_t len = call->body_len;
		int r;

		call->waiting = false;
		call->body = NULL;
		call->body_len = call->body_size = 0;
		client->current = call;
		r = call->on_data(data, len, call->arg);
		free(data);
		if (client->current == NULL)
			continue; /* canceled and freed in on_data */
		client->current = NULL;
		if (r < 0)
			client_finish(client, call, r);
	}
}

static void
client_reap(struct rm_http_client *client)
{
	CURLMsg *message;
	int left;

	client_deliver(client);
	while ((message = curl_multi_info_read(client->multi, &left)) != NULL) {
		struct rm_http_call *call = NULL;
		CURL *easy = message->easy_handle;

		if (message->msg != CURLMSG_DONE)
			continue;
		curl_easy_getinfo(easy, CURLINFO_PRIVATE, &call);
		client_finish(
		    client, call, rm_http_call_errno(call, message->data.result));
	}
}

static void
client_on_socket(evutil_socket_t fd, short what, void *arg)
{
	struct rm_http_client *client = arg;
	int action = (what & EV_READ ? CURL_CSELECT_IN : 0) |
		     (what & EV_WRITE ? CURL_CSELECT_OUT : 0);
	int running;

	curl_multi_socket_action(client->multi, fd, action, &running);
	client_reap(client);
}

static void
client_on_timeout(void *arg)
{
	struct rm_http_client *client = arg;
	int running;

	curl_multi_socket_action(client->multi, CURL_SOCKET_TIMEOUT, 0, &running);
	client_reap(client);
}

/* libcurl wants to watch a socket for `what`. The event of the socket is stored as
 * libcurl's socket data. */
static int
client_watch(CURL *easy, curl_socket_t fd, int what, void *arg, void *socket_data)
{
	struct rm_http_client *client = arg;
	struct event *event = socket_data;
	short events = (short)((what & CURL_POLL_IN ? EV_READ : 0) |
			       (what & CURL_POLL_OUT ? EV_WRITE : 0));

	if (event != NULL)
		event_free(event);
	curl_multi_assign(client->multi, fd, NULL);
	if (what == CURL_POLL_REMOVE || events == 0)
		return 0;
	event =
	    event_new(client->base, fd, events | EV_PERSIST, client_on_socket, client);
	if (event == NULL)
		return -1; /* makes libcurl fail the exchange */
	if (event_add(event, NULL) < 0) {
		event_free(event);
		return -1;
	}
	curl_multi_assign(client->multi, fd, event);
	return 0;
}

static int
client_set_timer(CURLM *multi, long timeout_ms, void *arg)
{
	struct rm_http_client *client = arg;

	if (timeout_ms < 0)
		rm_timer_stop(client->timer);
	else
		rm_timer_after(client->timer, timeout_ms * RM_NS_PER_MS);
	return 0;
}

int
rm_http_client_new(struct rm_loop *loop, struct rm_http_client **ret)
{
	struct rm_http_client *client;
	int r = -ENOMEM;

	if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
		return -EIO;
	client = calloc(1, sizeof(*client));
	if (client == NULL) {
		curl_global_cleanup();
		return -ENOMEM;
	}
	client->base = rm_loop_base(loop);
	client->multi = curl_multi_init();
	if (client->multi == NULL)
		goto out;
	r = rm_http_origins_new(&client->origins);
	if (r < 0)
		goto out;
	r = rm_timer_new(loop, client_on_timeout, client, &client->timer);
	if (r < 0)
		goto out;
	curl_multi_setopt(client->multi, CURLMOPT_SOCKETFUNCTION, client_watch);
	curl_multi_setopt(client->multi, CURLMOPT_SOCKETDATA, client);
	curl_multi_setopt(client->multi, CURLMOPT_TIMERFUNCTION, client_set_timer);
	curl_multi_setopt(client->multi, CURLMOPT_TIMERDATA, client);
	curl_multi_setopt(
	    client->multi, CURLMOPT_MAXCONNECTS, (long)CLIENT_IDLE_CONNECTIONS);
	*ret = client;
	return 0;
out:
	rm_http_client_free(client);
	return r;
}

void
rm_http_client_free(struct rm_http_client *client)
{
	if (client == NULL)
		return;
	client->ending = true;
	while (client->calls != NULL)
		client_finish(client, client->calls, -ECANCELED);
	/* May still call client_watch and client_set_timer. */
	if (client->multi != NULL)
		curl_multi_cleanup(client->multi);
	rm_timer_free(client->timer);
	rm_http_origins_free(client->origins);
	free(client);
	curl_global_cleanup();
}

int
rm_http_client_origin(struct rm_http_client *client, const char *base,
    const struct rm_http_origin *origin)
{
	return rm_http_origins_add(client->origins, base, origin);
}

static int
client_call(struct rm_http_client *client, const struct rm_http_exchange *exchange,
    struct rm_http_call **ret)
{
	struct rm_http_exchange met = *exchange;
	struct rm_http_request_auth auth;
	int r;

	r = rm_http_origins_meet(client->origins, &met, &auth);
	if (r == 0)
		r = rm_http_call_new(&met, client, ret);
	explicit_bzero(&auth, sizeof(auth));
	return r;
}

int
rm_http_client_start(struct rm_http_client *client,
    const struct rm_http_exchange *exchange, struct rm_http_call **ret)
{
	struct rm_http_call *call;
	int r;

	if (client->ending)
		return -ECANCELED;
	if (client->count >= RM_HTTP_MAX_CALLS)
		return -EAGAIN;
	r = client_call(client, exchange, &call);
	if (r < 0)
		return r;
	/* Starts the timer with 0: the work begins in the loop. */
	if (curl_multi_add_handle(client->multi, call->easy) != CURLM_OK) {
		rm_http_call_free(call);
		return -ENOMEM;
	}
	call->next = client->calls;
	client->calls = call;
	client->count++;
	if (ret != NULL)
		*ret = call;
	return 0;
}

void
rm_http_call_cancel(struct rm_http_call *call)
{
	struct rm_http_client *client = call->client;

	if (client->current == call)
		client->current = NULL;
	client_remove(client, call);
	rm_http_call_free(call);
}

int
rm_http_client_send(struct rm_http_client *client, const char *url,
    const char *content_type, const char *body, size_t body_len, int64_t timeout_ns,
    void (*done)(const struct rm_http_answer *answer, void *arg), void *arg)
{
	char line[CLIENT_CONTENT_TYPE];
	const char *headers[] = { line, NULL };
	struct rm_http_exchange exchange = {
		.url = url,
		.headers = body != NULL ? headers : NULL,
		.body = body,
		.body_len = body_len,
		.timeout_ns = timeout_ns,
		.done = done,
		.arg = arg,
	};

	if (timeout_ns <= 0)
		return -EINVAL; /* libcurl takes 0 as no limit */
	if (snprintf(line, sizeof(line), "Content-Type: %s",
		content_type != NULL ? content_type : "") >= (int)sizeof(line))
		return -EINVAL;
	return rm_http_client_start(client, &exchange, NULL);
}

int
rm_http_client_now(
    struct rm_http_client *client, const struct rm_http_exchange *exchange)
{
	struct rm_http_call *call;
	int r;

	r = client_call(client, exchange, &call);
	if (r < 0)
		return r;
	r = rm_http_call_errno(call, curl_easy_perform(call->easy));
	rm_http_call_free(call);
	return r;
}
