#include "rackmesh/base/http_client.h"

#include <curl/curl.h>
#include <errno.h>
#include <event2/event.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/base/loop.h"

#define CLIENT_MAX_EXCHANGES 64
#define CLIENT_IDLE_CONNECTIONS 16
#define CLIENT_MAX_ANSWER (64 << 10)
#define CLIENT_MAX_RETRY_AFTER_S 86400
#define CLIENT_SOCKET_PATH 108 /* as in struct sockaddr_un */

struct exchange {
	struct rm_http_client *client;
	struct exchange *next;
	CURL *easy;
	struct curl_slist *headers;
	char *body; /* of the answer; CLIENT_MAX_ANSWER + 1 once there is one */
	size_t body_len;
	void (*done)(const struct rm_http_answer *answer, void *arg);
	void *arg;
};

struct rm_http_client {
	struct event_base *base;
	struct rm_timer *timer;
	CURLM *multi;
	struct exchange *exchanges; /* all under way */
	unsigned count;
	bool ending;
};

/* libcurl's dialect ends here. */
static int
client_errno(CURLcode code, CURL *easy)
{
	long os = 0;

	switch (code) {
	case CURLE_OK:
		return 0;
	case CURLE_OPERATION_TIMEDOUT:
		return -ETIMEDOUT;
	case CURLE_OUT_OF_MEMORY:
	case CURLE_WRITE_ERROR: /* ours: no room for the answer */
		return -ENOMEM;
	case CURLE_COULDNT_CONNECT:
		curl_easy_getinfo(easy, CURLINFO_OS_ERRNO, &os);
		return os > 0 ? -(int)os : -ECONNREFUSED;
	case CURLE_COULDNT_RESOLVE_HOST:
		return -EHOSTUNREACH;
	case CURLE_URL_MALFORMAT:
	case CURLE_UNSUPPORTED_PROTOCOL:
		return -EINVAL;
	case CURLE_GOT_NOTHING:
	case CURLE_SEND_ERROR:
	case CURLE_RECV_ERROR:
	case CURLE_PARTIAL_FILE:
		return -ECONNRESET;
	case CURLE_SSL_CONNECT_ERROR:
	case CURLE_PEER_FAILED_VERIFICATION:
		return -EPROTO;
	default:
		return -EIO;
	}
}

static void
exchange_free(struct exchange *exchange)
{
	if (exchange->easy != NULL)
		curl_easy_cleanup(exchange->easy);
	curl_slist_free_all(exchange->headers);
	free(exchange->body);
	free(exchange);
}

/* Takes the exchange off the client, tells its owner, and frees it. */
static void
exchange_finish(struct exchange *exchange, int r)
{
	struct rm_http_answer answer = { .r = r, .body = "", .retry_after_s = -1 };
	struct rm_http_client *client = exchange->client;
	struct exchange **at = &client->exchanges;
	curl_off_t retry_after = 0;

	while (*at != exchange)
		at = &(*at)->next;
	*at = exchange->next;
	client->count--;
	curl_multi_remove_handle(client->multi, exchange->easy);

	if (r == 0) {
		curl_easy_getinfo(
		    exchange->easy, CURLINFO_RESPONSE_CODE, &answer.status);
		curl_easy_getinfo(exchange->easy, CURLINFO_RETRY_AFTER, &retry_after);
		if (retry_after > CLIENT_MAX_RETRY_AFTER_S)
			retry_after = CLIENT_MAX_RETRY_AFTER_S;
		if (retry_after > 0)
			answer.retry_after_s = retry_after;
		if (exchange->body != NULL) {
			answer.body = exchange->body;
			answer.body_len = exchange->body_len;
		}
	}
	exchange->done(&answer, exchange->arg);
	exchange_free(exchange);
}

