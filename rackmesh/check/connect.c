#include "rackmesh/check/connect.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rackmesh/check/check.h"
#include "rackmesh/config/config.h"
#include "rackmesh/core/endpoint.h"
#include "rackmesh/core/error.h"
#include "rackmesh/core/log.h"
#include "rackmesh/http/http_client.h"
#include "rackmesh/http/http_url.h"
#include "rackmesh/loop/loop.h"
#include "rackmesh/net/dialer.h"
#include "rackmesh/tls/credentials.h"
#include "rackmesh/tls/tls.h"

#define CONNECT_PEERS 256 /* more than the lists of one config contain together */
#define CONNECT_FRAME_BYTES (1u << 20)
#define QUOTED 512

struct peer {
	struct rm_connect *connect;
	char place[128], where[2048];
	struct rm_request request;
	const char *const *tors;
	size_t tor_count;
	bool any_status;
	struct rm_dialer *dialer;
	char name[QUOTED];     /* name of the daemon that answered, with its identity */
	struct rm_error error; /* error found while the link was up */
	bool greeted, answered, done;
};

struct rm_connect {
	struct rm_check *check;
	struct rm_connect_messages messages;
	struct rm_loop *loop;
	struct rm_tls *tls; /* NULL: plaintext */
	struct rm_http_client *http;
	struct rm_timer *timer;
	struct peer *peers[CONNECT_PEERS];
	size_t count, open;
};

static void
peer_done(struct peer *peer, const char *wrong)
{
	struct rm_connect *connect = peer->connect;

	if (peer->done)
		return;
	peer->done = true;
	if (wrong != NULL)
		rm_check_error(
		    connect->check, peer->place, "%s: %s", peer->where, wrong);
	else
		printf("%s: %s: reached%s%s\n", peer->place, peer->where,
		    peer->name[0] != '\0' ? " " : "", peer->name);
	if (--connect->open == 0)
		rm_loop_stop(connect->loop);
}

static struct peer *
peer_new(struct rm_connect *connect, const char *place, const char *where)
{
	struct peer *peer = NULL;

	if (connect->count < CONNECT_PEERS)
		peer = calloc(1, sizeof(*peer));
	if (peer == NULL) {
		rm_check_error(
		    connect->check, place, "%s: not tried: out of memory", where);
		return NULL;
	}
	peer->connect = connect;
	snprintf(peer->place, sizeof(peer->place), "%s", place);
	snprintf(peer->where, sizeof(peer->where), "%s", where);
	connect->peers[connect->count++] = peer;
	connect->open++;
	return peer;
}

/* ---- daemons ---- */

static bool
is_admitted(struct peer *peer, const char *uri)
{
	struct rm_request request = peer->request;
	bool is =
	    peer->tor_count > 0 || rm_authority_admits(uri, &request, peer->error.text,
				       sizeof(peer->error.text));

	for (size_t i = 0; is && i < peer->tor_count; i++) {
		request.tor = peer->tors[i];
		is = rm_authority_admits(
		    uri, &request, peer->error.text, sizeof(peer->error.text));
	}
	return is;
}

static int
on_up(struct rm_link *link, void *arg)
{
	struct peer *peer = arg;

	if (!is_admitted(peer, rm_link_identity(link)))
		return -EACCES;
	peer->greeted = true;
	return rm_link_send(
	    link, peer->connect->messages.hello, peer->connect->messages.hello_len);
}

static int
on_frame(struct rm_link *link, const uint8_t *data, size_t len, void *arg)
{
	struct peer *peer = arg;
	const char *name, *refused;
	char quoted[QUOTED];

	if (peer->connect->messages.answer(data, len, &name, &refused) < 0)
		return 0;
	peer->answered = true;
	if (refused[0] != '\0')
		rm_error_set(&peer->error, 0, "it answers %s",
		    rm_log_quote(quoted, sizeof(quoted), refused, strlen(refused)));
	rm_log_quote(quoted, sizeof(quoted), name, strlen(name));
	snprintf(peer->name, sizeof(peer->name), "%.128s%s%.300s", quoted,
	    rm_link_identity(link)[0] != '\0' ? ", " : "", rm_link_identity(link));
	return -ECANCELED;
}

/* An older peer closes the connection after a hello of this version; a peer that
 * refuses our certificate says so. */
static void
on_down(int reason, void *arg)
{
	struct peer *peer = arg;
	const char *tls = rm_dialer_error(peer->dialer);
	struct rm_error error;

	if (peer->error.text[0] != '\0')
		error = peer->error;
	else if (peer->answered ||
		 (peer->greeted && reason != -EACCES && reason != -ETIMEDOUT))
		error.text[0] = '\0';
	else if (tls[0] != '\0')
		rm_error_set(&error, 0, "%s", tls);
	else
		rm_error_set(&error, 0, "%s", strerror(-reason));
	rm_dialer_free(peer->dialer);
	peer->dialer = NULL;
	peer_done(peer, error.text[0] != '\0' ? error.text : NULL);
}

