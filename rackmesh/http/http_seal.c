#include "rackmesh/http/http_seal.h"

#include <errno.h>
#include <event2/bufferevent.h>
#include <event2/bufferevent_ssl.h>
#include <event2/http.h>

#include "rackmesh/tls/tls_state.h"

struct bufferevent *
http_seal_new(struct event_base *base, struct rm_tls *tls)
{
	SSL *ssl = rm_tls_accepting(tls);
	struct bufferevent *bev;

	if (ssl == NULL)
		return NULL;
	/* It frees ssl, and only with this option. */
	bev = bufferevent_openssl_socket_new(
	    base, -1, ssl, BUFFEREVENT_SSL_ACCEPTING, BEV_OPT_CLOSE_ON_FREE);
	if (bev == NULL) {
		SSL_free(ssl);
		return NULL;
	}
	/* HTTP says itself where a message ends. */
	bufferevent_openssl_set_allow_dirty_shutdown(bev, 1);
	return bev;
}

bool
http_seal_shakes_hands(struct bufferevent *bev)
{
	return !SSL_is_init_finished(bufferevent_openssl_get_ssl(bev));
}

void
http_seal_count(struct rm_tls *tls, struct bufferevent *bev, bool late)
{
	const SSL *ssl = bufferevent_openssl_get_ssl(bev);

	if (SSL_is_init_finished(ssl))
		tls_handshake_done(tls);
	else if (late)
		tls_handshake_late(tls, NULL);
	else
		tls_handshake_failed(
		    tls, ssl, bufferevent_get_openssl_error(bev), NULL);
}

int
http_seal_identity(const struct rm_tls *tls, struct evhttp_request *req,
    char identity[RM_TLS_MAX_IDENTITY])
{
	struct evhttp_connection *connection = evhttp_request_get_connection(req);
	const SSL *ssl;

	identity[0] = '\0';
	if (connection == NULL)
		return -EACCES;
	ssl =
	    bufferevent_openssl_get_ssl(evhttp_connection_get_bufferevent(connection));
	if (ssl == NULL || rm_tls_identity(ssl, identity) < 0)
		return -EACCES;
	/* A connection may stand for days, and what was true at its handshake not. */
	return rm_tls_still_good(tls, ssl) ? 0 : -EACCES;
}