static void
client_reap(struct rm_http_client *client)
{
	CURLMsg *message;
	int left;

	while ((message = curl_multi_info_read(client->multi, &left)) != NULL) {
		CURL *easy = message->easy_handle;
		void *exchange = NULL;

		if (message->msg != CURLMSG_DONE)
			continue;
		curl_easy_getinfo(easy, CURLINFO_PRIVATE, &exchange);
		exchange_finish(exchange, client_errno(message->data.result, easy));
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

/* libcurl wants (what) of a socket changed; its event is kept beside it. */
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
		return -1; /* libcurl fails the exchange */
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

/* What is beyond the cap is read and thrown away: the status counts more. */
static size_t
exchange_on_body(char *data, size_t size, size_t count, void *arg)
{
	struct exchange *exchange = arg;
	size_t len = size * count, room = CLIENT_MAX_ANSWER - exchange->body_len;

	if (exchange->body == NULL) {
		exchange->body = malloc(CLIENT_MAX_ANSWER + 1);
		if (exchange->body == NULL)
			return CURL_WRITEFUNC_ERROR;
	}
	if (room > len)
		room = len;
	memcpy(exchange->body + exchange->body_len, data, room);
	exchange->body_len += room;
	exchange->body[exchange->body_len] = 0;
	return len;
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
	while (client->exchanges != NULL)
		exchange_finish(client->exchanges, -ECANCELED);
	/* Still calls client_watch and client_set_timer. */
	if (client->multi != NULL)
		curl_multi_cleanup(client->multi);
	rm_timer_free(client->timer);
	free(client);
	curl_global_cleanup();
}

static int
exchange_add_header(struct exchange *exchange, const char *name, const char *value)
{
	struct curl_slist *headers;
	char line[256];

	if (snprintf(line, sizeof(line), "%s: %s", name, value) >= (int)sizeof(line))
		return -EINVAL;
	headers = curl_slist_append(exchange->headers, line);
	if (headers == NULL)
		return -ENOMEM;
	exchange->headers = headers;
	return 0;
}

/* "unix:/run/x.sock:/v1/y": the path of a socket, then that of the request. */
static int
exchange_set_url(struct exchange *exchange, const char *url)
{
	char socket_path[CLIENT_SOCKET_PATH], http[2048];
	const char *request;
	size_t len;

	if (strncmp(url, "unix:", 5) != 0)
		return curl_easy_setopt(exchange->easy, CURLOPT_URL, url) == CURLE_OK
			   ? 0
			   : -ENOMEM;
	url += 5;
	request = strstr(url, ":/");
	if (request == NULL)
		return -EINVAL;
	len = (size_t)(request - url);
	if (len == 0 || len >= sizeof(socket_path))
		return -EINVAL;
	memcpy(socket_path, url, len);
	socket_path[len] = 0;
	if (snprintf(http, sizeof(http), "http://localhost%s", request + 1) >=
	    (int)sizeof(http))
		return -EINVAL;
	if (curl_easy_setopt(exchange->easy, CURLOPT_UNIX_SOCKET_PATH, socket_path) !=
		CURLE_OK ||
	    curl_easy_setopt(exchange->easy, CURLOPT_URL, http) != CURLE_OK)
		return -ENOMEM;
	return 0;
}

static int
exchange_set_body(struct exchange *exchange, const char *content_type, const char *body,
    size_t body_len)
{
	CURL *easy = exchange->easy;
	int r;

	/* Without it libcurl asks first, and waits a second for the answer. */
	r = exchange_add_header(exchange, "Expect", "");
	if (r == 0)
		r = exchange_add_header(
		    exchange, "Content-Type", content_type != NULL ? content_type : "");
	if (r < 0)
		return r;
	if (curl_easy_setopt(easy, CURLOPT_POST, 1L) != CURLE_OK ||
	    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body_len) !=
		CURLE_OK ||
	    curl_easy_setopt(easy, CURLOPT_COPYPOSTFIELDS, body) != CURLE_OK ||
	    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, exchange->headers) != CURLE_OK)
		return -ENOMEM;
	return 0;
}

static int
exchange_set_options(struct exchange *exchange, int64_t timeout_ns)
{
	int64_t ms = (timeout_ns + RM_NS_PER_MS - 1) / RM_NS_PER_MS;
	CURL *easy = exchange->easy;
	bool set = true;

	if (ms < 1 || ms > INT32_MAX)
		return -EINVAL; /* 0 would mean for ever */
	set = set && curl_easy_setopt(easy, CURLOPT_PRIVATE, exchange) == CURLE_OK;
	set = set && curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L) == CURLE_OK;
	set = set && curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)ms) == CURLE_OK;
	set = set &&
	      curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https") == CURLE_OK;
	/* Not through what the environment of the daemon happens to name. */
	set = set && curl_easy_setopt(easy, CURLOPT_PROXY, "") == CURLE_OK;
	set = set && curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L) == CURLE_OK;
	set = set && curl_easy_setopt(easy, CURLOPT_USERAGENT,
			 "rackmesh/" RACKMESH_VERSION) == CURLE_OK;
	set = set && curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, exchange_on_body) ==
			 CURLE_OK;
	set = set && curl_easy_setopt(easy, CURLOPT_WRITEDATA, exchange) == CURLE_OK;
	return set ? 0 : -ENOMEM;
}

int
rm_http_client_send(struct rm_http_client *client, const char *url,
    const char *content_type, const char *body, size_t body_len, int64_t timeout_ns,
    void (*done)(const struct rm_http_answer *answer, void *arg), void *arg)
{
	struct exchange *exchange;
	int r = -ENOMEM;

	if (client->ending)
		return -ECANCELED;
	if (client->count >= CLIENT_MAX_EXCHANGES)
		return -EAGAIN;
	exchange = calloc(1, sizeof(*exchange));
	if (exchange == NULL)
		return -ENOMEM;
	exchange->client = client;
	exchange->done = done;
	exchange->arg = arg;
	exchange->easy = curl_easy_init();
	if (exchange->easy == NULL)
		goto out;
	r = exchange_set_options(exchange, timeout_ns);
	if (r == 0)
		r = exchange_set_url(exchange, url);
	if (r == 0 && body != NULL)
		r = exchange_set_body(exchange, content_type, body, body_len);
	if (r < 0)
		goto out;
	/* Arms the timer: the work begins in the loop. */
	r = -ENOMEM;
	if (curl_multi_add_handle(client->multi, exchange->easy) != CURLM_OK)
		goto out;
	exchange->next = client->exchanges;
	client->exchanges = exchange;
	client->count++;
	return 0;
out:
	exchange_free(exchange);
	return r;
}