void
rm_connect_daemon(struct rm_connect *connect, const char *place, const char *text,
    const struct rm_request *request, const char *const *tors, size_t tor_count)
{
	static const struct rm_dialer_callbacks callbacks = {
		.on_up = on_up,
		.on_frame = on_frame,
		.on_down = on_down,
	};
	struct rm_endpoint endpoint;
	const struct rm_dialer_options options = {
		.peers = &endpoint,
		.peer_count = 1,
		.limits = { .max_frame_bytes = CONNECT_FRAME_BYTES,
		    .max_output_bytes = CONNECT_FRAME_BYTES,
		    .tls = connect->tls },
	};
	struct peer *peer = peer_new(connect, place, text);
	int r;

	if (peer == NULL)
		return;
	peer->request = *request;
	peer->tors = tors;
	peer->tor_count = tor_count;
	r = rm_endpoint_parse(text, &endpoint);
	if (r == 0)
		r = rm_dialer_new(
		    connect->loop, &options, &callbacks, peer, &peer->dialer);
	if (r < 0)
		peer_done(peer, strerror(-r));
}

/* ---- other servers ---- */

static void
on_page(const struct rm_http_answer *answer, void *arg)
{
	struct peer *peer = arg;
	struct rm_error error;

	if (answer->r < 0 && answer->reason[0] != '\0')
		peer_done(peer, answer->reason);
	else if (answer->r < 0)
		peer_done(peer, strerror(-answer->r));
	else if (!peer->any_status && answer->status >= 300) {
		rm_error_set(&error, 0, "it answers with status %ld", answer->status);
		peer_done(peer, error.text);
	} else if (!peer->any_status && rm_http_answer_is_page(answer))
		peer_done(peer, "it answers with a web page, perhaps a login");
	else
		peer_done(peer, NULL);
}

void
rm_connect_url(struct rm_connect *connect, const char *place, const char *url,
    const char *page, const struct rm_http_origin *origin)
{
	char shown[RM_HTTP_URL_SHOWN_BYTES], text[2048];
	size_t len = strlen(url);
	struct peer *peer;
	int r;

	rm_http_url_show(url, page != NULL, shown);
	peer = peer_new(connect, place, shown);
	if (peer == NULL)
		return;
	peer->any_status = page == NULL;
	while (page != NULL && len > 0 && url[len - 1] == '/')
		len--;
	snprintf(text, sizeof(text), "%.*s%s", (int)len, url, page != NULL ? page : "");
	r = rm_http_client_origin(connect->http, url, origin);
	if (r == 0)
		r = rm_http_client_send(connect->http, text, NULL, NULL, 0,
		    CONNECT_TIMEOUT_NS, on_page, peer);
	if (r < 0)
		peer_done(peer, strerror(-r));
}

void
rm_connect_urls(struct rm_connect *connect, const char *place,
    const struct rm_list *list, const char *page, const struct rm_http_origin *origin)
{
	char *const *urls = list->items;
	char at[128];

	for (size_t i = 0; i < list->count; i++) {
		snprintf(at, sizeof(at), "%s[%zu]", place, i);
		rm_connect_url(connect, at, urls[i], page, origin);
	}
}

/* ---- all servers and daemons ---- */

static void
on_late(void *arg)
{
	struct rm_connect *connect = arg;

	for (size_t i = 0; i < connect->count; i++)
		if (connect->peers[i]->dialer != NULL)
			peer_done(connect->peers[i], "no answer within 5 s");
}

struct rm_connect *
rm_connect_new(struct rm_check *check, const struct rm_credentials_config *credentials,
    const struct rm_connect_messages *messages)
{
	struct rm_connect *connect = calloc(1, sizeof(*connect));
	struct rm_error error;
	int r;

	if (connect == NULL)
		return NULL;
	connect->check = check;
	if (messages != NULL)
		connect->messages = *messages;
	r = rm_loop_new(&connect->loop);
	if (r == 0)
		r = rm_http_client_new(connect->loop, &connect->http);
	if (r == 0)
		r = rm_timer_new(connect->loop, on_late, connect, &connect->timer);
	if (r == 0 && !credentials->plaintext)
		r = rm_credentials_read(
		    connect->loop, credentials, &error, &connect->tls);
	if (r == 0)
		return connect;
	rm_connect_free(connect);
	return NULL;
}

void
rm_connect_free(struct rm_connect *connect)
{
	if (connect == NULL)
		return;
	for (size_t i = 0; i < connect->count; i++)
		rm_dialer_free(connect->peers[i]->dialer);
	rm_http_client_free(connect->http);
	for (size_t i = 0; i < connect->count; i++)
		free(connect->peers[i]);
	rm_timer_free(connect->timer);
	rm_tls_free(connect->tls);
	rm_loop_free(connect->loop);
	free(connect);
}

void
rm_connect_run(struct rm_connect *connect)
{
	if (connect->open == 0)
		return;
	rm_timer_after(connect->timer, CONNECT_TIMEOUT_NS);
	rm_loop_run(connect->loop);
	for (size_t i = 0; i < connect->count; i++)
		peer_done(connect->peers[i], "interrupted");
}
